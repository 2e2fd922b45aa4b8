"""Speed and size of the main job, as ratios and rates measured in one run.

    ./run.sh bench speed            everything, about four minutes on two cores
    ./run.sh bench speed --quick    a tenth of the long runs

Each line shows what is measured, the figure, and the least it should be. Nothing else should run on the machine; if
something did, repeat the benchmark. Rates are the best of several runs in turns.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from enumerate.ledger.records import JobProgress  # noqa: E402
from enumerate.model.batch import Batch  # noqa: E402
from enumerate.model.config import Config  # noqa: E402
from enumerate.model.jobs import Job, SliceResult  # noqa: E402
from enumerate.search.slice import search_slice  # noqa: E402
from enumerate.search.strategy import make_search  # noqa: E402
from tests.support import reference  # noqa: E402

LIMIT = 500_000


def one_slice(config: Config, start: int, take: Callable[[Batch], object] = lambda _batch: None) -> SliceResult:
    """The first slice of a search, in memory."""
    job = Job(0, (start,))
    slice_ = JobProgress(job).next_slice(config)
    assert slice_
    return search_slice(config, slice_, make_search(config, job), take)


def kernel_search(config: Config, start: int) -> tuple[int, int, float]:
    """Tours, iterations and seconds of one slice."""
    tours: list[int] = []
    found = one_slice(config, start, lambda batch: tours.append(len(batch.tours)))
    return sum(tours), found.iterations, found.search_seconds


def kernel_rates(variant: str, prune: bool) -> tuple[float, float]:
    """Tours and iterations per second of one core, 8x8, 500,000 iterations from each square."""
    config = Config(variant=variant, prune=prune, max=LIMIT)
    kernel_search(config, 0)
    runs = []
    for _ in range(5):
        tours, iterations, seconds = map(sum, zip(*(kernel_search(config, start) for start in range(64)), strict=True))
        runs.append((seconds, tours, iterations))
    seconds, tours, iterations = min(runs)
    return tours / seconds, iterations / seconds


def reference_rate():
    """Iterations per second of the pure-Python reference on the same board, from a1 with the same limit."""
    began = time.perf_counter()
    for _ in reference.tours(8, 8, 0, LIMIT):
        pass
    return LIMIT / (time.perf_counter() - began)


def bare(limit: int) -> None:
    """What a worker does without writing: the kernel on all start squares."""
    config = Config(variant="open", max=limit)
    for start in range(64):
        kernel_search(config, start)


def bare_speedup(limit: int) -> float:
    """How much faster two bare kernel processes are than one."""

    def seconds(count: int) -> float:
        began = time.perf_counter()
        pool.map(bare, [limit] * count, chunksize=1)
        return time.perf_counter() - began

    with get_context("spawn").Pool(2) as pool:
        pool.map(bare, [1000, 1000, 1000, 1000], chunksize=1)
        runs = [(seconds(1), seconds(2)) for _ in range(3)]
    return 2 * min(one for one, _ in runs) / min(two for _, two in runs)


def command(*words: object, **environment: str) -> tuple[float, dict[str, Any]]:
    """A whole command: wall seconds and its JSON document."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "enumerate", *map(str, words), "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        check=True,
    )
    return time.perf_counter() - began, json.loads(done.stdout)


def line(what: str, figure: str, least: str) -> None:
    print(f"{what:72s} {figure:>16s}   {least}", flush=True)


def main():
    limit = 20_000_000 if "--quick" not in sys.argv else 2_000_000
    line("what", "measured", "at least")
    plain = kernel_rates("open", prune=False)[1]
    line(
        "plain search against the Python reference, iterations/s per core",
        f"{plain / reference_rate():,.0f} x",
        "500 x",
    )
    for variant in ("open", "closed"):
        tours, iterations = kernel_rates(variant, prune=True)
        line(f"pruned 8x8 {variant}, tours/s per core in the kernel", f"{tours / 1e6:.2f} M", "3 M")
        line(f"pruned 8x8 {variant}, iterations/s per core in the kernel", f"{iterations / 1e6:.1f} M", "")
    with tempfile.TemporaryDirectory() as folder:
        headline = ("--variant", "closed", "--size", 8, "--max", LIMIT)
        first, _ = command(*headline, "--output", f"{folder}/first", XDG_CACHE_HOME=f"{folder}/cache")
        line("headline command, nothing compiled, wall seconds", f"{first:.2f} s", "under 15 s")
        again = min(command(*headline, "--output", f"{folder}/again{n}")[0] for n in range(3))
        line("headline command, compiled, wall seconds", f"{again:.2f} s", "under 3 s")
        best = {1: 0.0, 2: 0.0}
        for _ in range(3):  # in turns, so that a noisy minute does not hit one of them alone
            for workers in (1, 2):
                with tempfile.TemporaryDirectory(dir=folder) as output:
                    wall, document = command("--max", limit, "--workers", workers, "--output", f"{output}/run")
                best[workers] = max(best[workers], document["total"]["tours_open"] / wall)
        for workers, rate in best.items():
            words = f"whole command, open 8x8, {limit:,} iterations, {workers} worker{'s' * (workers > 1)}"
            line(f"{words}, tours/s per core", f"{rate / workers / 1e6:.2f} M", "2.2 M")
        kernels = bare_speedup(min(limit, 5_000_000))
        line("two workers against one", f"{best[2] / best[1]:.2f} x", "")
        line("two bare kernel processes against one", f"{kernels:.2f} x", "")
        line("  the first as a share of the second", f"{best[2] / best[1] / kernels:.2f}", "0.95")
        line("disk, bytes a tour, all columns", f"{document['bytes_per_tour']:.2f}", "under 6")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    line("memory of the largest process, MiB", f"{peak:.0f}", "under 400")


if __name__ == "__main__":
    main()
