"""Speed of the strategies, beside published figures and against themselves on boards of other sizes.

    ./run.sh bench strategies

Each line shows what is measured, the figure, and the least it should be. Times are those of the search, the best of
several. divide is timed with its base tours cached, as they are from the second tour on.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.speed import command, line, one_slice  # noqa: E402
from enumerate.model.board import Board  # noqa: E402
from enumerate.model.jobs import SliceResult  # noqa: E402
from enumerate.search.divide import find_base  # noqa: E402
from enumerate.search.joining import construct  # noqa: E402
from enumerate.search.strategy import resolve  # noqa: E402
from enumerate.studies.comparison import published  # noqa: E402

SIDES = (64, 128, 256, 512, 1024, 2048, 4000)


def first_slice(start: str, **values: object) -> SliceResult:
    """The first slice of a search."""
    config = resolve({"variant": "both", **values})
    return one_slice(config, config.board.square(start))


def first_tour(start: str, **values: object) -> tuple[float, int]:
    """Seconds and placements up to the first tour."""
    found = first_slice(start, tours=1, **values)
    assert found.first_seconds
    assert found.first_iteration
    return found.first_seconds, found.first_iteration


def best(seconds: Callable[[], float], repeats: int = 7) -> float:
    return min(seconds() for _ in range(repeats))


def times_as_fast(what, theirs, ours, least):
    line(what, f"{theirs / ours:,.0f} x", least)


def against_a():
    greedy = best(lambda: first_slice("a8", strategy="greedy", tours=published.GREEDY_TOURS).search_seconds)
    times_as_fast("900 greedy tours of 8x8 from a8 against A's", published.GREEDY_SECONDS, greedy, "500 x")
    line("  greedy tours a second", f"{published.GREEDY_TOURS / greedy:,.0f}", "")
    seconds, placements = min(first_tour("a8", strategy="backtrack", max=0) for _ in range(5))
    times_as_fast("first tour of 8x8 from a8 by backtrack against A's", published.BACKTRACK_SECONDS, seconds, "200 x")
    line("  its placements after the start square", f"{placements - 1:,}", f"{published.BACKTRACK_PLACEMENTS:,}")


def against_d():
    for side, theirs in published.WARNSDORFF_SECONDS.items():
        board = Board(side, side)
        starts = [board.name(square) for square in range(0, board.squares, 1 + side % 2)]
        seconds = [first_tour(start, size=side)[0] for start in starts for _ in range(3)]
        line(f"first tour of {board} against D's, median of all start squares",
             f"{theirs / statistics.median(seconds):.1f} x", "1 x")  # fmt: skip
    for side, theirs in published.BACKTRACKING_SECONDS.items():
        ours, placements = first_tour("a1", size=side, strategy="backtrack", max=0)
        what = f"first tour of {side}x{side} from a1 by backtrack against D's ({placements:,} placements)"
        line(what, f"{theirs / ours:.2f} x", "")


def divide():
    costs, whole = {}, {}
    for side in SIDES:
        repeats = 50 if side < 1000 else 9
        whole[side] = best(partial(closed_seconds, side), repeats) / side**2
        costs[side] = best(partial(construction_seconds, side), repeats) / side**2
        line(f"divide {side}x{side}, nanoseconds a square, construction", f"{costs[side] * 1e9:.1f}", "")
    line("  the most against the least", f"{spread(costs):.2f} x", "under 2 x")
    line("  the same with classification and Python's part, 64x64 the most", f"{spread(whole):.2f} x", "")
    with tempfile.TemporaryDirectory() as folder:
        for side in (1024, 4000):
            words = ("--strategy", "divide", "--variant", "closed", "--size", side)
            runs = [command(*words, "--output", f"{folder}/{side}-{n}") for n in range(3)]
            inside = min(document["this_call"]["seconds"] for _, document in runs)
            line(
                f"divide {side}x{side} with its worker's start and its part",
                f"{inside:.2f} s",
                "under 2 s" if side == 1024 else "",
            )
            line("  whole command, wall seconds", f"{min(wall for wall, _ in runs):.2f} s", "")


def closed_seconds(side: int) -> float:
    return first_slice("a1", size=side, strategy="divide", variant="closed").search_seconds


def construction_seconds(side: int) -> float:
    began = time.perf_counter()
    construct(Board(side, side), 0, True, find_base)
    return time.perf_counter() - began


def spread(costs):
    return max(costs.values()) / min(costs.values())


if __name__ == "__main__":
    line("what", "measured", "at least")
    against_a()
    against_d()
    divide()
