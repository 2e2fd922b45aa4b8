"""The one loop behind every executor that has workers.

Each slot holds one worker. An idle worker gets the next task; a dead one is replaced and its task queued again; a task
that kills three workers is quarantined, and a node whose workers cannot start or write is left out, while all else goes
on. How workers are hired and heard is the pool's part.
"""

from __future__ import annotations

import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from ..model.errors import EnumerateError, Stopped
from .events import Event, Finished, LeftOut, Lost, Quarantined, R, Started, T, Waiting, Work

MAX_ATTEMPTS = 3
MAX_LOSSES = 10  # of workers whose node may be gone: that is hardly the task's fault
GRACE_SECONDS = 1.0  # for running tasks when the run is asked to stop
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Patience:
    """How many seconds a run waits for workers."""

    start: float = 10.0  # a worker that takes longer to start is not counted on: others are hired beside it
    alone: float = 600.0  # when no worker can begin: no node, or no free CPU
    report: float = 30.0  # between two reports about that


PATIENCE = Patience()


@dataclass(frozen=True)
class Ready:
    """The worker has started and can take a task."""

    answer: Any = None  # in a handshake


@dataclass(frozen=True)
class Unfit:
    """The worker has started where the work cannot be done."""

    error: EnumerateError


@dataclass(frozen=True)
class Done:
    result: Any


@dataclass(frozen=True)
class Failed:
    """The work raised an error. With `fatal` it is not the task's: nothing can be written, or the run is damaged."""

    reason: str
    fatal: EnumerateError | None = None


@dataclass(frozen=True)
class Died:
    """The worker is gone. `with_node`: perhaps its whole node is."""

    reason: str
    with_node: bool = False


Outcome = Ready | Unfit | Done | Failed | Died


def attempt(work: Work[T, Any], task: T) -> Outcome:
    """What a worker does with a task."""
    try:
        return Done(work(task))
    except EnumerateError as error:
        return Failed(str(error), fatal=error)
    except Exception as error:  # whatever it is, it is the task's error: reported, tried again, then quarantined
        return Failed(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")


class Worker(Protocol):
    """One worker, at work on at most one task."""

    @property
    def node(self) -> str:
        """The machine it is on."""

    def give(self, task: Any) -> None: ...

    def end(self) -> None:
        """Be gone at once; what it has not committed is lost."""


W = TypeVar("W", bound=Worker)


class Pool(Protocol[W]):
    """How workers are obtained."""

    @property
    def slots(self) -> int:
        """How many workers there may be now."""

    def hire(self, work: Work[Any, Any], hired: Sequence[W]) -> W | None:
        """One more worker, or None if there is no room for it now."""

    def wait(self, workers: Sequence[W], seconds: float) -> list[tuple[W, Outcome]]:
        """What workers have to say, after at most so many seconds."""

    def leave_out(self, node: str, for_good: bool) -> bool:
        """Hire nobody there, for good or for a while; False if no other node is left."""

    def close(self) -> None: ...


@dataclass(eq=False)
class Slot(Generic[W]):
    number: int
    worker: W
    hired: float = field(default_factory=time.monotonic)
    ready: bool = False
    task: Any = None

    def is_counted_on(self, patience: Patience) -> bool:
        """Whether it will soon take a task."""
        return self.task is None and (self.ready or time.monotonic() - self.hired < patience.start)


class Supervisor(Generic[W]):
    """An executor over a pool."""

    def __init__(self, pool: Pool[W], patience: Patience = PATIENCE) -> None:
        self.pool, self.patience = pool, patience
        self._slots: list[Slot[W]] = []
        self._attempts: Counter[Hashable] = Counter()
        self._losses: Counter[Hashable] = Counter()
        self._failed_starts: Counter[str] = Counter()
        self._last_company = self._last_report = time.monotonic()

    @property
    def slots(self) -> int:
        return self.pool.slots

    def close(self) -> None:
        self.pool.close()

    def run(self, work: Work[T, R], queue: deque[T], stopping: Callable[[], bool]) -> Generator[Event[T, R]]:
        grace_ends = float("inf")
        self._last_company = self._last_report = time.monotonic()
        try:
            while queue or self._at_work():
                if stopping():
                    grace_ends = min(grace_ends, time.monotonic() + GRACE_SECONDS)
                    if not self._at_work() or time.monotonic() > grace_ends:
                        return
                else:
                    self._hire(work, len(queue))
                    yield from self._give(queue)
                for slot, outcome in self._wait():
                    yield from self._settle(slot, outcome, queue)
                yield from self._look_for_company()
        finally:
            for slot in self._slots:
                slot.worker.end()
            self._slots = []

    def _at_work(self) -> bool:
        return any(slot.task is not None for slot in self._slots)

    def _hire(self, work: Work[Any, Any], waiting: int) -> None:
        """As many workers as there are tasks for, as far as there is room."""
        missing = waiting - sum(slot.is_counted_on(self.patience) for slot in self._slots)
        taken = {slot.number for slot in self._slots}
        free = (number for number in range(len(taken) + missing) if number not in taken)
        for _ in range(missing):
            try:
                worker = self.pool.hire(work, [slot.worker for slot in self._slots])
            except OSError as error:  # no more processes or file handles: go on with the workers there are
                if not self._slots:
                    raise Stopped(f"no worker can be started ({error.strerror or error})") from None
                break
            if worker is None:
                break
            self._slots.append(Slot(next(free), worker))

    def _look_for_company(self) -> Iterator[Waiting]:
        """Wait for a worker that can begin, but not silently and not for ever."""
        now = time.monotonic()
        if any(slot.ready for slot in self._slots):
            self._last_company = now
        alone = now - self._last_company
        if alone > self.patience.alone:
            raise Stopped("no worker could begin: no node has a free CPU; everything finished is kept")
        if alone > self.patience.start and now - self._last_report > self.patience.report:
            self._last_report = now
            yield Waiting(alone)

    def _give(self, queue: deque[T]) -> Iterator[Event[T, Any]]:
        for slot in self._slots:
            if queue and slot.ready and slot.task is None:
                slot.task = queue.popleft()
                slot.worker.give(slot.task)
                yield Started(slot.number, slot.task)

    def _wait(self) -> list[tuple[Slot[W], Outcome]]:
        by_worker = {id(slot.worker): slot for slot in self._slots}
        heard = self.pool.wait([slot.worker for slot in self._slots], POLL_SECONDS)
        return [(by_worker[id(worker)], outcome) for worker, outcome in heard]

    def _settle(self, slot: Slot[W], outcome: Outcome, queue: deque[T]) -> Iterator[Event[T, Any]]:
        """What becomes of a slot, and of the task it was at work on."""
        if slot not in self._slots:
            return  # its node was left out a moment ago
        if isinstance(outcome, Ready):
            slot.ready = True
            self._failed_starts[slot.worker.node] = 0
        elif isinstance(outcome, Done) and slot.task is not None:
            task, slot.task = slot.task, None
            yield Finished(slot.number, slot.worker.node, task, outcome.result)
        elif isinstance(outcome, Unfit):
            yield from self._leave_out(slot.worker.node, outcome.error, queue)
        elif isinstance(outcome, Failed) and isinstance(outcome.fatal, Stopped):  # it cannot write now
            yield from self._leave_out(slot.worker.node, outcome.fatal, queue, for_good=False)
        elif isinstance(outcome, Failed) and outcome.fatal:
            raise outcome.fatal
        elif isinstance(outcome, Failed):
            yield from self._lose(slot, outcome.reason, queue)
        elif isinstance(outcome, Died):
            self._slots.remove(slot)
            slot.worker.end()  # it may only be out of reach
            yield from self._lose(slot, outcome.reason, queue, outcome.with_node)
            if outcome.with_node:
                self._end_idle(slot.worker.node)
            elif not slot.ready:
                yield from self._count_failed_start(slot, outcome, queue)

    def _end_idle(self, node: str) -> None:
        """Idle workers owe no answer, so their loss would go unnoticed."""
        for slot in [slot for slot in self._slots if slot.worker.node == node and slot.ready and slot.task is None]:
            slot.worker.end()
            self._slots.remove(slot)

    def _count_failed_start(self, slot: Slot[W], outcome: Died, queue: deque[T]) -> Iterator[Event[T, Any]]:
        """A worker that dies before it is ready had no task to blame; if it keeps happening, none will start there."""
        node = slot.worker.node
        self._failed_starts[node] += 1
        if self._failed_starts[node] == MAX_ATTEMPTS:
            yield from self._leave_out(node, EnumerateError(f"workers die while they start: {outcome.reason}"), queue)

    def _leave_out(
        self, node: str, error: EnumerateError, queue: deque[T], for_good: bool = True
    ) -> Iterator[Event[T, Any]]:
        """Go on without a node, if there is another: an error of the only one is the run's."""
        if not self.pool.leave_out(node, for_good):
            raise error
        yield LeftOut(node, str(error))
        for slot in [slot for slot in self._slots if slot.worker.node == node]:
            slot.worker.end()
            self._slots.remove(slot)
            if slot.task is not None:  # not the task's fault: it does not count as an attempt
                queue.appendleft(slot.task)
                yield Lost(slot.number, slot.task, f"node {node} is left out")

    def _lose(self, slot: Slot[W], reason: str, queue: deque[T], with_node: bool = False) -> Iterator[Event[T, Any]]:
        task, slot.task = slot.task, None
        if task is None:
            return
        key = task.key
        (self._losses if with_node else self._attempts)[key] += 1
        if self._attempts[key] == MAX_ATTEMPTS or self._losses[key] == MAX_LOSSES:
            yield Quarantined(task, reason)
        else:
            queue.appendleft(task)
            yield Lost(slot.number, task, reason)
