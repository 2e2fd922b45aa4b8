"""Tours as rows of 64-bit words: the canonical form of each, and after it what is told of its class.

The kernel does the work; `tour.canonical` is its judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.cache import load_kernel
from ..model.batch import Batch
from ..model.board import Board
from ..model.tour import Tours, square_dtype

Rows = NDArray[np.uint64]

FOUND, START, ITERATION, KIND, VALUES = 0, 1, 2, 3, 4  # after the tour, as the kernel `grouping` has them

_STRUCTURED, _SYMMETRY, _BYTE = np.uint64(8), np.uint64(16), np.uint64(255)  # bytes of KIND; the lowest: multiplicity


@lru_cache
def compiled_kernel(width: int) -> Any:
    def warm_up(kernel: Any) -> None:
        board, tour = Board(3, 4), np.arange(12, dtype=f"<u{width}")[None, :]
        row = np.empty((1, 12), dtype=np.uint64)
        kernel.pack_canonical(tour, True, *board_arrays(board), _places(board), row, np.empty(1, dtype=np.uint8))

    return load_kernel("classify", ("pack_canonical",), width, warm_up)


def board_arrays(board: Board) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint16]]:
    """The maps of a board, the squares that they take to the lowest one, and row and column of each square."""
    lowest = int(board.missing == 0)
    alike = {board.image(each, lowest) for each in board.maps}
    firsts = [next(square for square in alike if board.image(each, square) == lowest) for each in board.maps]
    rows, cols = np.arange(board.rows, dtype=np.uint16), np.arange(board.cols, dtype=np.uint16)
    return np.array(board.maps), np.array(firsts), np.repeat(rows, board.cols), np.tile(cols, board.rows)


def _places(board: Board) -> NDArray[np.int32]:
    return np.empty(board.squares, dtype=np.int32)


@dataclass(frozen=True)
class Kinds:
    """What is the same for all tours of a class, for each of some classes."""

    multiplicity: NDArray[np.uint8]
    structured: NDArray[np.bool_]
    symmetry: NDArray[np.uint8]


class Packing:
    """How the tours of a board become rows, and rows tours. Several threads may use one."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.dtype = square_dtype(board)
        self.key = -(-board.length * self.dtype.itemsize // 8)
        self._arrays = board_arrays(board)
        self._kernel = compiled_kernel(self.dtype.itemsize)

    @property
    def row_bytes(self) -> int:
        return 8 * (self.key + VALUES)

    def rows(self, batch: Batch, closed: bool) -> Rows:
        """A row for each tour of a batch; all of them are closed, or all are open. Squares must be on the board."""
        count = len(batch.tours)
        rows, keeping = np.empty((count, self.key + VALUES), dtype=np.uint64), np.empty(count, dtype=np.uint8)
        self._kernel.pack_canonical(batch.tours, closed, *self._arrays, _places(self.board), rows, keeping)
        values = rows[:, self.key :]
        values[:, FOUND] = 1
        values[:, START] = batch.tours[:, 0]
        values[:, ITERATION] = batch.iterations
        values[:, KIND] = len(self.board.maps) // keeping.astype(np.uint64)
        values[:, KIND] |= batch.structured.astype(np.uint64) << _STRUCTURED
        values[:, KIND] |= batch.symmetry.astype(np.uint64) << _SYMMETRY
        return rows

    def tours(self, rows: Rows) -> Tours:
        """The canonical tours of rows."""
        width = self.dtype.itemsize
        squares = np.ascontiguousarray(rows[:, : self.key], dtype=">u8").view(f">u{width}")
        tours: Tours = squares[:, : self.board.length].astype(self.dtype)
        return tours

    def value(self, rows: Rows, which: int) -> Rows:
        column: Rows = rows[:, self.key + which]
        return column

    def kinds(self, rows: Rows) -> Kinds:
        kind = self.value(rows, KIND)
        multiplicity, structured, symmetry = kind & _BYTE, (kind >> _STRUCTURED) & _BYTE, (kind >> _SYMMETRY) & _BYTE
        return Kinds(multiplicity.astype(np.uint8), structured.astype(np.bool_), symmetry.astype(np.uint8))
