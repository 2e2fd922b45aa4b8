"""The overview of a run: its config, its totals, and the heat map of its start squares."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ...model.numbers import plain, short, short_time
from ...model.tour import SYMMETRIES
from ...search.strategy import identity_of, strategy_of
from ..svg import Heat, heat_svg
from .live_run import Snapshot
from .params import MEASURES, Query

MAP_SQUARES = 2_500  # more links than this are too many for a page
TABLE_ROWS = 400

STATES = {
    "exhausted": "exhausted: every tour is found",
    "finished": "finished: the strategy makes no other tours",
    "complete": "complete: every start square has spent its budget",
    "working": "unfinished: a search is running, or was killed",
    "stopped": "unfinished: the same command continues it",
}

Row = dict[str, Any]


def overview(snapshot: Snapshot, query: Query) -> dict[str, Any]:
    """The values of the template."""
    return {
        **described(snapshot, TABLE_ROWS),
        "query": query,
        "path": snapshot.path,
        "measures": MEASURES,
        "heat_map": heat_map(snapshot, query, f"{snapshot.path}/tours"),
        "extent": _extent(snapshot, query),
    }


def described(snapshot: Snapshot, most_rows: int) -> dict[str, Any]:
    """What the overview and the report share, with a table of at most `most_rows` start squares."""
    is_finished = snapshot.state == "exhausted" and not strategy_of(snapshot.run.config).is_complete
    return {
        "name": snapshot.name,
        "snapshot": snapshot,
        "state": STATES["finished" if is_finished else snapshot.state],
        "facts": _facts(snapshot),
        "settings": _settings(snapshot),
        "rows": snapshot.rows[:most_rows],
        "more_rows": max(0, len(snapshot.rows) - most_rows),
    }


def _facts(snapshot: Snapshot) -> list[tuple[str, str]]:
    """The totals as pairs of strings."""
    total = snapshot.totals
    found = [("open tours", total["tours_open"]), ("closed tours", total["tours_closed"])]
    found += [("structured", total["structured"])]
    found += [(f"symmetric: {name}", total[name.replace("-", "_")]) for name in SYMMETRIES[1:]]
    found += [("found and left out", total["left_out"]), ("given up", total["given_up"])]
    pairs = [(name, f"{count:,}") for name, count in found if count]
    pairs += [("iterations", f"{total['iterations']:,}"), ("dead ends", f"{total['dead_ends']:,}")]
    if total["first_iteration"] is not None:
        pairs.append(("first tour", f"after {total['first_iteration']:,} iterations"))
    return [
        *pairs,
        ("search time", short_time(total["search_seconds"])),
        ("parts", f"{total['parts']:,}, {total['bytes']:,} bytes"),
        ("start squares", f"{len(snapshot.rows):,}"),
    ]


def _settings(snapshot: Snapshot) -> list[tuple[str, str]]:
    """The config as pairs of strings."""
    config, manifest = snapshot.run.config, snapshot.run.manifest
    values: dict[str, object] = {**identity_of(config), "max": config.max, "tours": config.tours}
    pairs = [(key, plain(value)) for key, value in values.items() if value != ""]
    return [*pairs, ("created", manifest.created), *((f"version of {key}", v) for key, v in manifest.versions.items())]


def heat_map(snapshot: Snapshot, query: Query, path: str = "") -> Markup | None:
    """The map, with links below `path` if there is one; None if the board is too large."""
    board = snapshot.run.board
    if board.squares > MAP_SQUARES:
        return None
    squares = {row["row"] * board.cols + row["column"]: _heat(row, query, path) for row in snapshot.rows}
    return Markup(heat_svg(board, squares, f"Start squares by {MEASURES[query.by]}"))


def _extent(snapshot: Snapshot, query: Query) -> tuple[str, str] | None:
    """The least and the greatest value of the map as text, if they differ."""
    measured = sorted(pair for row in snapshot.rows if (pair := _measured(row, query.by))[0])
    return (measured[0][1], measured[-1][1]) if measured and measured[0] != measured[-1] else None


def _measured(row: Row, by: str) -> tuple[float, str]:
    """The value of a start square, as a number and as text."""
    if by == "first":
        first = row["first_seconds"]
        return (0.0, "–") if first is None else (first, short_time(first))
    count = row["iterations"] if by == "iterations" else row["tours_open"] + row["tours_closed"]
    return count, short(count)


def _heat(row: Row, query: Query, path: str) -> Heat:
    tours = row["tours_open"] + row["tours_closed"]
    first = row["first_seconds"]
    value, text = _measured(row, query.by)
    when = "none found" if first is None else f"the first after {short_time(first)}"
    label = f"{row['start']}: {tours:,} tours in {row['iterations']:,} iterations, {when}"
    link = query.to(path, start=row["start"], page=1) if path else ""
    return Heat(value, text, label, link, current=row["start"] == query.start)
