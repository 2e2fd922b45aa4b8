"""How soon each strategy has a first tour, on boards from 5x5 to 8x8; D's table beside it."""

from __future__ import annotations

import statistics

import pyarrow as pa

from ...catalog.reader import Run
from ...view.chart import Axis, Line, chart_svg
from . import published
from .experiment import Experiment, Row, Tables, trial


def experiment() -> Experiment:
    """From every start square; plain backtracking from the corner alone, for from some it takes for ever."""
    everywhere: Row = {"variant": "both", "tours": 1}
    corner: Row = {"variant": "both", "tours": 1, "start": "a1", "max": 200_000_000}
    kinds = {"warnsdorff": everywhere, "greedy": everywhere, "divide": {"start": "all"}, "backtrack": corner}
    trials = tuple(
        trial(f"{strategy}-{side}", side, strategy=strategy, **values)
        for side in published.WARNSDORFF_SECONDS
        for strategy, values in kinds.items()
    )
    return Experiment("first-tours", "Time to the first tour", True, trials, _first_table, _first_chart)


def _first_table(runs: dict[str, Run]) -> Tables:
    theirs = {"warnsdorff": published.WARNSDORFF_SECONDS, "backtrack": published.BACKTRACKING_SECONDS}
    rows = []
    for run in runs.values():
        config, starts = run.config, run.summary().to_pylist()
        found = [row for row in starts if row["first_seconds"] is not None]
        seconds = [row["first_seconds"] for row in found]
        d = theirs.get(config.strategy, {}).get(config.board.rows)
        rows.append(
            {
                "strategy": config.strategy,
                "size": config.board.rows,
                "starts": "all" if len(starts) > 1 else starts[0]["start"],
                "squares_with_a_tour": len(found),
                "seconds": statistics.median(seconds),
                "best_seconds": min(seconds),
                "iterations": int(statistics.median(row["first_iteration"] for row in found)),
                "most_iterations": max(row["first_iteration"] for row in found),
                "seconds_of_d": d,
                "times_as_fast_as_d": d / statistics.median(seconds) if d else None,
            }
        )
    return {"first-tours": pa.Table.from_pylist(rows)}


def _first_chart(tables: Tables) -> str:
    rows = tables["first-tours"].to_pylist()
    strategies = list(dict.fromkeys(row["strategy"] for row in rows))
    lines = [
        Line(strategy, [(row["size"], row["seconds"]) for row in rows if row["strategy"] == strategy], marks=True)
        for strategy in strategies
    ]
    lines += [
        Line("Warnsdorff, D", list(published.WARNSDORFF_SECONDS.items()), marks=True),
        Line("backtracking, D", list(published.BACKTRACKING_SECONDS.items()), marks=True),
    ]
    return chart_svg("Time to the first tour", lines, Axis("board size", whole=True), Axis("seconds", log=True))
