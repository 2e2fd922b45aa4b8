"""Speed of exhaustive runs: every tour of a board into Parquet, and two workers on two cores.

    ./run.sh bench exhaustive       about two minutes on two cores

Each line shows what is measured, the figure, and what it should be. Nothing else should run on the machine. Seconds
count everything but the start of the interpreter: the plan, workers, search, files, records and the summary.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.speed import bare_speedup, line  # noqa: E402
from enumerate.catalog.reader import Run  # noqa: E402
from enumerate.catalog.verify import verify  # noqa: E402
from enumerate.executors.events import Finished, Started  # noqa: E402
from enumerate.model.board import parse_size  # noqa: E402
from enumerate.model.config import Config  # noqa: E402
from enumerate.run.coordinator import run  # noqa: E402
from enumerate.run.report import Report, SliceEvent  # noqa: E402
from enumerate.view.progress import Quiet  # noqa: E402

TIMES = 3


class Watch(Quiet):
    """When each worker began its first slice and ended its last."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.began: dict[int, float] = {}
        self.ended: dict[int, float] = {}

    def event(self, event: SliceEvent) -> None:
        if isinstance(event, Started):
            self.began.setdefault(event.slot, time.perf_counter())
        elif isinstance(event, Finished):
            self.ended[event.slot] = time.perf_counter()

    @property
    def idle(self) -> float:
        """The share of the run for which the worker that ended first had nothing to do; all if one never worked."""
        last = max(self.ended.values())
        if len(self.ended) < self.workers:
            return 1.0
        return (last - min(self.ended.values())) / (last - min(self.began.values()))


def timed(size: str, folder: str, workers: int = 2, **values: Any) -> tuple[float, Report, float]:
    """Seconds of a run, its report, and the share that a worker was idle."""
    watch = Watch(workers)
    config = Config(board=parse_size(size), max=0, workers=workers, output=folder, **values)
    began = time.perf_counter()
    report = run(config, watch, fresh=True)
    return time.perf_counter() - began, report, watch.idle


def best(size: str, folder: str, **values: Any) -> tuple[float, Report, float]:
    timed(size, folder, **values)  # compiled
    return min((timed(size, folder, **values) for _ in range(TIMES)), key=lambda result: result[0])


def main():
    line("what", "measured", "should be")
    with tempfile.TemporaryDirectory() as folder:
        seconds, report, idle = best("6", f"{folder}/six", variant="both", start="classes", expand=True)
        line(f"6x6, {report.comparisons[0].line}, seconds", f"{seconds:.2f} s", "under 6 s")
        line("  the worker that ended first was idle", f"{idle:.1%}", "under 5 %")
        began = time.perf_counter()
        verdict = verify(Run(f"{folder}/six"))
        line(f"  verified, {verdict.tours:,} tours, seconds", f"{time.perf_counter() - began:.2f} s", "")
        seconds, report, idle = best("6x7", f"{folder}/seven", variant="closed", start="once")
        line(f"6x7, {report.comparisons[0].line}, seconds", f"{seconds:.2f} s", "under 3 s")
        line("  the worker that ended first was idle", f"{idle:.1%}", "under 5 %")
        rates = {}
        for workers in (1, 2):
            seconds, _, idle = best("6", f"{folder}/all", variant="both", workers=workers)
            rates[workers] = 1 / seconds
        line("6x6 from all squares, two workers against one", f"{rates[2] / rates[1]:.2f} x", "")
        line("  the worker that ended first was idle", f"{idle:.1%}", "under 5 %")
        kernels = bare_speedup(5_000_000)
        line("two bare kernel processes against one", f"{kernels:.2f} x", "")
        line("  the first as a share of the second", f"{rates[2] / rates[1] / kernels:.2f}", "0.95")


if __name__ == "__main__":
    main()
