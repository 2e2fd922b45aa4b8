"""Tours as rows of 64-bit words, sorted and grouped by class in bounded memory, however many there are.

The key of a row is the canonical form of a tour; facts about its class follow. Tests compare the kernel that makes the
keys with `tour.canonical`.

A table takes rows without repeats. When it is full, it is sorted and spilled to disk; at the end the spills are merged
(and before, when they are many). What fits into memory never touches the disk, and a run that has every tour many times
spills little. The result depends neither on the memory nor on the order of the rows.

Spills are files without a name: they are gone with the process, however it ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.cache import load_kernel
from ..kernels.grouping import FOUND, ITERATION, KIND, START, VALUES
from ..model.batch import Batch
from ..model.board import Board
from ..model.tour import Tours, square_dtype

Rows = NDArray[np.uint64]

SPILLS_AT_ONCE = 32  # that are merged: more would be slower, and take more memory
_TABLE_BYTES = 20  # a row of the table takes beside itself: its slot, and its number twice to be sorted
_BLOCK_ROWS = 16_384
_MOST_ROWS = 2**30  # their numbers are of 32 bits

MULTIPLICITY, STRUCTURED, SYMMETRY = 0, 1, 2  # bytes of KIND


@lru_cache
def _packing_kernel(width: int) -> Any:
    def warm_up(kernel: Any) -> None:
        board, tour = Board(3, 4), np.arange(12, dtype=f"<u{width}")[None, :]
        row = np.empty((1, 12), dtype=np.uint64)
        kernel.pack_canonical(
            tour, True, *board_arrays(board), np.empty(12, dtype=np.int32), row, np.empty(1, dtype=np.uint8)
        )

    return load_kernel("classify", ("pack_canonical",), width, warm_up)


def board_arrays(board: Board) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint16]]:
    """The maps of a board, the squares that they take to the lowest one, and row and column of each square."""
    lowest = int(board.missing == 0)
    alike = {board.image(each, lowest) for each in board.maps}
    firsts = [next(square for square in alike if board.image(each, square) == lowest) for each in board.maps]
    rows, cols = np.arange(board.rows, dtype=np.uint16), np.arange(board.cols, dtype=np.uint16)
    return np.array(board.maps), np.array(firsts), np.repeat(rows, board.cols), np.tile(cols, board.rows)


class Packing:
    """How the tours of a board become rows, and rows tours. Several threads may use one."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.dtype = square_dtype(board)
        self.key = -(-board.length * self.dtype.itemsize // 8)
        self.words = self.key + VALUES  # of a row
        self._arrays = board_arrays(board)
        self._kernel = _packing_kernel(self.dtype.itemsize)

    def rows(self, batch: Batch, closed: bool) -> Rows:
        """A row for each tour of a batch; all of them are closed, or all are open. Squares must be on the board."""
        count = len(batch.tours)
        rows, keeping = np.empty((count, self.words), dtype=np.uint64), np.empty(count, dtype=np.uint8)
        places = np.empty(self.board.squares, dtype=np.int32)
        self._kernel.pack_canonical(batch.tours, closed, *self._arrays, places, rows, keeping)
        values = rows[:, self.key :]
        values[:, FOUND] = 1
        values[:, START] = batch.tours[:, 0]
        values[:, ITERATION] = batch.iterations
        values[:, KIND] = 0
        self.kind(rows, MULTIPLICITY)[:] = len(self.board.maps) // keeping
        self.kind(rows, STRUCTURED)[:] = batch.structured
        self.kind(rows, SYMMETRY)[:] = batch.symmetry
        return rows

    def tours(self, rows: Rows) -> Tours:
        width = self.dtype.itemsize
        squares = np.ascontiguousarray(rows[:, : self.key], dtype=">u8").view(f">u{width}")
        return squares[:, : self.board.length].astype(self.dtype)

    def value(self, rows: Rows, which: int) -> Rows:
        return rows[:, self.key + which]

    def kind(self, rows: Rows, which: int) -> NDArray[np.uint8]:
        """What is the same for all tours of a class: a byte of each row."""
        return rows.view(np.uint8)[:, 8 * (self.key + KIND) + which]


@lru_cache
def _grouping_kernel() -> Any:
    def warm_up(kernel: Any) -> None:
        rows, numbers = np.zeros((1, VALUES + 1), dtype=np.uint64), np.full(2, -1, dtype=np.int32)
        kernel.collect(rows, 0, rows, numbers, 0)
        kernel.sort_order(rows, 1, numbers, numbers)
        places = np.zeros(1, dtype=np.int64)
        kernel.merge(rows[None, :], places, places, rows, 0)

    return load_kernel("grouping", ("collect", "sort_order", "merge"), 8, warm_up)


def capacity_of(words: int, memory: int) -> int:
    """How many rows of `words` words fit into `memory` bytes."""
    return max(1, min(_MOST_ROWS, memory // (9 * words + _TABLE_BYTES)))  # an eighth is for blocks in transit


class Spill:
    """Sorted rows on disk, written and then read once, from the beginning to the end."""

    def __init__(self, blocks: Iterable[Rows], folder: str, level: int) -> None:
        self.level = level  # how often its rows were merged
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # closed by `close`
        try:
            for block in blocks:
                self._file.write(np.ascontiguousarray(block).data)
            self._file.seek(0)
        except BaseException:
            self.close()
            raise

    def read(self, block: Rows) -> int:
        """Fill a block; returns how many rows there were for it."""
        return self._file.readinto(block.data.cast("B")) // block[:1].nbytes

    def close(self) -> None:
        with suppress(OSError):  # of a full disk: what was not written is not needed any more
            self._file.close()


class Grouping:
    """Rows by key, each once. At most `rows` will be added; `words` is the width of a row."""

    def __init__(self, words: int, rows: int, memory: int, scratch: str) -> None:
        self.words, self.scratch = words, scratch
        self.capacity = max(1, min(rows, capacity_of(words, memory)))
        self.rows = 0  # in the table and the spills: as many as there are keys, or more
        self._spills: list[Spill] = []
        self._kernel = _grouping_kernel()
        self._table: Rows = np.empty((self.capacity, words), dtype=np.uint64)
        self._slots = np.full(1 << (4 * self.capacity // 3).bit_length(), self._kernel.FREE, dtype=np.int32)
        self._used = 0

    def close(self) -> None:
        for spill in self._spills:
            spill.close()

    def add(self, rows: Rows) -> None:
        first = 0
        while first < len(rows):
            before = self._used
            first, self._used = self._kernel.collect(rows, first, self._table, self._slots, before)
            self.rows += self._used - before
            if first < len(rows):
                self._spill_table()

    def blocks(self) -> Iterator[Rows]:
        """All rows, sorted, block by block; each is good until the next one. Nothing can be added any more."""
        if not self._spills:
            yield from self._sorted()
            return
        self._spill_table()
        while len(self._spills) > SPILLS_AT_ONCE:
            self._merge_last()
        yield from self._merged(self._spills)

    def _sorted(self) -> Iterator[Rows]:
        order, scratch = np.empty((2, self._used), dtype=np.int32)
        self._kernel.sort_order(self._table, self._used, order, scratch)
        block_rows = max(1, min(_BLOCK_ROWS, self.capacity // 16))
        for first in range(0, self._used, block_rows):
            yield self._table[order[first : first + block_rows]]

    def _spill_table(self) -> None:
        """Empty the table. When there are many spills of one level, they become one of the next."""
        self._spills.append(Spill(self._sorted(), self.scratch, level=0))
        self._used = 0
        while len(self._spills) >= SPILLS_AT_ONCE and self._spills[-SPILLS_AT_ONCE].level == self._spills[-1].level:
            self._merge_last()
        self._slots.fill(self._kernel.FREE)

    def _merge_last(self) -> None:
        few = self._spills[-SPILLS_AT_ONCE:]
        merged = Spill(self._merged(few), self.scratch, few[0].level + 1)
        self._spills[-SPILLS_AT_ONCE:] = [merged]

    def _merged(self, spills: Sequence[Spill]) -> Iterator[Rows]:
        """The rows of several spills, which are gone afterwards. The table, empty now, is the room for it."""
        count, reason, used = len(spills), self._kernel.BLOCK_EMPTY, 0
        block_rows = max(2, min(_BLOCK_ROWS, self.capacity // (count + 1)))
        is_room = (count + 1) * block_rows <= self.capacity
        room = self._table if is_room else np.empty(((count + 1) * block_rows, self.words), dtype=np.uint64)
        out, blocks = room[:block_rows], room[block_rows : (count + 1) * block_rows].reshape(count, block_rows, -1)
        at, filled = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        while reason != self._kernel.AT_END:
            for number in np.flatnonzero(at == filled).tolist():
                at[number], filled[number] = 0, spills[number].read(blocks[number])
            reason, used = self._kernel.merge(blocks, at, filled, out, used)
            if reason == self._kernel.OUT_FULL:
                yield out[:-1]
                out[0], used = out[-1], 1  # the last row may still grow
        yield out[:used]
        for spill in spills:
            spill.close()
