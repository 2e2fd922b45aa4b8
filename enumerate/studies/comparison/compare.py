"""Our figures beside published ones, as far as the experiments that give them were made."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from . import published
from .corners import failing_sizes
from .experiment import Row, Tables

_SCHEMA = pa.schema(
    [("source", pa.string()), ("what", pa.string()), ("published", pa.string()), ("ours", pa.string()),
     ("times_as_fast", pa.float64())]
)  # fmt: skip


def comparison(tables: Tables) -> pa.Table:
    rows = [row for name, compare in _COMPARED.items() if name in tables for row in compare(tables)]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def _row(source: str, what: str, theirs: str, ours: str, ratio: float | None = None) -> Row:
    return {"source": source, "what": what, "published": theirs, "ours": ours, "times_as_fast": ratio}


def _one_by_one(tables: Tables) -> Iterator[Row]:
    totals = {row["strategy"]: row for row in tables["tours-totals"].to_pylist()}
    greedy, backtrack = totals["greedy"], totals["backtrack"]
    yield _row(
        "A", f"{greedy['tours']} greedy tours of 8x8 from a8", f"{published.GREEDY_SECONDS} s",
        shown(greedy["seconds"]), greedy["times_as_fast_as_a"],
    )  # fmt: skip
    yield _row(
        "A", "first tour of 8x8 from a8 by backtracking", f"{published.BACKTRACK_SECONDS} s",
        shown(backtrack["seconds"]), backtrack["times_as_fast_as_a"],
    )  # fmt: skip
    yield _row(
        "A", "its placements after the start square", f"{published.BACKTRACK_PLACEMENTS:,}",
        f"{backtrack['placements']:,}",
    )  # fmt: skip
    yield _row("A", "its steps", f"{published.BACKTRACK_STEPS:,}", f"{backtrack['steps']:,}")


def _growth(tables: Tables) -> Iterator[Row]:
    for row in tables["growth-totals"].to_pylist():
        what = f"open tours of 8x8, 500,000 iterations a square{'' if row['pruned'] else ', plain'}, one core"
        theirs = f"{published.ENUMERATOR_TOURS:,} in {published.ENUMERATOR_SECONDS:.0f} s"
        ours = f"{row['tours']:,} in {shown(row['seconds'])}"
        yield _row("E", what, theirs, ours, published.ENUMERATOR_SECONDS / row["seconds"])


def _first_tours(tables: Tables) -> Iterator[Row]:
    for row in tables["first-tours"].to_pylist():
        if row["seconds_of_d"]:
            what = f"first tour of {row['size']}x{row['size']}, {row['strategy']} from {row['starts']}"
            ours = f"{shown(row['seconds'])}, {row['iterations']:,} placements"
            yield _row("D", what, shown(row["seconds_of_d"]), ours, row["times_as_fast_as_d"])


def _success(tables: Tables) -> Iterator[Row]:
    """With ties by chance, from the corner: that is where its figures fit."""
    rows = [row for row in tables["success"].to_pylist() if row["ties"] == "random" and row["starts"] == "a1"]
    for first, last, least, most, theirs in published.SUCCESS:
        within = [least <= row["rate"] <= most for row in rows if first <= row["size"] <= last]
        if within:
            what = f"success with random ties from a1, {first} to {last}"
            yield _row("C", what, theirs, f"so on {sum(within)} of {len(within)} sizes")
    for row in rows:
        if row["size"] in (7, 8, 50, 100, 200):
            ours = f"{row['rate']:.1%} ({row['low']:.1%} to {row['high']:.1%})"
            yield _row("C", f"success with random ties from a1, {row['size']}", "", ours)


def _corners(tables: Tables) -> Iterator[Row]:
    table = tables["corners"]
    largest = max(table["size"].to_pylist())
    for source, ties in (("Roth", "roth"), ("Squirrel and Cull 1996", "squirrel")):
        failing = failing_sizes(table, ties)
        ours = "no failure" if not failing else f"fails on {', '.join(map(str, failing))}"
        yield _row(source, f"every size from 5 to {largest} from a1", "no failure", ours)


_COMPARED = {
    "tours-totals": _one_by_one,
    "first-tours": _first_tours,
    "growth-totals": _growth,
    "success": _success,
    "corners": _corners,
}


def shown(seconds: float) -> str:
    """A time with its unit: 42.1 µs, 2.1 ms, 1.3 s."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            return f"{seconds / size:.3g} {unit}"
    return ""
