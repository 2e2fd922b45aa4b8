"""Durable files below one folder. A file stands under its final name only when it is complete and on disk.

Names are relative, with forward slashes. Files are written under `_run/staging` first, synced, and then linked to their
final name, which fails if the name is taken: the first finished writer wins, and a killed writer leaves nothing behind
but its staging file.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .errors import Damaged, Locked

STAGING = "_run/staging"
LOCK = "_run/lock"
_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}

_counter = itertools.count()

Buffer = bytes | memoryview


def next_name(name: str) -> str:
    """Where a file waits that will replace one of that name. Never *.parquet: readers must not take it for a part."""
    return f"{STAGING}/{name.replace('/', '.')}.next"


class Storage:
    """The files of one run."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        return self.root / name

    def exists(self, name: str) -> bool:
        return self.path(name).exists()

    def read(self, name: str) -> bytes:
        try:
            return self.path(name).read_bytes()
        except OSError as error:
            raise Damaged(f"cannot be read ({error.strerror or error}): {name}") from None

    def size(self, name: str) -> int:
        return self.path(name).stat().st_size

    def names(self, folder: str) -> list[str]:
        """All files below a folder, sorted."""
        top = self.path(folder)
        return sorted(
            os.path.relpath(os.path.join(place, file), self.root).replace(os.sep, "/")
            for place, _, files in os.walk(top)
            for file in files
        )

    def create(self, name: str, data: Buffer) -> bool:
        """Publish a new file; False, and no change, if the name is taken."""
        staged = self._stage(name, data)
        try:
            return self._link(staged, self._with_folder(name))
        finally:
            staged.unlink(missing_ok=True)

    def replace(self, name: str, data: Buffer) -> None:
        """Publish a file, whatever stands there."""
        self._move(self._stage(name, data), name)

    def publish(self, staged: str, name: str) -> None:
        """Move a file to its final name, whatever stands there."""
        self._move(self.path(staged), name)

    def remove(self, name: str) -> None:
        """Remove a file, durably; no error if there is none."""
        path = self.path(name)
        if path.exists():
            path.unlink()
            _sync_folder(path.parent)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the run, whose folder is made if need be: others are refused until this one, however it ends, is gone.

        If an error comes before anything was written, the folder goes as it came.
        """
        path = self.path(LOCK)
        made = [folder for folder in path.parents if not folder.exists()]
        try:
            _make_folder(path.parent)
            with open(path, "a", encoding="utf-8") as file:
                self._flock(file, fcntl.LOCK_EX)
                try:
                    yield
                except BaseException:
                    if self.names("_run") == [LOCK]:
                        path.unlink()
                    raise
        except BaseException:
            for folder in (self.path(STAGING), *made):
                with contextlib.suppress(OSError):  # not there, or not empty: something is in it that must stay
                    folder.rmdir()
            raise

    @contextlib.contextmanager
    def lock_for_reading(self) -> Iterator[None]:
        """Keep coordinators away while the whole run is read; needs no right to write."""
        if not self.exists(LOCK):
            yield
            return
        with open(self.path(LOCK), encoding="utf-8") as file:
            self._flock(file, fcntl.LOCK_SH)
            yield

    def _flock(self, file: IO[str], kind: int) -> None:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._locked() from None
        # Whoever had the lock may have removed the file, and somebody else may hold the lock of a new one.
        if not self.exists(LOCK) or not os.path.samestat(os.fstat(file.fileno()), os.stat(self.path(LOCK))):
            raise self._locked()

    def _locked(self) -> Locked:
        return Locked(f"another process is working on this run or verifying it: {str(self.root)!r}")

    def _stage(self, name: str, data: Buffer) -> Path:
        """A synced file in the staging folder, under a name that nobody else uses."""
        path = self._with_folder(f"{STAGING}/{name.rsplit('/', 1)[-1]}.{os.getpid()}-{next(_counter)}.tmp")
        try:
            with open(path, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path

    def _move(self, staged: Path, name: str) -> None:
        path = self._with_folder(name)
        os.replace(staged, path)
        _sync_folder(path.parent)

    def _link(self, staged: Path, path: Path) -> bool:
        created = True
        try:
            os.link(staged, path)
        except FileExistsError:
            created = False
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            # Some file systems have no hard links; the lock on the run keeps other coordinators away.
            created = not path.exists()
            if created:
                os.replace(staged, path)
        _sync_folder(path.parent)  # also if another was first: it may have been killed before it came to this
        return created

    def _with_folder(self, name: str) -> Path:
        """The path of a file whose folder exists, durably. The folder of the run itself is only made by `lock`."""
        path = self.path(name)
        self.path("_run").stat()  # fails if somebody has taken the run away: it must not rise again in pieces
        _make_folder(path.parent)
        return path


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it, durably."""
    if not folder.exists():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
