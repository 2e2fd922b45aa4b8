"""How large is a search? Estimated by random descents, before it is made: see `kernels.descent`.

A search of a whole board may take a second or longer than the world stands, and so may its parts. Knowing roughly
which, jobs can be split where it pays, started with the largest, and their progress weighed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .board import Board
from .compiled import load_kernel
from .config import Config
from .jobs import Cursor
from .kernels import depth_first
from .strategies.depth_first import rules_of
from .strategies.searching import neighbour_table

DESCENTS = 32

_CALL_PLACEMENTS = 20_000_000  # at the most in one call of a kernel, so that Python hears Ctrl-C
_SQUARE_BYTES = 4

Paths = tuple[NDArray[np.int32], NDArray[np.int64]]  # padded rows, and the length of each
Sizes = tuple[NDArray[np.float64], NDArray[np.float64]]


def sizes_of(
    config: Config, prefixes: Sequence[Cursor], descents: int = DESCENTS, seed: int = 0, kernel: str = ""
) -> Sizes:
    """For each path, estimates of the iterations and the tours of the depth-first search of a job with that prefix.

    The means over all seeds are exact. The first placement is the last square of the path; a path that the search
    never takes has none. Beyond the range of doubles the numbers are infinite. What a path gets depends on it, on
    `descents` and `seed`, not on the other paths. `kernel` is as in `DepthFirst`.
    """
    iterations, tours = _means(config, prefixes, descents, seed, kernel or config.kernel)
    if not config.prune:  # it finds the same tours as the pruned search, whose descents meet more of them
        _, tours = _means(replace(config, prune=True), prefixes, descents, seed, kernel or config.kernel)
    return iterations, tours


def _means(config: Config, prefixes: Sequence[Cursor], descents: int, seed: int, kernel: str) -> Sizes:
    run, arrays = getattr(_compiled(kernel), f"size_{kernel}"), _ARRAYS[kernel](config)
    paths, sizes = _table(prefixes), np.zeros((2, len(prefixes)))
    step = max(1, _CALL_PLACEMENTS // (descents * config.board.length))
    for begin in range(0, len(prefixes), step):
        part = slice(begin, begin + step)
        _run(run, arrays, (paths[0][part], paths[1][part]), descents, seed, sizes[:, part])
    return sizes[0], sizes[1]


def _run(run: Any, arrays: tuple[Any, ...], paths: Paths, descents: int, seed: int, sizes: NDArray[np.float64]) -> None:
    run(*arrays, *paths, descents, np.uint64(seed), np.zeros(8), sizes[0], sizes[1])


def losses(prune: bool = True) -> NDArray[np.float64]:
    """What it costs the squares around a square to lose one of d onward moves: the weight of a child is their product.

    Chosen by the scatter of the estimates for 8x8: ((d - 1) / d) ** 1.5, and 1/2 in place of 0 for a square that loses
    its last one. A square root is the same to the last bit on every machine; other powers may not be. Most of the
    plain search is far from any tour: there all children are alike.
    """
    if not prune:
        return np.ones(9)
    onward = np.arange(9.0)
    share = np.maximum(onward - 1, 0.5) / np.maximum(onward, 1)
    result: NDArray[np.float64] = share * np.sqrt(share)
    return result


@lru_cache
def _compiled(kernel: str) -> Any:
    """The module of descents, with the function for this kernel compiled."""
    entry = f"size_{kernel}"

    def warm_up(module: Any) -> None:
        _run(getattr(module, entry), _ARRAYS[kernel](Config(board=Board(5, 5))), _table([(0,)]), 1, 0, np.zeros((2, 1)))

    return load_kernel("descent", (entry,), _SQUARE_BYTES, warm_up)


def _table(prefixes: Sequence[Cursor]) -> Paths:
    """Paths as rows of one table, and their lengths."""
    lengths = np.array([len(prefix) for prefix in prefixes], dtype=np.int64)
    table = np.zeros((len(prefixes), max(lengths, default=1)), dtype=np.int32)
    for row, prefix in enumerate(prefixes):
        table[row, : len(prefix)] = prefix
    return table, lengths


def _bits_arrays(config: Config) -> tuple[Any, ...]:
    board = config.board
    attacks = np.array([sum(1 << other for other in others) for others in board.neighbours], dtype=np.uint64)
    return attacks, losses(config.prune), rules_of(depth_first, config, 0)


def _array_arrays(config: Config) -> tuple[Any, ...]:
    board = config.board
    neighbours = neighbour_table(board)
    degrees = (neighbours >= 0).sum(axis=1).astype(np.int8)
    near_start, visited = np.zeros((2, board.squares), dtype=np.bool_)
    path, tight = np.zeros(board.length, dtype=np.int32), np.zeros(2, dtype=np.int32)
    rules = rules_of(depth_first, config, 0)
    return neighbours, losses(config.prune), rules, near_start, degrees, visited, path, tight


_ARRAYS = {"bits": _bits_arrays, "array": _array_arrays}
