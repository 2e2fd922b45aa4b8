"""What a user wants to know of a board: how many tours it has, of which kind, and from which squares.

Counts are compared with what others have published; a difference is an error of ours, and a loud one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...model.board import Board
from ...model.errors import BadRequest, Damaged
from ...model.literature import Published, published, published_from
from ...model.theorems import why_no_closed_tour, why_no_tour
from .counting import Effort, count_cycles, count_from, count_paths
from .reach import cost


@dataclass(frozen=True)
class Figure:
    """One number, what it counts, and the published one that it agrees with."""

    what: str
    count: int
    unit: str
    source: str = ""


@dataclass(frozen=True)
class Start:
    """The directed tours that begin on a square, and how many squares it stands for."""

    square: int
    squares: int
    paths: int
    source: str = ""


@dataclass
class Census:
    """What was counted. `cycles` and `paths` are None where nobody asked."""

    board: Board
    variant: str
    cycles: int | None = None
    paths: int | None = None
    starts: list[Start] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    effort: Effort = field(default_factory=Effort)
    seconds: float = 0.0

    @property
    def why_none(self) -> str | None:
        """Why there are no such tours, if a theorem says so."""
        closed = why_no_closed_tour(self.board) if self.variant == "closed" else None
        return why_no_tour(self.board) or closed

    @property
    def figures(self) -> list[Figure]:
        """The numbers of the whole board."""
        found = []
        if self.paths is not None and self.cycles is not None:
            open_ends = self.paths - 2 * self.board.length * self.cycles
            if self.variant == "both":
                found.append(Figure("tours", self.paths, "directed paths", self.sources.get("paths", "")))
            found.append(Figure("open tours", open_ends, "directed"))
            found.append(Figure("open tours", (open_ends + 1) // 2, "undirected"))  # the one of 1x1 has no direction
        if self.cycles is not None and self.variant != "open":
            found.append(Figure("closed tours", self.cycles, "undirected cycles", self.sources.get("cycles", "")))
        return found


def problems(board: Board, variant: str, starts: Mapping[int, int]) -> list[tuple[str, int]]:
    """What must be counted: cycles, paths, or paths from a square, one for each class of squares."""
    wanted = [] if why_no_tour(board) or why_no_closed_tour(board) else [("cycles", -1)]
    if variant == "closed" or why_no_tour(board):
        return wanted
    classes = sorted({class_of(board, square) for square in starts})
    return wanted + ([("from", square) for square in classes] or [("paths", -1)])


def chosen_starts(board: Board, start: str) -> dict[int, int]:
    """The squares asked for and how many each stands for: all, classes, or names. Nothing asked for is no square."""
    if start in ("all", "classes"):
        return board.classes if start == "classes" else dict.fromkeys(range(board.squares), 1)
    return dict.fromkeys(map(board.square, start.split(",")), 1) if start else {}


def class_of(board: Board, square: int) -> int:
    """The square that stands for all that are alike."""
    return min(symmetry[square] for symmetry in board.symmetries)


def refuse_unreachable(board: Board, wanted: list[tuple[str, int]], memory: int) -> None:
    """Say before memory is spent that it will not suffice."""
    needs, what = max(((cost(board, what), what) for what, _ in wanted), default=(None, ""))
    if needs is None or needs.bytes <= memory:
        return
    known = published(board, "cycles" if what == "cycles" else "paths") if what != "from" else None
    hint = f"; {known.count:,} are published ({known.source})" if known else ""
    raise BadRequest(
        f"counting the {'closed ' * (what == 'cycles')}tours of {board} takes {needs}, and {memory / 2**30:.1f} GiB are"
        f" allowed; use a smaller board or --memory{hint}"
    )


def take_census(board: Board, variant: str, starts: Mapping[int, int], effort: Effort) -> Census:
    """Count. `starts` are the squares asked for and how many each stands for; none means the whole board."""
    wanted = problems(board, variant, starts)
    refuse_unreachable(board, wanted, effort.memory)
    began, census = time.perf_counter(), Census(board, variant, effort=effort)
    census.cycles = count_cycles(board, effort)
    _compare(census, "cycles", census.cycles, published(board, "cycles"))
    if variant != "closed" and not starts:
        census.paths = count_paths(board, effort)
    found = {square: count_from(board, square, effort) for what, square in wanted if what == "from"}
    for square, squares in starts.items():
        paths = found.get(class_of(board, square), 0) if variant != "closed" else 2 * census.cycles
        known = published_from(board, square) if variant != "closed" else None
        source = _compare(census, f"paths from {board.name(square)}", paths, known)
        census.starts.append(Start(square, squares, paths, source))
    if variant != "closed" and sum(starts.values()) == board.squares:
        census.paths = sum(start.squares * start.paths for start in census.starts)
    if census.paths is not None:
        _compare(census, "paths", census.paths, published(board, "paths"))
    census.seconds = time.perf_counter() - began
    return census


def _compare(census: Census, what: str, count: int, known: Published | None) -> str:
    """The source that agrees, if there is one."""
    if known is None:
        return ""
    if count != known.count:
        raise Damaged(
            f"{what} of {census.board}: counted {count:,}, but published are {known.count:,} ({known.source})"
        )
    census.sources[what] = known.source
    return known.source
