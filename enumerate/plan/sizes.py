"""How large is a search? Estimated by random descents, before it is made: see `kernels.descent`.

A search of a whole board may take a second or longer than the world stands, and so may its parts. Knowing roughly
which, jobs can be split where it pays, started with the largest, and their progress weighed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import depth_first, descent
from ..kernels.cache import load_kernel
from ..model.board import Board
from ..model.config import Config
from ..model.jobs import Cursor
from ..search.depth_first import rules_of
from ..search.tables import neighbour_table

DESCENTS = 32

_CALL_PLACEMENTS = 20_000_000  # at the most in one call of a kernel, so that Python hears Ctrl-C
_SQUARE_BYTES = 4

Guess = NDArray[np.float64]
Sizes = tuple[NDArray[np.float64], NDArray[np.float64]]


def sizes_of(
    config: Config, prefixes: Sequence[Cursor], descents: int = DESCENTS, seed: int = 0, kernel: str = ""
) -> Sizes:
    """For each path, estimates of the iterations and the tours of the depth-first search of a job with that prefix.

    The means over all seeds are exact. The first placement is the last square of the path; a path that the search
    never takes has none. Beyond the range of doubles the numbers are infinite. What a path gets depends on it, on
    `descents` and `seed`, not on the other paths. `kernel` is as in `DepthFirst`.
    """
    iterations, tours = _means(config, prefixes, descents, seed, kernel)
    if not config.prune:  # it finds the same tours as the pruned search, whose descents meet more of them
        _, tours = _means(replace(config, prune=True), prefixes, descents, seed, kernel)
    return iterations, tours


def _means(config: Config, prefixes: Sequence[Cursor], descents: int, seed: int, kernel: str) -> Sizes:
    below = Descents(config, size_guess(config.prune), seed, kernel=kernel)
    sums = below.sums(prefixes, np.full(len(prefixes), descents))
    return sums[:, descent.PLACEMENTS] / descents, sums[:, descent.TOURS] / descents


def size_guess(prune: bool) -> Guess:
    """The weights of children that make estimated sizes scatter little; see `kernels.descent`.

    A square that loses one of d onward moves counts ((d - 1) / d) ** 1.5, and one that loses its last one as if it had
    kept half of it; this was tried out on 8x8. A square root is the same to the last bit on every machine; other powers
    may not be. Most of the plain search is far from any tour: there all children are alike.
    """
    guess = np.ones((2, 9))
    if prune:
        onward = np.arange(1.0, 9.0)
        share = np.maximum(onward - 1, 0.5) / onward
        guess[descent.LOSS, 1:] = share * np.sqrt(share)
    return guess


class Descents:
    """Random descents into the search of one config, by one guess at where the tours are and with one seed."""

    def __init__(self, config: Config, guess: Guess, seed: int, shrink: float = 1.0, kernel: str = "") -> None:
        kernel = kernel or config.kernel
        self.length = config.board.length
        self._run = getattr(_compiled(kernel), f"descend_{kernel}")
        self._arrays = (*_ARRAYS[kernel](config.board), guess, rules_of(depth_first, config, 0), shrink)
        self._seed = np.uint64(seed)

    def sums(self, prefixes: Sequence[Cursor], counts: NDArray[np.int64], batch: int = 0) -> NDArray[np.float64]:
        """For each path the sums over `counts` descents below it, in the columns of `kernels.descent`.

        Batches differ in their numbers alone: each has descents of its own, and all together are one large batch.
        """
        lengths = np.array([len(prefix) for prefix in prefixes], dtype=np.int64)
        table = np.zeros((len(prefixes), max(lengths, default=1)), dtype=np.int32)
        for row, prefix in enumerate(prefixes):
            table[row, : len(prefix)] = prefix
        sums = np.zeros((len(prefixes), descent.SUMS))
        for part in _parts(counts * self.length):
            firsts = counts[part] * batch
            self._run(
                *self._arrays, table[part], lengths[part], firsts, counts[part], self._seed, np.zeros(8), sums[part]
            )
        return sums


def _parts(placements: NDArray[np.int64]) -> list[slice]:
    """Rows for one call of the kernel each."""
    calls = np.cumsum(placements) // _CALL_PLACEMENTS
    begins = np.flatnonzero(np.diff(calls, prepend=-1)).tolist()
    return [slice(begin, end) for begin, end in pairwise([*begins, len(placements)])]


def _bits_arrays(board: Board) -> tuple[Any, ...]:
    return (np.array([sum(1 << other for other in others) for others in board.neighbours], dtype=np.uint64),)


def _array_arrays(board: Board) -> tuple[Any, ...]:
    neighbours = neighbour_table(board)
    degrees = (neighbours >= 0).sum(axis=1).astype(np.int8)
    near_start, visited = np.zeros((2, board.squares), dtype=np.bool_)
    return neighbours, near_start, degrees, visited, np.zeros(board.length, np.int32), np.zeros(2, np.int32)


_ARRAYS = {"bits": _bits_arrays, "array": _array_arrays}


@lru_cache
def _compiled(kernel: str) -> Any:
    """The module of descents, with the function for this kernel compiled."""
    entry = f"descend_{kernel}"

    def warm_up(module: Any) -> None:
        config, one = Config(board=Board(5, 5)), np.ones(1, dtype=np.int64)
        arrays = (*_ARRAYS[kernel](config.board), size_guess(True), rules_of(depth_first, config, 0), 1.0)
        sums = np.zeros((1, descent.SUMS))
        getattr(module, entry)(*arrays, np.zeros((1, 1), np.int32), one, one, one, np.uint64(0), np.zeros(8), sums)

    return load_kernel("descent", (entry,), _SQUARE_BYTES, warm_up)
