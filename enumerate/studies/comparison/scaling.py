"""How long a tour of a larger board takes, from the corner; divide goes up to 4000x4000 whatever the largest is."""

from __future__ import annotations

import pyarrow as pa

from ...catalog.reader import Run
from ...view.chart import Axis, Line, chart_svg
from .experiment import Experiment, Row, Tables, sides, trial

HUGE = (1024, 2048, 4000)  # only divide goes there


def experiment(largest: int) -> Experiment:
    corner: Row = {"variant": "both", "start": "a1"}
    kinds = {
        "warnsdorff": {**corner, "tours": 1, "max": 3_000_000},
        "greedy": {**corner, "ties": "roth"},
        "divide": {**corner, "tours": 1},
    }
    trials = tuple(
        trial(f"{strategy}-{side}", side, strategy=strategy, write=False, **values)
        for strategy, values in kinds.items()
        for side in [*sides(largest), *(HUGE if strategy == "divide" else ())]
    )
    return Experiment("scaling", "Time to a tour of larger boards", True, trials, _scaling_table, _scaling_chart)


def _scaling_table(runs: dict[str, Run]) -> Tables:
    rows = []
    for run in runs.values():
        total, config = run.totals(), run.config
        rows.append(
            {
                "strategy": "greedy, roth" if config.strategy == "greedy" else config.strategy,
                "size": config.board.rows,
                "start": config.start,
                "seconds": total["first_seconds"],
                "iterations": total["first_iteration"],
                "iterations_spent": total["iterations"],
            }
        )
    return {"scaling": pa.Table.from_pylist(rows, schema=_SCALING_SCHEMA)}


_SCALING_SCHEMA = pa.schema(
    [("strategy", pa.string()), ("size", pa.int64()), ("start", pa.string()), ("seconds", pa.float64()),
     ("iterations", pa.int64()), ("iterations_spent", pa.int64())]
)  # fmt: skip


def _scaling_chart(tables: Tables) -> str:
    rows = [row for row in tables["scaling"].to_pylist() if row["seconds"] is not None]
    lines = [
        Line(strategy, [(row["size"], row["seconds"]) for row in rows if row["strategy"] == strategy], marks=True)
        for strategy in dict.fromkeys(row["strategy"] for row in rows)
    ]
    return chart_svg("A tour from the corner", lines, Axis("board size", log=True), Axis("seconds", log=True))
