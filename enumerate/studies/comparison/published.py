"""Published figures for the same tasks, and ours beside them.

They come from descriptions of five programs, here called A to E:

* A: a game and a simulation in Python with pygame; plain backtracking, and Warnsdorff's rule with random ties.
* B: a browser game with three searches; no figures.
* C: Warnsdorff's rule with random ties on boards of up to 400x400, and divide and conquer.
* D: a program in C++: plain backtracking (it does not say in which order) and Warnsdorff's rule from 5x5 to 100x100.
* E: an enumerator in Python, whose search is our `--no-prune`; timed again on one core of a machine like those of ours.

The other times are from their authors' machines, some of them years old.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ...model.numbers import measured_time

Row = dict[str, Any]
Rows = list[Row]
Tables = dict[str, Rows]  # of a study, by name

# A: 900 tours of 8x8 by Warnsdorff's rule from row 7, column 0, and the first tour by backtracking from there. A step
# is one turn of its loop, a placement or a retreat, counted from 1.
GREEDY_TOURS = 900
GREEDY_SECONDS = 2.54
BACKTRACK_SECONDS = 27.4
BACKTRACK_STEPS = 6_484_066
BACKTRACK_PLACEMENTS = 3_242_064  # after the one on the start square

# C: success of Warnsdorff's rule with random ties: sizes from, to, rates from, to.
SUCCESS = (
    (5, 49, 0.85, 1.0, "over 85 % for most"),
    (50, 99, 0.5, 1.0, "over 50 % for most"),
    (201, 325, 0.0, 0.05, "under 5 %"),
    (326, 400, 0.0, 0.0, "none"),
)

# D: seconds to the first tour, by board size.
WARNSDORFF_SECONDS = {5: 40e-6, 6: 196e-6, 7: 95e-6, 8: 130e-6}
BACKTRACKING_SECONDS = {5: 8e-6, 6: 0.740954, 7: 0.129180, 8: 0.829404}

# E: open tours of 8x8 with 500,000 iterations from each square, without pruning.
ENUMERATOR_TOURS = 252_672
ENUMERATOR_SECONDS = 392.0


def steps(placements: int, squares: int) -> int:
    """The steps that A counts, from 1: placements after the first one, and the retreats until a tour is complete."""
    return 1 + placements + (placements - (squares - 1))


# ---------------------------------------------------------------------------------------------------------------------
# Ours beside theirs, for the experiments that were made.

_SCHEMA = pa.schema(
    [("source", pa.string()), ("what", pa.string()), ("published", pa.string()), ("ours", pa.string()),
     ("times_as_fast", pa.float64())]
)  # fmt: skip

Beside = tuple[str, str, str, str, float | None]  # a row of that


def comparison(tables: Tables) -> pa.Table:
    rows = [row for name, compare in _COMPARED.items() if name in tables for row in compare(tables)]
    return pa.Table.from_pylist([dict(zip(_SCHEMA.names, row, strict=True)) for row in rows], schema=_SCHEMA)


def _one_by_one(tables: Tables) -> Iterator[Beside]:
    totals = {row["strategy"]: row for row in tables["tours-totals"]}
    greedy, ours = totals["greedy"], totals["backtrack"]
    what, first = f"{greedy['tours']} greedy tours of 8x8 from a8", "first tour of 8x8 from a8 by backtracking"
    yield "A", what, f"{GREEDY_SECONDS} s", measured_time(greedy["seconds"]), greedy["times_as_fast_as_a"]
    yield "A", first, f"{BACKTRACK_SECONDS} s", measured_time(ours["seconds"]), ours["times_as_fast_as_a"]
    yield "A", "its placements after the start square", f"{BACKTRACK_PLACEMENTS:,}", f"{ours['placements']:,}", None
    yield "A", "its steps", f"{BACKTRACK_STEPS:,}", f"{ours['steps']:,}", None


def _first_tours(tables: Tables) -> Iterator[Beside]:
    for row in tables["first-tours"]:
        if row["seconds_of_d"]:
            what = f"first tour of {row['size']}x{row['size']}, {row['strategy']} from {row['starts']}"
            ours = f"{measured_time(row['seconds'])}, {row['iterations']:,} placements"
            yield "D", what, measured_time(row["seconds_of_d"]), ours, row["times_as_fast_as_d"]


def _growth(tables: Tables) -> Iterator[Beside]:
    for row in tables["growth-totals"]:
        what = f"open tours of 8x8, 500,000 iterations a square{'' if row['pruned'] else ', no pruning'}, one core"
        theirs = f"{ENUMERATOR_TOURS:,} in {ENUMERATOR_SECONDS:.0f} s"
        ours = f"{row['tours']:,} in {measured_time(row['seconds'])}"
        yield "E", what, theirs, ours, ENUMERATOR_SECONDS / row["seconds"]


def _success(tables: Tables) -> Iterator[Beside]:
    """With random ties, from the corner: that is where its figures fit."""
    rows = [row for row in tables["success"] if row["ties"] == "random" and row["starts"] == "a1"]
    for first, last, least, most, theirs in SUCCESS:
        within = [least <= row["rate"] <= most for row in rows if first <= row["size"] <= last]
        if within:
            ours = f"true of {sum(within)} of {len(within)} sizes"
            yield "C", f"success with random ties from a1, {first} to {last}", theirs, ours, None
    for row in rows:
        if row["size"] in (7, 8, 50, 100, 200):
            ours = f"{row['rate']:.1%} ({row['low']:.1%} to {row['high']:.1%})"
            yield "C", f"success with random ties from a1, {row['size']}", "", ours, None


def _corners(tables: Tables) -> Iterator[Beside]:
    rows = tables["corners"]
    what = f"every size from 5 to {max(row['size'] for row in rows)} from a1"
    for source, ties in (("Roth", "roth"), ("Squirrel and Cull 1996", "squirrel")):
        failing = sorted(row["size"] for row in rows if row["ties"] == ties and not row["found"])
        ours = f"fails on {', '.join(map(str, failing))}" if failing else "no failure"
        yield source, what, "no failure", ours, None


_COMPARED = {
    "tours-totals": _one_by_one, "first-tours": _first_tours, "growth-totals": _growth, "success": _success,
    "corners": _corners,
}  # fmt: skip
