"""Where the files of a run are: a folder, on this machine or shared, or an object store.

Names are relative, with forward slashes. A file stands under its name only when it is complete, and nothing that counts
is ever changed: parts and records are created once, and the first finished writer wins.
"""

from __future__ import annotations

from pathlib import Path

from ..addresses import refuse_strange_url
from .folder import Folder
from .objects import Bucket
from .protocol import LOCK, RUN_FILES, STAGING, Entry, Hold, Storage, is_url

__all__ = ["LOCK", "RUN_FILES", "STAGING", "Bucket", "Entry", "Folder", "Hold", "Storage", "is_url", "open_storage"]


def open_storage(place: str) -> Storage:
    """The storage at a path or an address such as s3://bucket/run."""
    if not is_url(place):
        return Folder(Path(place))
    refuse_strange_url(place)
    return Bucket(place)
