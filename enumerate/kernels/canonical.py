"""The first tour of a class: of all that the board's symmetries, reversal and, for a closed tour, another start make.

No image of a tour is ever written down but the least one. An image is where it begins in the tour, in which direction
it goes, and the map of the board; two of them are compared square by square, and nearly always differ at the third or
fourth. A closed tour begins on its lowest square: that leaves two images for each map.

A map of the board is three numbers: the image of a square is `a * row + b * col + c`.

Squares are packed into 64-bit words, the first one in the highest bits. So the order of words is the order of tours,
and whoever sorts and compares them need not know how wide a square is.
"""

from __future__ import annotations

from numba import njit, uint64


@njit(nogil=True)
def pack_canonical(tours, is_closed, maps, firsts, row_of, col_of, place, rows, keeping):
    """The canonical form of each tour into the first words of `rows`; into `keeping` how many maps keep the tour.

    For a closed tour, `firsts` are the squares that the maps take to the lowest one, and `place` is room for one number
    a square. A map keeps a tour also if it reverses it or moves a closed one along itself.
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
                    keeps = True
                elif order == 0:
                    keeps = True
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
    """An image of the tour as words; the last one is filled up with zeros."""
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
