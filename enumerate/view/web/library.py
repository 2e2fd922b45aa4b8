"""The runs that may be looked at, by name: one run, or those in a folder. Nothing else can be reached through it."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock

from ...ledger.layout import MANIFEST
from ...ledger.storage import is_url, open_storage
from ...model.errors import BadRequest
from .live_run import LiveRun
from .pages import NotFound


class Library:
    """A name is looked up in a listing and never made into a path: what is not listed does not exist here."""

    def __init__(self, place: str | None) -> None:
        self.place = place
        self.is_run = place is not None and _is_run(place)
        self._open: dict[str, LiveRun] = {}
        self._lock = Lock()
        if place is not None and not self.is_run:
            _refuse_without_runs(place)

    def names(self) -> list[str]:
        """The names of the runs that there are now, in order."""
        return sorted(self._places())

    def run(self, name: str) -> LiveRun:
        """A run, opened once and kept."""
        place = self._places().get(name)
        if place is None:
            raise NotFound(f"there is no such run: {name!r}")
        with self._lock:
            return self._open.setdefault(name, LiveRun(name, place))

    def _places(self) -> dict[str, str]:
        if self.place is None:
            return {}
        if self.is_run:
            return {name_of(self.place): self.place}
        return _runs_in(self.place)


def _is_run(place: str) -> bool:
    try:
        return open_storage(place).exists(MANIFEST)
    except OSError as error:
        raise BadRequest(f"cannot be read: {place!r} ({error.strerror or error})") from None


def _refuse_without_runs(place: str) -> None:
    if is_url(place) or not _runs_in(place):
        raise BadRequest(f"neither the folder of a run, with {MANIFEST}, nor a folder of such folders: {place!r}")


def _runs_in(place: str) -> dict[str, str]:
    try:
        with os.scandir(place) as entries:
            return {entry.name: entry.path for entry in entries if (Path(entry.path) / MANIFEST).is_file()}
    except OSError:
        return {}


def name_of(place: str) -> str:
    """The last word of a path or an address."""
    path = place.rstrip("/") if is_url(place) else os.path.abspath(place)
    return path.rpartition("/")[2] or "run"
