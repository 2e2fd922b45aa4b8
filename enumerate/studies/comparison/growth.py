"""How the tours of each start square of 8x8 come as the search goes on: what E wished for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ...catalog.reader import Run
from ...view.chart import Axis, Line, chart_svg
from .experiment import Experiment, Tables, trial


def experiment() -> Experiment:
    trials = (
        trial("open-8", 8, variant="open", max=500_000),
        trial("open-8-plain", 8, variant="open", max=500_000, prune=False, write=False),
    )
    return Experiment("growth", "Tours over iterations", False, trials, _growth_table, _growth_chart)


def _growth_table(runs: dict[str, Run]) -> Tables:
    run = runs["open-8"]
    grid = np.arange(0, run.config.max + 1, run.config.max // 100)
    columns: dict[str, list[Any]] = {"start": [], "iterations": [], "tours": []}
    for job in run.progress:
        start = run.board.name(job.job.start)
        found = [batch.iterations for part in run.parts(start) for batch in run.read_part(part)]
        at = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
        columns["start"] += [start] * len(grid)
        columns["iterations"] += grid.tolist()
        columns["tours"] += np.searchsorted(at, grid, side="right").tolist()
    return {"growth": pa.table(columns), "growth-totals": _totals(runs)}


def _totals(runs: dict[str, Run]) -> pa.Table:
    """What the runs found in all, with and without pruning."""
    rows = []
    for run in runs.values():
        total = run.totals()
        rows.append({"pruned": run.config.prune, "tours": total["tours_open"], "iterations": total["iterations"],
                     "seconds": total["search_seconds"]})  # fmt: skip
    return pa.Table.from_pylist(rows)


def _growth_chart(tables: Tables) -> str:
    columns = tables["growth"].to_pydict()
    starts = list(dict.fromkeys(columns["start"]))
    tours = np.array(columns["tours"]).reshape(len(starts), -1)
    grid = columns["iterations"][: tours.shape[1]]
    lines = [
        Line("each start square" if i == 0 else "", list(zip(grid, row, strict=True)), faint=True)
        for i, row in enumerate(tours.tolist())
    ]
    lines.append(Line("mean", list(zip(grid, tours.mean(axis=0).tolist(), strict=True))))
    return chart_svg("Open tours of 8x8 over iterations", lines, Axis("iterations"), Axis("tours"))
