"""The tours of a run that are wanted, as pages: only the row groups that hold a page are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...model.errors import BadRequest
from ...model.jobs import Part, SliceResult
from ...model.tour import SYMMETRIES
from .counting import Wanted, count_in_part, count_in_slice, matching_rows, wanted_parts
from .live_run import Snapshot

SORTS = ("first", "last")  # found


@dataclass(frozen=True)
class Found:
    """One tour and what is known of it."""

    number: int  # in the selection, from 1
    place: int  # among all tours of its start square and variant, from 1: this stays the same while a run grows
    start: str
    variant: str
    squares: list[int]
    iteration: int
    structured: bool
    symmetry: str


@dataclass(frozen=True)
class Stretch:
    """The wanted tours of one slice."""

    result: SliceResult
    before: dict[str, int]  # tours of each variant in earlier slices of its start square
    count: int


class Selection:
    """The wanted tours of a run at one moment, in the order they were found, start square by start square."""

    def __init__(self, snapshot: Snapshot, wanted: Wanted) -> None:
        self.run = snapshot.run
        self.wanted = wanted
        start = self.run.board.square(wanted.start) if wanted.start else None
        self.stretches = [
            Stretch(result, {"open": result.before.tours_open, "closed": result.before.tours_closed}, count)
            for result in snapshot.results(start)
            if (count := count_in_slice(self.run, wanted, result))
        ]
        self.ends = np.cumsum([stretch.count for stretch in self.stretches], dtype=np.int64)

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def page(self, first: int, count: int, sort: str = "first") -> list[Found]:
        """Tours `first`, `first + 1`, ..., counted from 0 in the order they were found, or the other way round."""
        total = len(self)
        numbers = range(max(first, 0), min(first + count, total))
        if sort == "first":
            return list(self._found(numbers))
        turned = list(self._found(range(total - numbers.stop, total - numbers.start)))[::-1]
        return [replace(found, number=total + 1 - found.number) for found in turned]

    def one(self, number: int, sort: str = "first") -> Found:
        if not len(self):
            raise BadRequest("the run has no such tours")
        if not 1 <= number <= len(self):
            raise BadRequest(f"number is from 1 to {len(self):,}, as many tours as there are: {number}")
        return self.page(number - 1, 1, sort)[0]

    def _found(self, numbers: range) -> Iterator[Found]:
        """The tours with these numbers, from 0 and ascending."""
        index = int(np.searchsorted(self.ends, numbers.start, side="right"))
        at = numbers.start
        while at < numbers.stop:
            stretch, end = self.stretches[index], int(self.ends[index])
            until, begin = min(numbers.stop, end), end - stretch.count
            for place, found in enumerate(self._in_stretch(stretch, at - begin, until - begin)):
                yield replace(found, number=at + place + 1)
            at, index = until, index + 1

    def _in_stretch(self, stretch: Stretch, first: int, after: int) -> Iterator[Found]:
        for part in wanted_parts(self.wanted, stretch.result):
            count = count_in_part(self.run, self.wanted, part, stretch.result)
            if first < min(count, after):
                yield from self._in_part(part, stretch, count, first, min(count, after))
            first, after = max(first - count, 0), max(after - count, 0)

    def _in_part(self, part: Part, stretch: Stretch, count: int, first: int, after: int) -> Iterator[Found]:
        rows = list(range(first, after))
        if count < part.rows:
            rows = matching_rows(self.run, self.wanted, part)[first:after].tolist()
        batch = self.run.pick(part, rows)
        for index, row in enumerate(rows):
            yield Found(
                number=0,
                place=stretch.before[part.kind] + row + 1,
                start=stretch.result.start,
                variant=part.kind,
                squares=batch.tours[index].tolist(),
                iteration=int(batch.iterations[index]),
                structured=bool(batch.structured[index]),
                symmetry=SYMMETRIES[batch.symmetry[index]],
            )
