"""The tables of a board that the kernels work on: where each move leads, the corners, and room to search in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import common
from ..model.board import MOVES, Board
from ..model.tour import Tours, square_dtype

Move = tuple[int, int]
Room = tuple[NDArray[np.int64], Tours, NDArray[np.int32]]

BOARDS = {1: Board(5, 5), 2: Board(17, 17), 4: Board(257, 257)}  # whose squares take so many bytes, to compile with


@lru_cache(maxsize=4)
def moves_table(board: Board, moves: Sequence[Move] = MOVES) -> NDArray[np.int32]:
    """For each square where each kind of move leads, or NOWHERE."""
    rows, cols = divmod(np.arange(board.squares, dtype=np.int64), board.cols)
    table = np.full((board.squares, len(moves)), common.NOWHERE, dtype=np.int32)
    for i, (down, right) in enumerate(moves):
        row, col = rows + down, cols + right
        on_board = (row >= 0) & (row < board.rows) & (col >= 0) & (col < board.cols)
        table[on_board, i] = (row * board.cols + col)[on_board]
    if board.missing is not None:
        table[table == board.missing] = common.NOWHERE
        table[board.missing] = common.NOWHERE
    table.setflags(write=False)
    return table


@lru_cache(maxsize=4)
def neighbour_table(board: Board, moves: Sequence[Move] = MOVES) -> NDArray[np.int32]:
    """For each square its neighbours in the order of the moves that lead there, then NOWHERE."""
    table = moves_table(board, moves)
    first = np.argsort(table == common.NOWHERE, axis=1, kind="stable")
    result: NDArray[np.int32] = np.take_along_axis(table, first, axis=1)
    result.setflags(write=False)
    return result


@lru_cache(maxsize=4)
def corner_pairs(board: Board) -> NDArray[np.int32]:
    return np.array(board.corner_moves, dtype=np.int32).reshape(-1, 2)


def fresh_room(kernel: Any, board: Board) -> Room:
    """For a kernel's registers, the squares of a path, and the number of the move that reaches each square."""
    path = np.zeros(board.length, dtype=square_dtype(board))
    return np.zeros(kernel.REGISTERS, dtype=np.int64), path, np.full(board.squares, common.NOWHERE, dtype=np.int32)
