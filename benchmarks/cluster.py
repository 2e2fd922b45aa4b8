"""What Ray and many slices cost, as ratios and times measured in one run.

    ./run.sh bench cluster            everything, about ten minutes on two cores
    ./run.sh bench cluster --quick    a tenth of it

Each line shows what is measured, the figure, and the most it should be. Nothing else should run on the machine: Ray
runs its workers at low priority, so other programs take time from them first. Figures are the best of three, in turns.

Beside its search and its parts, a slice costs its record, the checks of run.json, and the way to the worker and back.
To measure this, a run of many tiny slices is compared with a run of few, both without the seconds of search and writing
that they report, and the difference is divided by the number of additional slices. So the start of Ray and its workers
does not count.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.speed import command, line
from enumerate.ledger.layout import COMMITS, LOCK, RUN_FILES, record_name
from enumerate.ledger.storage import Storage, objects, open_storage
from enumerate.model.config import Config
from enumerate.run.coordinator import run
from enumerate.view.progress import Quiet
from tests.support.s3 import S3Server

QUICK = "--quick" in sys.argv
LIMIT = 20_000_000 if not QUICK else 2_000_000
TINY = 2000  # iterations of a slice that takes next to no time
FEW, MANY = (200, 1200) if not QUICK else (50, 250)  # such slices, in a run of one start square
EACH = 160 if not QUICK else 16  # such slices for each of 64 start squares
EXECUTORS = {"processes": (), "Ray": ("--address", "local")}
WRITERS = 16  # at a time, on the S3 server


def in_turns(measures):
    """Each of them three times, in turns, so that a noisy minute does not hit one of them alone."""
    found = defaultdict(list)
    for _ in range(3):
        for name, measure in measures.items():
            found[name].append(measure())
    return found


def search(*words, **environment):
    """A new run in a folder of its own: wall seconds, and its JSON document."""
    with tempfile.TemporaryDirectory() as folder:
        return command(*words, "--output", f"{folder}/run", **environment)


def whole_runs():
    """The same search through processes and through Ray."""
    words = ("--variant", "open", "--size", 8, "--max", LIMIT, "--workers", 2)
    found = in_turns({name: lambda more=more: search(*words, *more) for name, more in EXECUTORS.items()})
    seconds = {name: min(document["this_call"]["seconds"] for _, document in runs) for name, runs in found.items()}
    beside = {
        name: min(wall - document["this_call"]["seconds"] for wall, document in runs) for name, runs in found.items()
    }
    what = f"open 8x8, {LIMIT:,} iterations, 2 workers"
    for name in EXECUTORS:
        line(f"{what}, {name}", f"{seconds[name]:.2f} s", "")
    line("  Ray against processes", f"{seconds['Ray'] / seconds['processes']:.2f} x", "1.15 x")
    line("start and end of Ray on this machine, beside that", f"{beside['Ray'] - beside['processes']:.2f} s", "")


def beside_work(slices, more):
    """Seconds of a run with one worker that are neither search nor writing of parts."""
    words = ("--size", 8, "--start", "a1", "--slice-iterations", TINY, "--max", TINY * slices, "--workers", 1)
    _, document = search(*words, *more)
    total = document["total"]
    return document["this_call"]["seconds"] - total["search_seconds"] - total["write_seconds"]


def slice_costs():
    measures = {
        (name, slices): lambda slices=slices, more=more: beside_work(slices, more)
        for name, more in EXECUTORS.items()
        for slices in (FEW, MANY)
    }
    found = in_turns(measures)
    for name in EXECUTORS:
        cost = (min(found[name, MANY]) - min(found[name, FEW])) / (MANY - FEW)
        line(f"a slice beside its search and parts, {name}", f"{cost * 1000:.1f} ms", "10 ms")


def many_slices(output, each, **environment):
    """A run of many tiny slices from every square of 8x8."""
    words = ("--size", 8, "--slice-iterations", TINY, "--max", TINY * each, "--workers", 2)
    return command(*words, "--output", output, **environment)


def resumes(output: str, checks: Sequence[str], most: str, **environment: str) -> None:
    """Wall seconds of a command that continues a complete run, or one with one slice left."""
    last = record_name(63, EACH - 1)

    def resume(check, left):
        if left:
            open_storage(output).remove([last])
        words = ("--size", 8, "--slice-iterations", TINY, "--max", TINY * EACH, "--workers", 1, "--check", check)
        wall, document = command(*words, "--output", output, **environment)
        assert document["complete"]
        assert document["already_complete"] == (not left)
        return wall

    measures = {
        (check, left): lambda check=check, left=left: resume(check, left) for check in checks for left in (0, 1)
    }
    for (check, left), walls in in_turns(measures).items():
        what = "one slice left" if left else "nothing left"
        line(f"  continued, {what}, --check {check}", f"{min(walls):.2f} s", most)


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def copied(source: Storage, target: Storage, names: Sequence[str]) -> float:
    """Files copied from one storage to another, many at a time: seconds."""
    with ThreadPoolExecutor(WRITERS) as pool:
        return seconds_of(lambda: list(pool.map(lambda name: target.create(name, source.read(name)), names)))


class Counted:
    """A store whose requests are counted."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.requests: Counter[str] = Counter()

    def __getattr__(self, name):
        self.requests[name] += 1
        return getattr(self.store, name)


def requests_of(slices: int, output: str) -> Counter[str]:
    """The requests of a call with this number of slices of one start square, by kind."""
    config = Config(start="a1", slice_iterations=TINY, max=TINY * slices, output=output, executor="serial")
    store = Counted(objects._client(output).store)
    with mock.patch.object(objects, "_client", return_value=objects.Client(store)):
        run(config, Quiet())
    return store.requests


def in_words(requests):
    return ", ".join(f"{count} {name}" for name, count in sorted(requests.items()))


def count_requests():
    once = requests_of(10, "s3://bench/ten")
    more = requests_of(20, "s3://bench/twenty") - once
    assert all(count % 10 == 0 for count in more.values())
    line("  requests of a slice", in_words({name: count // 10 for name, count in more.items()}), "")
    line("  requests of a call beside its slices", in_words(once - more), "")


def on_s3(source: Storage, server: S3Server) -> None:
    """The same run on an S3 server on this machine: for information, since the server takes its share of the cores."""
    os.environ.update(server.environment)
    server.make_bucket("bench")
    _, document = many_slices("s3://bench/searched", EACH // 4, **server.environment)
    rate = 64 * (EACH // 4) / document["this_call"]["seconds"]
    line("S3 server here: tiny slices/s of two workers, their start included", f"{rate:,.0f}", "")
    count_requests()
    target = open_storage("s3://bench/run")
    names = [name for name, _ in source.entries(".") if name != LOCK]
    records = [name for name in names if name.startswith(f"{COMMITS}/")]
    parts = [name for name in names if not name.startswith(f"{RUN_FILES}/")]
    copied(source, target, [name for name in names if name not in {*records, *parts}])
    line(f"  records/s, {WRITERS} at a time", f"{len(records) / copied(source, target, records):,.0f}", "")
    line(f"  parts/s, {WRITERS} at a time", f"{len(parts) / copied(source, target, parts):,.0f}", "")
    seconds = min(seconds_of(lambda: sum(1 for _ in target.entries(COMMITS))) for _ in range(3))
    line("  names/s listed, 1,000 a request", f"{len(records) / seconds:,.0f}", "")
    resumes("s3://bench/run", ("sizes", "sums"), "", **server.environment)


def main():
    line("what", "measured", "at most")
    whole_runs()
    slice_costs()
    with tempfile.TemporaryDirectory() as folder:
        wall, _ = many_slices(f"{folder}/run", EACH)
        line(f"a run of {64 * EACH:,} slices, made by two workers", f"{wall:.1f} s", "")
        resumes(f"{folder}/run", ("sums", "sizes"), "5 s")
        with S3Server(Path(folder) / "s3") as server:
            on_s3(open_storage(f"{folder}/run"), server)


if __name__ == "__main__":
    main()
