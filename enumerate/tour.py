"""Tours as arrays: one row a tour, one column a move, each value a square. Checked and classified without the kernel.

Everything here works from the definition of a tour alone, so that it can judge what the search has found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .board import Board

Tours = NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class Batch:
    """Tours in memory, in the order they were found, and when: after so many iterations."""

    tours: Tours
    iterations: NDArray[np.int64]
    closed: NDArray[np.bool_]


def square_dtype(board: Board) -> np.dtype[np.unsignedinteger]:
    """The type of one square in memory and on disk: one byte up to 256 squares, else two, little endian."""
    return np.dtype("u1") if board.squares <= 256 else np.dtype("<u2")


def are_complete(board: Board, tours: Tours) -> NDArray[np.bool_]:
    """For each tour whether it visits every square exactly once."""
    if board.squares <= 64:
        bits = np.zeros(256, dtype=np.uint64)
        bits[: board.squares] = np.uint64(1) << np.arange(board.squares, dtype=np.uint64)
        every = np.bitwise_or.reduce(bits[: board.squares])
        result: NDArray[np.bool_] = np.bitwise_or.reduce(bits[tours], axis=1) == every
        return result
    return np.asarray((np.sort(tours, axis=1) == np.arange(board.squares)).all(axis=1))


def are_legal(board: Board, tours: Tours) -> NDArray[np.bool_]:
    """For each tour whether every step is a knight's move. Its squares must be on the board."""
    return np.asarray(_are_moves(board, tours[:, :-1], tours[:, 1:]).all(axis=1))


def are_closed(board: Board, tours: Tours) -> NDArray[np.bool_]:
    """For each tour whether its last square is a knight's move from its first."""
    return _are_moves(board, tours[:, -1], tours[:, 0])


def _are_moves(board: Board, before: Tours, after: Tours) -> NDArray[np.bool_]:
    row_of, col_of = (part.astype(np.int16) for part in divmod(np.arange(board.squares), board.cols))
    down = np.abs(row_of[after] - row_of[before])
    right = np.abs(col_of[after] - col_of[before])
    return np.asarray(down * right == 2)


def hashes(tours: Tours) -> NDArray[np.uint64]:
    """A 64-bit hash of each tour; equal tours have equal hashes."""
    count, width = len(tours), tours.shape[1] * tours.dtype.itemsize
    padded = np.zeros((count, -(-width // 8) * 8), dtype=np.uint8)
    padded[:, :width] = np.ascontiguousarray(tours).view(np.uint8).reshape(count, width)
    result = np.zeros(count, dtype=np.uint64)
    for word in padded.view("<u8").T:
        result = (result ^ word) * np.uint64(0x9E3779B97F4A7C15)
        result ^= result >> np.uint64(29)
    return result


def as_text(board: Board, tour: Tours) -> str:
    """One tour as a board: the number of the move that reaches each square, row 1 at the bottom."""
    order = np.empty(board.squares, dtype=np.int64)
    order[tour] = np.arange(1, board.squares + 1)
    width = len(str(board.squares))
    rows = order.reshape(board.rows, board.cols)[::-1]
    return "\n".join(" ".join(f"{number:{width}d}" for number in row) for row in rows.tolist())
