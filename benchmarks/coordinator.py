"""The rate of one coordinator: its bookkeeping alone, with slots that finish each slice at once.

    ./run.sh bench coordinator                                 about two minutes on two cores
    ./run.sh bench coordinator --slices 1000000 --slots 5000

Nothing is searched or written. The supervisor and the loop of `run` are the real ones. First the slots are simulated in
this process. Then they are real calls through a Ray on this machine, where a few actors answer for all slots. Last, a
listing of many names stands for the storage of a run that is continued. Nothing else should run on the machine.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402

from enumerate.executors.events import Finished  # noqa: E402
from enumerate.executors.supervisor import Done, Outcome, Pool, Ready, Supervisor  # noqa: E402
from enumerate.ledger.layout import COMMITS, part_name, record_name  # noqa: E402
from enumerate.ledger.manifest import Extent, create_manifest, seal  # noqa: E402
from enumerate.ledger.records import JobProgress, record_lists  # noqa: E402
from enumerate.ledger.storage.protocol import Buffer  # noqa: E402
from enumerate.model.board import Board  # noqa: E402
from enumerate.model.config import Config  # noqa: E402
from enumerate.model.errors import EnumerateError  # noqa: E402
from enumerate.model.jobs import FULL, Job, Part, Slice, SliceResult, Totals  # noqa: E402
from enumerate.run.coordinator import Display, _work_off  # noqa: E402
from enumerate.run.opening import Opened  # noqa: E402
from enumerate.run.report import Report, SliceEvent  # noqa: E402
from enumerate.run.tidying import SIZES, check_parts, tidied  # noqa: E402
from enumerate.view.progress import Fancy, Plain  # noqa: E402

ITERATIONS, TOURS, BYTES = 10_000_000, 500_000, 2_600_000  # of a simulated slice
CURSOR = tuple(range(62))  # as long as on 8x8
NODE_SLOTS = 32
ACTORS = 4  # on the Ray of this machine, for all slots
SAMPLED = (0.1, 0.5, 1.0)  # shares of the slices after which memory is measured


def finished(slice_: Slice) -> SliceResult:
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
    """Finishes a slice as soon as it gets it."""

    def __init__(self, pool: SimulatedPool, number: int) -> None:
        self.pool, self.node = pool, f"node-{number // NODE_SLOTS}"
        pool.heard.append((self, Ready()))

    def give(self, task: Slice) -> None:
        self.pool.heard.append((self, Done(finished(task))))

    def end(self) -> None: ...


class SimulatedPool:
    """A number of slots; one wait returns at most `at_once` of them."""

    def __init__(self, slots: int, at_once: int) -> None:
        self.slots, self.at_once = slots, at_once
        self.heard: deque[tuple[SimulatedWorker, Outcome]] = deque()

    def hire(self, _work: object, hired: Sequence[SimulatedWorker]) -> SimulatedWorker | None:
        return SimulatedWorker(self, len(hired)) if len(hired) < self.slots else None

    def wait(self, _workers: object, _seconds: float) -> list[tuple[SimulatedWorker, Outcome]]:
        return [self.heard.popleft() for _ in range(min(self.at_once, len(self.heard)))]

    def leave_out(self, _node: str, _for_good: bool) -> bool:
        return False

    def close(self) -> None: ...


def ray_pool(slots: int) -> Pool[Any]:
    """The same through Ray: real calls, real waits, and a few actors that answer for all slots."""
    from enumerate.executors.ray_connection import connect  # noqa: PLC0415

    connection = connect("local", ACTORS)  # sets what Ray reads when it is imported

    import ray  # noqa: PLC0415

    from enumerate.executors.ray_cluster import Node, RayPool, RayWorker  # noqa: PLC0415
    from enumerate.run.handshake import Answer, facts_of  # noqa: PLC0415

    class Answering:
        async def answer(self, facts: Mapping[str, str]) -> Ready:
            return Ready(Answer(facts))

        async def work(self, _work: bytes, slice_: Slice) -> Outcome:
            return Done(finished(slice_))

    class Admitting:
        def question(self) -> Callable[[], Answer]:
            return lambda: Answer(facts_of(""))

        def why_unfit(self, _node: str, _said: Answer) -> EnumerateError | None:
            return None

    class SharingWorker(RayWorker):
        def __init__(self, number: int) -> None:
            self.node = f"node-{number // NODE_SLOTS}"
            self.at = Node({"NodeID": self.node, "NodeManagerAddress": "", "NodeManagerHostname": "", "Resources": {}})
            self.payload, self.actor = bytes(700), actors[number % len(actors)]  # a pickled config is as long
            self.answer = self.actor.answer.remote(facts)

        def end(self) -> None: ...

    class SharingPool(RayPool[Answer]):
        @property
        def slots(self) -> int:
            return slots

        def hire(self, _work: object, hired: Sequence[RayWorker]) -> RayWorker | None:
            return SharingWorker(len(hired)) if len(hired) < slots else None

    remote: Any = ray.remote  # its types do not know max_concurrency
    actor = remote(num_cpus=1, max_concurrency=slots)(Answering)
    actors, facts = [actor.remote() for _ in range(ACTORS)], facts_of("")
    return SharingPool(connection, Admitting(), slots)


# ---------------------------------------------------------------------------------------------------------------------
# The loop.


class Watch:
    """Passes events on to a display. Reads the clocks at the first and the last slice, and the memory in between."""

    def __init__(self, display: Display, slices: int) -> None:
        self.display, self.slices = display, slices
        self.sampled = [round(share * slices) for share in SAMPLED]
        self.done = 0
        self.memory: list[int] = []
        self.clocks: list[tuple[float, float]] = []

    def notice(self, text: str) -> None:
        self.display.notice(text)

    def begin(self, config: Config, progress: list[JobProgress], slots: int) -> None:
        self.display.begin(config, progress, slots)

    def event(self, event: SliceEvent) -> None:
        self.display.event(event)
        if isinstance(event, Finished):
            self.done += 1
            if self.done in (1, self.slices):
                self.clocks.append((time.perf_counter(), time.process_time()))
            if self.done in self.sampled:
                self.memory.append(resident())

    def end(self) -> None:
        self.display.end()


class SilentPlain(Plain):
    """Makes its lines, and prints none."""

    def notice(self, text: str) -> None: ...


class SilentFancy(Fancy):
    """Draws into memory, and prints no lines."""

    def __init__(self) -> None:
        super().__init__(Console(file=io.StringIO(), force_terminal=True))

    def notice(self, text: str) -> None: ...


@dataclass
class Driven:
    """Seconds of wall clock and of the processor for each slice, and bytes of memory on the way."""

    slices: int
    seconds: float
    cpu: float
    memory: list[int]


def never(_slice: Slice) -> SliceResult:
    raise AssertionError("the slots are simulated")


def drive(pool: Pool[Any], slices: int, slots: int, display: Display) -> Driven:
    """Run that many slices.

    The clocks run from the first finished slice to the last, so the start of the slots does not count.
    """
    side = max(8, int(slots**0.5) + 1)  # every slot needs a job
    each = -(-slices // side**2)
    config = Config(board=Board(side, side), max=each * ITERATIONS)
    progress = [JobProgress(Job(number, (number,))) for number in range(side**2)]
    queue = deque(slice_ for job in progress if (slice_ := job.next_slice(config)))
    storage = Listed(0, 0)
    opened = Opened(storage, create_manifest(storage, config), config, progress)
    watch = Watch(display, each * side**2)
    watch.begin(config, progress, slots)
    with closing(Supervisor(pool)) as executor:
        _work_off(Report(config), opened, executor.run(never, queue, lambda: False), queue, [watch])
    assert watch.done == watch.slices
    seconds, cpu = ((last - first) / (watch.done - 1) for first, last in zip(*watch.clocks, strict=True))
    return Driven(watch.done, seconds, cpu, watch.memory)


def resident() -> int:
    """Bytes of memory in use now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def simulation_cost() -> float:
    """CPU seconds that the simulation itself takes for a slice."""
    slice_ = Slice(Job(0, (0,)), 0, "a1", CURSOR, Totals(), ITERATIONS, TOURS, ITERATIONS, TOURS)
    began = time.process_time()
    for _ in range(20_000):
        Done(finished(slice_))
    return (time.process_time() - began) / 20_000


# ---------------------------------------------------------------------------------------------------------------------
# A run that is continued.


class Listed:
    """A storage of many jobs with many slices each: names without bytes."""

    output = "listed"

    def __init__(self, jobs: int, each: int) -> None:
        self.jobs, self.each = jobs, each

    def where(self, name: str) -> str:
        return name

    def exists(self, _name: str) -> bool:
        return False

    def entries(self, folder: str) -> Iterator[tuple[str, int]]:
        if folder == COMMITS:
            return ((record_name(job, n), 900) for job in range(self.jobs) for n in range(self.each))
        if folder == "tours":
            numbers = ((job, n) for job in range(self.jobs) for n in range(self.each))
            return ((part_name("open", "a1", job, n, None, ""), BYTES) for job, n in numbers)
        return iter(())

    def read(self, name: str) -> bytes:
        job, number = map(int, name.removeprefix(f"{COMMITS}/").removesuffix(".json").split("-"))
        before = Totals(iterations=number * ITERATIONS, tours_open=number * TOURS, parts=number, bytes=number * BYTES)
        limits = (ITERATIONS, TOURS, ITERATIONS, TOURS)
        return seal(asdict(finished(Slice(Job(job, (job,)), number, "a1", CURSOR, before, *limits))))

    def create(self, _name: str, _data: Buffer) -> bool:
        return True

    def replace(self, _name: str, _data: Buffer) -> None: ...

    def replace_folder(self, _folder: str, _files: Iterable[tuple[str, Buffer]]) -> None: ...

    def remove(self, names: Iterable[str]) -> None:
        assert not list(names)

    def lock(self) -> AbstractContextManager[None]:
        return nullcontext()

    def check_lock(self) -> None: ...

    def lock_for_reading(self) -> AbstractContextManager[None]:
        return nullcontext()


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def resume_times(names: int) -> dict[str, float]:
    """CPU seconds to read a listing of that many records and as many parts, without the network."""
    storage, plan = Listed(64, names // 64), [Job(number, (number,)) for number in range(64)]
    records = seconds_of(lambda: deque(storage.entries(COMMITS), 0))
    parts = seconds_of(lambda: deque(storage.entries("tours"), 0))
    progress = tidied(storage, plan, Extent())
    return {
        "the records, by name": seconds_of(lambda: record_lists(storage, plan)) - records,
        "records and parts, what is unrecorded found": seconds_of(lambda: tidied(storage, plan, Extent()))
        - records
        - parts,
        "the parts again, by size": seconds_of(lambda: check_parts(storage, progress, SIZES, print)) - parts,
    }


def line(what: str, figure: str, least: str = "") -> None:
    print(f"{what:72s} {figure:>16s}   {least}".rstrip(), flush=True)


def show(what: str, done: Driven, spare: float = 0.0) -> None:
    """`spare`: CPU seconds of a slice that are the simulation's own."""
    line(f"{what}, slices/s", f"{1 / (done.seconds - spare):,.0f}")
    line("  CPU of the coordinator for a slice", f"{(done.cpu - spare) * 1e6:,.0f} µs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slices", type=int, default=100_000)
    parser.add_argument("--slots", type=int, default=500)
    parser.add_argument("--names", type=int, default=1_000_000, help="in the listing of a run that is continued")
    parser.add_argument("--no-ray", action="store_true")
    asked = parser.parse_args()
    line("what", "measured", "at most")
    slots, spare = asked.slots, simulation_cost()
    everything = drive(SimulatedPool(slots, slots), asked.slices, slots, SilentPlain())
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
    for at_once, words in ((16, "16 heard at a time"), (1, "one heard at a time")):
        done = drive(SimulatedPool(slots, at_once), few, slots, SilentPlain())
        show(f"{slots:,} simulated slots, {words}", done, spare)
    done = drive(SimulatedPool(slots, slots), few, slots, SilentFancy())
    show(f"{slots:,} simulated slots, all heard, live display", done, spare)
    if not asked.no_ray:
        show(f"{slots:,} slots through Ray on this machine", drive(ray_pool(slots), few, slots, SilentPlain()))
    for what, seconds in resume_times(asked.names).items():
        line(f"{asked.names:,} names listed: {what}", f"{seconds:.1f} s")


if __name__ == "__main__":
    main()
