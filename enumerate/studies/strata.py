"""How an estimate divides the tours of a board: by their prefixes, with a number of descents for each.

A stratum is a prefix and its multiplicity, the number of paths that the symmetries of the board make of it. Which
strata scatter most is learned from a pilot whose descents are used for nothing else; afterwards the numbers of descents
are fixed, so that every batch has the same mean.
"""

from __future__ import annotations

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
from ..plan.sizes import Descents, Guess

MAX_SQUARES = 400  # beyond, a descent hardly ever finds a tour
BATCH_PLACEMENTS = 1_000_000  # about, in one batch: a small fraction of a second
LARGE_SQUARES = 256  # beyond, tours may be more than doubles can hold
PILOT_DESCENTS = 256  # for each stratum

_MOST_STRATA = 256
_LEAST_DESCENTS = 4  # in a batch, for each stratum
_EVEN_SHARE = 0.2  # of the descents, spread evenly in case the pilot is wrong
_PILOT = 2**63  # makes the pilot's seed larger than any --seed


@dataclass(frozen=True)
class Strata:
    """What every batch does: `counts` descents below each prefix."""

    config: Config
    prefixes: tuple[Cursor, ...]
    multiplicities: NDArray[np.int64]
    counts: NDArray[np.int64]
    is_large: bool = False  # whether there may be more tours than doubles can hold

    @property
    def descents(self) -> int:
        """In one batch."""
        return int(self.counts.sum())

    @property
    def factors(self) -> NDArray[np.float64]:
        """What one descent of each stratum counts."""
        return self.multiplicities / self.counts

    @property
    def bits(self) -> int:
        """The tours of a descent are counted in units of two to this power: see `shrink` in `kernels.descent`."""
        return self.config.board.length - len(self.prefixes[0]) if self.is_large and self.prefixes else 0

    def sums(self, batch: int) -> NDArray[np.float64]:
        return _descents(self.config, self.config.seed, self.is_large).sums(self.prefixes, self.counts, batch)


def make_strata(config: Config, batch_placements: int = BATCH_PLACEMENTS, large_squares: int = LARGE_SQUARES) -> Strata:
    """The strata of the requested tours, and how many descents each of them gets in a batch."""
    refuse_impossible(config.board, config.variant)
    if config.board.squares > MAX_SQUARES:
        raise BadRequest(
            f"the board of an estimate must have at most {MAX_SQUARES:,} squares (20x20), got {config.board}"
        )
    if config.start == "classes":  # with their multiplicities they are all squares
        config = replace(config, start="all")
    strata = beginnings(config)
    prefixes, multiplicities = tuple(strata), np.array(list(strata.values()), dtype=np.int64)
    is_large = config.board.squares > large_squares
    pilot = _descents(config, config.seed + _PILOT, is_large).sums(prefixes, np.full(len(prefixes), PILOT_DESCENTS))
    alive = np.flatnonzero(pilot[:, descent.PLACEMENTS])  # the search never takes the others
    scatter = multiplicities[alive] * np.sqrt(pilot[alive, descent.SQUARES])
    total = max(batch_placements // config.board.length, 2 * _LEAST_DESCENTS * len(alive))
    counts = _allocation(scatter, multiplicities[alive].astype(np.float64), total)
    return Strata(config, tuple(prefixes[i] for i in alive), multiplicities[alive], counts, is_large)


def _allocation(scatter: NDArray[np.float64], sizes: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Descents for each stratum, about in proportion to its scatter, which makes that of the sum least (Neyman)."""
    even = sizes / max(sizes.sum(), 1)
    shares = scatter / scatter.sum() if scatter.sum() > 0 else even
    wanted = total * (_EVEN_SHARE * even + (1 - _EVEN_SHARE) * shares)
    counts: NDArray[np.int64] = np.maximum(_LEAST_DESCENTS, np.rint(wanted)).astype(np.int64)
    return counts


def beginnings(config: Config) -> dict[Cursor, int]:
    """Prefixes of all tours, one for each class under the symmetries, and their multiplicities."""
    strata = _first_squares(config)
    while strata and len(next(iter(strata))) < config.board.length:
        following = _longer(config.board, strata)
        if len(following) > _MOST_STRATA:
            break
        strata = following
    return strata


def _first_squares(config: Config) -> dict[Cursor, int]:
    """The start squares. Closed tours are the same from every square: of the whole board, those from one corner."""
    board = config.board
    if config.variant == "closed" and config.start == "all":
        corner = min(board.symmetries[0], key=lambda square: (len(board.neighbours[square]) or 9, square))
        one_way, *others = board.neighbours[corner]
        return {(corner, one_way): 2} if len(others) == 1 else {(corner,): 1}  # they come back the other way
    starts = choose_starts(board, "classes" if config.start == "all" else config.start, config.seed, config.variant)
    return {(start,): n for start, n in starts.items() if not why_no_tour_from(board, start, config.variant)}


def _longer(board: Board, strata: dict[Cursor, int]) -> dict[Cursor, int]:
    """The strata with one square more. What the symmetries that keep a path make of its next square counts as one."""
    result: dict[Cursor, int] = {}
    for path, multiplicity in strata.items():
        kept = [symmetry for symmetry in board.symmetries if all(symmetry[square] == square for square in path)]
        for other in board.neighbours[path[-1]]:
            if other not in path:
                lowest = (*path, min(symmetry[other] for symmetry in kept))
                result[lowest] = result.get(lowest, 0) + multiplicity
    return result


def _descents(config: Config, seed: int, is_large: bool) -> Descents:
    return Descents(config, tour_guess(), seed, 0.5 if is_large else 1.0)


def tour_guess() -> Guess:
    """The weights of children that make estimated tours scatter little; see `kernels.descent`.

    Fitted to tours of 8x8 such that these become as likely as possible (the cross-entropy method of Rubinstein), then
    rounded: a square with d onward moves counts 1/d, which is Warnsdorff's rule, but more if it has only one left and
    could as well be the end. A square whose last move is taken away ends nearly every path; zero would lose the tour
    that ends there.
    """
    guess = np.ones((2, 9))
    guess[descent.OWN, 1:] = 3 / np.arange(1, 9)
    guess[descent.OWN, 1] = 9
    guess[descent.LOSS, 1:5] = 0.001, 0.37, 0.68, 0.83
    return guess
