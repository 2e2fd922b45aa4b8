"""What an experiment is, and the six of them: their runs, the rows that runs make in their tables, and their charts."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt

import numpy as np

from ...catalog.reader import Run
from ...model.config import Config
from ...model.settings import TIES
from ...plan.plan import refuse_unsuitable
from ...search.strategy import resolve
from ...view.chart import Axis, Line, chart_svg, family_svg
from . import published
from .published import Row, Rows, Tables

Runs = dict[str, Run]

HUGE = (1024, 2048, 4000)  # for divide only


@dataclass(frozen=True)
class Experiment:
    """`trials`: its runs, by the names of their folders. `timed`: nothing else should run meanwhile.

    `rows` are those of its table, which is drawn; `totals` are those of a second one.
    """

    name: str
    title: str
    timed: bool
    trials: dict[str, Config]
    rows: Callable[[Runs], Rows]
    draw: Callable[[Rows], str]
    totals: Callable[[Runs], Rows] | None = None

    def tables(self, runs: Runs) -> Tables:
        found = {self.name: self.rows(runs)}
        return found | {f"{self.name}-totals": self.totals(runs)} if self.totals else found


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


def one_each(row: Callable[[Run, Row], Row]) -> Callable[[Runs], Rows]:
    """One row for each run, from the run and its totals."""
    return lambda runs: [row(run, run.totals()) for run in runs.values()]


def grouped(rows: Rows, column: str) -> dict[str, Rows]:
    groups: dict[str, Rows] = {}
    for row in rows:
        groups.setdefault(row[column], []).append(row)
    return groups


def times_of_strategies(rows: Rows) -> list[Line]:
    """A line for each strategy: seconds by board size, where there was a tour."""
    known = grouped([row for row in rows if row["seconds"] is not None], "strategy")
    return [Line(name, [(row["size"], row["seconds"]) for row in known[name]], marks=True) for name in known]


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
    return Experiment("first-tours", "Time to the first tour", True, trials, one_each(_first_row), _first_chart)


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


def _first_chart(rows: Rows) -> str:
    lines = times_of_strategies(rows)
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
    return Experiment("tours", title, True, trials, _tours_rows, _tours_chart, _tours_totals)


def _tours_rows(runs: Runs) -> Rows:
    run = runs["greedy"]
    kinds = {
        at: {"variant": part.holds, "structured": structured}
        for part in run.parts()
        for at, structured in zip(
            *(run.column(part, name).tolist() for name in ("iteration", "structured")), strict=True
        )
    }
    names = ("placements", "attempts", "seconds")
    return [
        {"tour": number, **kinds[row["iteration"]], **{name: row[name] for name in names}}
        for number, row in enumerate(run.times().to_pylist(), 1)
    ]


def _tours_totals(runs: Runs) -> Rows:
    tours, backtrack = _tours_rows(runs), runs["backtrack"].totals()
    seconds, placements = (np.sum([row[name] or 0 for row in tours]).item() for name in ("seconds", "placements"))
    moves = backtrack["first_iteration"] - 1  # the first one is on the start square
    steps = {"steps": published.steps(moves, 64), "steps_of_a": published.BACKTRACK_STEPS}
    return [
        _total("backtrack", 1, backtrack["first_seconds"], moves, published.BACKTRACK_SECONDS) | steps,
        _total("greedy", len(tours), seconds, placements, published.GREEDY_SECONDS),
    ]


def _total(strategy: str, tours: int, seconds: float, placements: int, seconds_of_a: float) -> Row:
    return {
        "strategy": strategy, "tours": tours, "seconds": seconds, "mean_seconds": seconds / tours,
        "placements": placements, "mean_placements": placements / tours, "seconds_of_a": seconds_of_a,
        "times_as_fast_as_a": seconds_of_a / seconds,
    }  # fmt: skip


def _tours_chart(rows: Rows) -> str:
    known = [(row["tour"], row["seconds"]) for row in rows if row["seconds"] is not None]
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
    title = "Time to a tour of larger boards"
    return Experiment("scaling", title, True, trials, one_each(_scaling_row), _scaling_chart)


def _scaling_row(run: Run, total: Row) -> Row:
    strategy = "greedy, roth" if run.config.strategy == "greedy" else run.config.strategy
    times = {"seconds": total["first_seconds"], "iterations": total["first_iteration"]}
    return {"strategy": strategy, "size": run.board.rows, "start": run.config.start, **times,
            "iterations_spent": total["iterations"]}  # fmt: skip


def _scaling_chart(rows: Rows) -> str:
    x, y = Axis("board size", log=True), Axis("seconds", log=True)
    return chart_svg("A tour from the corner", times_of_strategies(rows), x, y)


def _growth() -> Experiment:
    """The tours of each start square of 8x8 over the iterations of the search: a suggestion of E."""
    trials = {
        "open-8": trial(8, variant="open", max=500_000),
        "open-8-plain": trial(8, variant="open", max=500_000, prune=False, write=False),
    }
    totals = one_each(_growth_total)
    return Experiment("growth", "Tours over iterations", False, trials, _growth_rows, _growth_chart, totals)


def _growth_rows(runs: Runs) -> Rows:
    run, rows = runs["open-8"], Rows()
    grid = range(0, run.config.max + 1, run.config.max // 100)
    for job in run.progress:
        start = run.board.name(job.job.start)
        found = np.concatenate([*(run.column(part, "iteration") for part in run.parts(start))])
        tours = np.searchsorted(found, grid, side="right").tolist()
        rows += [{"start": start, "iterations": at, "tours": n} for at, n in zip(grid, tours, strict=True)]
    return rows


def _growth_total(run: Run, total: Row) -> Row:
    return {"pruned": run.config.prune, "tours": total["tours_open"], "iterations": total["iterations"],
            "seconds": total["search_seconds"]}  # fmt: skip


def _growth_chart(rows: Rows) -> str:
    by_start = grouped(rows, "start").values()
    grid = sorted({row["iterations"] for row in rows})
    tours = [[row["tours"] for row in of_start] for of_start in by_start]
    title, x, y = "Open tours of 8x8 over iterations", Axis("iterations"), Axis("tours")
    return family_svg(title, grid, tours, "each start square", "mean", x, y)


def _success(largest: int) -> Experiment:
    """How often Warnsdorff's rule succeeds without backtracking, for each way to break ties: C's graph."""
    trials = dict(one for side in sides(largest) for one in _success_trials(side))
    return Experiment("success", "Success of greedy", False, trials, one_each(_success_row), _success_chart)


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


def _success_chart(rows: Rows) -> str:
    named = [row | {"ties": "random, from a1"} if row["starts"] == "a1" else row for row in rows]
    lines = [
        Line(ties, [(row["size"], row["rate"]) for row in rows], [(row["low"], row["high"]) for row in rows])
        for ties, rows in grouped(named, "ties").items()
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
    title = "Every size from the corner"
    return Experiment("corners", title, False, trials, one_each(_corners_row), _corners_chart)


def _corners_row(run: Run, total: Row) -> Row:
    found = total["tours_open"] + total["tours_closed"] > 0
    return {"ties": run.config.ties, "size": run.board.rows, "start": "a1", "found": found,
            "placed": total["iterations"], "squares": run.board.squares}  # fmt: skip


def _corners_chart(rows: Rows) -> str:
    lines = []
    for ties, of_ties in grouped(rows, "ties").items():
        failures = accumulate(int(not row["found"]) for row in of_ties)
        lines.append(Line(ties, [(row["size"], count) for row, count in zip(of_ties, failures, strict=True)]))
    return chart_svg("Sizes without a tour from a1, so far", lines, Axis("board size"), Axis("failures"))
