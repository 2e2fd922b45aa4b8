"""Kernel calls to batches: the arrays of one search, rebuilt from a cursor, run for one slice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .board import Board
from .compiled import load_kernel
from .config import Config
from .errors import Damaged
from .jobs import BUDGET, EXHAUSTED, FULL, Cursor, Job, Slice
from .tour import Batch, Tours, square_dtype

_CALL_ITERATIONS = 20_000_000  # a kernel call ends within a second or two, so that Python can raise KeyboardInterrupt


@dataclass(frozen=True)
class Found:
    """How one slice of a search went; its tours were handed on in batches."""

    tours: int
    ended: str
    cursor: Cursor
    iterations: int
    dead_ends: int
    first_iteration: int | None
    first_seconds: float | None
    seconds: float


class Search:
    """A search that stands at a cursor. `kernel` is 'bits' or 'array' if it is not left to the config."""

    def __init__(self, config: Config, job: Job, kernel: str = "") -> None:
        self.board = config.board
        self.job = job
        kernel = kernel or config.kernel
        dtype = square_dtype(config.board)
        self._kernel = compiled_kernel(kernel, dtype.itemsize > 1)
        self._run = getattr(self._kernel, f"search_{kernel}")
        self._resume = getattr(self._kernel, f"resume_{kernel}")
        self._registers = np.zeros(self._kernel.REGISTERS, dtype=np.int64)
        self._path = np.zeros(config.board.squares, dtype=dtype)
        rules = rules_of(self._kernel, config, job.start)
        self._arrays = _ARRAYS[kernel](config.board, rules, self._registers, self._path)
        self.exhausted = False

    def resume(self, cursor: Cursor, iterations: int = 0) -> None:
        """Stand where the last square of `cursor` is placed next, after so many iterations."""
        path = np.array(cursor, dtype=np.int64)
        reason = self._resume(*self._arrays, path, len(self.job.prefix))
        if reason == self._kernel.BAD_CURSOR:
            start = self.board.name(self.job.start)
            raise Damaged(f"damaged, a commit record of start square {start} has a cursor of another search")
        self.exhausted = reason == self._kernel.EXHAUSTED
        self._registers[self._kernel.ITERATIONS] = iterations

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

    @property
    def iterations(self) -> int:
        return int(self._registers[self._kernel.ITERATIONS])

    @property
    def dead_ends(self) -> int:
        return int(self._registers[self._kernel.DEAD_ENDS])

    def fill(self, batch: Batch, found: int, limit: int) -> int:
        """Search until `limit` iterations in all, or the batch, which holds `found` tours, is full; count its tours."""
        self._registers[self._kernel.FOUND] = found
        while not self.exhausted and found < len(batch.tours) and self.iterations < limit:
            pause = min(limit, self.iterations + _CALL_ITERATIONS)
            reason = self._run(*self._arrays, pause, batch.tours, batch.iterations, batch.closed)
            self.exhausted = reason == self._kernel.EXHAUSTED
            found = int(self._registers[self._kernel.FOUND])
        return found


def search_slice(config: Config, slice_: Slice, take: Callable[[Batch], object], kernel: str = "") -> Found:
    """Work on one slice: from its cursor to the end of its iterations, of its tours, or of the search.

    Tours are handed to `take` batch by batch; the memory of a batch is used again after that.
    """
    search = Search(config, slice_.job, kernel)
    room = batch_arrays(config.tours_in_batch, config.board)
    limit = slice_.before.iterations + slice_.max_iterations
    tours, first_iteration, first_seconds = 0, None, None
    seconds = -time.perf_counter()  # the clock stands while a batch is taken
    search.resume(slice_.cursor, slice_.before.iterations)
    while not search.exhausted and search.iterations < limit and tours < slice_.max_tours:
        batch = _head(room, min(len(room.tours), slice_.max_tours - tours))
        count = 0
        if first_iteration is None:
            # The kernel has no clock: to time the first tour, it is asked for one tour first.
            count = search.fill(_head(batch, 1), 0, limit)
            if count:
                first_iteration, first_seconds = int(batch.iterations[0]), seconds + time.perf_counter()
        count = search.fill(batch, count, limit)
        seconds += time.perf_counter()
        if count:
            take(_head(batch, count))
        seconds -= time.perf_counter()
        tours += count
    spent = search.iterations - slice_.before.iterations
    return Found(
        tours=tours,
        ended=_why_ended(search.exhausted, spent, tours, slice_),
        cursor=search.cursor,
        iterations=spent,
        dead_ends=search.dead_ends,
        first_iteration=first_iteration,
        first_seconds=first_seconds,
        seconds=seconds + time.perf_counter(),
    )


def _why_ended(exhausted: bool, iterations: int, tours: int, slice_: Slice) -> str:
    if exhausted:
        return EXHAUSTED
    return FULL if iterations >= slice_.full_iterations or tours >= slice_.full_tours else BUDGET


def _head(batch: Batch, count: int) -> Batch:
    return Batch(batch.tours[:count], batch.iterations[:count], batch.closed[:count])


@lru_cache(maxsize=1)
def batch_arrays(capacity: int, board: Board) -> Batch:
    """Room for a batch, kept for the next slice: fresh memory costs more than the search that fills it."""
    return Batch(
        np.empty((capacity, board.squares), dtype=square_dtype(board)),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.bool_),
    )


def rules_of(kernel: Any, config: Config, start: int) -> NDArray[np.uint64]:
    """What the kernel is asked to do."""
    rules = np.zeros(kernel.RULES, dtype=np.uint64)
    rules[kernel.START] = start
    rules[kernel.VARIANT] = {"open": kernel.OPEN, "closed": kernel.CLOSED, "both": kernel.BOTH}[config.variant]
    rules[kernel.PRUNE] = config.prune
    rules[kernel.SEED] = config.seed
    rules[kernel.SHUFFLE_BELOW] = round((1.0 - config.h_prob) * 2**53)
    return rules


def bits_arrays(board: Board, rules: NDArray[np.uint64], registers: NDArray[np.int64], path: Tours) -> tuple[Any, ...]:
    """What `search_bits` and `resume_bits` take, in their order."""
    attacks = np.array([sum(1 << other for other in others) for others in board.neighbours], dtype=np.uint64)
    untried, tights, ends, hashes = np.zeros((4, board.squares), dtype=np.uint64)
    return attacks, rules, registers, path, untried, tights, ends, hashes


def array_arrays(board: Board, rules: NDArray[np.uint64], registers: NDArray[np.int64], path: Tours) -> tuple[Any, ...]:
    """What `search_array` and `resume_array` take, in their order."""
    squares = board.squares
    neighbours = np.full((squares, 8), -1, dtype=np.int32)
    for square, others in enumerate(board.neighbours):
        neighbours[square, : len(others)] = others
    degrees = (neighbours >= 0).sum(axis=1).astype(np.int8)
    near_start, visited = np.zeros((2, squares), dtype=np.bool_)
    untried = np.zeros(squares, dtype=np.uint8)
    tights = np.full((squares, 2), -1, dtype=np.int32)
    ends = np.full(squares, -1, dtype=np.int32)
    hashes = np.zeros(squares, dtype=np.uint64)
    return neighbours, near_start, degrees, visited, rules, registers, path, untried, tights, ends, hashes


@lru_cache
def compiled_kernel(kind: str, wide: bool) -> Any:
    """The kernel with the functions of this kind compiled for this width of squares."""
    entries = (f"search_{kind}", f"resume_{kind}")

    def warm_up(kernel: Any) -> None:
        config = Config(board=Board(17, 17) if wide else Board(5, 5))
        path = np.zeros(config.board.squares, dtype=square_dtype(config.board))
        registers = np.zeros(kernel.REGISTERS, dtype=np.int64)
        arrays = _ARRAYS[kind](config.board, rules_of(kernel, config, 0), registers, path)
        batch = batch_arrays.__wrapped__(1, config.board)
        getattr(kernel, entries[1])(*arrays, np.zeros(1, dtype=np.int64), 1)
        getattr(kernel, entries[0])(*arrays, 1, batch.tours, batch.iterations, batch.closed)

    return load_kernel(entries, warm_up)


_ARRAYS = {"bits": bits_arrays, "array": array_arrays}
