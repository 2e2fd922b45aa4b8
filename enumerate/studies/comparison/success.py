"""How often Warnsdorff's rule leads to a tour without going back, for each way to break ties: C's graph."""

from __future__ import annotations

from math import sqrt

import pyarrow as pa

from ...catalog.reader import Run
from ...model.config import TIES
from ...view.chart import Axis, Line, chart_svg
from .experiment import Experiment, Row, Tables, sides, trial


def experiment(largest: int) -> Experiment:
    trials = []
    for side in sides(largest):
        attempts = 2000 if side <= 20 else 500 if side <= 100 else 200
        common: Row = {"strategy": "greedy", "variant": "both", "max": 0, "write": False}
        squares = min(100 if side <= 100 else 50, len(range(0, side * side, 1 + side % 2)))
        for ties in TIES:
            drawn: Row = {"failures": 1, "tours": max(1, attempts // squares)} if ties == "random" else {}
            trials.append(trial(f"{ties}-{side}", side, ties=ties, start=f"random:{squares}", **drawn, **common))
        trials.append(trial(f"corner-{side}", side, ties="random", start="a1", failures=1, tours=attempts, **common))
    return Experiment("success", "Success of greedy", False, tuple(trials), _success_table, _success_chart)


def _success_table(runs: dict[str, Run]) -> Tables:
    rows = []
    for run in runs.values():
        total, config = run.totals(), run.config
        tours = total["tours_open"] + total["tours_closed"]
        low, high = wilson(tours, tours + total["dead_ends"])
        rows.append(
            {
                "ties": config.ties,
                "size": config.board.rows,
                "starts": "a1" if config.start == "a1" else "random squares",
                "start_squares": len(run.plan),
                "attempts": tours + total["dead_ends"],
                "tours": tours,
                "rate": tours / (tours + total["dead_ends"]),
                "low": low,
                "high": high,
            }
        )
    return {"success": pa.Table.from_pylist(rows)}


def wilson(successes: int, attempts: int) -> tuple[float, float]:
    """The 95 % confidence interval of a rate, after E. B. Wilson (1927)."""
    z = 1.959964
    rate, weight = successes / attempts, 1 + z * z / attempts
    middle = (rate + z * z / (2 * attempts)) / weight
    half = z * sqrt(rate * (1 - rate) / attempts + z * z / (4 * attempts * attempts)) / weight
    return max(0.0, middle - half), min(1.0, middle + half)


def _success_chart(tables: Tables) -> str:
    rows = tables["success"].to_pylist()
    lines = []
    for ties, starts in dict.fromkeys((row["ties"], row["starts"]) for row in rows):
        chosen = [row for row in rows if (row["ties"], row["starts"]) == (ties, starts)]
        name = "random, from a1" if starts == "a1" else ties
        points = [(row["size"], row["rate"]) for row in chosen]
        lines.append(Line(name, points, [(row["low"], row["high"]) for row in chosen]))
    title = "Attempts of greedy that lead to a tour, with 95 % intervals"
    return chart_svg(title, lines, Axis("board size", log=True), Axis("success", percent=True))
