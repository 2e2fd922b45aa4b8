"""How an estimate samples the tours of a board: the prefixes that divide them, and the descents below each.

A prefix has a multiplicity, the number of paths that the symmetries of the board make of it. A pilot measures the
scatter below each prefix; its descents count for nothing else. Then the numbers of descents are fixed, so that every
batch has the same mean. (In statistics this is a stratified sample, and the prefixes are its strata.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..kernels import descent
from ..model.board import Board
from ..model.config import Config
from ..model.errors import BadRequest
from ..model.jobs import Cursor
from ..model.theorems import why_no_tour_from
from ..plan.plan import choose_starts, refuse_impossible
from ..plan.sizes import Guess, sums_below

MAX_SQUARES = 400  # beyond, a descent hardly ever finds a tour
BATCH_PLACEMENTS = 1_000_000  # about, in one batch: a small fraction of a second
LARGE_SQUARES = 256  # beyond, doubles may be too small for the number of tours
PILOT_DESCENTS = 256  # for each prefix

_MOST_PREFIXES = 256
_LEAST_DESCENTS = 4  # in a batch, for each prefix
_EVEN_SHARE = 0.2  # of the descents, spread evenly in case the pilot is wrong
_PILOT = 2**63  # added to the seed of the pilot, so that no estimate has the same


@dataclass(frozen=True)
class BatchTask:
    key: int

    @property
    def label(self) -> str:
        return f"batch {self.key}"


BatchResult = tuple[float, float]  # tours, and the largest contribution of a single descent; in units of `Sample.bits`


@dataclass(frozen=True)
class Sample:
    """What every batch does: `counts` descents below each prefix."""

    config: Config
    prefixes: tuple[Cursor, ...]
    multiplicities: NDArray[np.int64]
    counts: NDArray[np.int64]
    is_large: bool = False  # whether doubles may be too small for the number of tours

    @property
    def descents(self) -> int:
        """In one batch."""
        return int(self.counts.sum())

    @property
    def bits(self) -> int:
        """The tours of a descent are counted in units of two to this power: see `shrink` in `kernels.descent`."""
        return self.config.board.length - len(self.prefixes[0]) if self.is_large and self.prefixes else 0

    def run(self, task: BatchTask) -> BatchResult:
        """On a worker: one batch."""
        sums = _sums(self.config, self.prefixes, self.counts, self.config.seed, self.is_large, task.key)
        weights = self.multiplicities / self.counts  # of one descent below each prefix
        largest = np.max(weights * sums[:, descent.LARGEST], initial=0.0)
        return float(weights @ sums[:, descent.TOURS]), float(largest)


def make_sample(config: Config, batch_placements: int = BATCH_PLACEMENTS, large_squares: int = LARGE_SQUARES) -> Sample:
    """The prefixes of the tours, and the number of descents below each in a batch."""
    refuse_impossible(config.board, config.variant)
    if config.board.squares > MAX_SQUARES:
        raise BadRequest(
            f"the board of an estimate must have at most {MAX_SQUARES:,} squares (20x20), got {config.board}"
        )
    if config.start == "classes":  # with their multiplicities these are all squares
        config = replace(config, start="all")
    found = prefixes_of(config)
    prefixes, multiplicities = tuple(found), np.array(list(found.values()), dtype=np.int64)
    is_large = config.board.squares > large_squares
    pilot = _sums(config, prefixes, np.full(len(prefixes), PILOT_DESCENTS), config.seed + _PILOT, is_large)
    alive = np.flatnonzero(pilot[:, descent.PLACEMENTS])  # the search never takes the others
    scatter = multiplicities[alive] * np.sqrt(pilot[alive, descent.SQUARES])
    total = max(batch_placements // config.board.length, 2 * _LEAST_DESCENTS * len(alive))
    counts = _allocation(scatter, multiplicities[alive].astype(np.float64), total)
    return Sample(config, tuple(prefixes[i] for i in alive), multiplicities[alive], counts, is_large)


def _allocation(scatter: NDArray[np.float64], sizes: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Descents below each prefix, about in proportion to its scatter, which minimises that of the sum (Neyman)."""
    even = sizes / max(sizes.sum(), 1)
    shares = scatter / scatter.sum() if scatter.sum() > 0 else even
    wanted = total * (_EVEN_SHARE * even + (1 - _EVEN_SHARE) * shares)
    counts: NDArray[np.int64] = np.maximum(_LEAST_DESCENTS, np.rint(wanted)).astype(np.int64)
    return counts


def prefixes_of(config: Config) -> dict[Cursor, int]:
    """The prefixes of the tours, one of those that the symmetries make alike, and their multiplicities."""
    prefixes = _first_squares(config)
    while prefixes and len(next(iter(prefixes))) < config.board.length:
        longer = _longer(config.board, prefixes)
        if len(longer) > _MOST_PREFIXES:
            break
        prefixes = longer
    return prefixes


def _first_squares(config: Config) -> dict[Cursor, int]:
    """The start squares. Closed tours of the whole board start in one corner: every square has the same ones."""
    board = config.board
    if config.variant == "closed" and config.start == "all":
        corner = min(board.symmetries[0], key=lambda square: (len(board.neighbours[square]) or 9, square))
        one_way, *others = board.neighbours[corner]
        return {(corner, one_way): 2} if len(others) == 1 else {(corner,): 1}  # each returns the other way
    starts = choose_starts(board, "classes" if config.start == "all" else config.start, config.seed, config.variant)
    return {(start,): n for start, n in starts.items() if not why_no_tour_from(board, start, config.variant)}


def _longer(board: Board, prefixes: dict[Cursor, int]) -> dict[Cursor, int]:
    """The prefixes one square longer. Next squares that a symmetry of the path maps onto one another count as one."""
    result: dict[Cursor, int] = {}
    for path, multiplicity in prefixes.items():
        kept = [symmetry for symmetry in board.symmetries if all(symmetry[square] == square for square in path)]
        for other in board.neighbours[path[-1]]:
            if other not in path:
                lowest = (*path, min(symmetry[other] for symmetry in kept))
                result[lowest] = result.get(lowest, 0) + multiplicity
    return result


def _sums(
    config: Config, prefixes: Sequence[Cursor], counts: NDArray[np.int64], seed: int, is_large: bool, batch: int = 0
) -> NDArray[np.float64]:
    return sums_below(config, prefixes, counts, tour_guess(), seed, batch, 0.5 if is_large else 1.0)


def tour_guess() -> Guess:
    """The weights of children that make estimated tours scatter little; see `kernels.descent`.

    Fitted to tours of 8x8 so that these become as likely as possible (Rubinstein's cross-entropy method), then rounded.
    A square with d onward moves counts 1/d, which is Warnsdorff's rule, but more if it has only one left and may be the
    end. A square that loses its last move ends nearly every path; a weight of zero would lose the tour that ends there.
    """
    guess = np.ones((2, 9))
    guess[descent.OWN, 1:] = 3 / np.arange(1, 9)
    guess[descent.OWN, 1] = 9
    guess[descent.LOSS, 1:5] = 0.001, 0.37, 0.68, 0.83
    return guess
