"""The kind of a tour, by the definitions and by what is possible; and the canonical tour of its class of tours.

`place[s]` is the number of the move that reached square s, from 0, or negative for a missing corner.

A tour is **structured** if it has certain pairs of squares as moves: the two next to each corner, which Parberry (1997)
joins. It is **symmetric** if a symmetry of the board maps the set of its moves onto itself, including the closing move
of a closed tour. Few symmetries of the board can do that:

* An open tour is a path, and a map of a path that is not the identity reverses it. So the map is an involution, which a
  quarter turn is not, and it fixes one square or swaps the two in the middle. A reflection fixes none or several
  squares, and swaps no two that are a knight's move apart. Only a half turn remains.
* A map of a cycle fixes at most two squares. So a reflection has no square on its axis. Then it changes the colour of
  every square, and again it swaps no two that are a knight's move apart: it shifts the cycle by half its length, which
  must be odd.

Both checks stop at the first mismatch, which is nearly always at the first move.
"""

from __future__ import annotations

from numba import njit, uint64

from . import ASYMMETRIC, CLOSED_90, CLOSED_180, CLOSED_REFLECTION, ONLY_STRUCTURED, ONLY_SYMMETRIC, PATH_180


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
        for i in range((length + 1) // 2):
            if int(path[length - 1 - i]) != last - int(path[i]):
                return ASYMMETRIC
        return PATH_180
    if length % 4 != 2:  # only a turn is possible
        for i in (1, 2, 3):
            apart = abs(place[last - int(path[length - i])] - place[last - int(path[length - i - 1])])
            if apart != 1 and apart != length - 1:
                return ASYMMETRIC
    return symmetry_of_cycle(path, place, rows, cols)


@njit
def symmetry_of_cycle(path, place, rows, cols):
    """Try the maps of the board that can map a closed tour onto itself; none of them fixes a missing corner.

    The image of a square is `a * row + b * col + c`, that of the first corner is c. There the tour must go on as from
    the first corner, in one direction or the other: only the places of the corners are needed. (This is one function,
    and not four: each takes numba half a second.)
    """
    length, last, found = path.shape[0], rows * cols - 1, ASYMMETRIC
    if length <= last:
        return found
    for a, b, c, symmetry in (
        (-cols, -1, last, CLOSED_180),
        (-1, cols, cols - 1, CLOSED_90),
        (-cols, 1, last - cols + 1, CLOSED_REFLECTION),
        (cols, -1, cols - 1, CLOSED_REFLECTION),
    ):
        if symmetry == CLOSED_90 and (found != CLOSED_180 or rows != cols):
            continue
        if symmetry == CLOSED_REFLECTION and (found != ASYMMETRIC or length % 4 != 2):
            continue
        for step in (1, -1):
            left, at, to = length, place[0], place[c]
            while left > 0 and a * (int(path[at]) // cols) + b * (int(path[at]) % cols) + c == int(path[to]):
                left, at, to = left - 1, _after(at, 1, length), _after(to, step, length)
            if left == 0:
                found = symmetry
    return found


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


# ---------------------------------------------------------------------------------------------------------------------
# The canonical tour of a class: the first of all that symmetries of the board, reversal and, for a closed tour, another
# start square make of it.
#
# Only the least image of a tour is written. An image is where it begins in the tour, its direction, and the map of the
# board. Two images are compared square by square, and nearly always differ at the third or fourth. A closed tour begins
# on its lowest square: that leaves two images for each map.
#
# A map of the board is three numbers: the image of a square is `a * row + b * col + c`.
#
# Squares are packed into 64-bit words, the first one in the highest bits. So the order of words is the order of tours,
# and sorting and comparing do not depend on the width of a square.


@njit(nogil=True)
def pack_canonical(tours, is_closed, maps, firsts, row_of, col_of, place, rows, keeping):
    """Write the canonical form of each tour into the first words of `rows`, and into `keeping` how many maps keep it.

    For a closed tour, `firsts` are the squares that the maps take to the lowest one, and `place` has room for a number
    a square. A map also keeps a tour if it reverses it or shifts a closed one along itself.
    """
    length = tours.shape[1]
    for t in range(tours.shape[0]):
        tour = tours[t]
        if is_closed:
            for i in range(length):
                place[tour[i]] = i
        best, best_at, best_step, kept = 0, 0, 0, 0
        for m in range(maps.shape[0]):
            keeps = False
            for step in (1, -1):
                at = place[firsts[m]] if is_closed else 0 if step == 1 else length - 1
                order = -1
                if best_step != 0:
                    order = _compare(tour, maps, row_of, col_of, m, at, step, best, best_at, best_step)
                if order < 0:
                    best, best_at, best_step, kept = m, at, step, 0
                keeps |= order <= 0
            kept += keeps
        _pack(tour, maps, row_of, col_of, best, best_at, best_step, rows[t])
        keeping[t] = kept


@njit(inline="always")
def _image(maps, m, square, row_of, col_of):
    return maps[m, 0] * row_of[square] + maps[m, 1] * col_of[square] + maps[m, 2]


@njit(inline="always")
def _after(at, step, length):
    at += step
    if at == length:
        return 0
    return length - 1 if at < 0 else at


@njit(inline="always")
def _compare(tour, maps, row_of, col_of, m, at, step, other, other_at, other_step):
    """Negative if the first image of the tour comes before the second, 0 if they are the same, else positive."""
    length = tour.shape[0]
    for _ in range(length):
        apart = _image(maps, m, tour[at], row_of, col_of) - _image(maps, other, tour[other_at], row_of, col_of)
        if apart != 0:
            return apart
        at, other_at = _after(at, step, length), _after(other_at, other_step, length)
    return 0


@njit(inline="always")
def _pack(tour, maps, row_of, col_of, m, at, step, row):
    """An image of the tour as words; the last one is padded with zeros."""
    length, bits = tour.shape[0], 8 * tour.itemsize
    word, used, w = uint64(0), 0, 0
    for _ in range(length):
        word = (word << uint64(bits)) | uint64(_image(maps, m, tour[at], row_of, col_of))
        at, used = _after(at, step, length), used + bits
        if used == 64:
            row[w] = word
            word, used, w = uint64(0), 0, w + 1
    if used:
        row[w] = word << uint64(64 - used)
