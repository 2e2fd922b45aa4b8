"""A folder: durable files on this machine's disk or on one that several machines share.

Files are written under `_run/staging` first, synced, and then linked to their final name, which fails if the name is
taken; a killed writer leaves nothing behind but its staging file.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from ...model.errors import Damaged, Locked
from ..layout import LOCK, RUN_FILES, STAGING, staged_name, staged_pattern
from .protocol import Buffer

_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}

_LOCK_ATTEMPTS, _LOCK_PAUSE = 10, 0.02


class Folder:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.output = str(root)
        self.has_links = True

    def where(self, name: str) -> str:
        return str(self.path(name))

    def path(self, name: str) -> Path:
        return self.root / name

    def exists(self, name: str) -> bool:
        return self.path(name).exists()

    def read(self, name: str) -> bytes:
        try:
            return self.path(name).read_bytes()
        except OSError as error:
            raise Damaged(f"cannot be read ({error.strerror or error}): {name}") from None

    def entries(self, folder: str) -> Iterator[tuple[str, int]]:
        for parent, _, files in os.walk(self.path(folder), onerror=_refuse_unlistable):
            for file in files:
                path = os.path.join(parent, file)
                with contextlib.suppress(FileNotFoundError):  # it was removed while we looked
                    name = os.path.relpath(path, self.root).replace(os.sep, "/")
                    yield name, os.lstat(path).st_size

    def create(self, name: str, data: Buffer) -> bool:
        staged = self._stage(name, data)
        try:
            return self._link(staged, self._with_folder(name))
        finally:
            staged.unlink(missing_ok=True)

    def replace(self, name: str, data: Buffer) -> None:
        staged, path = self._stage(name, data), self._with_folder(name)
        os.replace(staged, path)
        _sync_folder(path.parent)

    def replace_folder(self, folder: str, files: Iterable[tuple[str, Buffer]]) -> None:
        for left in self.root.glob(staged_pattern(folder)):  # of a call that was killed: who calls this has the lock
            shutil.rmtree(left, ignore_errors=True)
        made = self.path(staged_name(folder))
        try:
            _make_folder(made / "old")
            for name, data in files:
                _make_folder((made / "new" / name).parent)
                _write_synced(made / "new" / name, data)
            _make_folder(made / "new")
            self.path(RUN_FILES).stat()  # as in `_with_folder`
            with contextlib.suppress(FileNotFoundError):
                os.rename(self.path(folder), made / "old")
            os.rename(made / "new", self.path(folder))
            _sync_folder(self.root)
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def remove(self, names: Iterable[str]) -> None:
        folders = set()
        for name in names:
            path = self.path(name)
            if path.exists():
                path.unlink()
                folders.add(path.parent)
        for folder in folders:
            _sync_folder(folder)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Makes the folder if there is none, and removes it again if an error comes before anything was written."""
        path = self.path(LOCK)
        made = [folder for folder in path.parents if not folder.exists()]
        try:
            with self._lock_file() as file:
                self._flock(file, fcntl.LOCK_EX)
                try:
                    yield
                except BaseException:
                    if [name for name, _ in self.entries(RUN_FILES)] == [LOCK]:
                        made.insert(0, self.path(STAGING))
                        path.unlink()
                    raise
        except BaseException:
            for folder in made:
                with contextlib.suppress(OSError):  # not there, or not empty: something is in it that must stay
                    folder.rmdir()
            raise

    def _lock_file(self) -> IO[str]:
        """Another coordinator, refused, may be removing the folder at the same time."""
        for _ in range(_LOCK_ATTEMPTS):
            with contextlib.suppress(FileNotFoundError):
                return self._open_lock()
        return self._open_lock()

    def _open_lock(self) -> IO[str]:
        _make_folder(self.path(LOCK).parent)
        return open(self.path(LOCK), "a", encoding="utf-8")

    def check_lock(self) -> None:
        """A lock of the file system cannot be lost while its file is open."""

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
        attempts = _LOCK_ATTEMPTS if kind == fcntl.LOCK_EX else 1  # somebody may only be looking whether it is locked
        for left in reversed(range(attempts)):
            try:
                fcntl.flock(file, kind | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not left:
                    raise self._locked() from None
                time.sleep(_LOCK_PAUSE)
        # Whoever had the lock may have removed the file, and somebody else may hold the lock of a new one.
        if not self.exists(LOCK) or not os.path.samestat(os.fstat(file.fileno()), os.stat(self.path(LOCK))):
            raise self._locked()

    def _locked(self) -> Locked:
        return Locked(f"another process is working on this run or verifying it: {str(self.root)!r}")

    def _stage(self, name: str, data: Buffer) -> Path:
        """A synced file in the staging folder, under a name that nobody else uses."""
        path = self._with_folder(staged_name(name))
        try:
            _write_synced(path, data)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path

    def _link(self, staged: Path, path: Path) -> bool:
        created = True
        try:
            os.link(staged, path)
        except FileExistsError:
            created = False
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            # Some file systems have no hard links. Then only one machine may work here, where no two workers have the
            # same slice: the coordinator ends one before it starts the next.
            self.has_links = False
            created = not path.exists()
            if created:
                os.replace(staged, path)
        _sync_folder(path.parent)  # also if another was first: it may have been killed before it synced
        return created

    def _with_folder(self, name: str) -> Path:
        """The path of a file whose folder exists, durably. The folder of the run itself is only made by `lock`."""
        path = self.path(name)
        self.path(RUN_FILES).stat()  # fails if the run was removed: it must not come back in pieces
        _make_folder(path.parent)
        return path


def _write_synced(path: Path, data: Buffer) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _make_folder(folder: Path) -> None:
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


def _refuse_unlistable(error: OSError) -> None:
    """What cannot be listed is not empty: nothing in it may be taken for missing. It may not be there yet."""
    if not isinstance(error, FileNotFoundError):
        raise error
