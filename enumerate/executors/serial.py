"""One slice after the other in this process: the executor to debug with."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Generator

from ..model.jobs import Slice
from .events import Event, Finished, Started, Work


class Serial:
    """No workers at all. Errors come through as they are."""

    slots = 1

    def run(self, work: Work, queue: deque[Slice], stopping: Callable[[], bool]) -> Generator[Event]:
        while queue and not stopping():
            slice_ = queue.popleft()
            yield Started(0, slice_)
            yield Finished(0, socket.gethostname(), slice_, work(slice_))

    def close(self) -> None: ...
