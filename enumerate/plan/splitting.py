"""Searches split into jobs by their beginnings, so that many workers end at about the same time.

A path is split by taking its place with all paths that are one square longer and that the search would take: they are
disjoint and leave nothing out. The largest search, by estimate, is split first; so more prefixes refine fewer, and no
job is much larger than the others. The estimates come from random descents with a fixed seed: every machine splits
alike. On boards beyond any estimate the shortest prefix is split first.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model.config import BY_SIZE, SIZED_SQUARES, Config
from ..model.jobs import Cursor
from .sizes import sizes_of

SMALL = 4_000_000  # iterations: about a tenth of a second, and still worth a file
JOBS = 2_000  # for searches of any size: enough for some hundred workers


@dataclass(order=True)
class Branch:
    """A beginning and the estimated iterations below it. The largest comes first, then the shortest."""

    rank: tuple[float, int, Cursor] = field(init=False)
    prefix: Cursor = field(compare=False)
    iterations: float = field(compare=False)

    def __post_init__(self) -> None:
        self.rank = (-self.iterations, len(self.prefix), self.prefix)


def split(config: Config, prefixes: Sequence[Cursor]) -> list[list[Cursor]]:
    """For each beginning the prefixes that it is split into, in order of squares."""
    if config.split == BY_SIZE and config.board.squares > SIZED_SQUARES:
        return [[prefix] for prefix in prefixes]  # no worker comes to the end of any of them
    sizes = _sizes(config, prefixes)
    roots = [Branch(prefix, float(size)) for prefix, size in zip(prefixes, sizes, strict=True)]
    if config.split == BY_SIZE:
        limit = max(SMALL, sum(root.iterations for root in roots) / JOBS)
        return [_split(config, root, JOBS, limit) for root in roots]
    return [_split(config, root, config.split, 0.0) for root in roots]


def _split(config: Config, root: Branch, most: int, limit: float) -> list[Cursor]:
    """Split until there are `most` prefixes, or none is larger than `limit`, or nothing can be split."""
    heap, whole = [root], list[Cursor]()
    while heap and len(heap) + len(whole) < most and heap[0].iterations > limit:
        largest = heapq.heappop(heap)
        children = _children(config, largest.prefix)
        if not children:
            whole.append(largest.prefix)
        for child in children:
            heapq.heappush(heap, child)
    return sorted([*whole, *(branch.prefix for branch in heap)])


def _children(config: Config, prefix: Cursor) -> list[Branch]:
    """The paths one square longer that the search takes; none if they would be whole tours."""
    if len(prefix) + 2 > config.board.length:
        return []
    longer = [(*prefix, square) for square in config.board.neighbours[prefix[-1]] if square not in prefix]
    sizes = _sizes(config, longer)
    return [Branch(path, float(size)) for path, size in zip(longer, sizes, strict=True) if size > 0]


def _sizes(config: Config, prefixes: Sequence[Cursor]) -> NDArray[np.float64]:
    """Estimated iterations. Beyond measure, all that the search takes are alike: one descent tells which these are."""
    if config.board.squares <= SIZED_SQUARES:
        return sizes_of(config, prefixes)[0]
    return np.where(sizes_of(config, prefixes, 1)[0] > 0, np.inf, 0.0)
