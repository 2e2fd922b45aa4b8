"""Selected tours of a run, as pages: only the row groups of a page are read.

The records count the kinds of tours of each slice, so nearly always they show how many tours are wanted, and no part is
read. Only where they do not (structured *and* symmetric tours, or structured open ones of a slice with closed ones too)
the columns of kinds are read, without the tours, and the counts are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...catalog.reader import Run
from ...model.errors import BadRequest
from ...model.jobs import Part, SliceResult
from ...model.tour import SYMMETRIES
from ...model.values import in_range
from ..export import Exported, facts
from .live_run import Snapshot
from .pages import SYMMETRIC, Query


@dataclass(frozen=True, kw_only=True)
class Found(Exported):
    """A tour of a selection."""

    position: int  # among the tours of its start square and variant, from 1; stays the same while a run grows


class Selection:
    """The wanted tours of a run at one moment, start square by start square, in the order in which they were found."""

    def __init__(self, snapshot: Snapshot, query: Query) -> None:
        self.run, self.query = snapshot.run, query
        several = {"": SYMMETRIES, SYMMETRIC: SYMMETRIES[1:]}
        self.symmetries = several.get(query.symmetry, (query.symmetry,))
        start = self.run.board.square(query.start) if query.start else None
        counts = [(result, count) for result in snapshot.results(start) if (count := self._count(result))]
        self.slices = [result for result, _ in counts]
        self.ends = np.cumsum([0, *(count for _, count in counts)], dtype=np.int64)  # the first is where they begin

    def __len__(self) -> int:
        return int(self.ends[-1])

    def page(self, first: int, count: int) -> list[Found]:
        """Tours `first`, `first + 1`, ..., counted from 0 in the order in which they were found, or from the last."""
        total = len(self)
        numbers = range(first, min(first + count, total))
        if self.query.sort == "first":
            return list(self._found(numbers))
        turned = list(self._found(range(total - numbers.stop, total - numbers.start)))[::-1]
        return [replace(found, number=total + 1 - found.number) for found in turned]

    def one(self) -> Found:
        """The tour with the number of the query."""
        if not len(self):
            raise BadRequest("the run has no such tours")
        in_range("number", self.query.number, 1, len(self))
        return self.page(self.query.number - 1, 1)[0]

    def _count(self, result: SliceResult) -> int:
        parts = self._parts(result)
        known = self._known(parts, result)
        return sum(_count(self._kinds(part)) for part in parts) if known is None else known

    def _known(self, parts: Sequence[Part], result: SliceResult) -> int | None:
        """How many tours of some parts of a slice are wanted, if the record shows it."""
        rows = sum(part.rows for part in result.tour_parts)
        structured = min(result.structured, rows)  # a run that only counts has no rows
        structured = {"yes": structured, "no": rows - structured}.get(self.query.structured, rows)
        symmetric = sum(self._symmetric(part, result) for part in parts)
        # How many are both is known only if all are one of the two, or none is.
        return min(structured, symmetric) if {structured, symmetric} & {0, rows} else None

    def _parts(self, result: SliceResult) -> list[Part]:
        """Those of a slice that can hold wanted tours."""
        parts = (part for part in result.tour_parts if self.query.variant in ("", part.holds))
        return [part for part in parts if self._symmetric(part, result)]

    def _symmetric(self, part: Part, result: SliceResult) -> int:
        """How many tours of a part have the wanted symmetry: open and closed tours have different ones."""
        if self.symmetries == SYMMETRIES:
            return part.rows
        kinds = [name for name in SYMMETRIES[1:] if name.startswith("closed") == (part.holds == "closed")]
        counts = {name: getattr(result, name.replace("-", "_")) for name in kinds}
        counts[SYMMETRIES[0]] = part.rows - sum(counts.values())
        return sum(counts.get(name, 0) for name in self.symmetries)

    def _kinds(self, part: Part) -> _Kinds:
        return _Kinds(part, self.query.structured, self.symmetries, self.run)

    def _found(self, numbers: range) -> Iterator[Found]:
        """The tours with these numbers, from 0 and ascending."""
        index = int(np.searchsorted(self.ends[1:], numbers.start, side="right"))
        at = int(self.ends[index])
        for result in self.slices[index:]:
            for part in self._parts(result):
                if at >= numbers.stop:
                    return
                whole = self._known([part], result) == part.rows
                rows = np.arange(part.rows) if whole else _matching_rows(self._kinds(part))
                first = max(numbers.start - at, 0)
                if first < len(rows):
                    yield from self._in_part(part, result, rows[first : numbers.stop - at].tolist(), at + first + 1)
                at += len(rows)

    def _in_part(self, part: Part, result: SliceResult, rows: Sequence[int], first: int) -> Iterator[Found]:
        """Some of the wanted tours of a part; `first` is the number of the first of them."""
        before = getattr(result.before, f"tours_{part.holds}")
        batch = self.run.pick(part, rows)
        for index, row in enumerate(rows):
            yield Found(number=first + index, position=before + row + 1, **facts(self.run, batch, index))


@dataclass(frozen=True)
class _Kinds:
    """The wanted tours of a part by their kinds; a cache compares its content and not the run."""

    part: Part
    structured: str
    symmetries: tuple[str, ...]
    run: Run = field(compare=False)


@lru_cache(maxsize=50_000)
def _count(kinds: _Kinds) -> int:
    return len(_matching_rows(kinds))


@lru_cache(maxsize=16)  # of at most two megabytes each
def _matching_rows(kinds: _Kinds) -> NDArray[np.int32]:
    mask = np.ones(kinds.part.rows, dtype=np.bool_)
    if kinds.structured:
        mask &= kinds.run.column(kinds.part, "structured") == (kinds.structured == "yes")
    if kinds.symmetries != SYMMETRIES:
        codes = [SYMMETRIES.index(name) for name in kinds.symmetries]
        mask &= np.isin(kinds.run.column(kinds.part, "symmetry"), codes)
    return np.flatnonzero(mask).astype(np.int32)
