"""Tours of large boards from tours of small blocks: join the blocks that were laid, and walk along the result.

`links` holds one byte a square: the directions of the two moves that meet there, three bits each. It is small because
the walk waits for memory. Directions are numbered so that 7 minus a direction is the opposite one. The end of a path
has its one move twice.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .classify import is_structured, symmetry_of, symmetry_of_cycle


@njit(inline="always")
def _patch(links, row, col, patches):
    """Exchange moves: each patch is a square, relative to this one, the direction it loses, and the one it gets."""
    for i in range(patches.shape[0]):
        at_row, at_col, old, new = row + patches[i, 0], col + patches[i, 1], patches[i, 2], patches[i, 3]
        pair = np.int64(links[at_row, at_col])
        if pair & 7 == old:
            pair ^= old ^ new
        if pair >> 3 == old:
            pair ^= (old ^ new) << 3
        links[at_row, at_col] = pair


@njit(nogil=True)
def join_blocks(row_begins, row_cuts, row_whole, col_begins, col_cuts, col_whole, four, beside, stacked, links):
    """Make the moves of one tour of those of the blocks that `links` holds.

    `cuts` is the level of the recursion at which part i was cut from part i - 1, or -1; `whole` is the level at which
    it stands alone. No more of the recursion is needed. Four blocks are joined where a cut of the rows meets a cut of
    the columns of the same level. Two are joined at a cut of one side through blocks that already stand alone on the
    other. The first corner of a block has at most one join.
    """
    for i in range(row_cuts.shape[0]):
        for j in range(col_cuts.shape[0]):
            if row_cuts[i] == col_cuts[j] and row_cuts[i] >= 0:
                _patch(links, row_begins[i], col_begins[j], four)
            elif col_cuts[j] >= row_whole[i]:
                _patch(links, row_begins[i], col_begins[j], beside)
            elif row_cuts[i] >= col_whole[j]:
                _patch(links, row_begins[i], col_begins[j], stacked)


@njit(nogil=True)
def walk(links, steps, start, tour):
    """List the squares in order. `steps[kind]` is what that direction adds to a square, modulo 2**64."""
    square = np.uint64(start)
    pair = np.uint64(links[square])
    kind = pair & np.uint64(7)
    for i in range(tour.shape[0]):
        tour[i] = square
        square += steps[kind]
        # We came by one of the two moves, and leave by the other: the exclusive or cancels the first.
        pair = np.uint64(links[square])
        kind = (pair ^ (pair >> np.uint64(3)) ^ kind ^ np.uint64(7)) & np.uint64(7)


@njit(nogil=True)
def classify(tour, place, pairs, rows, cols, is_closed):
    """Whether a tour is structured, and its symmetry.

    `place` has room for the places of all squares, but only those of the first and the last three rows are noted, where
    the corners are: on a large board, noting all takes as long as the tour.
    """
    length, top, bottom = tour.shape[0], 3 * cols, (rows - 3) * cols
    for i in range(length):
        square = np.int64(tour[i])
        if square < top or square >= bottom:
            place[square] = i
    structured = is_structured(place, pairs, length, is_closed)
    if is_closed:
        return structured, symmetry_of_cycle(tour, place, rows, cols)
    return structured, symmetry_of(tour, place, rows, cols, False)
