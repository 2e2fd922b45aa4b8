"""What an exhaustive run will take, estimated before it begins: tours, iterations, time and bytes.

The estimates are those that split the search (`sizes`), so they are rough: they distinguish an hour from a year.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.config import SIZED_SQUARES, Config
from ..model.errors import BadRequest
from ..model.jobs import Job
from ..model.numbers import long_time, rough
from ..search.depth_first import kernel_for

LONG_SECONDS = 24 * 3600.0
ITERATIONS_PER_SECOND = 30e6  # of one worker, bitboards
ARRAY_ITERATIONS_PER_SECOND = 5e6
BYTES_A_SQUARE = 0.09  # of a tour in a part, compressed: 4.5 to 6 bytes a tour of 64 squares
TARGET = 4_000  # descents in all: fewer would scatter too much


@dataclass(frozen=True)
class Outlook:
    """The estimate of a run. `weights` are the iterations of each job of the plan."""

    tours: float
    seconds: float
    bytes: float
    weights: NDArray[np.float64]

    @property
    def text(self) -> str:
        if math.isinf(self.tours):
            return "more tours than can be estimated"
        size = f", {rough(self.bytes)} bytes" if self.bytes else ""
        return f"about {rough(self.tours)} tours{size}, {long_time(self.seconds)}"


def look_ahead(config: Config, plan: Sequence[Job], workers: int) -> Outlook:
    """The outlook of a whole plan. Where the board is too large for an estimate, all jobs weigh the same."""
    writes = config.write and not config.only
    if config.board.squares > SIZED_SQUARES:
        return Outlook(math.inf, math.inf, math.inf if writes else 0.0, np.ones(len(plan)))
    from .sizes import sizes_of  # noqa: PLC0415  # numba is slow to import, and only exhaustive runs are looked at

    feasible = np.array([job.infeasible is None for job in plan], dtype=np.bool_)
    weights, tours = np.zeros((2, len(plan)))
    prefixes = [job.prefix for job in plan if job.infeasible is None]
    descents = max(32, min(1_000, TARGET // max(1, len(prefixes))))
    weights[feasible], tours[feasible] = sizes_of(config, prefixes, descents)
    images = np.array([job.multiplicity if config.expand else 1 for job in plan])
    found = float((tours * images).sum())
    rate = ITERATIONS_PER_SECOND if kernel_for(config.board) == "bits" else ARRAY_ITERATIONS_PER_SECOND
    written = found * config.board.length * BYTES_A_SQUARE if writes else 0.0
    iterations = float(weights.sum())
    if math.isinf(iterations):
        weights = np.ones(len(plan))
    return Outlook(found, iterations / rate / workers, written, weights)


def refuse_endless(outlook: Outlook, workers: int, free: float) -> None:
    """What would take longer than a day, or more bytes than are free, runs only with --yes."""
    if outlook.bytes > free:
        raise BadRequest(
            f"the disk has {rough(free)} bytes free, and this run needs more: {outlook.text} with {workers} workers;"
            " give another --output, --no-write to count only, or --yes to start anyway"
        )
    if outlook.seconds > LONG_SECONDS:
        raise BadRequest(
            f"a search for all tours would not end soon: {outlook.text} with {workers} workers;"
            " give --max or --tours, or --yes to start anyway"
        )
