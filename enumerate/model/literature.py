"""Published counts of tours, each with its source.

Two conventions, which are easy to mix up:

* **paths** are directed tours, open and closed alike: 1,728 on 5x5 and 6,637,920 on 6x6 are these;
* **cycles** are undirected closed tours, each counted once whatever its start square and direction.

Numbers in circulation that are wrong, and not in these tables: 33,439,123,484,294 cycles of 8x8, 376 of 3x8 and
17,269,264 of 3x16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .board import Board


@dataclass(frozen=True)
class Published:
    count: int
    source: str


# By source, then by the sides of the board, the shorter one first.
_PATHS = {
    "OEIS A165134": {
        (4, 4): 0,
        (5, 5): 1_728,
        (6, 6): 6_637_920,
        (7, 7): 165_575_218_320,
        (8, 8): 19_591_828_170_979_904,
    },
    "OEIS A169696": {(3, 4): 16, (3, 7): 104, (3, 9): 1_120, (3, 10): 6_096},
    "OEIS A079137": {(4, 5): 164},
    "OEIS A083386": {(5, 6): 37_568, (5, 7): 1_245_736, (5, 8): 36_122_108},
    "OEIS A306281": {(6, 7): 779_938_932},
}

_CYCLES = {
    "Schwenk 1991": {(3, 8): 0, (4, 8): 0},
    "odd number of squares": {(5, 5): 0},
    "OEIS A001230": {(6, 6): 9_862, (8, 8): 13_267_364_410_532},
    "OEIS A070030": {(3, 10): 16, (3, 12): 176},
    "OEIS A175855": {(5, 6): 8, (5, 8): 44_202},
    "OEIS A175881": {(6, 7): 1_067_638, (6, 8): 55_488_142, (6, 9): 3_374_967_940, (6, 10): 239_187_240_144},
    "OEIS A193054": {(7, 8): 34_524_432_316},
}

# The directed tours from one square of each symmetry class. Those of all squares add up to the paths above.
_PATHS_FROM = {
    (5, 5): {"a1": 304, "b1": 0, "c1": 56, "b2": 56, "c2": 0, "c3": 64},
    (6, 6): {"a1": 524_486, "b1": 289_050, "c1": 115_837, "b2": 173_402, "c2": 49_578, "c3": 52_662},
}


def published(board: Board, what: Literal["paths", "cycles"]) -> Published | None:
    """The number of directed tours (paths) or of undirected closed ones (cycles), if it is known to us."""
    sides, tables = _sides(board), {"paths": _PATHS, "cycles": _CYCLES}[what] if board.missing is None else {}
    return next((Published(counts[sides], source) for source, counts in tables.items() if sides in counts), None)


def published_tours(board: Board, variant: str) -> Published | None:
    """The number of directed tours from all squares: open, closed, or both, as far as it follows from the tables.

    A closed tour is counted from each of its squares, in both directions.
    """
    paths, cycles, ways = published(board, "paths"), published(board, "cycles"), 2 * board.length
    if variant == "both" or (paths is None and variant == "open"):
        return paths
    if cycles is None:
        return None
    if variant == "closed":
        return Published(ways * cycles.count, cycles.source)
    assert paths is not None
    without = f" without the closed ones of {cycles.source}" if cycles.count else ""
    return Published(paths.count - ways * cycles.count, paths.source + without)


def published_from(board: Board, square: int) -> Published | None:
    """The number of directed tours that begin on this square, open and closed alike, if it is known to us."""
    total, classes = published(board, "paths"), _PATHS_FROM.get(_sides(board))
    if total is None or classes is None:
        return None
    lowest = min(symmetry[square] for symmetry in board.symmetries)
    return Published(classes[board.name(lowest)], total.source)


def _sides(board: Board) -> tuple[int, int]:
    """The sides, the shorter one first: a rotated board has the same number of tours."""
    return min(board.rows, board.cols), max(board.rows, board.cols)
