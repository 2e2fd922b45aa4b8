"""The memory and time to count the tours of a board, estimated before the count.

The number of states at the peak depends on the width of the board, and on its length until that is about twice the
width. So it is looked up among boards that were measured. Beyond them it is extrapolated, by a factor for each row more
in width and one for each column more in length.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...model.board import Board
from ...model.errors import BadRequest
from ...model.numbers import long_time, memory
from .counting import GIB

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
_A_COLUMN_MORE = 1.35


@dataclass(frozen=True, order=True)
class Cost:
    bytes: int
    states: int
    seconds: float

    def __str__(self) -> str:
        return f"about {self.states:,} states, {memory(self.bytes)} and {long_time(self.seconds, '{:,.0f}'.format)}"


def cost(board: Board, what: str) -> Cost:
    """The approximate cost of counting cycles, paths, or paths from one square, which has about as many states."""
    width, length = min(board.rows, board.cols), max(board.rows, board.cols)
    states = _peak("cycles" if what == "cycles" else "paths", width, length)
    seconds = states * _SHARE * board.squares * _SECONDS_A_STATE
    words = 1 + max(0, board.squares - 16) // 64  # counts so far have a bit or less for each square after the first 16
    return Cost(states * _BYTES_A_STATE * (1 + words) // 2, states, seconds)


def _peak(what: str, width: int, length: int) -> int:
    measured = _PEAKS[what]
    if width not in measured:
        return _A_WIDTH_MORE * _peak(what, width - 1, length - 1) if width > 4 else 1_000
    lengths = measured[width]
    longer = [each for each in lengths if each >= length]
    if longer:
        return lengths[min(longer)]
    last = max(lengths)
    return round(lengths[last] * _A_COLUMN_MORE ** (max(0, min(length, 2 * width) - last)))


def memory_limit(gib: float) -> int:
    """The bytes that may be used: `gib`, or if 0 half of what is free, or 4 GiB if that is unknown."""
    free = available_memory()
    if not 0 <= gib < 2**20:  # also refuses nan
        raise BadRequest(f"memory must be a number of GiB (0 means half of the free memory), got {gib}")
    if free is not None and gib * GIB > free:
        raise BadRequest(f"memory must be at most the {free / GIB:.1f} GiB that are free, got {gib}")
    if gib:
        return int(gib * GIB)
    return 4 * GIB if free is None else free // 2


def available_memory() -> int | None:
    """The free memory of this machine or container in bytes, if it is known."""
    found = list[int]()
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found.append(next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")))
    with suppress(OSError, ValueError):
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return min(found, default=None)
