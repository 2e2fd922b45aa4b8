"""The number of tours, estimated by random descents (Knuth 1975), in batches for any worker.

A batch has a number of descents below each prefix, and its result is an estimate whose mean is the number of tours.
Batches are independent and alike, so their scatter shows how far off their mean may be. They count in the order of
their numbers, so the same number of batches gives the same estimate, whoever made them and in whatever order.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ..executors.events import Event, Finished, Quarantined, Started, trouble
from ..executors.make import make_executor
from ..model.config import Config
from ..model.errors import BadRequest, EnumerateError
from ..model.literature import published, published_tours
from ..model.numbers import counted, estimated
from ..model.values import in_range
from ..run.handshake import Handshake
from .sample import BATCH_PLACEMENTS, BatchResult, BatchTask, Sample, make_sample

LEAST_BATCHES = 32  # fewer show too little of their scatter
LOOK_BATCHES = 8  # between two checks of the error: frequent checks would stop at lucky moments
LARGE_SHARE = 0.02  # of the estimate, from a single descent: others as large may have been missed


MOST_DESCENTS = 10**12


@dataclass(frozen=True)
class Goal:
    """When an estimate is good enough: whichever comes first."""

    seconds: float | None = None
    error: float | None = None  # half of the confidence interval, relative to the estimate
    descents: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise BadRequest(f"seconds must be a number above 0, got {self.seconds}")
        if self.error is not None and not 0 < self.error < 1:
            raise BadRequest(f"error must be between 0 and 100 %, such as 1%, got {self.error:.6g}")
        if self.descents is not None:
            in_range("descents", self.descents, 1, MOST_DESCENTS)


DEFAULT_GOAL = Goal(seconds=30.0, error=0.01)


def as_share(text: str) -> float:
    """`1%` and `0.01` are the same."""
    digits = text.strip().removesuffix("%")
    try:
        return float(digits) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        raise BadRequest(f"expected a share such as 1% or 0.01, got {text!r}") from None


@dataclass
class Estimate:
    """The estimate so far. All numbers of tours are directed, and in units of two to the power `bits`."""

    sample: Sample
    goal: Goal = DEFAULT_GOAL
    began: float = field(default_factory=time.monotonic)
    early: dict[int, BatchResult] = field(default_factory=dict)  # batches that were done before their turn
    batches: int = 0
    tours: float = 0.0  # the mean of the batches
    deviations: float = 0.0  # from it, the sum of their squares
    largest: float = 0.0
    seconds: float = 0.0
    interrupted: bool = False

    def add(self, tours: float, largest: float) -> None:
        """One more batch, by Welford's method: it loses no digits, whatever their number."""
        self.batches += 1
        before = tours - self.tours
        self.tours += before / self.batches
        self.deviations += before * (tours - self.tours)
        self.largest = max(self.largest, largest)

    @property
    def config(self) -> Config:
        return self.sample.config

    @property
    def bits(self) -> int:
        return self.sample.bits

    @property
    def descents(self) -> int:
        return self.batches * self.sample.descents

    @property
    def most_batches(self) -> int:
        if not self.sample.prefixes:
            return 1  # there is no tour: one empty batch is enough
        return -(-self.goal.descents // self.sample.descents) if self.goal.descents else sys.maxsize

    @property
    def is_reached(self) -> bool:
        looks = self.batches >= LEAST_BATCHES and self.batches % LOOK_BATCHES == 0
        is_sure = looks and self.goal.error is not None and self.error <= self.goal.error
        return is_sure or self.batches >= self.most_batches

    @property
    def is_late(self) -> bool:
        """Never before there is a confidence interval."""
        over = self.goal.seconds is not None and time.monotonic() - self.began >= self.goal.seconds
        return over and self.batches >= LEAST_BATCHES

    @property
    def half_width(self) -> float:
        """Half of the 95 % confidence interval: Student's t for the means of batches."""
        if not self.sample.prefixes:
            return 0.0  # there is certainly no tour
        if self.batches < 2 or self.tours == 0:
            return math.inf
        return student_95(self.batches - 1) * math.sqrt(self.deviations / (self.batches - 1) / self.batches)

    @property
    def error(self) -> float:
        return self.half_width / (self.tours or 1.0)  # without a tour the width is 0 or infinite

    @property
    def largest_share(self) -> float:
        """The share of the estimate that the largest single descent contributed."""
        return self.largest / (self.tours * self.batches) if self.tours > 0 else 0.0

    @property
    def doubt(self) -> str | None:
        """Why the interval may be too narrow, or None."""
        if not self.sample.prefixes:
            return None
        if self.tours == 0:
            return "no descent has found a tour"
        if self.batches < LEAST_BATCHES:
            return f"only {counted(self.batches, 'batch', 'batches')} of descents, too few to know their scatter"
        if self.largest_share > LARGE_SHARE:
            return (
                f"a single descent makes up {self.largest_share:.0%} of the estimate: others as large may have been "
                "missed, and the truth is more likely above than below"
            )
        return None


def student_95(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, by the expansion of Fisher and Cornish; within 0.1 % from 4 degrees on."""
    z = 1.959963984540054
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


def estimate(
    config: Config,
    goal: Goal,
    show: Callable[[Estimate], object] = lambda _: None,
    notice: Callable[[str], object] = lambda _: None,
    stopping: Callable[[], bool] = lambda: False,
    batch_placements: int = BATCH_PLACEMENTS,
) -> Estimate:
    """Estimate until the goal is reached; `show` is called after each batch, `notice` when a worker is lost."""
    began = time.monotonic()
    with closing(make_executor(config, Handshake())) as executor:
        found = Estimate(make_sample(config, batch_placements), DEFAULT_GOAL if goal == Goal() else goal, began)
        waiting = map(BatchTask, range(found.most_batches))
        queue = deque(islice(waiting, executor.slots))
        with closing(executor.run(found.sample.run, queue, lambda: stopping() or found.is_late)) as events:
            for event in events:
                take(found, event, notice)
                if isinstance(event, Finished):
                    show(found)
                if found.is_reached:
                    break
                queue.extend(islice(waiting, max(0, executor.slots - len(queue))))
    found.interrupted = stopping() and not found.is_reached
    return found


def take(found: Estimate, event: Event[BatchTask, BatchResult], notice: Callable[[str], object]) -> None:
    if isinstance(event, Quarantined):
        raise EnumerateError(f"{event.task.label} failed repeatedly: {event.reason.splitlines()[0]}")
    if isinstance(event, Finished):
        found.early[event.task.key] = event.result
        while found.batches in found.early and not found.is_reached:
            found.add(*found.early.pop(found.batches))
    elif not isinstance(event, Started):
        notice(trouble(event))
    found.seconds = time.monotonic() - found.began


# ---------------------------------------------------------------------------------------------------------------------
# An estimate to read.


def progress_line(found: Estimate) -> str:
    name, share = _counts(found)[0]
    return (
        f"{found.config.variant} tours on {found.config.board}, {name}: {estimated(found.tours * share, found.bits)}"
        f" {plus_minus(found)}, {found.descents:,} descents, {found.seconds:.0f} s"
    )


def plus_minus(found: Estimate) -> str:
    return f"± {found.error:.2%}" if math.isfinite(found.error) else "± unknown"


def estimate_lines(found: Estimate) -> list[str]:
    if not found.batches:
        return ["stopped before the first batch of descents was done: nothing is known yet"]
    lines = [f"{_what(found)} on {found.config.board}"]
    lines += [f"{name:<11}{estimated(found.tours * share, found.bits)} {_interval(found, share)}"
              for name, share in _counts(found)]  # fmt: skip
    lines.append(f"{'':<11}from {found.descents:,} random descents in {found.seconds:.1f} s, seed {found.config.seed}")
    lines += _published(found)
    if found.doubt:
        lines.append(f"unreliable: {found.doubt}")
    return lines


def _published(found: Estimate) -> list[str]:
    board, variant = found.config.board, found.config.variant
    known = published(board, "cycles") if variant == "closed" else published_tours(board, variant)
    if not known or found.config.start != "all":
        return []
    undirected = known.count if variant == "closed" else known.count // 2
    return [f"{'published':<11}{undirected:,} undirected ({known.source})"]


def _interval(found: Estimate, share: float) -> str:
    if not math.isfinite(found.error):
        return plus_minus(found)
    low, high = (estimated((found.tours + side) * share, found.bits) for side in (-found.half_width, found.half_width))
    return f"{plus_minus(found)}, with 95 % confidence from {low} to {high}"


def _what(found: Estimate) -> str:
    kinds = {"open": "open tours", "closed": "closed tours", "both": "tours, closed ones cut at each of their moves,"}
    from_ = "" if found.config.start == "all" else f" that start on {found.config.start}"
    return kinds[found.config.variant] + from_


def _counts(found: Estimate) -> list[tuple[str, float]]:
    """The numbers to show, in multiples of what is estimated: see docs/conventions.md for what is directed.

    Closed tours of the whole board are estimated from one square, which has each in both directions.
    """
    if found.config.start != "all":
        return [("directed", 1)]
    squares = found.config.board.length if found.config.variant == "closed" else 1
    return [("undirected", 0.5), ("directed", squares)]


def estimate_json(found: Estimate) -> dict[str, Any]:
    """The same as one JSON document. Numbers too large for a double are null; their logarithms are not."""
    config = found.config
    known, width = found.tours if found.batches else math.nan, found.half_width
    ends = {"tours": known, "low": max(0.0, known - width), "high": known + width}
    counts = {
        name: {key: _plain(end * share, found.bits) for key, end in ends.items()}
        | {"log10": math.log10(known * share) + found.bits * math.log10(2) if known > 0 else None}
        for name, share in _counts(found)
    }
    return {
        "size": str(config.board),
        **{name: getattr(config, name) for name in ("variant", "start", "seed")},
        **counts,
        "error": found.error if math.isfinite(found.error) else None,
        "largest_share": found.largest_share if found.batches else None,
        **{name: getattr(found, name) for name in ("doubt", "batches", "descents", "seconds", "interrupted")},
    }


def _plain(value: float, bits: int) -> float | None:
    try:
        value = math.ldexp(value, bits)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None
