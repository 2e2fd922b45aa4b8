"""Worker processes on this machine: a process, a pipe, and nothing that can break when one of them dies.

A killed worker breaks `ProcessPoolExecutor` and hangs `multiprocessing.Pool`; a pipe that ends is simply heard.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from .events import Work
from .supervisor import Died, Outcome, Ready, attempt

_context = multiprocessing.get_context("spawn")


class ProcessWorker:
    node = socket.gethostname()

    def __init__(self, work: Work[Any, Any]) -> None:
        self.connection, theirs = _context.Pipe()
        self.process = _context.Process(target=_serve, args=(theirs, work), daemon=True)
        with _deaf_to_interrupts(), _without_main():
            self.process.start()
        theirs.close()  # so that the pipe ends with the process

    def give(self, task: Any) -> None:
        with suppress(OSError):  # it has just died; the end of the pipe is heard next
            self.connection.send(task)

    def hear(self) -> Outcome:
        try:
            outcome: Outcome = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            return Died(f"worker {self.process.pid} ended with exit code {self.process.exitcode}")
        return outcome

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


class ProcessPool:
    def __init__(self, slots: int) -> None:
        self.slots = slots

    def hire(self, work: Work[Any, Any], hired: Sequence[ProcessWorker]) -> ProcessWorker | None:
        return ProcessWorker(work) if len(hired) < self.slots else None

    def wait(self, workers: Sequence[ProcessWorker], seconds: float) -> list[tuple[ProcessWorker, Outcome]]:
        heard = wait([worker.connection for worker in workers], seconds)
        return [(worker, worker.hear()) for worker in workers if worker.connection in heard]

    def leave_out(self, node: str, for_good: bool) -> bool:  # noqa: ARG002
        return False  # there is only this machine

    def close(self) -> None: ...


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Children started here never hear Ctrl-C: they inherit the mask, and the coordinator decides what it means."""
    resource_tracker.ensure_running()  # it would unblock the signal when the first child starts it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_main() -> Iterator[None]:
    """Children started here do not run the user's script again, which may have no main guard: tasks need none of it."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(connection: Connection, work: Work[Any, Any]) -> None:
    """The life of a worker process."""
    _end_with_parent()
    with suppress(EOFError, OSError):  # the coordinator is gone
        connection.send(Ready())
        while True:
            connection.send(attempt(work, connection.recv()))


def _end_with_parent() -> None:
    """From now on, end this process at once when the one that started it is gone, even in the middle of a task."""

    def wait_for_it() -> None:
        parent = multiprocessing.parent_process()
        if parent:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait_for_it, daemon=True).start()
