"""Where the files of a run are: a folder, on this machine or shared, or an object store.

Names are relative, with forward slashes. A file appears under its name only when it is complete. Parts and records are
created once and never changed; the first finished writer wins.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...model.errors import Stopped
from ...model.values import refuse_strange_url
from .folder import Folder
from .objects import Bucket
from .protocol import Storage, is_url

__all__ = ["Bucket", "Folder", "Storage", "free_bytes", "is_url", "open_storage", "stopped_by_storage"]


def open_storage(output: str) -> Storage:
    """The storage at a path or an address such as s3://bucket/run."""
    if not is_url(output):
        return Folder(Path(output))
    refuse_strange_url(output)
    return Bucket(output)


@contextmanager
def stopped_by_storage(output: str) -> Iterator[None]:
    """A full disk, or a store out of reach, stops the run; what is finished stays."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise Stopped(
            f"cannot write to {output!r} ({reason}); everything finished is kept, and the same command continues"
        ) from None


def free_bytes(output: str) -> float:
    """Free space on the disk of a folder, or of the nearest folder above it that exists."""
    if is_url(output):
        return math.inf
    folder = Path(output).absolute()
    nearest = next(each for each in (folder, *folder.parents) if os.path.isdir(each))
    return float(shutil.disk_usage(nearest).free)
