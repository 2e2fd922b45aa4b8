"""Warnsdorff's rule alone: always to a square with the fewest onward moves, never back.

A tour takes time linear in its squares, if it is found: a dead end starts the tour over, and after `--failures` of them
it is given up. What decides is how ties are broken:

* `random`: by chance, so that each attempt is another one. The larger the board, the more rarely it succeeds.
* `index`: the square with the lowest number.
* `pohl`: Ira Pohl (1967) asks one level deeper: the square whose onward squares have the fewest onward moves in all.
* `roth`: Arnd Roth's rule, farthest from the centre of the board.
* `squirrel`: the move orderings of Squirrel and Cull (1996); see `squirrel`.

Ties that are left after that go to the lowest square. All but `random` know one way only, so that they make one tour,
or none, from each start square.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.cache import load_kernel
from ..model.batch import Batch, batch_arrays
from ..model.board import Board
from ..model.config import Config
from ..model.jobs import Cursor, Job
from ..model.tour import square_dtype
from .squirrel import one_ordering, orderings_of
from .strategy import KernelSearch, Rules, Searching, common_rules
from .tables import corner_pairs, fresh_place, moves_table

_CALL_ITERATIONS = 10_000_000  # a kernel call ends within a second, so that Python can raise KeyboardInterrupt
_UNKNOWN = -(2**62)  # nanoseconds


def search(config: Config, job: Job) -> Searching:
    return Greedy(config, job, corner_pairs(config.board))


class Greedy(KernelSearch):
    """Tour after tour from one square. Structured are tours that have all `pairs` of squares as moves.

    The cursor: the start, the number of the tour, of the attempt at it, the squares placed in that attempt, and in all
    attempts at that tour.
    """

    def __init__(self, config: Config, job: Job, pairs: NDArray[np.int32]) -> None:
        super().__init__(compiled_kernel(square_dtype(config.board).itemsize), config, job)
        rules = rules_of(self._kernel, config, job.start)
        self._arrays = greedy_arrays(config.board, config.ties, rules, self._registers, pairs)

    def resume(self, cursor: Cursor, iterations: int) -> None:
        kernel, registers = self._kernel, self._registers
        _, tour, attempt, placed, spent = cursor if len(cursor) > 1 else (cursor[0], 0, 0, 0, 0)
        registers[kernel.TOUR], registers[kernel.ATTEMPT] = tour, attempt
        registers[kernel.BEGAN] = iterations - spent
        registers[kernel.ITERATIONS] = iterations - placed  # they are placed once more, to stand where we stood
        if placed:
            self._run(batch_arrays(1, self.board, efforts=True), iterations)
        if registers[kernel.DEPTH] != placed or registers[kernel.ATTEMPT] != attempt:
            self._refuse_cursor()
        if spent:
            registers[kernel.NANOS] = _UNKNOWN  # this tour was begun in another slice

    @property
    def cursor(self) -> Cursor:
        if self.exhausted:
            return ()
        kernel, registers = self._kernel, self._registers
        spent = registers[kernel.ITERATIONS] - registers[kernel.BEGAN]
        stands = (registers[kernel.TOUR], registers[kernel.ATTEMPT], registers[kernel.DEPTH], spent)
        return (self.job.start, *map(int, stands))

    @property
    def given_up(self) -> int:
        return int(self._registers[self._kernel.GIVEN_UP])

    def fill(self, batch: Batch, found: int, limit: int) -> int:
        self._registers[self._kernel.FOUND] = found
        given_up, full = self.given_up, False
        while not self.exhausted and not full and self.iterations < limit:
            room = len(batch.tours) - (self.given_up - given_up)
            full = room == found or self._run(batch.head(room), min(limit, self.iterations + _CALL_ITERATIONS))
            found = int(self._registers[self._kernel.FOUND])
        return found

    def _run(self, batch: Batch, limit: int) -> bool:
        """Call the kernel; whether the batch is full."""
        reason = self._kernel.search_greedy(*self._arrays, limit, *batch.columns, batch.efforts)
        self.exhausted = reason == self._kernel.EXHAUSTED
        return bool(reason == self._kernel.BATCH_FULL)


def rules_of(kernel: Any, config: Config, start: int) -> Rules:
    """What the kernel is asked to do."""
    rules = common_rules(kernel, config, start)
    rules[kernel.TIES] = getattr(kernel, config.ties.upper())
    rules[kernel.FAILURES] = config.failures
    rules[kernel.CLOCK] = time.CLOCK_MONOTONIC
    return rules


def greedy_arrays(
    board: Board, ties: str, rules: Rules, registers: NDArray[np.int64], pairs: NDArray[np.int32]
) -> tuple[Any, ...]:
    """What `search_greedy` takes, in its order."""
    neighbours = moves_table(board)
    fresh = (neighbours >= 0).sum(axis=1).astype(np.int8)
    orderings, switches = orderings_of(board) if ties == "squirrel" else one_ordering()
    path = np.zeros(board.length, dtype=square_dtype(board))
    clock = np.zeros(2, dtype=np.int64)
    return (neighbours, fresh, distances(board), orderings, switches, rules, registers, path, fresh_place(board),
            fresh.copy(), pairs, clock)  # fmt: skip


@lru_cache(maxsize=4)
def distances(board: Board) -> NDArray[np.int32]:
    """For each square how far it is from the centre of the board: four times the square of it, a whole number."""
    rows, cols = divmod(np.arange(board.squares), board.cols)
    result: NDArray[np.int32] = ((2 * rows - board.rows + 1) ** 2 + (2 * cols - board.cols + 1) ** 2).astype(np.int32)
    return result


@lru_cache
def compiled_kernel(width: int) -> Any:
    """The kernel, compiled for this width of squares."""

    def warm_up(kernel: Any) -> None:
        config = Config(board={1: Board(5, 5), 2: Board(17, 17), 4: Board(257, 257)}[width], strategy="greedy")
        registers = np.zeros(kernel.REGISTERS, dtype=np.int64)
        rules = rules_of(kernel, config, 0)
        arrays = greedy_arrays(config.board, config.ties, rules, registers, corner_pairs(config.board))
        batch = batch_arrays(1, config.board, efforts=True)
        kernel.search_greedy(*arrays, 1, *batch.columns, batch.efforts)

    return load_kernel("greedy", ("search_greedy",), width, warm_up)
