"""One run as it is now, kept fresh: what its records say is read again when they have changed, and only then."""

from __future__ import annotations

from threading import Lock
from time import monotonic

from ..catalog import Run

FRESH_SECONDS = 1.0  # a listing of the records is trusted for so long


class Shelf:
    """A run that is looked at again and again, by many requests at a time, while it may be written."""

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.place = place
        self._lock = Lock()
        self._run: Run | None = None
        self._read_at = 0.0

    def now(self) -> Run:
        """The run, at most a second old."""
        with self._lock:
            if self._run is None or monotonic() - self._read_at > FRESH_SECONDS:
                self._run, self._read_at = Run(self.place), monotonic()
            return self._run
