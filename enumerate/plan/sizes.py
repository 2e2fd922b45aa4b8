"""How large is a search? Estimated by random descents, before it is made (see `kernels.descent`), and split by that.

A search of a whole board may take a second or a million years, and so may its parts. Knowing roughly
which, jobs can be split where it pays, started with the largest, and their progress weighed.

A path is split by taking its place with all paths that are one square longer and that the search would take: they are
disjoint and leave nothing out. The largest search, by estimate, is split first; so more prefixes refine fewer, and no
job is much larger than the others: many workers end at about the same time. The descents have a fixed seed: every
machine splits alike. On boards too large for estimates the shortest prefix is split first.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import depth_first, descent
from ..kernels.cache import load_kernel
from ..model.board import Board
from ..model.config import SIZED_SQUARES, Config
from ..model.jobs import Cursor
from ..model.settings import BY_SIZE
from ..search.depth_first import kernel_for, rules_of, tables_of

DESCENTS = 32
SMALL = 4_000_000  # iterations: about a tenth of a second, and still worth a file
JOBS = 2_000  # for searches of any size: enough for some hundred workers

FIRST_NOTICE_SECONDS, NOTICE_SECONDS = 2.0, 10.0
_CALL_PLACEMENTS = 20_000_000  # at the most in one call of a kernel, so that Python hears Ctrl-C

Guess = NDArray[np.float64]
Sizes = tuple[NDArray[np.float64], NDArray[np.float64]]


class SizedPrefix(NamedTuple):
    """A prefix by the estimated iterations below it, negative: the largest comes first, then the shortest."""

    rank: float
    length: int
    prefix: Cursor


def split(
    config: Config, prefixes: Sequence[Cursor], small: int = SMALL, jobs: int = JOBS,
    notice: Callable[[str], None] = lambda _: None,
) -> list[list[Cursor]]:  # fmt: skip
    """For each prefix those that it is split into, in order of squares. `notice` is told now and then how far it is.

    By size, what has at most `small` iterations is left whole, and a search of any size makes about so many jobs.
    """
    if config.split == BY_SIZE and config.board.squares > SIZED_SQUARES:
        return [[prefix] for prefix in prefixes]  # no worker comes to the end of any of them
    roots = _sized(config, prefixes)
    most, limit = config.split, 0.0
    if config.split == BY_SIZE:
        most, limit = jobs, max(small, -sum(root.rank for root in roots) / jobs)
    groups = list[list[Cursor]]()
    tell_at = time.monotonic() + FIRST_NOTICE_SECONDS
    for root in roots:
        groups.append(_split(config, root, most, limit))
        if time.monotonic() > tell_at:
            tell_at = time.monotonic() + NOTICE_SECONDS
            notice(f"planning: {len(groups):,} of {len(roots):,} start squares")
    return groups


def _split(config: Config, root: SizedPrefix, most: int, limit: float) -> list[Cursor]:
    """Split until there are `most` prefixes, or none is larger than `limit`, or nothing can be split."""
    heap, whole = [root], list[Cursor]()
    while heap and len(heap) + len(whole) < most and -heap[0].rank > limit:
        largest = heapq.heappop(heap).prefix
        children = _children(config, largest)
        if not children:
            whole.append(largest)
        for child in children:
            heapq.heappush(heap, child)
    return sorted([*whole, *(sized.prefix for sized in heap)])


def _children(config: Config, prefix: Cursor) -> list[SizedPrefix]:
    """The paths one square longer that the search takes; none if they would be whole tours."""
    if len(prefix) + 2 > config.board.length:
        return []
    longer = [(*prefix, square) for square in config.board.neighbours[prefix[-1]] if square not in prefix]
    return [sized for sized in _sized(config, longer) if sized.rank < 0]


def _sized(config: Config, prefixes: Sequence[Cursor]) -> list[SizedPrefix]:
    """On boards too large for estimates all are equal, if the search takes them: one descent shows that."""
    if config.board.squares <= SIZED_SQUARES:
        sizes = sizes_of(config, prefixes)[0]
    else:
        sizes = np.where(sizes_of(config, prefixes, 1)[0] > 0, np.inf, 0.0)
    return [SizedPrefix(-size, len(prefix), prefix) for prefix, size in zip(prefixes, sizes.tolist(), strict=True)]


def sizes_of(config: Config, prefixes: Sequence[Cursor], descents: int = DESCENTS, seed: int = 0) -> Sizes:
    """For each path, estimates of the iterations and the tours of the depth-first search of a job with that prefix.

    The means over all seeds are exact. The first placement is the last square of the path; a path that the search
    never takes has none. Beyond the range of doubles the numbers are infinite. What a path gets depends on it, on
    `descents` and `seed`, not on the other paths.
    """
    iterations, tours = _means(config, prefixes, descents, seed)
    if not config.prune:  # it finds the same tours as the pruned search, whose descents meet more of them
        _, tours = _means(replace(config, prune=True), prefixes, descents, seed)
    return iterations, tours


def _means(config: Config, prefixes: Sequence[Cursor], descents: int, seed: int) -> Sizes:
    sums = sums_below(config, prefixes, np.full(len(prefixes), descents), size_guess(config.prune), seed)
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


def sums_below(
    config: Config, prefixes: Sequence[Cursor], counts: NDArray[np.int64], guess: Guess, seed: int,
    batch: int = 0, shrink: float = 1.0,
) -> NDArray[np.float64]:  # fmt: skip
    """For each path the sums over `counts` descents below it, in the columns of `kernels.descent`.

    The descents go by one guess at where the tours are, and with one seed. Batches differ in their numbers alone: each
    has descents of its own, and all together are one large batch.
    """
    kernel = kernel_for(config.board)
    run, rules = _compiled(kernel), rules_of(depth_first, config, 0)
    lengths = np.array([len(prefix) for prefix in prefixes], dtype=np.int64)
    table = np.zeros((len(prefixes), max(lengths, default=1)), dtype=np.int32)
    for row, prefix in enumerate(prefixes):
        table[row, : len(prefix)] = prefix
    sums = np.zeros((len(prefixes), descent.SUMS))
    for part in _parts(counts * config.board.length):
        firsts = counts[part] * batch
        below = table[part], lengths[part], firsts, counts[part], np.uint64(seed), np.zeros(8), sums[part]
        run(*_arrays(kernel, config.board), guess, rules, shrink, *below)
    return sums


def _parts(placements: NDArray[np.int64]) -> list[slice]:
    """Rows for one call of the kernel each."""
    calls = np.cumsum(placements) // _CALL_PLACEMENTS
    begins = np.flatnonzero(np.diff(calls, prepend=-1)).tolist()
    return [slice(begin, end) for begin, end in pairwise([*begins, len(placements)])]


def _arrays(kernel: str, board: Board) -> tuple[np.ndarray, ...]:
    """What the kernel knows of the board; for boards of any size also room for a path."""
    tables = tables_of(kernel, board)
    return tables[:1] if kernel == "bits" else (*tables[:2], np.zeros(board.length, dtype=np.uint64))


@lru_cache
def _compiled(kernel: str) -> Callable[..., None]:
    """The descents of this kernel, compiled."""
    entry = f"descend_{kernel}"

    def warm_up(module: Any) -> None:
        config, one = Config(board=Board(5, 5)), np.ones(1, dtype=np.int64)
        arrays = (*_arrays(kernel, config.board), size_guess(True), rules_of(depth_first, config, 0), 1.0)
        sums = np.zeros((1, descent.SUMS))
        getattr(module, entry)(*arrays, np.zeros((1, 1), np.int32), one, one, one, np.uint64(0), np.zeros(8), sums)

    run: Callable[..., None] = getattr(load_kernel("descent", (entry,), 4, warm_up), entry)
    return run
