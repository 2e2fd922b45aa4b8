"""How a call ended: the summary of the whole run, what this call did, and how it compares with the literature.

Which numbers can be compared follows from what was searched. With N squares, P directed tours and C undirected closed
ones: from all squares there are P tours, of which 2NC are closed; from one square exactly 2C are closed; `--start once`
finds each of the C once. `docs/conventions.md` explains why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ..executors.events import Event, Finished, LeftOut, Lost, Quarantined
from ..ledger.summary import totals_of
from ..model.board import Board
from ..model.config import Config
from ..model.jobs import Slice, SliceResult
from ..model.literature import published, published_from, published_tours
from ..search.strategy import strategy_of

SliceEvent = Event[Slice, SliceResult]


@dataclass(frozen=True)
class Comparison:
    """One number of a run beside the published one."""

    what: str
    counted: int
    published: int
    source: str

    @property
    def agrees(self) -> bool:
        return self.counted == self.published

    @property
    def line(self) -> str:
        if self.agrees:
            return f"{self.counted:,} {self.what} = {self.source}"
        return f"{self.counted:,} {self.what}, but {self.source} has {self.published:,}"


@dataclass
class Report:
    """Filled in while a call works; `summary` is of the whole run."""

    config: Config
    summary: pa.Table = field(init=False)  # there when the call has ended
    worked: bool = False
    complete: bool = True
    interrupted: bool = False
    seconds: float = 0.0
    tours: int = 0
    iterations: int = 0
    nodes: set[str] = field(default_factory=set)  # that finished a slice
    slots: set[int] = field(default_factory=set)
    retried: set[tuple[int, int]] = field(default_factory=set)  # job and number of slices
    quarantined: list[Quarantined[Slice]] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)  # with published counts

    @property
    def totals(self) -> dict[str, Any]:
        """The sums of the summary."""
        return totals_of(self.summary)

    def add(self, event: SliceEvent) -> None:
        """Count who worked and what went wrong."""
        if isinstance(event, Finished):
            self.nodes.add(event.node)
            self.slots.add(event.slot)
        elif isinstance(event, Lost):
            self.retried.add(event.task.key)
        elif isinstance(event, Quarantined):
            self.quarantined.append(event)
        elif isinstance(event, LeftOut):
            self.left_out.append(event)


def reconcile(config: Config, summary: pa.Table) -> list[Comparison]:
    """All comparisons that can be made; none unless the run has found everything it was asked for."""
    rows = summary.to_pylist()
    if not (strategy_of(config).is_complete and all(row["exhausted"] for row in rows)) or config.only:
        return []
    tours_open, tours_closed = (sum(row["multiplicity"] * row[name] for row in rows)
                                for name in ("tours_open", "tours_closed"))  # fmt: skip
    if config.start == "once":
        return list(_cycles(config.board, tours_closed, 1))
    if config.start in ("all", "classes"):
        return list(_whole_board(config, tours_open, tours_closed))
    # Every square has the same number of closed tours: reported once.
    return list(dict.fromkeys(each for row in rows for each in _from_one(config, row)))


def _whole_board(config: Config, tours_open: int, tours_closed: int) -> Iterator[Comparison]:
    known = published_tours(config.board, config.variant)
    if config.variant != "closed" and known:
        what = "directed tours" if config.variant == "both" else "directed open tours"
        yield Comparison(what, tours_open + tours_closed, known.count, known.source)
    if config.variant != "open":
        yield from _cycles(config.board, tours_closed, 2 * config.board.length)


def _cycles(board: Board, tours: int, times: int) -> Iterator[Comparison]:
    """Closed tours, of which each was found so many times."""
    cycles = published(board, "cycles")
    if cycles and tours % times == 0:
        yield Comparison("undirected closed tours", tours // times, cycles.count, cycles.source)
    elif cycles:
        yield Comparison("directed closed tours", tours, cycles.count * times, cycles.source)


def _from_one(config: Config, row: dict[str, Any]) -> Iterator[Comparison]:
    """Tours from one start square."""
    paths = published_from(config.board, config.board.square(row["start"]))
    if config.variant == "both" and paths:
        yield Comparison(f"directed tours from {row['start']}", row["tours_open"] + row["tours_closed"],
                         paths.count, paths.source)  # fmt: skip
    if config.variant != "open":
        yield from _cycles(config.board, row["tours_closed"], 2)
