"""Warnsdorff's rule alone: always to a square with the fewest onward moves, never back.

A tour takes time linear in its squares, if it is found: a dead end starts the tour over, and after `--failures` of them
it is given up. What decides is how ties are broken:

* `random`: at random, so each attempt differs. The larger the board, the more rarely it succeeds.
* `lowest`: the square with the lowest number.
* `pohl`: Ira Pohl (1967) asks one level deeper: the square whose onward squares have the fewest onward moves in all.
* `roth`: Arnd Roth's rule, farthest from the centre of the board.
* `squirrel`: the move orderings of Squirrel and Cull (1996), for square boards.

Ties that are left after that go to the lowest square. All but `random` are deterministic: they make one tour, or
none, from each start square.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import NOWHERE
from ..kernels.cache import load_kernel
from ..model.batch import batch_arrays
from ..model.board import MOVES, Board
from ..model.config import Config
from ..model.errors import BadRequest
from ..model.jobs import Cursor, Job
from ..model.tour import square_dtype
from .kernel_search import KernelSearch, Room, Rules, common_rules, corner_pairs, moves_table, sample
from .strategy import Strategy

_UNKNOWN = -(2**62)  # nanoseconds


class Greedy(KernelSearch):
    """Tour after tour from one square. Structured are tours that have all `pairs` of squares as moves, as a rule those
    of the corners.

    The cursor: the start, the number of the tour, of the attempt at it, the squares placed in that attempt, and in all
    attempts at that tour.
    """

    def __init__(self, config: Config, job: Job, pairs: NDArray[np.int32] | None = None) -> None:
        super().__init__(compiled_kernel(square_dtype(config.board).itemsize), config, job)
        self._search = self._kernel.search_greedy
        self._arrays = greedy_arrays(config, rules_of(self._kernel, config, job.start), self._room, pairs)

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
            registers[kernel.NANOS] = _UNKNOWN  # this tour began in another slice

    @property
    def cursor(self) -> Cursor:
        if self.exhausted:
            return ()
        kernel, registers = self._kernel, self._registers
        spent = registers[kernel.ITERATIONS] - registers[kernel.BEGAN]
        stands = (registers[kernel.TOUR], registers[kernel.ATTEMPT], registers[kernel.DEPTH], spent)
        return (self.job.start, *map(int, stands))


class _Greedy(Strategy):
    summary = "Warnsdorff's rule, never back"
    takes = ("ties", "failures")
    has_times = True

    def search(self, config: Config, job: Job) -> Greedy:
        return Greedy(config, job)

    def kernels(self, config: Config) -> list[tuple[str, int]]:
        return [("search_greedy", square_dtype(config.board).itemsize)]

    def picks_at_random(self, config: Config) -> bool:
        return config.ties == "random"

    def refuse(self, config: Config) -> None:
        super().refuse(config)
        board, ties = config.board, config.ties
        if ties == "random" and not config.max and (not config.tours or config.only):
            limit = "--max" if config.only else "--max or --tours"
            raise BadRequest(f"greedy with random ties never ends without a limit: give {limit}")
        if ties != "random" and config.failures != Config.failures:
            raise BadRequest(f"--ties {ties} is deterministic: --failures is for --ties random")
        if ties == "squirrel" and board.rows != board.cols:
            raise BadRequest(f"--ties squirrel needs a square board, got {board}; use --ties roth")

    def words(self, config: Config) -> list[str]:
        return [config.ties] + ([f"failures{config.failures}"] if config.failures != Config.failures else [])


GREEDY = _Greedy()


def rules_of(kernel: Any, config: Config, start: int) -> Rules:
    """What the kernel is asked to do."""
    rules = common_rules(kernel, config, start)
    rules[kernel.TIES] = getattr(kernel, config.ties.upper())
    rules[kernel.FAILURES] = config.failures
    rules[kernel.CLOCK] = time.CLOCK_MONOTONIC
    return rules


def greedy_arrays(config: Config, rules: Rules, room: Room, pairs: NDArray[np.int32] | None = None) -> tuple[Any, ...]:
    """What `search_greedy` takes, in its order."""
    board, neighbours = config.board, moves_table(config.board)
    fresh = (neighbours >= 0).sum(axis=1).astype(np.int8)
    ranks, switches = np.arange(8, dtype=np.int8)[None, :], np.full(1, NOWHERE, dtype=np.int32)
    if config.ties == "squirrel":
        ranks, switches = orderings_of(board)
    pairs = corner_pairs(board) if pairs is None else pairs
    clock = np.zeros(2, dtype=np.int64)
    return (neighbours, fresh, distances(board), ranks, switches, rules, *room, fresh.copy(), pairs, clock)


@lru_cache(maxsize=4)
def distances(board: Board) -> NDArray[np.int32]:
    """For each square how far it is from the centre of the board: four times the square of it, a whole number."""
    rows, cols = divmod(np.arange(board.squares), board.cols)
    result: NDArray[np.int32] = ((2 * rows - board.rows + 1) ** 2 + (2 * cols - board.cols + 1) ** 2).astype(np.int32)
    return result


@lru_cache
def compiled_kernel(width: int) -> Any:
    def warm_up(kernel: Any) -> None:
        config, room = sample(kernel, width)
        arrays = greedy_arrays(config, rules_of(kernel, config, 0), room)
        batch = batch_arrays(1, config.board, efforts=True)
        kernel.search_greedy(*arrays, 1, *batch.columns, batch.efforts)

    return load_kernel("greedy", ("search_greedy",), width, warm_up)


# ---------------------------------------------------------------------------------------------------------------------
# Move orderings that break ties on square boards.
#
# Douglas Squirrel and Paul Cull, A Warnsdorff-Rule Algorithm for Knight's Tours on Square Boards (1996): the eight
# moves are numbered clockwise, and ties go to the move that comes first in an ordering. When the knight comes to a
# certain square, the next ordering takes over. The lists below, for each size modulo 8, are theirs; squares are
# (row, column) from 1, and the tour starts on (1, 1).

_NUMBERED = ((-2, 1), (-1, 2), (1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1))  # moves 1 to 8

_ORDERINGS = (
    "34261578 87642135 51867342 51342678 21435678",
    "34261578 87642135 51324678 32481765",
    "34261578 87642135 54132678 52431678 85647123 15746823",
    "34625718 42681357 86512347 51867342 61825437 71642538",
    "34261578 87642135 51867342 51342678 86753421 78563421",
    "34261578 87642135 51324678 15234678",
    "34261578 87642135 54132678 52431678 85647123 12453678",
    "34625718 42681357 86512347 51867342 61825437 61357284",
)


def _switches(m: int) -> list[tuple[int, int]]:
    """Where each ordering but the last ends on a board of m x m squares."""
    return [
        [(m - 1, m - 2), (2, 2), (m - 8, 1), (7, m - 3)],
        [(m - 1, m - 2), (2, 2), (m - 6, (m - 1) // 2 + 5)],
        [(6, 1), (3, 1), (m - 15, 4), (10, m - 2), (5, m // 2 - 3)],
        [(m - 1, m - 2), (m - 6, m), (2, 5), (m - 10, 3), ((m - 1) // 2 + 1, m - 2)],
        [(m - 1, m - 2), (2, 2), (m - 8, 1), (10, m - 5), (13, m // 2 + 1)],
        [(m - 1, m - 2), (2, 2), (m - 2, (m - 1) // 2 - (2 if m % 16 == 5 else 6))],
        [(6, 1), (3, 1), (m - 10, 1), (10, m - 2), (3, m // 2 + 4)],
        [(m - 1, m - 2), (m - 6, m), (2, 5), (m - 6, 3), ((m - 1) // 2 + 1, m - 2)],
    ][m % 8]


def orderings_of(board: Board) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """For each phase the ranks of MOVES in its order, and the square where it ends."""
    digits = [str(_NUMBERED.index(move) + 1) for move in MOVES]
    ranks = [[ordering.index(digit) for digit in digits] for ordering in _ORDERINGS[board.rows % 8].split()]
    switches = [*(_square(board, *place) for place in _switches(board.rows)), NOWHERE]
    return np.array(ranks, dtype=np.int8), np.array(switches, dtype=np.int32)


def _square(board: Board, row: int, col: int) -> int:
    """The square in row and column from 1; on small boards there may be none."""
    on_board = 1 <= row <= board.rows and 1 <= col <= board.cols
    return (row - 1) * board.cols + col - 1 if on_board else NOWHERE
