"""How a call ended: the summary of the whole run, and what this call did."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from ..executors.events import Event, Finished, LeftOut, Lost, SetAside
from ..model.config import Config
from .reconcile import Comparison


@dataclass
class Report:
    """Filled in while a call works; `summary` is of the whole run."""

    config: Config
    summary: pa.Table = field(init=False)  # there when the call has ended
    worked: bool = False
    complete: bool = True
    interrupted: bool = False
    seconds: float = 0.0
    tours: int = 0
    iterations: int = 0
    nodes: set[str] = field(default_factory=set)  # that finished a slice
    slots: set[int] = field(default_factory=set)
    retried: set[tuple[int, int]] = field(default_factory=set)  # job and number of slices
    set_aside: list[SetAside] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)  # with published counts

    def add(self, event: Event) -> None:
        """Count who worked and what went wrong."""
        if isinstance(event, Finished):
            self.nodes.add(event.node)
            self.slots.add(event.slot)
        elif isinstance(event, Lost):
            self.retried.add((event.slice.job.number, event.slice.number))
        elif isinstance(event, SetAside):
            self.set_aside.append(event)
        elif isinstance(event, LeftOut):
            self.left_out.append(event)
