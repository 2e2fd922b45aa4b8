"""Tours as arrays: one row a tour, one column a move, each value a square. Checked and classified without the kernel.

Everything here works from the definition of a tour alone, so that it can judge what the search has found.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .board import Board

Tours = NDArray[np.unsignedinteger]
Places = NDArray[np.int32]  # one row a tour, one column a square, each value the number of the move that reaches it

# How a tour can be symmetric. A closed one: its moves, the closing move among them, are mapped onto themselves; an open
# one: turned by 180 degrees, it is its own reversal. There is no other way for an open one.
SYMMETRIES = ("none", "path-180", "closed-180", "closed-90", "closed-reflection")


def square_dtype(board: Board) -> np.dtype[np.unsignedinteger]:
    """The type of one square in memory and on disk: one byte up to 256 squares, then two, then four, little endian."""
    return np.dtype("u1" if board.squares <= 256 else "<u2" if board.squares <= 65_536 else "<u4")


def are_complete(board: Board, tours: Tours) -> NDArray[np.bool_]:
    """For each tour whether it visits every square exactly once."""
    every = np.delete(np.arange(board.squares), [] if board.missing is None else board.missing)
    if board.squares <= 64:
        bits = np.zeros(256, dtype=np.uint64)
        bits[: board.squares] = np.uint64(1) << np.arange(board.squares, dtype=np.uint64)
        return np.asarray(np.bitwise_or.reduce(bits[tours], axis=1) == np.bitwise_or.reduce(bits[every]))
    return np.asarray((np.sort(tours, axis=1) == every).all(axis=1))


def are_legal(board: Board, tours: Tours) -> NDArray[np.bool_]:
    """For each tour whether every step is a knight's move. Its squares must be on the board."""
    return np.asarray(_are_moves(board, tours[:, :-1], tours[:, 1:]).all(axis=1))


def are_closed(board: Board, tours: Tours) -> NDArray[np.bool_]:
    """For each tour whether its last square is a knight's move from its first."""
    return _are_moves(board, tours[:, -1], tours[:, 0])


def _are_moves(board: Board, before: Tours, after: Tours) -> NDArray[np.bool_]:
    if square_dtype(board).itemsize == 1:
        return np.asarray(_moves_by_pair(board).take(before.astype(np.uint16) << 8 | after))
    return _differ_as_moves(board, before, after)


@lru_cache(maxsize=4)
def _moves_by_pair(board: Board) -> NDArray[np.bool_]:
    """For two squares of one byte each whether they are a knight's move apart."""
    table = np.zeros((256, 256), dtype=np.bool_)
    every = np.arange(board.squares)
    table[: board.squares, : board.squares] = _differ_as_moves(board, every[:, None], every[None, :])
    return table.ravel()


def _differ_as_moves(board: Board, before: NDArray[np.integer], after: NDArray[np.integer]) -> NDArray[np.bool_]:
    row_of, col_of = (part.astype(np.int32) for part in divmod(np.arange(board.squares), board.cols))
    down = np.abs(row_of[after] - row_of[before])
    right = np.abs(col_of[after] - col_of[before])
    return np.asarray(down * right == 2)


def places(board: Board, tours: Tours) -> Places:
    """For each tour the number of the move that reaches each square, from 0; -1 for a square it does not visit."""
    result = np.full((len(tours), board.squares), -1, dtype=np.int32)
    result[np.arange(len(tours))[:, None], tours] = np.arange(tours.shape[1], dtype=np.int32)
    return result


def are_structured(board: Board, tours: Tours, place: Places | None = None) -> NDArray[np.bool_]:
    """For each tour whether it has the two moves next to each corner; the closing move of a closed tour counts.

    `place` are the places of the tours, if they are known.
    """
    place = places(board, tours) if place is None else place
    if not board.corner_moves:
        return np.zeros(len(tours), dtype=np.bool_)
    one, other = np.array(board.corner_moves).T
    apart = np.abs(place[:, one] - place[:, other])
    closing = are_closed(board, tours)[:, None] & (apart == tours.shape[1] - 1)
    return np.asarray(((apart == 1) | closing).all(axis=1))


def symmetries(board: Board, tours: Tours, place: Places | None = None) -> NDArray[np.uint8]:
    """For each tour its index in SYMMETRIES."""
    result = np.zeros(len(tours), dtype=np.uint8)
    last = board.squares - 1
    reversed_ = tours[:, 0].astype(np.int64) == last - tours[:, -1].astype(np.int64)  # if turned by 180 degrees
    closed = are_closed(board, tours)
    suspects = np.flatnonzero(reversed_ & ~closed)
    turned = last - tours[suspects, ::-1].astype(np.int64)
    result[suspects[(turned == tours[suspects]).all(axis=1)]] = SYMMETRIES.index("path-180")
    chosen = np.flatnonzero(closed)
    if len(chosen):
        place = places(board, tours) if place is None else place
        result[chosen] = _cycle_symmetries(board, tours[chosen], place[chosen])
    return result


def _cycle_symmetries(board: Board, tours: Tours, place: Places) -> NDArray[np.uint8]:
    result = np.zeros(len(tours), dtype=np.uint8)
    for mirrored_rows, mirrored_cols, swapped, name in (
        (True, False, False, "closed-reflection"),
        (False, True, False, "closed-reflection"),
        (False, False, True, "closed-reflection"),
        (True, True, True, "closed-reflection"),
        (True, True, False, "closed-180"),
        (False, True, True, "closed-90"),  # the last, for it implies the one before
    ):
        if not swapped or board.rows == board.cols:
            image = _image(board, mirrored_rows, mirrored_cols, swapped)
            result[_mapped(tours, place, image)] = SYMMETRIES.index(name)
    return result


def _image(board: Board, mirrored_rows: bool, mirrored_cols: bool, swapped: bool) -> NDArray[np.int32]:
    """For each square where a symmetry of the board maps it."""
    rows, cols = divmod(np.arange(board.squares, dtype=np.int32), np.int32(board.cols))
    rows = board.rows - 1 - rows if mirrored_rows else rows
    cols = board.cols - 1 - cols if mirrored_cols else cols
    return np.asarray(cols * board.cols + rows if swapped else rows * board.cols + cols)


def _mapped(tours: Tours, place: Places, image: NDArray[np.int32]) -> NDArray[np.int64]:
    """Which closed tours are mapped onto themselves: each of their moves becomes one of their moves.

    A few moves are tried first: most tours need no closer look.
    """
    length, rows = tours.shape[1], np.arange(len(tours))
    for move in (-1, length // 2, length // 3):
        at, before = (place[rows, image[tours[rows, number]]] for number in (move, move - 1))
        rows = rows[(at >= 0) & (before >= 0) & _are_next(at, before, length)]
    images = np.take_along_axis(place[rows], image[tours[rows]].astype(np.int64), axis=1)
    moves = _are_next(images, np.roll(images, 1, axis=1), length)
    return rows[(images >= 0).all(axis=1) & moves.all(axis=1)]


def _are_next(at: Places, other: Places, length: int) -> NDArray[np.bool_]:
    """Whether two places follow one another in a closed tour."""
    apart = np.abs(at - other)
    return np.asarray((apart == 1) | (apart == length - 1))


def hashes(tours: Tours) -> NDArray[np.uint64]:
    """A 64-bit hash of each tour; equal tours have equal hashes."""
    count, width = len(tours), tours.shape[1] * tours.dtype.itemsize
    if width > 4096:  # a column at a time would be slow
        digests = [hashlib.blake2b(tour.tobytes(), digest_size=8).digest() for tour in tours]
        return np.frombuffer(b"".join(digests), dtype="<u8")
    padded = np.zeros((count, -(-width // 8) * 8), dtype=np.uint8)
    padded[:, :width] = np.ascontiguousarray(tours).view(np.uint8).reshape(count, width)
    result = np.zeros(count, dtype=np.uint64)
    for word in padded.view("<u8").T:
        result = (result ^ word) * np.uint64(0x9E3779B97F4A7C15)
        result ^= result >> np.uint64(29)
    return result


def as_text(board: Board, tour: Tours) -> str:
    """One tour as a board: the number of the move that reaches each square, row 1 at the bottom."""
    rows = (places(board, tour[None, :])[0] + 1).reshape(board.rows, board.cols)[::-1].tolist()
    width = len(str(board.squares))
    return "\n".join(" ".join(f"{number or '':>{width}}" for number in row) for row in rows)
