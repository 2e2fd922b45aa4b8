"""What one coordinator can do: its bookkeeping alone, with slots whose slices are done at once.

    ./run.sh bench coordinator                                 about two minutes on two cores
    ./run.sh bench coordinator --slices 1000000 --slots 5000

Nothing is searched and nothing is written. The supervisor and the loop of `run` are the real ones. First the slots are
simulated in this process; then they are real calls through a Ray on this machine, a few actors answering for all slots;
last a listing of so many names stands for the storage of a run that is continued. Nothing else should run on the
machine.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections import deque
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402

from enumerate.executors.events import Finished  # noqa: E402
from enumerate.executors.supervisor import Done, Ready, Supervisor  # noqa: E402
from enumerate.ledger.job_progress import JobProgress  # noqa: E402
from enumerate.ledger.layout import COMMITS, part_name, record_name  # noqa: E402
from enumerate.ledger.manifest import seal  # noqa: E402
from enumerate.ledger.records import record_lists  # noqa: E402
from enumerate.ledger.storage import Entry  # noqa: E402
from enumerate.model.board import Board  # noqa: E402
from enumerate.model.config import Config  # noqa: E402
from enumerate.model.jobs import FULL, Job, Part, Slice, SliceResult, Totals  # noqa: E402
from enumerate.run.coordinator import _work_off  # noqa: E402
from enumerate.run.report import Report  # noqa: E402
from enumerate.run.tidying import SIZES, check_parts, tidied  # noqa: E402
from enumerate.view.progress import Fancy, Plain  # noqa: E402

ITERATIONS, TOURS, BYTES = 10_000_000, 500_000, 2_600_000  # of a simulated slice
CURSOR = tuple(range(62))  # as long as on 8x8
NODE_SLOTS = 32
ACTORS = 4  # that answer for all slots of the Ray on this machine
SAMPLED = (0.1, 0.5, 1.0)  # shares of the slices after which memory is looked at


def finished(slice_):
    """The result that a slice of a long search would have."""
    job, number = slice_.job.number, slice_.number
    name = part_name("open", "a1", job, number, None, "")
    return SliceResult(
        job=job, slice=number, start="a1", ended=FULL, before=slice_.before, began=slice_.cursor, cursor=CURSOR,
        iterations=ITERATIONS, dead_ends=1000, tours_open=TOURS, tours_closed=0, first_iteration=64,
        first_seconds=0.001, search_seconds=0.06, write_seconds=0.06,
        parts=(Part("open", name, TOURS, BYTES, "0" * 64),),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# Slots.


class SimulatedWorker:
    """Done with a slice as soon as it is given."""

    def __init__(self, pool, number):
        self.pool, self.node = pool, f"node-{number // NODE_SLOTS}"
        pool.heard.append((self, None, ""))

    def give(self, slice_):
        self.pool.heard.append((self, slice_))

    def end(self): ...


class SimulatedPool:
    """So many slots; at most `at_once` of them are heard in one wait."""

    def __init__(self, slots, at_once):
        self.slots, self.at_once = slots, at_once
        self.heard = deque()

    def hire(self, _work, hired):
        return SimulatedWorker(self, len(hired)) if len(hired) < self.slots else None

    def wait(self, _workers, _seconds):
        said = [self.heard.popleft() for _ in range(min(self.at_once, len(self.heard)))]
        return [(worker, Done(finished(slice_)) if slice_ else Ready()) for worker, slice_ in said]

    def leave_out(self, _node):
        return False

    def close(self): ...


def ray_pool(slots):
    """The same through Ray: real calls, real waits, and a few actors that answer for all slots."""
    from enumerate.executors.ray_connection import connect  # noqa: PLC0415

    connection = connect("local", ACTORS)  # sets what Ray reads when it is imported

    import ray  # noqa: PLC0415

    from enumerate.executors.ray_cluster import Answered, Node, RayPool, RayWorker  # noqa: PLC0415
    from enumerate.run.handshake import Answer, Facts  # noqa: PLC0415

    class Answering:
        async def answer(self, facts):
            return Answered(Answer(facts))

        async def work(self, _work, slice_):
            return Done(finished(slice_))

    class SharingWorker(RayWorker):
        def __init__(self, number):
            self.node = f"node-{number // NODE_SLOTS}"
            self.at = Node({"NodeID": self.node, "NodeManagerAddress": "", "NodeManagerHostname": "", "Resources": {}})
            self.payload, self.actor = bytes(700), actors[number % len(actors)]  # a pickled config is as long
            self.answer = self.actor.answer.remote(facts)

        def end(self): ...

    class SharingPool(RayPool):
        @property
        def slots(self):
            return slots

        def hire(self, _work, hired):
            return SharingWorker(len(hired)) if len(hired) < slots else None

    actor = ray.remote(num_cpus=1, max_concurrency=slots)(Answering)
    actors, facts = [actor.remote() for _ in range(ACTORS)], Facts()
    return SharingPool(connection, SimpleNamespace(why_unfit=lambda _node, _said: None), slots)


# ---------------------------------------------------------------------------------------------------------------------
# The loop.


class Watch:
    """Passes events on to a display; looks at the clocks at the first and the last slice, at memory between them."""

    def __init__(self, display, slices):
        self.display, self.slices = display, slices
        self.sampled = [round(share * slices) for share in SAMPLED]
        self.done, self.memory, self.clocks = 0, [], []

    def event(self, event):
        self.display.event(event)
        if isinstance(event, Finished):
            self.done += 1
            if self.done in (1, self.slices):
                self.clocks.append((time.perf_counter(), time.process_time()))
            if self.done in self.sampled:
                self.memory.append(resident())

    def end(self):
        self.display.end()


def drive(pool, slices, slots, fancy=False):
    """Work off so many slices: wall and CPU seconds of this process for each, and its memory on the way.

    The clocks run from the first finished slice to the last, so that the start of the slots does not count.
    """
    side = max(8, int(slots**0.5) + 1)  # every slot needs a job
    each = -(-slices // side**2)
    config = Config(board=Board(side, side), max=each * ITERATIONS)
    progress = [JobProgress(Job(number, (number,))) for number in range(side**2)]
    queue = deque(job.next_slice(config) for job in progress)
    report = Report(config)
    display = Fancy(Console(file=io.StringIO(), force_terminal=True)) if fancy else Plain()
    display.notice = lambda _: None
    display.begin(config, progress, slots)
    watch = Watch(display, each * side**2)
    opened = SimpleNamespace(progress=progress, hold=SimpleNamespace(check=lambda: None))
    with closing(Supervisor(pool)) as executor:
        _work_off(report, opened, executor.run(None, queue, lambda: False), queue, watch)
    assert watch.done == watch.slices
    seconds, cpu = ((last - first) / (watch.done - 1) for first, last in zip(*watch.clocks, strict=True))
    return SimpleNamespace(slices=watch.done, seconds=seconds, cpu=cpu, memory=watch.memory)


def resident():
    """Bytes of memory in use now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def simulation_cost():
    """CPU seconds that the simulation itself takes for a slice."""
    slice_ = Slice(Job(0, (0,)), 0, "a1", CURSOR, Totals(), ITERATIONS, TOURS, ITERATIONS, TOURS)
    began = time.process_time()
    for _ in range(20_000):
        Done(finished(slice_))
    return (time.process_time() - began) / 20_000


# ---------------------------------------------------------------------------------------------------------------------
# A run that is continued.


class Listed:
    """A storage of so many jobs with so many slices each, all names and no bytes."""

    place = "listed"

    def __init__(self, jobs, each):
        self.jobs, self.each = jobs, each

    def entries(self, folder):
        if folder == COMMITS:
            return (Entry(record_name(job, n), 900) for job in range(self.jobs) for n in range(self.each))
        if folder == "tours":
            numbers = ((job, n) for job in range(self.jobs) for n in range(self.each))
            return (Entry(part_name("open", "a1", job, n, None, ""), BYTES) for job, n in numbers)
        return iter(())

    def read(self, name):
        job, number = map(int, name.removeprefix(f"{COMMITS}/").removesuffix(".json").split("-"))
        before = Totals(iterations=number * ITERATIONS, tours_open=number * TOURS, parts=number, bytes=number * BYTES)
        limits = (ITERATIONS, TOURS, ITERATIONS, TOURS)
        return seal(asdict(finished(Slice(Job(job, (job,)), number, "a1", CURSOR, before, *limits))))

    def remove(self, names):
        assert not list(names)


def seconds_of(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def resume_times(names):
    """CPU seconds to take in a listing of so many records and as many parts, without the network."""
    storage, plan = Listed(64, names // 64), [Job(number, (number,)) for number in range(64)]
    records, parts = (seconds_of(lambda f=f: deque(storage.entries(f), 0)) for f in (COMMITS, "tours"))
    progress = tidied(storage, plan)
    return {
        "the records, by name": seconds_of(lambda: record_lists(storage, plan)) - records,
        "records and parts, what is unrecorded found": seconds_of(lambda: tidied(storage, plan)) - records - parts,
        "the parts again, by size": seconds_of(lambda: check_parts(storage, progress, SIZES, print)) - parts,
    }


def line(what, figure, least=""):
    print(f"{what:72s} {figure:>16s}   {least}".rstrip(), flush=True)


def show(what, done, spare=0.0):
    """`spare`: CPU seconds of a slice that are the simulation's own."""
    line(f"{what}, slices/s", f"{1 / (done.seconds - spare):,.0f}")
    line("  CPU of the coordinator for a slice", f"{(done.cpu - spare) * 1e6:,.0f} µs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slices", type=int, default=100_000)
    parser.add_argument("--slots", type=int, default=500)
    parser.add_argument("--names", type=int, default=1_000_000, help="in the listing of a run that is continued")
    parser.add_argument("--no-ray", action="store_true")
    asked = parser.parse_args()
    line("what", "measured", "at most")
    slots, spare = asked.slots, simulation_cost()
    everything = drive(SimulatedPool(slots, slots), asked.slices, slots)
    show(f"{slots:,} simulated slots, all heard at a time", everything, spare)
    first, half, last = everything.memory
    line(
        "  memory after 10 %, 50 % and 100 % of the slices, MiB",
        " ".join(f"{m / 2**20:.1f}" for m in (first, half, last)),
    )
    grown, counted = last - first, round(everything.slices * (SAMPLED[-1] - SAMPLED[0]))
    line(f"  growth over {counted:,} slices", f"{grown / 2**20:.2f} MiB", "1 MiB")
    line("  growth for a slice", f"{grown / counted:.1f} bytes")
    few = max(asked.slices // 10, 1000)
    show(f"{slots:,} simulated slots, 16 heard at a time", drive(SimulatedPool(slots, 16), few, slots), spare)
    show(f"{slots:,} simulated slots, one heard at a time", drive(SimulatedPool(slots, 1), few, slots), spare)
    show(
        f"{slots:,} simulated slots, all heard, live display",
        drive(SimulatedPool(slots, slots), few, slots, True),
        spare,
    )
    if not asked.no_ray:
        show(f"{slots:,} slots through Ray on this machine", drive(ray_pool(slots), few, slots))
    for what, seconds in resume_times(asked.names).items():
        line(f"{asked.names:,} names listed: {what}", f"{seconds:.1f} s")


if __name__ == "__main__":
    main()
