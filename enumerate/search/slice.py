"""A slice of any strategy's search: from its cursor to its end, tours handed on in batches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from ..model.batch import Batch, Column, batch_arrays
from ..model.board import Board
from ..model.config import Config
from ..model.jobs import BUDGET, EXHAUSTED, FULL, Slice, SliceResult
from .strategy import Searching, strategy_of


def search_slice(config: Config, slice_: Slice, search: Searching, take: Callable[[Batch], object]) -> SliceResult:
    """Work on one slice: from its cursor to the end of its iterations, of its tours, or of the search.

    Tours are handed to `take` batch by batch; the memory of a batch is used again after that. What depends on how they
    are written (their counts, the parts, the time) is left to who takes them.
    """
    strategy = strategy_of(config)
    shape = config.tours_in_batch, config.board, strategy.has_times, strategy.columns
    room = _room(shape)
    limit = slice_.before.iterations + slice_.max_iterations
    tours, seconds, first_iteration, first_seconds = 0, 0.0, None, None

    def fill(batch: Batch, found: int) -> int:
        """Only here the clock runs."""
        nonlocal seconds
        began = time.perf_counter()
        found = search.fill(batch, found, limit)
        seconds += time.perf_counter() - began
        return found

    search.resume(slice_.cursor, slice_.before.iterations)
    while not search.exhausted and search.iterations < limit and tours + search.given_up < slice_.max_tours:
        batch = room[: min(len(room.tours), slice_.max_tours - tours - search.given_up)]
        count = 0
        if first_iteration is None:
            # The kernel has no clock: to time the first tour, it is asked for one tour first.
            count = fill(batch[:1], 0)
            if not count:
                continue
            first_iteration, first_seconds = int(batch.iterations[0]), seconds
        count = fill(batch, count)
        if count:
            take(batch[:count])
        tours += count
    _spare.append((shape, room))
    spent = search.iterations - slice_.before.iterations
    return SliceResult(
        job=slice_.job.number,
        slice=slice_.number,
        start=slice_.start,
        before=slice_.before,
        began=slice_.cursor,
        ended=_why_ended(search.exhausted, spent, tours + search.given_up, slice_),
        cursor=search.cursor,
        iterations=spent,
        dead_ends=search.dead_ends,
        left_out=search.left_out,
        given_up=search.given_up,
        first_iteration=first_iteration,
        first_seconds=first_seconds,
        search_seconds=seconds,
        parts=(),
    )


def _why_ended(exhausted: bool, iterations: int, tours: int, slice_: Slice) -> str:
    if exhausted:
        return EXHAUSTED
    return FULL if iterations >= slice_.full_iterations or tours >= slice_.full_tours else BUDGET


_Shape = tuple[int, Board, bool, tuple[Column, ...]]
_spare: deque[tuple[_Shape, Batch]] = deque(maxlen=4)  # of searches that have ended


def _room(shape: _Shape) -> Batch:
    """Room for the batches of one search, kept for the next: fresh memory costs more than the search that fills it."""
    with suppress(IndexError):  # none is spare
        left, room = _spare.pop()  # no two threads get the same
        if left == shape:
            return room
    return batch_arrays(*shape)
