"""The one loop behind every executor that has workers.

Each slot holds one worker. An idle worker gets the next slice; a dead one is replaced and its slice queued again; a
slice that kills three workers is set aside while all else goes on. How workers are hired and heard is the pool's part.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ..errors import EnumerateError, Stopped
from ..jobs import Slice, SliceResult
from .events import Event, Finished, Lost, SetAside, Started, Work

MAX_ATTEMPTS = 3
GRACE_SECONDS = 1.0  # for slices at hand when the run is asked to stop
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Ready:
    """The worker has started and can take a slice."""


@dataclass(frozen=True)
class Done:
    result: SliceResult


@dataclass(frozen=True)
class Failed:
    """The work raised an error. With `fatal` it is the run's error, not the slice's."""

    reason: str
    fatal: EnumerateError | None = None


@dataclass(frozen=True)
class Died:
    """The worker is gone."""

    reason: str


Outcome = Ready | Done | Failed | Died


class Worker(Protocol):
    """One worker, at work on at most one slice."""

    def give(self, slice_: Slice) -> None: ...

    def end(self) -> None:
        """Be gone at once; what it has not committed is lost."""


W = TypeVar("W", bound=Worker)


class Pool(Protocol[W]):
    """How workers are had."""

    def hire(self, work: Work) -> W: ...

    def wait(self, workers: Sequence[W], seconds: float) -> list[tuple[W, Outcome]]:
        """What workers have to say, after at most so many seconds."""


@dataclass
class Slot(Generic[W]):
    number: int
    worker: W
    ready: bool = False
    slice: Slice | None = None


class Supervisor(Generic[W]):
    """An executor over a pool."""

    def __init__(self, pool: Pool[W], slots: int) -> None:
        self.pool = pool
        self.slots = slots
        self._failed_starts = 0

    def run(self, work: Work, queue: deque[Slice], stopping: Callable[[], bool]) -> Generator[Event]:
        slots: list[Slot[W]] = []
        attempts: Counter[tuple[int, int]] = Counter()
        grace_ends = float("inf")
        try:
            while queue or any(slot.slice for slot in slots):
                if stopping():
                    grace_ends = min(grace_ends, time.monotonic() + GRACE_SECONDS)
                    if not any(slot.slice for slot in slots) or time.monotonic() > grace_ends:
                        return
                else:
                    self._hire(slots, work, len(queue))
                    yield from _give(slots, queue)
                for slot, outcome in self._wait(slots):
                    if isinstance(outcome, Ready):
                        slot.ready, self._failed_starts = True, 0
                        continue
                    if isinstance(outcome, Died):
                        slots.remove(slot)
                        self._count_failed_start(slot, outcome)
                    if slot.slice:
                        yield _settle(slot, slot.slice, outcome, queue, attempts)
        finally:
            for slot in slots:
                slot.worker.end()

    def _count_failed_start(self, slot: Slot[W], outcome: Died) -> None:
        """A worker that dies before it is ready had no slice to blame; if that goes on, no worker will ever start."""
        self._failed_starts += not slot.ready
        if self._failed_starts == MAX_ATTEMPTS:
            raise EnumerateError(f"workers die while they start: {outcome.reason}")

    def _hire(self, slots: list[Slot[W]], work: Work, waiting: int) -> None:
        idle = sum(slot.slice is None for slot in slots)
        taken = {slot.number for slot in slots}
        free = [number for number in range(self.slots) if number not in taken]
        for number in free[: max(0, waiting - idle)]:
            try:
                slots.append(Slot(number, self.pool.hire(work)))
            except OSError as error:  # no more processes or file handles: go on with the workers there are
                if not slots:
                    raise Stopped(f"no worker can be started ({error.strerror or error})") from None
                self.slots = len(slots)
                return

    def _wait(self, slots: list[Slot[W]]) -> list[tuple[Slot[W], Outcome]]:
        by_worker = {id(slot.worker): slot for slot in slots}
        heard = self.pool.wait([slot.worker for slot in slots], POLL_SECONDS)
        return [(by_worker[id(worker)], outcome) for worker, outcome in heard]


def _give(slots: list[Slot[W]], queue: deque[Slice]) -> Iterator[Event]:
    for slot in slots:
        if queue and slot.ready and slot.slice is None:
            slot.slice = queue.popleft()
            slot.worker.give(slot.slice)
            yield Started(slot.number, slot.slice)


def _settle(
    slot: Slot[W], slice_: Slice, outcome: Outcome, queue: deque[Slice], attempts: Counter[tuple[int, int]]
) -> Event:
    """What becomes of the slice that a slot was at work on."""
    slot.slice = None
    if isinstance(outcome, Done):
        return Finished(slot.number, slice_, outcome.result)
    assert isinstance(outcome, Failed | Died)
    if isinstance(outcome, Failed) and outcome.fatal:
        raise outcome.fatal
    key = (slice_.job.number, slice_.number)
    attempts[key] += 1
    if attempts[key] == MAX_ATTEMPTS:
        return SetAside(slice_, outcome.reason)
    queue.appendleft(slice_)
    return Lost(slot.number, slice_, outcome.reason)
