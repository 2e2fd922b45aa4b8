"""What searches with kernels share: the tables of a board, room to search in, registers and rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..model.batch import Batch
from ..model.board import MOVES, Board
from ..model.config import Config
from ..model.errors import Damaged
from ..model.jobs import Job
from ..model.tour import SYMMETRIES, Tours, square_dtype

Move = tuple[int, int]
Room = tuple[NDArray[np.int64], Tours, NDArray[np.int32]]
Rules = NDArray[np.uint64]

_VARIANTS = {"open": kernels.OPEN, "closed": kernels.CLOSED, "both": kernels.BOTH}
_KINDS = {"": kernels.ALL_TOURS, "structured": kernels.ONLY_STRUCTURED, "symmetric": kernels.ONLY_SYMMETRIC}

# The kernels' codes are indices into `SYMMETRIES`.
assert SYMMETRIES[kernels.CLOSED_REFLECTION] == "closed-reflection"

_CALL_ITERATIONS = 10_000_000  # a kernel call ends within a second, so that Python can raise KeyboardInterrupt
_SIDES = {1: 5, 2: 17, 4: 257}  # of square boards whose squares take so many bytes


@lru_cache(maxsize=4)
def moves_table(board: Board, moves: Sequence[Move] = MOVES) -> NDArray[np.int32]:
    """For each square where each kind of move leads, or NOWHERE."""
    rows, cols = divmod(np.arange(board.squares, dtype=np.int64), board.cols)
    table = np.full((board.squares, len(moves)), kernels.NOWHERE, dtype=np.int32)
    for i, (down, right) in enumerate(moves):
        row, col = rows + down, cols + right
        on_board = (row >= 0) & (row < board.rows) & (col >= 0) & (col < board.cols)
        table[on_board, i] = (row * board.cols + col)[on_board]
    if board.missing is not None:
        table[table == board.missing] = kernels.NOWHERE
        table[board.missing] = kernels.NOWHERE
    table.setflags(write=False)
    return table


@lru_cache(maxsize=4)
def neighbour_table(board: Board, moves: Sequence[Move] = MOVES) -> NDArray[np.int32]:
    """For each square its neighbours in the order of the moves that lead there, then NOWHERE."""
    table = moves_table(board, moves)
    first = np.argsort(table == kernels.NOWHERE, axis=1, kind="stable")
    result: NDArray[np.int32] = np.take_along_axis(table, first, axis=1)
    result.setflags(write=False)
    return result


@lru_cache(maxsize=4)
def corner_pairs(board: Board) -> NDArray[np.int32]:
    return np.array(board.corner_moves, dtype=np.int32).reshape(-1, 2)


def fresh_room(kernel: Any, board: Board) -> Room:
    """For a kernel's registers, the squares of a path, and the number of the move that reaches each square."""
    path = np.zeros(board.length, dtype=square_dtype(board))
    return np.zeros(kernel.REGISTERS, dtype=np.int64), path, np.full(board.squares, kernels.NOWHERE, dtype=np.int32)


def sample(kernel: Any, width: int) -> tuple[Config, Room]:
    """A config with squares of that width and room for its search, to compile the kernel with."""
    config = Config(board=Board(_SIDES[width], _SIDES[width]))
    return config, fresh_room(kernel, config.board)


class KernelSearch:
    """What searches share whose kernels keep registers and take rules: `_search` with `_arrays`."""

    _search: Callable[..., int]
    _arrays: tuple[Any, ...]

    def __init__(self, kernel: Any, config: Config, job: Job) -> None:
        self.board, self.job = config.board, job
        self.exhausted = False
        self._kernel = kernel
        self._room = fresh_room(kernel, config.board)
        self._registers, self._path, _ = self._room

    def fill(self, batch: Batch, found: int, limit: int) -> int:
        self._registers[self._kernel.FOUND] = found
        given_up, full = self.given_up, False
        while not self.exhausted and not full and self.iterations < limit:
            room = len(batch.tours) - (self.given_up - given_up)
            full = room == found or self._run(batch[:room], min(limit, self.iterations + _CALL_ITERATIONS))
            found = int(self._registers[self._kernel.FOUND])
        return found

    def _run(self, batch: Batch, limit: int) -> bool:
        """Call the kernel; whether the batch is full."""
        efforts = () if batch.efforts is None else (batch.efforts,)
        reason = self._search(*self._arrays, limit, *self._columns(batch), *efforts)
        self.exhausted = reason == kernels.EXHAUSTED
        return bool(reason == kernels.BATCH_FULL)

    def _columns(self, batch: Batch) -> tuple[np.ndarray, ...]:
        return batch.columns

    @property
    def iterations(self) -> int:
        return int(self._registers[self._kernel.ITERATIONS])

    @property
    def dead_ends(self) -> int:
        return int(self._registers[self._kernel.DEAD_ENDS])

    @property
    def left_out(self) -> int:
        return int(self._registers[self._kernel.LEFT_OUT])

    @property
    def given_up(self) -> int:
        return int(self._registers[self._kernel.GIVEN_UP])

    def _refuse_cursor(self) -> NoReturn:
        start = self.board.name(self.job.start)
        raise Damaged(f"damaged, a commit record of start square {start} has a cursor of another search")


def common_rules(kernel: Any, config: Config, start: int) -> Rules:
    """What every such kernel is asked."""
    rules = np.zeros(kernel.RULES, dtype=np.uint64)
    rules[kernel.START] = start
    rules[kernel.VARIANT] = _VARIANTS[config.variant]
    rules[kernel.SEED] = config.seed
    rules[kernel.ONLY] = _KINDS[config.only]
    rules[kernel.ROWS], rules[kernel.COLS] = config.board.rows, config.board.cols
    return rules
