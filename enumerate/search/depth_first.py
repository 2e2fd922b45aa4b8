"""Depth-first search from a cursor, in the order that a strategy gives: `warnsdorff` and `backtrack`.

**warnsdorff**, the default, finds most tours: at each square the next squares are tried in the order of their onward
moves, fewest first, ties by square number; a dead end goes back to the last square that has a choice left. So every
tour is found, the easy ones first. The rule is H. C. von Warnsdorff's (Des Rösselsprungs einfachste und allgemeinste
Lösung, 1823), who used it without going back; `greedy` does that. The top of `kernels.depth_first`
explains the pruning.

**backtrack** tries the moves in one fixed order, whatever the board looks like. It is the oldest way to search, known
for tours since Vandermonde (1771) asked for a system, and the measure of all others: it needs millions of placements
where Warnsdorff's order needs as many as there are squares. The order decides how many; `--move-order` lists the eight
moves as row,column: `2,1` leads from a1 to b3. Without `--prune` it is the textbook's search, so that its counts can be
compared; with it, the tours come in the same order after fewer placements.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from .. import kernels
from ..kernels import BORDER, NOWHERE, STACK_WORDS, VISITED
from ..kernels.cache import load_kernel
from ..model.batch import Batch, batch_arrays
from ..model.board import MOVES, Board
from ..model.config import Config
from ..model.jobs import Cursor, Job
from ..model.settings import MOVE_ORDER, parse_moves
from ..model.tour import square_dtype
from .kernel_search import (
    KernelSearch,
    Move,
    Room,
    Rules,
    common_rules,
    corner_pairs,
    moves_table,
    neighbour_table,
    sample,
)
from .strategy import Strategy

_BITS_SQUARES = 64


class DepthFirst(KernelSearch):
    """A search that stands at a cursor. With `moves` they alone make the order, else Warnsdorff's rule does."""

    def __init__(self, config: Config, job: Job, moves: Sequence[Move] | None = None) -> None:
        kind, order = kernel_for(config.board), order_of(config, moves is not None)
        module, self._search, self._resume = compiled_kernel(kind, order, square_dtype(config.board).itemsize)
        super().__init__(module, config, job)
        rules = rules_of(module, config, job.start)
        self._arrays = kernel_arrays(kind, config.board, tuple(moves or MOVES), rules, self._room)
        self._copies = config.write or kind == "bits"  # copying few squares costs nothing

    def resume(self, cursor: Cursor, iterations: int) -> None:
        """Stand where the last square of `cursor` is placed next, after so many iterations."""
        path = np.array(cursor, dtype=np.int64)
        reason = self._resume(*self._arrays, path, len(self.job.prefix))
        if reason == kernels.BAD_CURSOR:
            self._refuse_cursor()
        self._registers[self._kernel.ITERATIONS] = iterations
        # A call without an iteration to spend: else the time of a first tour would be that of loading the kernel.
        self._run(batch_arrays(1, self.board), iterations)
        self.exhausted = reason == kernels.EXHAUSTED

    def _columns(self, batch: Batch) -> tuple[np.ndarray, ...]:
        """Tours that are only counted are not copied."""
        tours, *others = batch.columns
        return tours if self._copies else tours[:, :0], *others

    @property
    def cursor(self) -> Cursor:
        """The path whose last square is placed next; empty when nothing is left."""
        if self.exhausted:
            return ()
        path = self._path[: self._registers[self._kernel.DEPTH]].tolist()
        return (*path, int(self._registers[self._kernel.NEXT]))


class _Backtracking(Strategy):
    """In Warnsdorff's order."""

    summary = "backtracking, fewest onward moves first"
    takes: tuple[str, ...] = ("prune", "split", "h-prob")
    is_complete = True
    is_fixed = False

    def search(self, config: Config, job: Job) -> DepthFirst:
        return DepthFirst(config, job)

    def kernels(self, config: Config) -> list[tuple[str, int]]:
        kind, order = kernel_for(config.board), order_of(config, self.is_fixed)
        return [(f"search_{kind}{order}", square_dtype(config.board).itemsize)]

    def words(self, config: Config) -> list[str]:
        if config.prune == self.defaults.get("prune", Config.prune):
            return []
        return ["pruned" if config.prune else "plain"]


class _FixedOrder(_Backtracking):
    """Plain, unless --prune says otherwise: it is there to be compared with."""

    summary = "backtracking in a fixed order of moves"
    takes = (*_Backtracking.takes, "move-order")
    defaults: Mapping[str, object] = {"prune": False}
    is_fixed = True

    def search(self, config: Config, job: Job) -> DepthFirst:
        return DepthFirst(config, job, parse_moves(config.move_order))

    def words(self, config: Config) -> list[str]:
        order = hashlib.sha256(config.move_order.encode()).hexdigest()[:8]
        return super().words(config) + ([f"order{order}"] if config.move_order != MOVE_ORDER else [])


WARNSDORFF, BACKTRACK = _Backtracking(), _FixedOrder()


def order_of(config: Config, is_fixed: bool) -> str:
    """What is in the name of a kernel's functions beside its kind."""
    return ("_fixed" if is_fixed else "") + ("_shuffled" if config.h_prob < 1 else "")


def kernel_for(board: Board) -> str:
    """The faster kernel takes at most 64 squares."""
    return "bits" if board.squares <= _BITS_SQUARES else "array"


def rules_of(kernel: Any, config: Config, start: int) -> Rules:
    """What the kernel is asked to do."""
    rules = common_rules(kernel, config, start)
    rules[kernel.PRUNE] = config.prune
    rules[kernel.SHUFFLE_BELOW] = round((1.0 - config.h_prob) * 2**53)
    if config.board.squares <= _BITS_SQUARES:
        rules[kernel.EVERY] = sum(
            1 << square for square in range(config.board.squares) if square != config.board.missing
        )
    return rules


def kernel_arrays(kind: str, board: Board, moves: tuple[Move, ...], rules: Rules, room: Room) -> tuple[Any, ...]:
    """What the search and the resume of a kind take, in their order."""
    tables, stack = tables_of(kind, board, moves), _stack(kind, board.length)
    return (*tables, rules, *room, corner_pairs(board), *stack)


def tables_of(kind: str, board: Board, moves: Sequence[Move] = MOVES) -> tuple[np.ndarray, ...]:
    """What a kernel knows of the board, before a square is taken."""
    if kind == "bits":
        attacks = np.array([sum(1 << other for other in others) for others in board.neighbours], dtype=np.uint64)
        return attacks, neighbour_table(board, moves)
    width = board.cols + BORDER
    state = np.full((board.rows + 2 * BORDER) * width + 2 * BORDER, VISITED + len(moves), dtype=np.uint8)
    row, col = divmod(np.arange(board.squares), board.cols)
    places = (row + BORDER) * width + col + BORDER
    on_board = np.arange(board.squares) != board.missing
    state[places[on_board]] = (moves_table(board) != NOWHERE).sum(axis=1)[on_board]
    real = np.zeros(len(state), dtype=np.int32)
    real[places] = np.arange(board.squares)
    offsets = np.array([down * width + right for down, right in moves], dtype=np.int64).view(np.uint64)
    return offsets, state, real


def _stack(kind: str, length: int) -> tuple[np.ndarray, ...]:
    """Room for the stack of a search, a row for each depth, and for hashes."""
    return np.zeros((length, STACK_WORDS[kind]), dtype=np.uint64), np.zeros(length, dtype=np.uint64)


@lru_cache
def compiled_kernel(kind: str, order: str, width: int) -> tuple[Any, Any, Any]:
    """What the kernels share, and the search and the resume of this kind and order, compiled for a width of squares."""
    search, resume = f"search_{kind}{order}", f"resume_{kind}{order}"

    def warm_up(kernel: Any) -> None:
        shared = import_module("enumerate.kernels.depth_first")
        config, room = sample(shared, width)
        arrays = kernel_arrays(kind, config.board, MOVES, rules_of(shared, config, 0), room)
        getattr(kernel, resume)(*arrays, np.zeros(1, dtype=np.int64), 1)
        getattr(kernel, search)(*arrays, 1, *batch_arrays(1, config.board).columns)

    kernel = load_kernel(kind, (search, resume), width, warm_up)
    return import_module("enumerate.kernels.depth_first"), getattr(kernel, search), getattr(kernel, resume)
