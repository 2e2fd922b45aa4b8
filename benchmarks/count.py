"""Counting tours without listing them: how fast, how many states, how much memory.

    ./run.sh bench count            boards up to 7x8 closed, some two minutes
    ./run.sh bench count --quick    without the largest boards
    ./run.sh bench count --all      also 7x7 paths and 8x8 closed, more than half an hour

Each line shows a board, its count, processor seconds, states in all and at the peak, the memory of the tables at the
peak, and how much of the limit of time or memory was used, whichever is more. Counts are compared with published ones.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from enumerate.model.board import Board  # noqa: E402
from enumerate.model.literature import published  # noqa: E402
from enumerate.studies.count.counting import GIB, Effort, compiled_kernel, count_cycles, count_paths  # noqa: E402

SIX_WIDE = [(6, cols) for cols in range(6, 11)]
SIX_WIDE_SECONDS, SIX_WIDE_BYTES = 20, GIB  # all of them together
LIMITS = {(7, 8): (600, 4 * GIB)}
COUNT = {"cycles": count_cycles, "paths": count_paths}


def measure(size: tuple[int, int], what: Literal["cycles", "paths"], memory: int = 12 * GIB) -> tuple[float, int]:
    """Count one board and print its line: seconds and bytes."""
    board, effort = Board(*size), Effort(memory)
    began = time.process_time()
    count = COUNT[what](board, effort)
    seconds = time.process_time() - began
    known = published(board, what)
    verdict = "" if known is None else f"= {known.source}" if known.count == count else f"DIFFERS FROM {known.count:,}"
    share = used(seconds, effort.peak_bytes, *LIMITS[size]) if what == "cycles" and size in LIMITS else ""
    print(
        f"{board!s:6s} {what:7s} {count:>32,d} {seconds:8.2f} {effort.states:>13,d} {effort.peak_states:>11,d}"
        f" {effort.peak_bytes / 2**20:>8,.0f} {share:>6s}  {verdict}",
        flush=True,
    )
    return seconds, effort.peak_bytes


def used(seconds, size, most_seconds, most_bytes):
    return f"{max(seconds / most_seconds, size / most_bytes):.0%}"


def main():
    quick, everything = "--quick" in sys.argv, "--all" in sys.argv
    compiled_kernel()
    print("board  what                               count  seconds        states        peak      MiB  limit")
    seconds, sizes = zip(*(measure(size, "cycles") for size in SIX_WIDE), strict=True)
    share = used(sum(seconds), max(sizes), SIX_WIDE_SECONDS, SIX_WIDE_BYTES)
    print(f"       these together {sum(seconds):34.2f} {share:>42s}")
    for size in [(3, 100), (5, 20), *([] if quick else [(6, 17), (7, 8)])]:
        measure(size, "cycles")
    for size in [(5, 5), (5, 6), (5, 7), (5, 8), (6, 6), *([] if quick else [(6, 7), (6, 8)])]:
        measure(size, "paths")
    if everything:
        measure((7, 7), "paths")
        measure((8, 8), "cycles")


if __name__ == "__main__":
    main()
