"""What an experiment is, and the six of them: their runs, the rows that runs make in their tables, and their charts."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from ...catalog.reader import Run
from ...model.config import Config
from ...model.settings import TIES
from ...plan.plan import refuse_unsuitable
from ...search.strategy import resolve
from ...view.chart import Axis, Line, chart_svg, family_svg
from . import published
from .published import Tables

Row = dict[str, Any]
Runs = dict[str, Run]

HUGE = (1024, 2048, 4000)  # for divide only


@dataclass(frozen=True)
class Experiment:
    """`trials`: its runs, by the names of their folders. `timed`: nothing else should run meanwhile."""

    name: str
    title: str
    timed: bool
    trials: dict[str, Config]
    tabulate: Callable[[Runs], Tables]
    draw: Callable[[Tables], str]


def experiments(largest: int) -> list[Experiment]:
    """All experiments, with boards of up to `largest` x `largest`. Timed ones come first."""
    return [_first_tours(), _one_by_one(), _scaling(largest), _growth(), _success(largest), _corners(largest)]


def trial(size: int, **values: object) -> Config:
    config = resolve({"size": size, "executor": "serial", **values})
    refuse_unsuitable(config)  # now, and not after hours of other runs
    return config


def sides(largest: int) -> list[int]:
    """Board sizes, with larger steps on larger boards."""
    ranges = (range(5, 17), range(20, 51, 5), range(60, 101, 10), range(125, 401, 25), range(450, 513, 50))
    return [side for sides_ in ranges for side in sides_ if side <= largest]


def one_row_each(
    name: str, row: Callable[[Run, Row], Row], schema: pa.Schema | None = None
) -> Callable[[Runs], Tables]:
    """Makes a table of this name with one row for each run, from the run and its totals."""
    return lambda runs: {name: pa.Table.from_pylist([row(run, run.totals()) for run in runs.values()], schema=schema)}


def grouped(rows: Iterable[Row], name: Callable[[Row], str]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(name(row), []).append(row)
    return groups


def times_of_strategies(table: pa.Table) -> list[Line]:
    """A line for each strategy: seconds by board size, where there was a tour."""
    known = [row for row in table.to_pylist() if row["seconds"] is not None]
    return [
        Line(name, [(row["size"], row["seconds"]) for row in rows], marks=True)
        for name, rows in grouped(known, lambda row: str(row["strategy"])).items()
    ]


# ---------------------------------------------------------------------------------------------------------------------
# The six.


def _first_tours() -> Experiment:
    """How soon each strategy finds a first tour, on boards from 5x5 to 8x8, from every start square; beside D's table.

    Plain backtracking starts from the corner alone: from some squares it would not end.
    """
    everywhere: Row = {"variant": "both", "tours": 1}
    corner: Row = {**everywhere, "start": "a1", "max": 200_000_000}
    kinds = {"warnsdorff": everywhere, "greedy": everywhere, "divide": {"start": "all"}, "backtrack": corner}
    trials = {
        f"{strategy}-{side}": trial(side, strategy=strategy, **values)
        for side in published.WARNSDORFF_SECONDS
        for strategy, values in kinds.items()
    }
    table = one_row_each("first-tours", _first_row)
    return Experiment("first-tours", "Time to the first tour", True, trials, table, _first_chart)


def _first_row(run: Run, _total: Row) -> Row:
    strategy, size, starts = run.config.strategy, run.board.rows, run.summary().to_pylist()
    found = [row for row in starts if row["first_seconds"] is not None]
    seconds = [row["first_seconds"] for row in found]
    iterations = [row["first_iteration"] for row in found]
    theirs = {"warnsdorff": published.WARNSDORFF_SECONDS, "backtrack": published.BACKTRACKING_SECONDS}
    d = theirs.get(strategy, {}).get(size)
    return {
        "strategy": strategy, "size": size, "starts": "all" if len(starts) > 1 else starts[0]["start"],
        "squares_with_a_tour": len(found), "seconds": statistics.median(seconds), "best_seconds": min(seconds),
        "iterations": int(statistics.median(iterations)), "most_iterations": max(iterations),
        "seconds_of_d": d, "times_as_fast_as_d": d / statistics.median(seconds) if d else None,
    }  # fmt: skip


def _first_chart(tables: Tables) -> str:
    lines = times_of_strategies(tables["first-tours"])
    lines.append(Line("Warnsdorff, D", list(published.WARNSDORFF_SECONDS.items()), marks=True))
    lines.append(Line("backtracking, D", list(published.BACKTRACKING_SECONDS.items()), marks=True))
    return chart_svg("Time to the first tour", lines, Axis("board size", whole=True), Axis("seconds", log=True))


def _one_by_one() -> Experiment:
    """900 tours from one square, each with its time, and the first one of backtracking without pruning: A's tables."""
    trials = {
        "greedy": trial(8, strategy="greedy", variant="both", start="a8", tours=published.GREEDY_TOURS),
        "backtrack": trial(8, strategy="backtrack", variant="both", start="a8", tours=1, max=0),
    }
    title = f"{published.GREEDY_TOURS} tours from a8, one by one"
    return Experiment("tours", title, True, trials, _tours_tables, _tours_chart)


def _tours_tables(runs: Runs) -> Tables:
    greedy, backtrack = runs["greedy"], runs["backtrack"].totals()
    times, flags = greedy.times(), {}
    for part in greedy.parts():
        for batch in greedy.read_part(part):
            for at, structured in zip(batch.iterations.tolist(), batch.structured.tolist(), strict=True):
                flags[at] = (part.holds, structured)
    variants, structured = zip(*(flags[at] for at in times["iteration"].to_pylist()), strict=True)
    efforts = {name: times[name] for name in ("placements", "attempts", "seconds")}
    tours = {"tour": np.arange(1, len(variants) + 1), "variant": variants, "structured": structured, **efforts}
    seconds, placements = float(np.nansum(times["seconds"].to_numpy())), int(times["placements"].to_numpy().sum())
    moves = backtrack["first_iteration"] - 1  # the first one is on the start square
    steps = {"steps": published.steps(moves, 64), "steps_of_a": published.BACKTRACK_STEPS}
    totals = [
        _total("backtrack", 1, backtrack["first_seconds"], moves, published.BACKTRACK_SECONDS) | steps,
        _total("greedy", len(variants), seconds, placements, published.GREEDY_SECONDS),
    ]
    return {"tours": pa.table(tours), "tours-totals": pa.Table.from_pylist(totals)}


def _total(strategy: str, tours: int, seconds: float, placements: int, seconds_of_a: float) -> Row:
    return {
        "strategy": strategy, "tours": tours, "seconds": seconds, "mean_seconds": seconds / tours,
        "placements": placements, "mean_placements": placements / tours, "seconds_of_a": seconds_of_a,
        "times_as_fast_as_a": seconds_of_a / seconds,
    }  # fmt: skip


def _tours_chart(tables: Tables) -> str:
    points = zip(*(tables["tours"][name].to_pylist() for name in ("tour", "seconds")), strict=True)
    known = [(number, seconds) for number, seconds in points if seconds is not None]
    title = f"{published.GREEDY_TOURS} tours of 8x8 from a8 by greedy"
    return chart_svg(title, [Line("", known)], Axis("tour"), Axis("seconds", log=True))


def _scaling(largest: int) -> Experiment:
    """The time to a tour of larger boards from the corner; divide always goes up to 4000x4000."""
    corner: Row = {"variant": "both", "start": "a1", "write": False}
    once: Row = {**corner, "tours": 1}
    kinds = {"warnsdorff": {**once, "max": 3_000_000}, "greedy": {**corner, "ties": "roth"}, "divide": once}
    trials = {
        f"{strategy}-{side}": trial(side, strategy=strategy, **values)
        for strategy, values in kinds.items()
        for side in [*sides(largest), *(HUGE if strategy == "divide" else ())]
    }
    table = one_row_each("scaling", _scaling_row, _SCALING_SCHEMA)
    return Experiment("scaling", "Time to a tour of larger boards", True, trials, table, _scaling_chart)


_SCALING_SCHEMA = pa.schema(
    [("strategy", pa.string()), ("size", pa.int64()), ("start", pa.string()), ("seconds", pa.float64()),
     ("iterations", pa.int64()), ("iterations_spent", pa.int64())]
)  # fmt: skip


def _scaling_row(run: Run, total: Row) -> Row:
    strategy = "greedy, roth" if run.config.strategy == "greedy" else run.config.strategy
    times = {"seconds": total["first_seconds"], "iterations": total["first_iteration"]}
    return {"strategy": strategy, "size": run.board.rows, "start": run.config.start, **times,
            "iterations_spent": total["iterations"]}  # fmt: skip


def _scaling_chart(tables: Tables) -> str:
    lines = times_of_strategies(tables["scaling"])
    return chart_svg("A tour from the corner", lines, Axis("board size", log=True), Axis("seconds", log=True))


def _growth() -> Experiment:
    """The tours of each start square of 8x8 over the iterations of the search: a suggestion of E."""
    trials = {
        "open-8": trial(8, variant="open", max=500_000),
        "open-8-plain": trial(8, variant="open", max=500_000, prune=False, write=False),
    }
    return Experiment("growth", "Tours over iterations", False, trials, _growth_tables, _growth_chart)


def _growth_tables(runs: Runs) -> Tables:
    run = runs["open-8"]
    grid = np.arange(0, run.config.max + 1, run.config.max // 100)
    columns: dict[str, list[Any]] = {"start": [], "iterations": [], "tours": []}
    for job in run.progress:
        start = run.board.name(job.job.start)
        found = [run.column(part, "iteration") for part in run.parts(start)]
        at = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
        columns["start"] += [start] * len(grid)
        columns["iterations"] += grid.tolist()
        columns["tours"] += np.searchsorted(at, grid, side="right").tolist()
    return {"growth": pa.table(columns), **one_row_each("growth-totals", _growth_total)(runs)}


def _growth_total(run: Run, total: Row) -> Row:
    return {"pruned": run.config.prune, "tours": total["tours_open"], "iterations": total["iterations"],
            "seconds": total["search_seconds"]}  # fmt: skip


def _growth_chart(tables: Tables) -> str:
    columns = tables["growth"].to_pydict()
    starts = list(dict.fromkeys(columns["start"]))
    tours = np.array(columns["tours"]).reshape(len(starts), -1)
    grid = columns["iterations"][: tours.shape[1]]
    title, x, y = "Open tours of 8x8 over iterations", Axis("iterations"), Axis("tours")
    return family_svg(title, grid, tours.tolist(), "each start square", "mean", x, y)


def _success(largest: int) -> Experiment:
    """How often Warnsdorff's rule succeeds without backtracking, for each way to break ties: C's graph."""
    trials = dict(one for side in sides(largest) for one in _success_trials(side))
    return Experiment(
        "success", "Success of greedy", False, trials, one_row_each("success", _success_row), _success_chart
    )


def _success_trials(side: int) -> Iterator[tuple[str, Config]]:
    common: Row = {"strategy": "greedy", "variant": "both", "max": 0, "write": False}
    attempts = 2000 if side <= 20 else 500 if side <= 100 else 200
    squares = min(100 if side <= 100 else 50, len(range(0, side * side, 1 + side % 2)))
    for ties in TIES:
        repeated: Row = {"failures": 1, "tours": max(1, attempts // squares)} if ties == "random" else {}
        yield f"{ties}-{side}", trial(side, ties=ties, start=f"random:{squares}", **repeated, **common)
    yield f"corner-{side}", trial(side, ties="random", start="a1", failures=1, tours=attempts, **common)


def _success_row(run: Run, total: Row) -> Row:
    tours = total["tours_open"] + total["tours_closed"]
    attempts = tours + total["dead_ends"]
    low, high = wilson(tours, attempts)
    starts = "a1" if run.config.start == "a1" else "random squares"
    return {"ties": run.config.ties, "size": run.board.rows, "starts": starts, "start_squares": len(run.plan),
            "attempts": attempts, "tours": tours, "rate": tours / attempts, "low": low, "high": high}  # fmt: skip


def wilson(successes: int, attempts: int) -> tuple[float, float]:
    """The 95 % confidence interval of a rate, after E. B. Wilson (1927)."""
    z = 1.959964
    rate, weight = successes / attempts, 1 + z * z / attempts
    middle = (rate + z * z / (2 * attempts)) / weight
    half = z * sqrt(rate * (1 - rate) / attempts + z * z / (4 * attempts * attempts)) / weight
    return max(0.0, middle - half), min(1.0, middle + half)


def _success_chart(tables: Tables) -> str:
    rows = tables["success"].to_pylist()
    groups = grouped(rows, lambda row: "random, from a1" if row["starts"] == "a1" else str(row["ties"]))
    lines = [
        Line(name, [(row["size"], row["rate"]) for row in rows], [(row["low"], row["high"]) for row in rows])
        for name, rows in groups.items()
    ]
    title = "Attempts of greedy that succeed, with 95 % intervals"
    return chart_svg(title, lines, Axis("board size", log=True), Axis("success", percent=True))


def _corners(largest: int) -> Experiment:
    """Whether the deterministic rules ever fail from the corner, on square boards of every size."""
    common: Row = {"strategy": "greedy", "variant": "both", "start": "a1", "write": False}
    trials = {
        f"{ties}-{side}": trial(side, ties=ties, **common)
        for side in range(5, largest + 1)
        for ties in ("roth", "squirrel")
    }
    table = one_row_each("corners", _corners_row)
    return Experiment("corners", "Every size from the corner", False, trials, table, _corners_chart)


def _corners_row(run: Run, total: Row) -> Row:
    found = total["tours_open"] + total["tours_closed"] > 0
    return {"ties": run.config.ties, "size": run.board.rows, "start": "a1", "found": found,
            "placed": total["iterations"], "squares": run.board.squares}  # fmt: skip


def _corners_chart(tables: Tables) -> str:
    lines = []
    for ties, rows in grouped(tables["corners"].to_pylist(), lambda row: str(row["ties"])).items():
        failures = np.cumsum([not row["found"] for row in rows]).tolist()
        lines.append(Line(ties, list(zip((row["size"] for row in rows), failures, strict=True))))
    return chart_svg("Sizes without a tour from a1, so far", lines, Axis("board size"), Axis("failures"))
