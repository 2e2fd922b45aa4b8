"""What kind of tour was just found, told at the moment it is found, when its squares are still at hand.

`place[s]` is the number of the move that reached square s, from 0, or negative for a square that is not to be visited.

A tour is **structured** if it has all of certain pairs of squares as moves: the two next to each corner, the pieces
that Parberry (1997) joins. It is **symmetric** if a symmetry of the board maps the set of its moves onto itself, the
closing move of a closed tour among them. Of the symmetries of the board few can do that:

* An open tour is a path, and a map of a path that is not the identity reverses it. So it is an involution, which a
  quarter turn is not, and leaves one square alone or swaps the two in the middle: a reflection leaves none or several
  alone, and swaps no two squares that are a knight's move apart. A half turn is left.
* A map of a cycle leaves at most two squares alone. So a reflection has no square on its axis; then it changes the
  colour of every square, and again it swaps no two that are a knight's move apart: it shifts the cycle by half its
  length, which must be odd.

Both checks give up at the first thing that does not fit, which is nearly always the first.
"""

from __future__ import annotations

from numba import njit

# Symmetries of a tour.
ASYMMETRIC, PATH_180, CLOSED_180, CLOSED_90, CLOSED_REFLECTION = 0, 1, 2, 3, 4

# Which tours are kept.
ALL_TOURS, ONLY_STRUCTURED, ONLY_SYMMETRIC = 0, 1, 2

_HALF_TURN, _QUARTER_TURN, _FLIP_ROWS, _FLIP_COLS = 0, 1, 2, 3


@njit(inline="always")
def is_structured(place, pairs, length, is_closed):
    """Whether the two squares of each pair follow one another in the tour."""
    for i in range(pairs.shape[0]):
        apart = abs(place[pairs[i, 0]] - place[pairs[i, 1]])
        if apart != 1 and not (is_closed and apart == length - 1):
            return False
    return pairs.shape[0] > 0


@njit(inline="always")
def symmetry_of(path, place, rows, cols, is_closed):
    """The symmetry of a tour; of a quarter turn and the half turn that it implies, the quarter turn."""
    length, last = path.shape[0], rows * cols - 1
    if not is_closed:
        if int(path[length - 1]) != last - int(path[0]):
            return ASYMMETRIC
        return _path_symmetry(path, last)
    if length % 4 != 2:  # only a turn is possible
        for i in (1, 2, 3):
            apart = abs(place[last - int(path[length - i])] - place[last - int(path[length - i - 1])])
            if apart != 1 and apart != length - 1:
                return ASYMMETRIC
    return _cycle_symmetry(path, place, rows, cols)


@njit
def _path_symmetry(path, last):
    length = path.shape[0]
    for i in range((length + 1) // 2):
        if int(path[length - 1 - i]) != last - int(path[i]):
            return ASYMMETRIC
    return PATH_180


@njit
def _cycle_symmetry(path, place, rows, cols):
    if _maps_cycle(_HALF_TURN, path, place, rows, cols):
        if rows == cols and _maps_cycle(_QUARTER_TURN, path, place, rows, cols):
            return CLOSED_90
        return CLOSED_180
    if path.shape[0] % 4 == 2:
        for kind in (_FLIP_ROWS, _FLIP_COLS):
            if _maps_cycle(kind, path, place, rows, cols):
                return CLOSED_REFLECTION
    return ASYMMETRIC


@njit
def _maps_cycle(kind, path, place, rows, cols):
    """Whether this symmetry of the board maps each move of a closed tour to a move of it.

    The last moves are looked at first: the first ones follow the edge of the board, on all its sides alike.
    """
    length = path.shape[0]
    before = place[_image(kind, int(path[0]), rows, cols)]
    for i in range(length - 1, -1, -1):
        at = place[_image(kind, int(path[i]), rows, cols)]
        apart = abs(at - before)
        if at < 0 or before < 0 or (apart != 1 and apart != length - 1):
            return False
        before = at
    return True


@njit
def _image(kind, square, rows, cols):
    if kind == _HALF_TURN:
        return rows * cols - 1 - square
    row, col = square // cols, square % cols
    if kind == _QUARTER_TURN:
        row, col = col, rows - 1 - row
    elif kind == _FLIP_ROWS:
        row = rows - 1 - row
    else:
        col = cols - 1 - col
    return row * cols + col


@njit(inline="always")
def is_kept(only, structured, symmetry):
    if only == ONLY_STRUCTURED:
        return structured
    if only == ONLY_SYMMETRIC:
        return symmetry != ASYMMETRIC
    return True


@njit(inline="always")
def close_together(square, other, cols):
    """Whether two squares are a knight's move apart."""
    down, right = abs(square // cols - other // cols), abs(square % cols - other % cols)
    return down * right == 2
