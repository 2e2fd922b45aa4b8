"""What an experiment is: the runs that it needs, and the tables and the chart that it makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ...catalog.reader import Run
from ...model.config import Config
from ...plan.plan import refuse_unsuitable
from ...view.chart import Line

Row = dict[str, Any]
Runs = dict[str, Run]
Tables = dict[str, pa.Table]


@dataclass(frozen=True)
class Trial:
    """One run of an experiment. Its name is that of its folder."""

    name: str
    config: Config


@dataclass(frozen=True)
class Experiment:
    """`timed`: its times are what it is about, so that nothing else should run meanwhile."""

    name: str
    title: str
    timed: bool
    trials: tuple[Trial, ...]
    tabulate: Callable[[Runs], Tables]
    draw: Callable[[Tables], str]


def trial(name: str, size: int, **values: object) -> Trial:
    config = Config.from_values({"size": size, "executor": "serial", **values})
    refuse_unsuitable(config)  # now, and not after hours of other runs
    return Trial(name, config)


def sides(largest: int) -> list[int]:
    """Board sizes, the denser the smaller."""
    ranges = (range(5, 17), range(20, 51, 5), range(60, 101, 10), range(125, 401, 25), range(450, 513, 50))
    return [side for sides_ in ranges for side in sides_ if side <= largest]


def one_row_each(
    name: str, row: Callable[[Run, Row], Row], schema: pa.Schema | None = None
) -> Callable[[Runs], Tables]:
    """Makes a table of that name with one row for each run, of the run and its totals."""
    return lambda runs: {name: pa.Table.from_pylist([row(run, run.totals()) for run in runs.values()], schema=schema)}


def grouped(rows: Iterable[Row], name: Callable[[Row], str]) -> dict[str, list[Row]]:
    """The rows by the name of the line that shows them."""
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
