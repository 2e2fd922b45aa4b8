"""Exact numbers of tours, without listing them.

Squares are processed one by one, and partial tours that look the same from the rest of the board are counted together:
see `kernels.frontier` for the states and `steps` for the order of the squares.

**Numbers beyond 64 bits.** A count is one 64-bit word until an addition carries out of it. Then the current step is
given up, every count gets one more word, and the step begins again. So the numbers are exact without a bound that would
have to be known beforehand, and cost no more memory than they need. The alternatives are dearer: a proven bound (such
as Bregman's on perfect matchings) asks for 128 bits on 8x8, where 64 suffice, and residues modulo several primes need
one pass over all states for each prime.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.cache import load_kernel
from ...model.board import Board
from ...model.errors import BadRequest
from ...model.numbers import long_time, memory, rough
from ...model.theorems import why_no_closed_tour, why_no_tour, why_no_tour_from
from .steps import MAX_PLACES, Problem, Step, cycles_problem, longest_frontier, paths_from_problem, paths_problem, steps

Words = NDArray[np.uint64]

EMPTY = np.uint64(2**64 - 1)  # as in the kernel
GIB = 2**30
PARTS = 16  # in which the progress of a square is reported
_STATES_A_CALL = 2**15  # a few hundredths of a second, so that Ctrl-C is heard
_SMALLEST = 2**10
_GROWTH, _LOAD = 1.5, 0.75


@dataclass
class Effort:
    """What counting may take, what it calls after each part of a square's work, and what it took."""

    memory: int = 4 * GIB
    advance: Callable[[str], None] = lambda _name: None
    states: int = field(default=0, init=False)  # in all steps together
    peak_states: int = field(default=0, init=False)
    peak_bytes: int = field(default=0, init=False)
    _reported: int = field(default=0, init=False)  # parts of the current square

    def hold(self, *arrays: Words, more: int = 0) -> None:
        """Note the tables in memory and `more` bytes about to be taken; refuse beyond the limit."""
        held = sum(array.nbytes for array in arrays) + more
        if held > self.memory:
            raise BadRequest(
                f"the states need more than the memory allowed, {self.memory / GIB:.1f} GiB; use a larger --memory"
            )
        self.peak_bytes = max(self.peak_bytes, held)

    def report(self, square: str, share: float, states: int) -> None:
        """Report the share of a square's work that is done; a step that begins again reports nothing twice."""
        while self._reported < int(PARTS * share):
            self._reported += 1
            self.advance(f"{square}, {states:,} states")

    def finish(self, square: str, states: int) -> None:
        self.report(square, 1.0, states)
        self._reported = 0
        self.states += states
        self.peak_states = max(self.peak_states, states)


def count_cycles(board: Board, effort: Effort | None = None) -> int:
    """The number of closed tours, each counted once whatever its start square and direction."""
    if why_no_tour(board) or why_no_closed_tour(board):
        return 0
    return count(board, cycles_problem(board), effort or Effort())


def count_paths(board: Board, effort: Effort | None = None) -> int:
    """The number of directed tours, open and closed."""
    if why_no_tour(board):
        return 0
    return 1 if board.length == 1 else 2 * count(board, paths_problem(board), effort or Effort())


def count_from(board: Board, square: int, effort: Effort | None = None) -> int:
    """The number of directed tours from this square, open and closed."""
    if why_no_tour(board) or why_no_tour_from(board, square):
        return 0
    return 1 if board.length == 1 else count(board, paths_from_problem(board, square), effort or Effort())


class Table:
    """States and their counts: first as a hash table with free slots, then packed."""

    def __init__(self, size: int, words: int) -> None:
        self.keys: Words = np.full(size, EMPTY)
        self.counts: Words = np.zeros((size, words), dtype=np.uint64)

    @property
    def size(self) -> int:
        return len(self.keys)

    @property
    def words(self) -> int:
        return int(self.counts.shape[1])

    @property
    def arrays(self) -> tuple[Words, Words]:
        return self.keys, self.counts

    def widen(self) -> None:
        """One more word for each count."""
        self.counts = np.hstack([self.counts, np.zeros((self.size, 1), dtype=np.uint64)])

    def pack(self) -> None:
        """Remove the free slots."""
        used = compiled_kernel().compact(self.keys, self.counts)
        self.keys.resize(used, refcheck=False)
        self.counts.resize((used, self.words), refcheck=False)


def count(board: Board, problem: Problem, effort: Effort) -> int:
    places = longest_frontier(problem)
    if places > MAX_PLACES:
        raise BadRequest(f"{board} is too wide: its frontier has {places} squares, but a state holds {MAX_PLACES}")
    table = Table(1, 1)
    # In the first state the extra squares are each other's mate, or bare.
    table.keys[0], table.counts[0, 0] = 0b1110 if len(problem.extras) == 2 else 0, 1
    for step in steps(problem):
        name = board.name(step.square)
        while (after := _advance(step, name, table, effort)) is None:
            effort.hold(*table.arrays, more=table.counts.nbytes + 8 * table.size)
            table.widen()
        table = after
        effort.finish(name, table.size)
    return sum(int(word) << 64 * i for words in table.counts for i, word in enumerate(words))


def _advance(step: Step, name: str, old: Table, effort: Effort) -> Table | None:
    kernel, begin, used = compiled_kernel(), 0, 0
    new = _table(2 * old.size, old.words, effort, *old.arrays)
    while begin < old.size:
        end = min(begin + _STATES_A_CALL, old.size)
        why, begin, used = kernel.advance(
            *old.arrays, begin, end, *step.arrays, *new.arrays, used, int(_LOAD * new.size)
        )
        if why == kernel.CARRIED:
            return None
        if why == kernel.TABLE_FULL:
            new = _larger(new, effort, *old.arrays)
        effort.report(name, begin / old.size, used)
    new.pack()
    return new


def _table(size: int, words: int, effort: Effort, *held: Words) -> Table:
    size = max(size, _SMALLEST)
    effort.hold(*held, more=8 * size * (1 + words))
    return Table(size, words)


def _larger(table: Table, effort: Effort, *held: Words) -> Table:
    kernel, larger = compiled_kernel(), _table(int(_GROWTH * table.size), table.words, effort, *held, *table.arrays)
    for begin in range(0, table.size, _STATES_A_CALL):
        kernel.move(*table.arrays, begin, min(begin + _STATES_A_CALL, table.size), *larger.arrays)
    return larger


@lru_cache
def compiled_kernel() -> Any:
    def warm_up(kernel: Any) -> None:
        step, old, new = next(steps(cycles_problem(Board(3, 4)))), Table(1, 1), Table(8, 1)
        kernel.advance(*old.arrays, 0, 0, *step.arrays, *new.arrays, 0, 0)
        kernel.move(*old.arrays, 0, 0, *new.arrays)
        kernel.compact(*old.arrays)

    return load_kernel("frontier", ("advance", "move", "compact"), 8, warm_up)


# ---------------------------------------------------------------------------------------------------------------------
# The memory and time that a count will take.
#
# The number of states at the peak depends on the width of the board, and on its length until that is about twice the
# width. So it is looked up among boards that were measured. Beyond them it is extrapolated, by a factor for each row
# more in width and one for each column more in length.

_BYTES_A_STATE = 72  # at the peak, in the worst case: the old table, the new one, and a larger one that replaces it
_SECONDS_A_STATE = 1.3e-6
_SHARE = 0.3  # the average states of a step, as a share of those at the peak

# Peaks by width, then length. They stop growing at the last length of each width, if it was reached.
_PEAKS: dict[str, dict[int, dict[int, int]]] = {
    "cycles": {
        3: {10: 20, 12: 46, 14: 51},
        5: {6: 419, 8: 4_039, 10: 10_226, 12: 10_552},
        6: {6: 11_318, 7: 68_370, 8: 133_672, 9: 190_246, 10: 279_639, 11: 294_439, 13: 296_853},
        7: {8: 2_907_465},
        8: {8: 80_000_000},  # an estimate made before it was counted: 86,612,635, in 3,965 MiB
    },
    "paths": {
        3: {4: 6, 7: 33, 10: 190, 14: 272},
        4: {5: 177, 6: 593, 7: 970, 8: 1_500, 10: 2_187, 12: 2_222},
        5: {5: 1_190, 6: 11_495, 7: 24_511, 8: 45_902, 10: 67_886, 12: 68_381},
        6: {6: 371_093, 7: 921_744, 8: 1_420_047},
        7: {7: 13_496_198},
    },
}  # fmt: skip
_A_WIDTH_MORE = 40
_A_WIDTH_BEYOND = 20  # the memory of any machine
_A_COLUMN_MORE = 1.35


@dataclass(frozen=True, order=True)
class Cost:
    bytes: int
    states: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"about {rough(self.states)} states, {memory(self.bytes)} and {long_time(self.seconds, '{:,.0f}'.format)}"
        )


def cost(board: Board, what: str) -> Cost:
    """The approximate cost of counting cycles, paths, or paths from one square, which has about as many states."""
    width, length = min(board.rows, board.cols), max(board.rows, board.cols)
    states = _peak("cycles" if what == "cycles" else "paths", width, length)
    seconds = states * _SHARE * board.squares * _SECONDS_A_STATE
    words = 1 + max(0, board.squares - 16) // 64  # counts so far have a bit or less for each square after the first 16
    return Cost(states * _BYTES_A_STATE * (1 + words) // 2, states, seconds)


def _peak(what: str, width: int, length: int) -> int:
    measured, width = _PEAKS[what], min(width, _A_WIDTH_BEYOND)
    if width not in measured:
        return _A_WIDTH_MORE * _peak(what, width - 1, length - 1) if width > 4 else 1_000
    lengths = measured[width]
    longer = [each for each in lengths if each >= length]
    if longer:
        return lengths[min(longer)]
    last = max(lengths)
    return round(lengths[last] * _A_COLUMN_MORE ** (max(0, min(length, 2 * width) - last)))


def memory_limit(asked: int | None) -> int:
    """The bytes that may be used: those asked for, or half of what is free, or 4 GiB if that is unknown."""
    free = available_memory()
    if asked is None:
        return 4 * GIB if free is None else free // 2
    if free is not None and asked > free:
        raise BadRequest(f"memory must be at most the {memory(free)} that are free, got {memory(asked)}")
    return asked


def available_memory() -> int | None:
    """The free memory of this machine or container in bytes, if it is known."""
    found = list[int]()
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found.append(next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")))
    with suppress(OSError, ValueError):
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return min(found, default=None)
