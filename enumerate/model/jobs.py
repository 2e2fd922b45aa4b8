"""All that crosses a process boundary: jobs, slices of them, and the results of slices. Plain values, no behaviour.

A job is a start square and a prefix, and is done in slices. A slice ends after so many iterations or tours, whichever
comes first. It begins at a cursor: the path whose last square is placed next, or whatever else its strategy needs to
continue; its first square is the start square. The same slice always gives the same result, whichever worker does it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property

from .board import Board

Cursor = tuple[int, ...]

# Why a slice ended.
EXHAUSTED = "exhausted"  # nothing is left to search: the job is finished for good
FULL = "full"  # the slice had its iterations or tours; the next one begins at its cursor
BUDGET = "budget"  # the budget of the job ended in the middle of the slice; a larger budget does the slice again


@dataclass(frozen=True)
class Job:
    """One unit of the plan: the tours that begin with `prefix`, which is empty if the job has no start square."""

    number: int
    prefix: Cursor
    multiplicity: int = 1
    infeasible: str | None = None  # why no tour can be found here, known without a search
    nth: int = 0  # of the jobs that share the budget of their start square
    of: int = 1

    @property
    def start(self) -> int:
        return self.prefix[0]

    @property
    def group(self) -> Cursor:
        """Jobs of one start square share a budget and a row of the summary; a job without one is a group of its own."""
        return self.prefix[:1] or (-1, self.number)

    def start_name(self, board: Board) -> str:
        """Empty if the job has no start square."""
        return board.name(self.start) if self.prefix else ""

    def share_of(self, budget: int) -> int:
        """What this job has of its start square's budget. A larger budget never gives less."""
        return budget // self.of + (self.nth < budget % self.of)


def have_starts(jobs: Iterable[Job]) -> bool:
    """Whether each has a start square, and so each start square a row of the summary; else each job has one."""
    return all(job.prefix for job in jobs)


# What parts hold beside the variants of tours.
TIMES = "times"


@dataclass(frozen=True)
class Part:
    """One Parquet file as it was published."""

    holds: str  # open or closed tours, or times
    name: str
    rows: int
    bytes: int
    sha256: str
    content: str = ""  # the checksum of its tours, see `ledger.parts.Content`; other parts have none


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What is added up over the slices of a job. Kinds of symmetry are those of `tour.SYMMETRIES`."""

    iterations: int = 0
    dead_ends: int = 0
    tours_open: int = 0
    tours_closed: int = 0
    structured: int = 0
    path_180: int = 0
    closed_180: int = 0
    closed_90: int = 0
    closed_reflection: int = 0
    left_out: int = 0  # tours that were found, but not of the kind that is kept
    given_up: int = 0  # tours that were begun and not found
    search_seconds: float = 0.0
    write_seconds: float = 0.0

    @property
    def tours(self) -> int:
        return self.tours_open + self.tours_closed

    @property
    def attempts(self) -> int:
        """What counts against a budget of tours."""
        return self.tours + self.given_up


@dataclass(frozen=True, kw_only=True)
class Totals(Counts):
    """Sums over the slices of a job, from its first one on."""

    first_iteration: int | None = None
    first_seconds: float | None = None
    parts: int = 0
    bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class SliceResult(Counts):
    """What a slice found, where its tours are, and where the next slice begins: the content of a commit record.

    It carries the sums of the slices before it, so that the last record of a job has its totals.
    """

    job: int
    slice: int
    start: str
    ended: str
    before: Totals
    began: Cursor
    cursor: Cursor
    first_iteration: int | None
    first_seconds: float | None
    parts: tuple[Part, ...]

    @property
    def tour_parts(self) -> tuple[Part, ...]:
        """The parts that are the same whoever writes them."""
        return tuple(part for part in self.parts if part.holds != TIMES)

    @property
    def content(self) -> tuple[tuple[str, int, str], ...]:
        """What is the same whoever writes it, also with another pyarrow."""
        return tuple((part.name, part.rows, part.content) for part in self.tour_parts)

    @property
    def cut(self) -> int | None:
        """After how many iterations the budget cut the slice short; None for a whole one."""
        return self.iterations if self.ended == BUDGET else None

    @cached_property
    def total(self) -> Totals:
        """The sums up to the end of this slice."""
        before, first_iteration, first_seconds = self.before, self.before.first_iteration, self.before.first_seconds
        if first_iteration is None and self.first_seconds is not None:
            first_iteration, first_seconds = self.first_iteration, before.search_seconds + self.first_seconds
        return Totals(
            **{each.name: getattr(before, each.name) + getattr(self, each.name) for each in fields(Counts)},
            first_iteration=first_iteration,
            first_seconds=first_seconds,
            parts=before.parts + len(self.parts),
            bytes=before.bytes + sum(part.bytes for part in self.parts),
        )


@dataclass(frozen=True)
class Slice:
    """What a worker is asked to do: `cursor` on, for so many iterations and tours at the most."""

    job: Job
    number: int
    start: str  # the name of its start square; empty if it has none
    cursor: Cursor
    before: Totals
    max_iterations: int
    max_tours: int
    full_iterations: int  # what the slice could have if the budget did not end in it
    full_tours: int
    supersedes: SliceResult | None = None  # the same slice, cut short by a smaller budget

    @property
    def key(self) -> tuple[int, int]:
        return self.job.number, self.number

    @property
    def label(self) -> str:
        return f"slice {self.number} of {self.start or f'job {self.job.number}'}"
