"""What executors report while they work, and the protocol they keep. They run tasks of whatever kind."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ..model.errors import EnumerateError


class Task(Protocol):
    """What a worker is given. It is pickled, and so is what the worker makes of it: both are small."""

    @property
    def key(self) -> Hashable:
        """What distinguishes it from other tasks."""

    @property
    def label(self) -> str:
        """What people call it."""


T = TypeVar("T", bound=Task)
R = TypeVar("R")
A = TypeVar("A")
Work = Callable[[T], R]


@dataclass(frozen=True)
class Started(Generic[T]):
    slot: int
    task: T


@dataclass(frozen=True)
class Finished(Generic[T, R]):
    slot: int
    node: str
    task: T
    result: R


@dataclass(frozen=True)
class Lost(Generic[T]):
    """A worker died or failed on a task; the task will be tried again."""

    slot: int
    task: T
    reason: str


@dataclass(frozen=True)
class Quarantined(Generic[T]):
    """A task failed too often; all else goes on without it."""

    task: T
    reason: str


@dataclass(frozen=True)
class LeftOut:
    """A node cannot do the work; all else goes on without it."""

    node: str
    reason: str


@dataclass(frozen=True)
class Waiting:
    """No worker could begin for a while: every CPU is taken by others, or there is no node."""

    seconds: float


Trouble = Lost[T] | Quarantined[T] | LeftOut | Waiting
Event = Started[T] | Finished[T, R] | Lost[T] | Quarantined[T] | LeftOut | Waiting


def trouble(event: Trouble[T]) -> str:
    """One line about what went wrong."""
    if isinstance(event, Waiting):
        return f"no worker could begin for {event.seconds:.0f} s: waiting for a node with a free CPU"
    if isinstance(event, LeftOut):
        return f"going on without a node: {event.reason}"
    what = "will be tried again" if isinstance(event, Lost) else "is quarantined, all else goes on"
    return f"{event.task.label} {what}: {event.reason.splitlines()[0]}"


class Handshake(Protocol[A]):
    """What a worker on another machine is asked before it is given work."""

    def question(self) -> Callable[[], A]:
        """A call to be made there; it is pickled."""

    def why_unfit(self, node: str, said: A) -> EnumerateError | None:
        """An error that names the node, or None if it can do the work."""


class Executor(Protocol):
    """Runs `work` on the tasks of a queue, which may grow after each event, until it is empty or `stopping`."""

    @property
    def slots(self) -> int:
        """How many tasks are worked on at a time, as far as is known now."""

    def run(self, work: Work[T, R], queue: deque[T], stopping: Callable[[], bool]) -> Generator[Event[T, R]]: ...

    def close(self) -> None:
        """Give back what the executor holds."""
