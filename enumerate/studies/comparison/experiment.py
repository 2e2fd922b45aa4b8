"""What an experiment is: the runs that it needs, and the tables and the chart that it makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ...catalog.reader import Run
from ...model.config import Config
from ...plan.plan import refuse_unsuitable

Row = dict[str, Any]
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
    tabulate: Callable[[dict[str, Run]], Tables]
    draw: Callable[[Tables], str]


def trial(name: str, size: int, **values: object) -> Trial:
    config = Config.from_values({"size": size, "executor": "serial", **values})
    refuse_unsuitable(config)  # now, and not after hours of other runs
    return Trial(name, config)


def sides(largest: int) -> list[int]:
    """Board sizes, the denser the smaller."""
    ranges = (range(5, 17), range(20, 51, 5), range(60, 101, 10), range(125, 401, 25), range(450, 513, 50))
    return [side for sides_ in ranges for side in sides_ if side <= largest]
