"""How many tours of a slice are of a wanted kind, and which.

The records count the kinds of tours of each slice, so that nearly always the answer is known without reading a part.
Only where they do not tell (structured *and* symmetric tours, or structured open ones of a slice with closed ones too)
the columns of kinds are read, without the tours, and what they say is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...catalog.reader import Run
from ...model.jobs import Part, SliceResult
from ...model.tour import SYMMETRIES

SYMMETRIC = "symmetric"  # in whatever way


@dataclass(frozen=True)
class Wanted:
    """A kind of tours; an empty word means any."""

    start: str = ""
    variant: str = ""
    structured: str = ""  # yes or no
    symmetry: str = ""  # symmetric, or one of SYMMETRIES

    @property
    def codes(self) -> tuple[int, ...]:
        """The places in SYMMETRIES that are wanted."""
        if self.symmetry == SYMMETRIC:
            return tuple(range(1, len(SYMMETRIES)))
        return (SYMMETRIES.index(self.symmetry),) if self.symmetry else tuple(range(len(SYMMETRIES)))


def wanted_parts(wanted: Wanted, result: SliceResult) -> list[Part]:
    return [part for part in result.tour_parts if wanted.variant in ("", part.kind)]


def count_in_slice(run: Run, wanted: Wanted, result: SliceResult) -> int:
    """How many tours of a slice are wanted."""
    parts = wanted_parts(wanted, result)
    known = _from_record(wanted, parts, result)
    return sum(count_in_part(run, wanted, part, result) for part in parts) if known is None else known


def count_in_part(run: Run, wanted: Wanted, part: Part, result: SliceResult) -> int:
    known = _from_record(wanted, [part], result)
    if known is not None:
        return known
    others = [other for other in result.tour_parts if other != part]
    if not wanted.symmetry and others and others[0].rows < part.rows:  # then the smaller part tells as much
        in_all = result.structured if wanted.structured == "yes" else _rows(result.tour_parts) - result.structured
        return in_all - _count(_Source(run, others[0]), wanted.structured, wanted.codes)
    return _count(_Source(run, part), wanted.structured, wanted.codes)


def matching_rows(run: Run, wanted: Wanted, part: Part) -> NDArray[np.int32]:
    """The places in a part of the tours that are wanted."""
    return _matching_rows(_Source(run, part), wanted.structured, wanted.codes)


def _from_record(wanted: Wanted, parts: Sequence[Part], result: SliceResult) -> int | None:
    """How many tours of some parts of a slice are wanted, if the record tells."""
    symmetric = sum(_symmetric(wanted, part, result) for part in parts)
    if not wanted.structured or symmetric == 0:
        return symmetric
    if len(parts) < len(result.tour_parts) and 0 < result.structured < _rows(result.tour_parts):
        return None
    structured = min(result.structured, _rows(parts))  # if not all parts are asked for, it is none or all
    count = structured if wanted.structured == "yes" else _rows(parts) - structured
    if count in (0, _rows(parts)):
        return min(count, symmetric)
    return count if symmetric == _rows(parts) else None


def _rows(parts: Sequence[Part]) -> int:
    return sum(part.rows for part in parts)


def _symmetric(wanted: Wanted, part: Part, result: SliceResult) -> int:
    """How many tours of a part are symmetric as wanted: open and closed tours are so in ways of their own."""
    kinds = [name for name in SYMMETRIES[1:] if name.startswith("closed") == (part.kind == "closed")]
    counts = {name: getattr(result, name.replace("-", "_")) for name in kinds}
    counts[SYMMETRIES[0]] = part.rows - sum(counts.values())
    return sum(counts.get(SYMMETRIES[code], 0) for code in wanted.codes)


@dataclass(frozen=True, eq=False)
class _Source:
    """A part of a run; for a cache it is the same if its content is."""

    run: Run
    part: Part

    def __hash__(self) -> int:
        return hash(self.part.sha256)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Source) and self.part.sha256 == other.part.sha256


@lru_cache(maxsize=50_000)
def _count(source: _Source, structured: str, codes: tuple[int, ...]) -> int:
    return len(_matching_rows(source, structured, codes))


@lru_cache(maxsize=16)  # of two megabytes at the most
def _matching_rows(source: _Source, structured: str, codes: tuple[int, ...]) -> NDArray[np.int32]:
    mask = np.ones(source.part.rows, dtype=np.bool_)
    if structured:
        mask &= source.run.structured(source.part) == (structured == "yes")
    if len(codes) < len(SYMMETRIES):
        mask &= np.isin(source.run.symmetries(source.part), codes)
    return np.flatnonzero(mask).astype(np.int32)
