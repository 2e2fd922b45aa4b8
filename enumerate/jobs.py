"""All that crosses a process boundary: jobs, slices of them, and the results of slices. Plain values, no behaviour.

A job is a start square (or a longer path to begin with) and is worked off in slices. A slice is so many iterations or
tours, whichever comes first, and begins at a cursor: the path whose last square is placed next. The same slice always
gives the same result, whoever works on it.
"""

from __future__ import annotations

from dataclasses import dataclass

Cursor = tuple[int, ...]

# Why a slice ended.
EXHAUSTED = "exhausted"  # nothing is left to search: the job is finished for good
FULL = "full"  # the slice had its iterations or tours; the next one begins at its cursor
BUDGET = "budget"  # the budget of the job ended in the middle of the slice; a larger budget does the slice again


@dataclass(frozen=True)
class Job:
    """One unit of the plan: the tours that begin with `prefix`."""

    number: int
    prefix: Cursor
    multiplicity: int = 1
    hopeless: str | None = None  # why no tour can be found here, known without a search

    @property
    def start(self) -> int:
        return self.prefix[0]


@dataclass(frozen=True)
class Slice:
    """What a worker is asked to do: `cursor` on, for so many iterations and tours at the most."""

    job: Job
    number: int
    cursor: Cursor
    iterations_before: int
    tours_before: int
    max_iterations: int
    max_tours: int
    full_iterations: int  # what the slice could have if the budget did not end in it
    full_tours: int
    replaces: bool = False  # the slice was committed under a smaller budget and is done again


@dataclass(frozen=True)
class Part:
    """One Parquet file as it was published."""

    variant: str
    name: str
    tours: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class SliceResult:
    """What a slice found, where its tours are, and where the next slice begins: the content of a commit record."""

    job: int
    slice: int
    start: str
    ended: str
    cursor: Cursor
    iterations_before: int
    tours_before: int
    iterations: int
    dead_ends: int
    tours_open: int
    tours_closed: int
    first_iteration: int | None
    first_seconds: float | None
    search_seconds: float
    write_seconds: float
    parts: tuple[Part, ...]

    @property
    def tours(self) -> int:
        return self.tours_open + self.tours_closed
