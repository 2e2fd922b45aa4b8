"""Whether the rules that know one way only ever fail from the corner: every square board, size by size."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ...catalog.reader import Run
from ...view.chart import Axis, Line, chart_svg
from .experiment import Experiment, Tables, trial


def experiment(largest: int) -> Experiment:
    trials = tuple(
        trial(f"{ties}-{side}", side, strategy="greedy", ties=ties, variant="both", start="a1", write=False)
        for side in range(5, largest + 1)
        for ties in ("roth", "squirrel")
    )
    return Experiment("corners", "Every size from the corner", False, trials, _corners_table, _corners_chart)


def _corners_table(runs: dict[str, Run]) -> Tables:
    rows = []
    for run in runs.values():
        total = run.totals()
        found = total["tours_open"] + total["tours_closed"] > 0
        rows.append({"ties": run.config.ties, "size": run.board.rows, "start": "a1", "found": found,
                     "placed": total["iterations"], "squares": run.board.squares})  # fmt: skip
    return {"corners": pa.Table.from_pylist(rows)}


def _corners_chart(tables: Tables) -> str:
    rows = tables["corners"].to_pylist()
    lines = []
    for ties in dict.fromkeys(row["ties"] for row in rows):
        chosen = sorted((row["size"], not row["found"]) for row in rows if row["ties"] == ties)
        failures = np.cumsum([failed for _, failed in chosen]).tolist()
        lines.append(Line(ties, list(zip((size for size, _ in chosen), failures, strict=True))))
    return chart_svg("Sizes without a tour from a1, so far", lines, Axis("board size"), Axis("failures"))


def failing_sizes(table: pa.Table, ties: str) -> list[int]:
    """The sizes for which a rule finds no tour from the corner."""
    return sorted(row["size"] for row in table.to_pylist() if row["ties"] == ties and not row["found"])
