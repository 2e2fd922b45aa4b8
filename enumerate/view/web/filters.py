"""Selected tours of a run, as pages: only the row groups of a page are read.

The records count the kinds of tours of each slice, so nearly always they show how many tours are wanted, and no part is
read. Only where they do not (structured *and* symmetric tours, or structured open ones of a slice with closed ones too)
the columns of kinds are read, without the tours, and the counts are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...catalog.reader import Run
from ...model.errors import BadRequest
from ...model.jobs import Part, SliceResult
from ...model.tour import SYMMETRIES
from ...model.values import in_range
from .live_run import Snapshot

SORTS = ("first", "last")  # found first, or last
SYMMETRIC = "symmetric"  # in any way


@dataclass(frozen=True)
class Wanted:
    """Which tours; an empty word means any."""

    start: str = ""
    variant: str = ""
    structured: str = ""  # yes or no
    symmetry: str = ""  # symmetric, or one of SYMMETRIES

    @property
    def codes(self) -> tuple[int, ...]:
        """The selected indices of SYMMETRIES."""
        if self.symmetry == SYMMETRIC:
            return tuple(range(1, len(SYMMETRIES)))
        return (SYMMETRIES.index(self.symmetry),) if self.symmetry else tuple(range(len(SYMMETRIES)))

    def parts(self, result: SliceResult) -> list[Part]:
        return [part for part in result.tour_parts if self.variant in ("", part.holds)]

    def count(self, parts: Sequence[Part], result: SliceResult) -> int | None:
        """How many tours of some parts of a slice are wanted, if the record shows it."""
        rows, rows_of_slice = (sum(part.rows for part in some) for some in (parts, result.tour_parts))
        symmetric = sum(self._symmetric(part, result) for part in parts)
        if not self.structured or symmetric == 0:
            return symmetric
        if len(parts) < len(result.tour_parts) and 0 < result.structured < rows_of_slice:
            return None
        structured = min(result.structured, rows)  # without all parts, it is none or all
        count = structured if self.structured == "yes" else rows - structured
        if count in (0, rows):
            return min(count, symmetric)
        return count if symmetric == rows else None

    def _symmetric(self, part: Part, result: SliceResult) -> int:
        """How many tours of a part have the wanted symmetry: open and closed tours have different ones."""
        kinds = [name for name in SYMMETRIES[1:] if name.startswith("closed") == (part.holds == "closed")]
        counts = {name: getattr(result, name.replace("-", "_")) for name in kinds}
        counts[SYMMETRIES[0]] = part.rows - sum(counts.values())
        return sum(counts.get(SYMMETRIES[code], 0) for code in self.codes)


@dataclass(frozen=True)
class Found:
    number: int  # in the selection, from 1
    position: int  # among the tours of its start square and variant, from 1; stays the same while a run grows
    start: str
    variant: str
    squares: list[int]
    iteration: int
    structured: bool
    symmetry: str
    columns: dict[str, Any]  # of the strategy

    @property
    def is_closed(self) -> bool:
        return self.variant == "closed"


class Selection:
    """The wanted tours of a run at one moment, start square by start square, in the order in which they were found."""

    def __init__(self, snapshot: Snapshot, wanted: Wanted) -> None:
        self.run, self.wanted = snapshot.run, wanted
        start = self.run.board.square(wanted.start) if wanted.start else None
        results = ((result, self._count(self.wanted.parts(result), result)) for result in snapshot.results(start))
        counts = [(result, count) for result, count in results if count]
        self.slices = [result for result, _ in counts]
        self.ends = np.cumsum([0, *(count for _, count in counts)], dtype=np.int64)  # the first is where they begin

    def __len__(self) -> int:
        return int(self.ends[-1])

    def page(self, first: int, count: int, sort: str = "first") -> list[Found]:
        """Tours `first`, `first + 1`, ..., counted from 0 in the order in which they were found, or from the last."""
        total = len(self)
        numbers = range(max(first, 0), min(first + count, total))
        if sort == "first":
            return list(self._found(numbers))
        turned = list(self._found(range(total - numbers.stop, total - numbers.start)))[::-1]
        return [replace(found, number=total + 1 - found.number) for found in turned]

    def one(self, number: int, sort: str = "first") -> Found:
        if not len(self):
            raise BadRequest("the run has no such tours")
        in_range("number", number, 1, len(self))
        return self.page(number - 1, 1, sort)[0]

    def _count(self, parts: Sequence[Part], result: SliceResult) -> int:
        known = self.wanted.count(parts, result)
        if known is not None:
            return known
        if len(parts) > 1:
            return sum(self._count([part], result) for part in parts)
        return _count(_Source(parts[0].sha256, self.run, parts[0]), self.wanted.structured, self.wanted.codes)

    def _found(self, numbers: range) -> Iterator[Found]:
        """The tours with these numbers, from 0 and ascending."""
        index = int(np.searchsorted(self.ends[1:], numbers.start, side="right"))
        at = int(self.ends[index])
        for result in self.slices[index:]:
            for part in self.wanted.parts(result):
                if at >= numbers.stop:
                    return
                count = self._count([part], result)
                here = range(max(numbers.start - at, 0), min(numbers.stop - at, count))
                if here:
                    yield from self._in_part(part, result, here, at + 1, whole=count == part.rows)
                at += count

    def _in_part(self, part: Part, result: SliceResult, which: range, first: int, whole: bool) -> Iterator[Found]:
        """Some of the selected tours of a part; `first` is the number of the first of all."""
        rows = list(which)
        if not whole:
            source = _Source(part.sha256, self.run, part)
            rows = _matching_rows(source, self.wanted.structured, self.wanted.codes)[which.start : which.stop].tolist()
        before = getattr(result.before, f"tours_{part.holds}")
        batch = self.run.pick(part, rows)
        for index, row in enumerate(rows):
            yield Found(
                number=first + which[index],
                position=before + row + 1,
                start=result.start or self.run.board.name(int(batch.tours[index, 0])),
                variant=part.holds,
                squares=batch.tours[index].tolist(),
                iteration=int(batch.iterations[index]),
                structured=bool(batch.structured[index]),
                symmetry=SYMMETRIES[batch.symmetry[index]],
                columns=self.run.more_of(batch, index),
            )


@dataclass(frozen=True)
class _Source:
    """A part of a run; a cache compares its content only."""

    sha256: str
    run: Run = field(compare=False)
    part: Part = field(compare=False)


@lru_cache(maxsize=50_000)
def _count(source: _Source, structured: str, codes: tuple[int, ...]) -> int:
    return len(_matching_rows(source, structured, codes))


@lru_cache(maxsize=16)  # of at most two megabytes each
def _matching_rows(source: _Source, structured: str, codes: tuple[int, ...]) -> NDArray[np.int32]:
    mask = np.ones(source.part.rows, dtype=np.bool_)
    if structured:
        mask &= source.run.column(source.part, "structured") == (structured == "yes")
    if len(codes) < len(SYMMETRIES):
        mask &= np.isin(source.run.column(source.part, "symmetry"), codes)
    return np.flatnonzero(mask).astype(np.int32)
