"""Depth-first search from a cursor, in the order that a strategy gives: `warnsdorff` and `backtrack`.

**warnsdorff**, the default, finds most tours: at each square the next squares are tried in the order of their onward
moves, fewest first, ties by square number; a dead end goes back to the last square that has a choice left. So every
tour is found, the easy ones first. The rule is H. C. von Warnsdorff's (Des Rösselsprungs einfachste und allgemeinste
Lösung, 1823), who used it without going back; `greedy` does that. What the pruning knows is told at the top of
`kernels.depth_first`.

**backtrack** tries the moves in one fixed order, whatever the board looks like. It is the oldest way to search, known
for tours since Vandermonde (1771) asked for a system, and the measure of all others: it needs millions of placements
where Warnsdorff's order needs as many as there are squares. The order decides how many; `--move-order` lists the eight
moves as row,column: `2,1` leads from a1 to b3. Without `--prune` it is the textbook's search, so that its counts can be
compared; with it, the tours come in the same order after fewer placements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.cache import load_kernel
from ..model.batch import Batch, batch_arrays
from ..model.board import MOVES, Board
from ..model.config import Config, parse_moves
from ..model.jobs import Cursor, Job
from ..model.tour import square_dtype
from .strategy import KernelSearch, Rules, common_rules
from .tables import Move, corner_pairs, fresh_place, neighbour_table

_CALL_ITERATIONS = 20_000_000  # a kernel call ends within a second or two, so that Python can raise KeyboardInterrupt


class DepthFirst(KernelSearch):
    """A search that stands at a cursor. With `moves` they alone make the order, else Warnsdorff's rule does.

    `kernel` is 'bits' or 'array' if it is not left to the config.
    """

    given_up = 0

    def __init__(self, config: Config, job: Job, kernel: str = "", moves: Sequence[Move] | None = None) -> None:
        kernel = kernel or config.kernel
        dtype = square_dtype(config.board)
        order = ("_fixed" if moves is not None else "") + ("_shuffled" if config.h_prob < 1 else "")
        super().__init__(compiled_kernel(kernel, order, dtype.itemsize), config, job)
        search, resume = entries_of(kernel, order)
        self._run, self._resume = getattr(self._kernel, search), getattr(self._kernel, resume)
        self._path = np.zeros(config.board.length, dtype=dtype)
        rules = rules_of(self._kernel, config, job.start)
        self._arrays = _ARRAYS[kernel](config.board, tuple(moves or MOVES), rules, self._registers, self._path)

    def resume(self, cursor: Cursor, iterations: int) -> None:
        """Stand where the last square of `cursor` is placed next, after so many iterations."""
        path = np.array(cursor, dtype=np.int64)
        reason = self._resume(*self._arrays, path, len(self.job.prefix))
        if reason == self._kernel.BAD_CURSOR:
            self._refuse_cursor()
        self.exhausted = reason == self._kernel.EXHAUSTED
        self._registers[self._kernel.ITERATIONS] = iterations
        # A call without an iteration to spend: else the time of a first tour would be that of loading the kernel.
        self._run(*self._arrays, iterations, *batch_arrays(1, self.board).columns)

    @property
    def cursor(self) -> Cursor:
        """The path whose last square is placed next; empty when nothing is left."""
        if self.exhausted:
            return ()
        path = self._path[: self.depth].tolist()
        return (*path, int(self._registers[self._kernel.NEXT]))

    @property
    def depth(self) -> int:
        return int(self._registers[self._kernel.DEPTH])

    def fill(self, batch: Batch, found: int, limit: int) -> int:
        self._registers[self._kernel.FOUND] = found
        while not self.exhausted and found < len(batch.tours) and self.iterations < limit:
            pause = min(limit, self.iterations + _CALL_ITERATIONS)
            reason = self._run(*self._arrays, pause, *batch.columns)
            self.exhausted = reason == self._kernel.EXHAUSTED
            found = int(self._registers[self._kernel.FOUND])
        return found


def warnsdorff(config: Config, job: Job, kernel: str = "") -> DepthFirst:
    return DepthFirst(config, job, kernel)


def backtrack(config: Config, job: Job, kernel: str = "") -> DepthFirst:
    return DepthFirst(config, job, kernel, parse_moves(config.move_order))


def rules_of(kernel: Any, config: Config, start: int) -> Rules:
    """What the kernel is asked to do."""
    rules = common_rules(kernel, config, start)
    rules[kernel.PRUNE] = config.prune
    rules[kernel.SHUFFLE_BELOW] = round((1.0 - config.h_prob) * 2**53)
    if config.board.squares <= 64:
        every = (1 << config.board.squares) - 1
        rules[kernel.EVERY] = every if config.board.missing is None else every ^ (1 << config.board.missing)
    return rules


def bits_arrays(
    board: Board, moves: tuple[Move, ...], rules: Rules, registers: NDArray[np.int64], path: np.ndarray
) -> tuple[Any, ...]:
    """What `search_bits` and `resume_bits` take, in their order."""
    attacks = np.array([sum(1 << other for other in others) for others in board.neighbours], dtype=np.uint64)
    untried, tights, ends, hashes = np.zeros((4, board.length), dtype=np.uint64)
    return (attacks, neighbour_table(board, moves), rules, registers, path, fresh_place(board), corner_pairs(board),
            untried, tights, ends, hashes)  # fmt: skip


def array_arrays(
    board: Board, moves: tuple[Move, ...], rules: Rules, registers: NDArray[np.int64], path: np.ndarray
) -> tuple[Any, ...]:
    """What `search_array` and `resume_array` take, in their order."""
    neighbours = neighbour_table(board, moves)
    degrees = (neighbours >= 0).sum(axis=1).astype(np.int8)
    near_start, visited = np.zeros((2, board.squares), dtype=np.bool_)
    untried = np.zeros(board.length, dtype=np.uint8)
    tights = np.full((board.length, 2), -1, dtype=np.int32)
    ends = np.full(board.length, -1, dtype=np.int32)
    hashes = np.zeros(board.length, dtype=np.uint64)
    return (neighbours, near_start, degrees, visited, rules, registers, path, fresh_place(board), corner_pairs(board),
            untried, tights, ends, hashes)  # fmt: skip


def entries_of(kind: str, order: str) -> tuple[str, str]:
    """The names of the kernel's two functions."""
    return f"search_{kind}{order}", f"resume_{kind}{order}"


@lru_cache
def compiled_kernel(kind: str, order: str, width: int) -> Any:
    """The kernel with the functions of this kind and order compiled for this width of squares."""
    entries = entries_of(kind, order)

    def warm_up(kernel: Any) -> None:
        config = Config(board={1: Board(5, 5), 2: Board(17, 17), 4: Board(257, 257)}[width])
        path = np.zeros(config.board.length, dtype=square_dtype(config.board))
        registers = np.zeros(kernel.REGISTERS, dtype=np.int64)
        arrays = _ARRAYS[kind](config.board, MOVES, rules_of(kernel, config, 0), registers, path)
        getattr(kernel, entries[1])(*arrays, np.zeros(1, dtype=np.int64), 1)
        getattr(kernel, entries[0])(*arrays, 1, *batch_arrays(1, config.board).columns)

    return load_kernel("depth_first", entries, width, warm_up)


_ARRAYS = {"bits": bits_arrays, "array": array_arrays}
