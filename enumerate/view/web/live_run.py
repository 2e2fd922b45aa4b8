"""Runs by name, each in its current state, read again while a search may write to it, and never loaded whole.

Records never change, so each is read once. New ones can appear: they are listed again, at most once a second.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any, TypeVar
from urllib.parse import quote

from ...catalog.reader import Run, plan_of
from ...catalog.status import state_of
from ...kernels import NOWHERE
from ...ledger.layout import MANIFEST, start_of
from ...ledger.parts import COUNTED
from ...ledger.records import JobProgress, read_record
from ...ledger.storage import is_url, open_storage
from ...model.errors import BadRequest, Damaged
from ...model.jobs import SliceResult, have_starts
from ...model.program import program

FRESH_SECONDS = 1.0  # a listing of the records is used for so long
KEPT_RECORDS = 50_000
ATTEMPTS, PAUSE = 4, 0.05  # a short slice may be superseded between the listing and the reading

Result = TypeVar("Result")


class NotFound(BadRequest):
    """There is nothing at this address."""


def path_of(name: str) -> str:
    return f"/runs/{quote(name, safe='')}"


class Snapshot:
    """A run at one moment, with the records of that moment."""

    def __init__(self, name: str, run: Run) -> None:
        self.name, self.path = name, path_of(name)
        self.run = run
        self.jobs = run.progress  # read at once: a damaged run has no snapshot

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the summary, one for each start square."""
        return list(self.run.summary().to_pylist())

    @cached_property
    def totals(self) -> dict[str, Any]:
        return self.run.totals()

    @property
    def has_starts(self) -> bool:
        """Whether each of its jobs has a start square."""
        return have_starts(self.run.plan)

    @property
    def tours(self) -> int:
        return int(self.totals["tours_open"] + self.totals["tours_closed"])

    @property
    def state(self) -> str:
        if self.totals["exhausted"]:
            return "exhausted"
        if self.run.is_complete:
            return "complete"
        if self.run.manifest.epoch and is_url(self.run.storage.output):
            return "unclear"  # the lease of an object store takes seconds to tell
        return state_of(self.run)

    @property
    def stamp(self) -> str:
        """Changes whenever something on the page has changed."""
        slices = sum(job.slices for job in self.jobs)
        return f"{self.run.manifest.id[:8]}-{slices}-{self.totals['iterations']}-{self.state}"

    def results(self, start: int | None) -> Iterator[SliceResult]:
        """The records of one start square, or of all, in the order of the search.

        A start square may have many jobs, and one record may cover several squares; here `before` counts the tours of
        all earlier slices of the square.
        """
        for square, jobs in self._jobs_of_squares.items():
            if start in (None, square):
                yield from self._results_of(square, jobs)

    @cached_property
    def _jobs_of_squares(self) -> dict[int, list[JobProgress]]:
        """The jobs with tours from each start square, in the order of squares if they are expanded.

        Those without a start square stand under `NOWHERE`.
        """
        found: dict[int, list[JobProgress]] = {}
        for progress in self.jobs:
            start = progress.job.prefix[0] if progress.job.prefix else NOWHERE
            for square in self.run.board.images_of(start) if self.run.config.expand else [start]:
                found.setdefault(square, []).append(progress)
        return dict(sorted(found.items())) if self.run.config.expand else found

    def _results_of(self, square: int, jobs: list[JobProgress]) -> Iterator[SliceResult]:
        name = "" if square == NOWHERE else self.run.board.name(square)
        tours_open = tours_closed = 0
        for progress in jobs:
            squares = progress.job.multiplicity if self.run.config.expand else 1
            for result in self.run.records(progress):
                share = replace(
                    result,
                    **{kind: getattr(result, kind) // squares for kind in COUNTED},
                    before=replace(result.before, tours_open=tours_open, tours_closed=tours_closed),
                    parts=tuple(part for part in result.parts if start_of(part.name) == name),
                )
                tours_open, tours_closed = tours_open + share.tours_open, tours_closed + share.tours_closed
                yield share


class LiveRun:
    def __init__(self, output: str, fresh_seconds: float = FRESH_SECONDS) -> None:
        self.output, self.name, self.fresh_seconds = output, name_of(output), fresh_seconds
        self._lock = Lock()
        storage = open_storage(output)
        self._plan = lru_cache(maxsize=1)(partial(plan_of, storage))
        self._record = lru_cache(maxsize=KEPT_RECORDS)(partial(read_record, storage))
        self._latest: Snapshot | None = None
        self._read_at = 0.0

    def look(self, view: Callable[[Snapshot], Result]) -> Result:
        """The result of `view` for the current run; repeated if a running search has replaced a file meanwhile."""
        for attempt in range(ATTEMPTS - 1):
            try:
                return view(self._now(again=attempt > 0))
            except Damaged:
                sleep(PAUSE)
        return view(self._now(again=True))

    def _now(self, again: bool) -> Snapshot:
        with self._lock:
            if self._latest is None or again or monotonic() - self._read_at > self.fresh_seconds:
                self._latest = self._read(self._latest)
                self._read_at = monotonic()
            return self._latest

    def _read(self, before: Snapshot | None) -> Snapshot:
        run = self._open()
        if before is None or before.run.manifest != run.manifest:
            self._record.cache_clear()  # it may have been started over
        elif before.run.record_lists == run.record_lists:
            return before
        return Snapshot(self.name, run)

    def _open(self) -> Run:
        try:
            return Run(self.output, lambda _, name: self._record(name), lambda _, config: self._plan(config))
        except BadRequest as error:
            raise NotFound(str(error)) from None


class Library:
    """One run, or those in a folder; `output` is either, or None. Nothing else can be reached through it: a name is
    looked up in a listing and never made into a path.
    """

    def __init__(self, output: str | None, fresh_seconds: float = FRESH_SECONDS) -> None:
        self.output = output
        self.is_run = output is not None and _is_run(output)
        self._open = cache(partial(LiveRun, fresh_seconds=fresh_seconds))
        if output is not None and not self.runs():
            make = f"{program()} --variant closed --size 8 --max 500000"
            raise BadRequest(f"not a run (no {MANIFEST}) and not a folder of runs: {output!r}; make one: {make}")

    def runs(self) -> list[LiveRun]:
        """All of them, by name, each opened once and kept."""
        if self.output is None:
            return []
        if self.is_run:
            return [self._open(self.output)]
        found = () if is_url(self.output) else Path(self.output).glob(f"*/{MANIFEST}")
        names = sorted(path.relative_to(self.output).parts[0] for path in found)
        return [self._open(os.path.join(self.output, name)) for name in names]

    def run(self, name: str) -> LiveRun:
        for run in self.runs():
            if run.name == name:
                return run
        raise NotFound(f"no such run: {name!r}")


def _is_run(output: str) -> bool:
    try:
        return open_storage(output).exists(MANIFEST)
    except OSError as error:
        raise BadRequest(f"cannot read {output!r} ({error.strerror or error})") from None


def name_of(output: str) -> str:
    """The last word of a path or an address."""
    path = output.rstrip("/") if is_url(output) else os.path.abspath(output)
    return path.rpartition("/")[2] or "run"
