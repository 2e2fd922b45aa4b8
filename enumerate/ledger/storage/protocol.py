"""What every storage can do. A contract test runs over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

Buffer = bytes | memoryview


class Storage(Protocol):
    """The files of one run. Trouble with disk or network is an OSError; a file that cannot be read is Damaged."""

    output: str  # as it was given

    def where(self, name: str) -> str:
        """A file's full path or address, for people."""

    def exists(self, name: str) -> bool: ...

    def read(self, name: str) -> bytes: ...

    def entries(self, folder: str) -> Iterator[tuple[str, int]]:
        """Name and size of all files below a folder, in any order. There may be millions."""

    def create(self, name: str, data: Buffer) -> bool:
        """Publish a new file, durably; False, and no change, if the name is taken."""

    def replace(self, name: str, data: Buffer) -> None:
        """Publish a file, durably, whatever stands there."""

    def replace_folder(self, folder: str, files: Iterable[tuple[str, Buffer]]) -> None:
        """Publish a folder of files, durably, in place of all that stands in it.

        All files are taken and staged before anything changes. Then a folder changes at one stroke; an object store
        cannot do that, and its files go and come one after the other.
        """

    def remove(self, names: Iterable[str]) -> None:
        """Remove files, durably; no error if there are none."""

    def lock(self) -> AbstractContextManager[None]:
        """Hold the run: other coordinators are refused until this one, however it ends, is gone."""

    def check_lock(self) -> None:
        """Raise Locked if another has taken over the run that is held."""

    def lock_for_reading(self) -> AbstractContextManager[None]:
        """Be refused if a coordinator is at work on the run."""


def is_url(output: str) -> bool:
    return "://" in output
