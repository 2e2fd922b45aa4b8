"""What executors report while they work, and the protocol they keep."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol

from ..model.errors import EnumerateError
from ..model.jobs import Slice, SliceResult

Work = Callable[[Slice], SliceResult]


@dataclass(frozen=True)
class Started:
    """A slot began to work on a slice."""

    slot: int
    slice: Slice


@dataclass(frozen=True)
class Finished:
    """A slice is done and committed."""

    slot: int
    node: str
    slice: Slice
    result: SliceResult


@dataclass(frozen=True)
class Lost:
    """A worker died or failed on a slice; the slice will be tried again."""

    slot: int
    slice: Slice
    reason: str


@dataclass(frozen=True)
class SetAside:
    """A slice failed too often; the run goes on without it."""

    slice: Slice
    reason: str


@dataclass(frozen=True)
class LeftOut:
    """A node cannot do the work; the run goes on without it."""

    node: str
    reason: str


@dataclass(frozen=True)
class Waiting:
    """No worker could begin for a while: every CPU is taken by others, or there is no node."""

    seconds: float


Event = Started | Finished | Lost | SetAside | LeftOut | Waiting


class Handshake(Protocol):
    """What a worker on another machine is asked before it is given work."""

    def question(self) -> Callable[[], Any]:
        """A call to be made there; it is pickled."""

    def why_unfit(self, node: str, said: Any) -> EnumerateError | None:
        """An error that names the node, or None if it can do the work."""


class Executor(Protocol):
    """Runs `work` on the slices of a queue, which may grow after each event, until it is empty or `stopping`."""

    @property
    def slots(self) -> int:
        """How many slices are worked on at a time, as far as is known now."""

    def run(self, work: Work, queue: deque[Slice], stopping: Callable[[], bool]) -> Generator[Event]: ...

    def close(self) -> None:
        """Give back what the executor holds."""
