"""Config to jobs, purely: which start squares are searched, in which prefixes, and which of them are infeasible. And
what a search for all their tours will take.

Start squares are all, one for each symmetry class, some at random, or those that are named. The forecasts are made of
the estimates that split the search (`sizes`), so they are rough: they distinguish an hour from a year.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ..model.board import Board
from ..model.config import SEARCH_SQUARES, SIZED_SQUARES, Config
from ..model.errors import BadRequest
from ..model.jobs import Cursor, Job, have_starts
from ..model.literature import Published, published_tours
from ..model.numbers import in_words, long_time, size
from ..model.theorems import why_no_closed_tour, why_no_tour, why_no_tour_from
from ..search.depth_first import kernel_for
from ..search.strategy import can_split, is_exhaustive, settled, strategy_of

LONG_SECONDS = 24 * 3600.0
ITERATIONS_PER_SECOND = 30e6  # of one worker, bitboards
ARRAY_ITERATIONS_PER_SECOND = 5e6
BYTES_A_SQUARE = 0.09  # of a tour in a part, compressed: 4.5 to 6 bytes a tour of 64 squares
TARGET = 4_000  # descents in all: fewer would scatter too much


def make_plan(config: Config, notice: Callable[[str], None] = lambda _: None) -> tuple[Job, ...]:
    """All jobs of a run, one for each start square or prefix, in the order of their squares.

    Refuses boards without tours. `notice` is told now and then how far a plan is that takes long.
    """
    config = settled(config)
    refuse_impossible(config.board, config.variant)
    refuse_unsuitable(config)
    count = strategy_of(config).count_jobs(config)
    if count:
        return tuple(Job(number, ()) for number in range(count))
    roots = list(choose_prefixes(config).items())
    infeasible = [why_no_tour_from(config.board, prefix[0], config.variant) for prefix, _ in roots]
    prefixes = split_feasible(config, [prefix for prefix, _ in roots], infeasible, notice)
    jobs = (
        (prefix, multiplicity, reason, nth, len(group))
        for (_, multiplicity), reason, group in zip(roots, infeasible, prefixes, strict=True)
        for nth, prefix in enumerate(group)
    )
    return tuple(Job(number, *values) for number, values in enumerate(jobs))


def needs_estimates(config: Config) -> bool:
    """Whether its plan needs kernels. Such a plan is written down when the run begins."""
    return settled(config).split != 1 and can_split(config)


def split_feasible(
    config: Config, prefixes: list[Cursor], infeasible: list[str | None], notice: Callable[[str], None]
) -> list[list[Cursor]]:
    """The prefixes of each job that it is split into; those without a tour are left as they are."""
    groups = [[prefix] for prefix in prefixes]
    chosen = [i for i, reason in enumerate(infeasible) if reason is None and len(prefixes[i]) < config.board.length - 1]
    if needs_estimates(config) and chosen:
        from .sizes import split  # noqa: PLC0415  # numba is slow to import, and a plan is often needed at once

        for i, group in zip(chosen, split(config, [prefixes[i] for i in chosen], notice=notice), strict=True):
            groups[i] = group
    return groups


def refuse_impossible(board: Board, variant: str) -> None:
    reason = why_no_tour(board)
    if reason:
        other = "a larger board, such as 5x5" if board.missing is None else "another board, such as 7x7"
        raise BadRequest(f"{reason}: {board}; use {other}")
    reason = why_no_closed_tour(board) if variant == "closed" else None
    if reason:
        even = "" if board.squares % 2 == 0 else " or an even board"
        raise BadRequest(f"{reason}: {board}; use --variant open{even}")


def refuse_unsuitable(config: Config) -> None:
    """What the strategy cannot do, though others can."""
    strategy = strategy_of(config)
    strategy.refuse(config)
    if strategy.count_jobs(config) and config.start != Config.start:
        raise BadRequest(f"the jobs of --strategy {config.strategy} have no start squares: --start {config.start}")
    if 0 < config.max < config.split:
        raise BadRequest(f"--max {config.max} cannot be divided among --split {config.split} prefixes; ask for more")


def choose_prefixes(config: Config) -> dict[Cursor, int]:
    """The paths that the searches begin with, and their multiplicities.

    A closed tour passes through every square, and comes through a corner by the only two squares next to it: from one
    corner, by the first of them, each is found once.
    """
    if config.start == "once":
        return {(0, min(config.board.neighbours[0])): 1}
    chosen = choose_starts(config.board, config.start, config.seed, config.variant)
    return {(square,): multiplicity for square, multiplicity in chosen.items()}


def choose_starts(board: Board, start: str, seed: int, variant: str = "both") -> dict[int, int]:
    """The start squares and their multiplicities, which are 1 unless a square represents its symmetry class."""
    if (start in ("all", "classes") or start.startswith("random")) and board.squares > SEARCH_SQUARES:
        raise BadRequest(
            f"start squares of a board with more than {SEARCH_SQUARES:,} squares are named: {start!r}; such as a1"
        )
    if start == "all":
        return {square: 1 for square in range(board.squares) if square != board.missing}
    if start == "classes":
        return {square: count for square, count in board.classes.items() if square != board.missing}
    if start.startswith("random"):
        return dict.fromkeys(random_squares(board, start, seed, variant), 1)
    return dict.fromkeys(named_squares(board, start, variant), 1)


def random_squares(board: Board, start: str, seed: int, variant: str) -> list[int]:
    """`random:5` draws five squares that can start a tour: those with the lowest hash of seed and square."""
    match = re.fullmatch(r"random:([0-9]{1,9})", start)
    if not match or int(match[1]) < 1:
        raise BadRequest(f"expected random and a number of squares, such as random:5: {start!r}")
    seeded = _mix(np.array([seed], dtype=np.uint64))
    ranked = np.argsort(_mix(np.arange(board.squares, dtype=np.uint64) ^ seeded), kind="stable").tolist()
    possible = (square for square in ranked if not why_no_tour_from(board, square, variant))
    drawn = list(islice(possible, int(match[1])))
    if len(drawn) < int(match[1]):
        raise BadRequest(f"only {len(drawn)} squares of {board} can start a tour: {start!r}")
    return sorted(drawn)


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Steele, Lea and Flood's SplitMix64."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def named_squares(board: Board, start: str, variant: str) -> list[int]:
    names = [name.strip() for name in start.split(",")]
    if len(names) == 1 and not re.search("[0-9]", start):
        raise BadRequest(f"start is all, classes, once, random:N or squares such as a1,d4: {start!r}")
    squares = [board.square(name) for name in names]
    for i, square in enumerate(squares):
        if square in squares[:i]:
            raise BadRequest(f"a start square is named twice: {board.name(square)!r}")
        reason = why_no_tour_from(board, square, variant)
        if reason:
            raise BadRequest(f"{reason}: {board.name(square)!r} on {board}; use {_instead(board, square)}")
    return sorted(squares)


def _instead(board: Board, square: int) -> str:
    """What to ask for instead of a square on which no such tour starts."""
    if why_no_tour_from(board, square) is None:
        return "--variant closed or both"
    return "another square" if square == board.missing else "a square of the other colour"


# ---------------------------------------------------------------------------------------------------------------------
# Forecasts.


@dataclass(frozen=True)
class Forecast:
    """The estimate of a run. `weights` are the iterations of each job of the plan."""

    tours: float
    seconds: float
    bytes: float
    weights: NDArray[np.float64]
    published: Published | None = None  # the tours that there are

    @property
    def text(self) -> str:
        if math.isinf(self.tours):
            return "more tours than can be estimated"
        known = self.published
        tours = f"{known.count:,} tours ({known.source})" if known else f"about {in_words(self.tours)} tours"
        written = f", {size(self.bytes)}" if self.bytes else ""
        return f"{tours}{written}, {long_time(self.seconds)}"


def forecast_of(config: Config, plan: Sequence[Job], workers: int) -> Forecast | None:
    """What a search for all tours will take; None of another search, or if only its strategy knows how large jobs are.

    Where the board is too large for an estimate, all jobs weigh the same.
    """
    if not is_exhaustive(config) or not have_starts(plan):
        return None
    writes = config.write and not config.only
    if config.board.squares > SIZED_SQUARES:
        return Forecast(math.inf, math.inf, math.inf if writes else 0.0, np.ones(len(plan)))
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
    known = published_tours(config.board, config.variant) if config.start == "all" and not config.only else None
    return Forecast(found, iterations / rate / workers, written, weights, known)


def refuse_endless(forecast: Forecast, workers: int, free: float) -> None:
    """What would take longer than a day, or more bytes than are free, runs only with --yes."""
    if forecast.bytes > free:
        raise BadRequest(
            f"the disk has {size(free)} free, and this run needs more: {forecast.text} with {workers} workers;"
            " give another --output, --no-write to count only, or --yes to start anyway"
        )
    if forecast.seconds > LONG_SECONDS:
        raise BadRequest(
            f"a search for all tours would not end soon: {forecast.text} with {workers} workers;"
            " give --max or --tours, or --yes to start anyway"
        )
