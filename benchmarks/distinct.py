"""Speed of distinct tours: canonical forms by the kernel against numpy, and a whole run, read, grouped and written.

    ./run.sh bench distinct

Each line shows what is measured, the figure, and the least it should be. Rates of the kernel are of one core, the best
of several.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.speed import command, line  # noqa: E402
from enumerate.catalog.grouping import Packing  # noqa: E402
from enumerate.catalog.reader import Run  # noqa: E402
from tests.support.canonical import canonical  # noqa: E402

TOURS = 16_384


def best(work: Callable[[], object], repeats: int = 9) -> float:
    """Seconds of processor time."""
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    return min(seconds)


def kernel(run: Run, variant: str) -> None:
    batch = next(run.read_part(next(run.parts(variant=variant))))[:TOURS]
    packing, count = Packing(run.board), len(batch.tours)
    ours = count / best(lambda: packing.rows(batch, variant == "closed"))
    theirs = count / best(lambda: canonical(run.board, batch.tours), 3)
    least = "1,000,000" if variant == "closed" else ""
    line(f"canonical forms of {variant} tours of {run.board} a second, one core", f"{ours:,.0f}", least)
    line("  against numpy", f"{ours / theirs:.0f} x", "10 x")


def whole(output: str) -> None:
    _, found = command("distinct", output, "--count")
    line("tours a second, read and grouped, no disk", f"{found['tours'] / found['seconds']:,.0f}", "")
    for memory in ("1GiB", "16MiB"):
        _, found = command("distinct", output, "--memory", memory)
        line(f"tours a second, read, grouped and written, {memory}", f"{found['tours'] / found['seconds']:,.0f}", "")


def main():
    line("what", "measured", "at least")
    with tempfile.TemporaryDirectory() as folder:
        command("--variant", "both", "--size", 8, "--output", f"{folder}/run", "--max", 200_000)
        for variant in ("closed", "open"):
            kernel(Run(f"{folder}/run"), variant)
        whole(f"{folder}/run")


if __name__ == "__main__":
    main()
