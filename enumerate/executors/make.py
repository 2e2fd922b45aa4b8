"""The executor that is asked for; the one without workers is here."""

from __future__ import annotations

import socket
import sys
from collections import deque
from collections.abc import Callable, Generator

from ..model.config import Config, usable_cores
from .events import A, Event, Executor, Finished, Handshake, R, Started, T, Work
from .processes import ProcessPool
from .ray_connection import connect
from .supervisor import Supervisor


def make_executor(config: Config, handshake: Handshake[A]) -> Executor:
    """Workers of this machine or, at an address, of a Ray cluster; 0 are as many as there are cores.

    Those on other machines have to pass the handshake first.
    """
    workers = config.workers or usable_cores()
    if config.address:
        connection = connect(config.address, workers)
        from .ray_cluster import RayPool  # noqa: PLC0415  # Ray is slow to import, and often not there

        return Supervisor(RayPool(connection, handshake, config.workers or sys.maxsize))
    return Serial() if config.executor == "serial" else Supervisor(ProcessPool(workers))


class Serial:
    """One task after the other in this process: the executor to debug with. Errors come through as they are."""

    slots = 1

    def run(self, work: Work[T, R], queue: deque[T], stopping: Callable[[], bool]) -> Generator[Event[T, R]]:
        while queue and not stopping():
            task = queue.popleft()
            yield Started(0, task)
            yield Finished(0, socket.gethostname(), task, work(task))

    def close(self) -> None: ...
