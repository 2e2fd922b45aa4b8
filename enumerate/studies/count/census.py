"""The numbers of tours of a board: open and closed, of the whole board or from each square.

Counts are compared with published ones; a difference is an error. Then they are shown, as lines and a table or as one
JSON document.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from ...model.board import Board
from ...model.errors import BadRequest, Damaged
from ...model.literature import Published, published, published_from
from ...model.numbers import mebibytes
from ...model.theorems import why_no_closed_tour, why_no_tour
from ...view.terminal import text_table
from .counting import Effort, cost, count_cycles, count_from, count_paths


@dataclass(frozen=True)
class Figure:
    """One number, what it counts, and the source of the published number that agrees."""

    what: str
    unit: str
    count: int
    published: str | None = None


@dataclass(frozen=True)
class Start:
    """The directed tours that start on a square, and the number of squares it stands for."""

    start: str
    squares: int
    open: int
    closed: int
    published: str | None = None


@dataclass
class Census:
    """The counts, of the whole board and from squares."""

    board: Board
    variant: str
    figures: list[Figure]
    starts: list[Start]
    effort: Effort
    seconds: float

    @property
    def why_none(self) -> str | None:
        return why_no_tour(self.board) or (why_no_closed_tour(self.board) if self.variant == "closed" else None)


def problems(board: Board, variant: str, starts: Mapping[int, int]) -> list[tuple[str, int]]:
    """What to count: cycles, paths, or paths from a square of each class of squares."""
    wanted = [] if why_no_tour(board) or why_no_closed_tour(board) else [("cycles", -1)]
    if variant == "closed" or why_no_tour(board):
        return wanted
    classes = sorted({min(board.images_of(square)) for square in starts})
    return wanted + ([("from", square) for square in classes] or [("paths", -1)])


def chosen_starts(board: Board, start: str) -> dict[int, int]:
    """The requested squares and how many each stands for: all, classes, or names; none for an empty text."""
    if start in ("all", "classes"):
        return board.classes if start == "classes" else dict.fromkeys(range(board.squares), 1)
    return dict.fromkeys(map(board.square, start.split(",")), 1) if start else {}


def refuse_unreachable(board: Board, wanted: list[tuple[str, int]], memory: int) -> None:
    needs, what = max(((cost(board, what), what) for what, _ in wanted), default=(None, ""))
    if needs is None or needs.bytes <= memory:
        return
    known = published(board, "cycles" if what == "cycles" else "paths") if what != "from" else None
    hint = f"; published: {known.count:,} ({known.source})" if known else ""
    tours = "closed tours" if what == "cycles" else "tours"
    limit = f"more than the limit of {memory / 2**30:.1f} GiB; use a smaller board or --memory"
    raise BadRequest(f"counting the {tours} of {board} takes {needs}, {limit}{hint}")


def take_census(board: Board, variant: str, starts: Mapping[int, int], effort: Effort) -> Census:
    """Count. `starts` are the requested squares and how many each stands for; none means the whole board."""
    sys.set_int_max_str_digits(0)  # a count may have more digits than Python prints by itself
    wanted = problems(board, variant, starts)
    refuse_unreachable(board, wanted, effort.memory)
    began, figures, paths = time.perf_counter(), list[Figure](), None
    cycles = count_cycles(board, effort)
    source = _agreeing(board, "cycles", cycles, published(board, "cycles"))
    if variant != "closed" and not starts:
        paths = count_paths(board, effort)
    found = {square: count_from(board, square, effort) for what, square in wanted if what == "from"}
    each = [_start(board, variant, cycles, found, square, squares) for square, squares in starts.items()]
    if variant != "closed" and sum(starts.values()) == board.length:
        paths = sum(start.squares * (start.open + start.closed) for start in each)
    if paths is not None:
        figures += _path_figures(board, paths, cycles)[variant == "open" :]
    if variant != "open":
        figures.append(Figure("closed tours", "undirected cycles", cycles, source))
    return Census(board, variant, figures, each, effort, time.perf_counter() - began)


def _start(board: Board, variant: str, cycles: int, found: Mapping[int, int], square: int, squares: int) -> Start:
    if variant == "closed":
        return Start(board.name(square), squares, 0, 2 * cycles)
    paths = found.get(min(board.images_of(square)), 0)
    closed = 2 * cycles if paths else 0
    source = _agreeing(board, f"paths from {board.name(square)}", paths, published_from(board, square))
    return Start(board.name(square), squares, paths - closed, closed, source)


def _path_figures(board: Board, paths: int, cycles: int) -> list[Figure]:
    open_ends = paths - 2 * board.length * cycles
    return [
        Figure("tours", "directed paths", paths, _agreeing(board, "paths", paths, published(board, "paths"))),
        Figure("open tours", "directed", open_ends),
        Figure("open tours", "undirected", (open_ends + 1) // 2),  # the tour of 1x1 has no direction
    ]


def _agreeing(board: Board, what: str, count: int, known: Published | None) -> str | None:
    """The source of the published number, if there is one; another number is an error."""
    if known and count != known.count:
        both = f"counted {count:,}, published {known.count:,} ({known.source})"
        raise Damaged(f"{what} of {board}: {both}")
    return known.source if known else None


# ---------------------------------------------------------------------------------------------------------------------
# A census to read.


def census_view(census: Census, quiet: bool = False) -> Group:
    last = census.why_none or ("" if quiet else _effort_line(census))
    lines = map(Text, [*_figure_lines(census), *filter(None, [last])])
    return Group(*([_starts_view(census)] if census.starts else []), *lines)


def _figure_lines(census: Census) -> list[str]:
    board = f"{census.board}{'' if census.board.missing is None else ' without its last corner'}"
    rows = [(f"{each.what} of {board}", f"{each.count:,}", each.unit + _source(each)) for each in census.figures]
    name_width, count_width = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))
    return [f"{name:{name_width}}  {count:>{count_width}}  {rest}" for name, count, rest in rows]


def _starts_view(census: Census) -> Table:
    shown = ["squares", *(["open", "closed", "both"] if census.variant == "both" else [census.variant])]
    table = text_table({"start": False, **dict.fromkeys(shown, True), "": False})
    for start in census.starts:
        counts = asdict(start) | {"both": start.open + start.closed}
        table.add_row(start.start, *(f"{counts[column]:,}" for column in shown), _source(start))
    return table


def _source(what: Figure | Start) -> str:
    return f" = {what.published}" if what.published else ""


def _effort_line(census: Census) -> str:
    effort = census.effort
    states = f"{effort.states:,} states in all, {effort.peak_states:,} at a time"
    return f"{census.seconds:.2f} s, {states}, in {mebibytes(effort.peak_bytes)}"


def census_json(census: Census) -> dict[str, Any]:
    """All numbers as one JSON document: `paths` are directed, `cycles` undirected, None is not counted."""
    board, effort = census.board, census.effort
    return {
        "size": str(board),
        "missing": None if board.missing is None else board.name(board.missing),
        "variant": census.variant,
        "none_because": census.why_none,
        "figures": list(map(asdict, census.figures)),
        "starts": list(map(asdict, census.starts)),
        "seconds": census.seconds,
        **{name: getattr(effort, name) for name in ("states", "peak_states", "peak_bytes")},
    }
