"""900 tours from one square, each with its time, and the first one of plain backtracking from there: A's tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ...catalog.reader import Run
from ...view.chart import Axis, Line, chart_svg
from . import published
from .experiment import Experiment, Row, Tables, trial


def experiment() -> Experiment:
    trials = (
        trial("greedy", 8, strategy="greedy", variant="both", start="a8", tours=published.GREEDY_TOURS),
        trial("backtrack", 8, strategy="backtrack", variant="both", start="a8", tours=1, max=0),
    )
    title = f"{published.GREEDY_TOURS} tours from a8, one by one"
    return Experiment("tours", title, True, trials, _tours_tables, _tours_chart)


def _tours_tables(runs: dict[str, Run]) -> Tables:
    greedy, backtrack = runs["greedy"], runs["backtrack"].totals()
    times = greedy.times()
    flags = {}
    for part in greedy.parts():
        for batch in greedy.read_part(part):
            for at, structured in zip(batch.iterations.tolist(), batch.structured.tolist(), strict=True):
                flags[at] = (part.kind, structured)
    kinds = [flags[at] for at in times["iteration"].to_pylist()]
    tours = pa.table(
        {
            "tour": np.arange(1, len(kinds) + 1),
            "variant": [variant for variant, _ in kinds],
            "structured": [structured for _, structured in kinds],
            **{name: times[name] for name in ("placements", "attempts", "seconds")},
        }
    )
    seconds, placements = times["seconds"].to_numpy(), times["placements"].to_numpy()
    moves = backtrack["first_iteration"] - 1  # the first one is on the start square
    totals = [
        _total("greedy", len(tours), float(np.nansum(seconds)), int(placements.sum()), published.GREEDY_SECONDS),
        _total("backtrack", 1, backtrack["first_seconds"], moves, published.BACKTRACK_SECONDS),
    ]
    totals[1]["steps"] = published.steps(moves, 64)
    totals[1]["steps_of_a"] = published.BACKTRACK_STEPS
    return {"tours": tours, "tours-totals": pa.Table.from_pylist(totals[::-1])}


def _total(strategy: str, tours: int, seconds: float, placements: int, seconds_of_a: float) -> Row:
    return {
        "strategy": strategy,
        "tours": tours,
        "seconds": seconds,
        "mean_seconds": seconds / tours,
        "placements": placements,
        "mean_placements": placements / tours,
        "seconds_of_a": seconds_of_a,
        "times_as_fast_as_a": seconds_of_a / seconds,
    }


def _tours_chart(tables: Tables) -> str:
    tours = tables["tours"]
    points = list(zip(tours["tour"].to_pylist(), tours["seconds"].to_pylist(), strict=True))
    known = [(number, seconds) for number, seconds in points if seconds is not None]
    title = f"{published.GREEDY_TOURS} tours of 8x8 from a8 by greedy"
    return chart_svg(title, [Line("", known)], Axis("tour"), Axis("seconds", log=True))
