"""What takes seconds before the first slice, and is said. Kernels are compiled by one process before the others start:
nobody compiles the same, and no clock runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ..executors.make import make_executor
from ..kernels.cache import is_compiled
from ..model.config import Config
from ..model.jobs import Job
from ..model.values import LOCAL
from ..plan.plan import needs_estimates
from ..search.depth_first import kernel_for
from ..search.strategy import make_search, strategy_of
from .handshake import Handshake


class Notices(Protocol):
    def notice(self, text: str) -> None: ...


def announce(config: Config, is_new: bool, display: Notices) -> None:
    """Say what takes seconds before the first slice."""
    if is_new and needs_estimates(config) and not is_compiled(f"descend_{kernel_for(config.board)}", 4):
        display.notice("compiling the estimates that split the search, once, about 3 s")
    if config.address == LOCAL:
        display.notice("starting Ray on this machine, about 4 s")


@dataclass(frozen=True)
class Compiling:
    key: str
    label: str = "compiling"


def compile_first(config: Config, job: Job, display: Notices, stopping: Callable[[], bool]) -> None:
    """Compile what the search of a job needs, unless it is in the cache. On a cluster each node does that itself."""
    if config.address or all(is_compiled(*kernel) for kernel in strategy_of(config).kernels(config)):
        return
    display.notice("compiling the search, once, about 6 s")
    task = Compiling(config.strategy)
    with closing(make_executor(replace(config, workers=1), Handshake())) as executor:
        for _ in executor.run(partial(_compile, config, job), deque([task]), stopping):
            pass


def _compile(config: Config, job: Job, _: Compiling) -> None:
    make_search(config, job)
