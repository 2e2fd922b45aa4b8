"""The loop: a config becomes a plan, the plan slices, the slices events, and the events a report."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import pyarrow as pa

from ..executors.events import Event, Executor, Finished, LeftOut, Lost, SetAside
from ..executors.make import make_executor
from ..ledger.job_progress import JobProgress
from ..ledger.manifest import CONCLUDING, Manifest, find_manifest, new_shift, refuse_other_shift, write_manifest
from ..ledger.storage import free_bytes, is_url, open_storage, stopped_by_storage
from ..ledger.summary import is_current, remove_summary, summary_table, write_summary
from ..model.config import AUTO, LARGEST, Config
from ..model.errors import BadRequest, EnumerateError
from ..model.jobs import Job, Slice
from ..plan.forecast import Outlook, look_ahead, refuse_endless
from ..plan.plan import make_plan
from .handshake import Handshake
from .opening import SIZES, SUMS, Opened, opened, tidied
from .reconcile import Comparison, reconcile
from .worker import run_slice


class Observer(Protocol):
    """Who is told what happens; `progress` shows it to people."""

    def notice(self, text: str) -> None: ...

    def begin(self, config: Config, progress: list[JobProgress], slots: int) -> None: ...

    def event(self, event: Event) -> None: ...

    def end(self) -> None: ...


@dataclass
class Report:
    """How a call ended: the summary of the whole run, and what this call did."""

    config: Config
    summary: pa.Table
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


def run(
    config: Config,
    observer: Observer,
    stopping: Callable[[], bool] = lambda: False,
    fresh: bool = False,
    check: str = "",
    sure: bool = False,
) -> Report:
    """Run a config, or continue the run in its folder. `sure`: also if it will hardly ever end."""
    config = settle(config, fresh)
    plan = make_plan(config)
    handshake = Handshake(_for_workers(config).place)
    with closing(make_executor(config, handshake)) as executor:  # a cluster out of reach is known before all else
        outlook = look_ahead(config, plan, executor.slots) if config.is_exhaustive else None
        if outlook and not sure and not _is_under_way(config, fresh):
            refuse_endless(outlook, executor.slots, free_bytes(config.place))
        check = check or (SIZES if is_url(config.place) else SUMS)
        with opened(config, plan, fresh, check, observer.notice) as run_, stopped_by_storage(config.place):
            if outlook:
                _weigh(run_.progress, outlook)
            report = _run(config, plan, executor, run_, observer, stopping)
    report.comparisons = reconcile(report.config, report.summary)
    return report


def _run(
    config: Config, plan: Sequence[Job], executor: Executor, run_: Opened, observer: Observer,
    stopping: Callable[[], bool],
) -> Report:  # fmt: skip
    """Work off what an opened run has left."""
    _refuse_smaller_budget(config, run_.manifest, run_.progress)
    queue = deque(slice_ for job in _largest_first(run_.progress) if (slice_ := job.next_slice(config)))
    report = Report(config, summary_table(config, run_.progress), worked=bool(queue))
    if not queue and not run_.manifest.shift and is_current(run_.storage, report.summary):
        return report
    if not queue:  # only the summary is to be mended: what was asked for before still holds
        config = run_.manifest.config(config.place)
    shift = new_shift(run_.manifest)
    write_manifest(run_.storage, config, run_.manifest, shift)
    remove_summary(run_.storage)
    try:
        if queue:
            observer.begin(config, run_.progress, min(executor.slots, len(queue)))
            events = executor.run(partial(run_slice, _for_workers(config), shift), queue, stopping)
            _work_off(report, run_, events, queue, observer)
    except BaseException:
        with suppress(OSError, EnumerateError):  # the first error is the one to tell
            _conclude(report, run_, shift, config, plan)
        raise
    _conclude(report, run_, shift, config, plan)
    report.interrupted = stopping() and not report.complete
    return report


def _weigh(progress: list[JobProgress], outlook: Outlook) -> None:
    for job, weight in zip(progress, outlook.weights, strict=True):
        job.weight = float(weight)


def _largest_first(progress: list[JobProgress]) -> list[JobProgress]:
    """So that workers end at about the same time; jobs of one weight stay in their order."""
    return sorted(progress, key=lambda job: -job.weight)


def _conclude(report: Report, run_: Opened, shift: str, config: Config, plan: Sequence[Job]) -> None:
    """The summary, from the records: a worker that was ended may have committed what nobody heard of.

    First the shift ends, so that a worker out of reach records nothing of what is tidied away.
    """
    run_.hold.check()
    refuse_other_shift(run_.storage, shift)  # a coordinator that was asleep must not end what another has begun
    write_manifest(run_.storage, config, run_.manifest, CONCLUDING)
    progress = tidied(run_.storage, plan)
    report.summary = summary_table(report.config, progress)
    report.complete = all(job.next_slice(report.config) is None for job in progress)
    try:
        write_summary(run_.storage, report.summary)
    except OSError:
        remove_summary(run_.storage)
        raise
    write_manifest(run_.storage, config, run_.manifest)


def _refuse_smaller_budget(config: Config, manifest: Manifest, progress: list[JobProgress]) -> None:
    """An unfinished run goes on at least as far as it was asked to: else some start squares would be ahead for ever."""
    asked = manifest.config(config.place)
    smaller = [
        f"--{name} {getattr(asked, name)}"
        for name in ("max", "tours")
        if (getattr(config, name) or LARGEST) < (getattr(asked, name) or LARGEST)
    ]
    if smaller and any(job.next_slice(asked) for job in progress):
        raise BadRequest(f"this run is unfinished and was begun with {' '.join(smaller)}; ask for at least as much")


def settle(config: Config, fresh: bool = False) -> Config:
    """With `split` decided: as the run has it that is there already, whatever the budget was then."""
    if config.split == AUTO and config.is_depth_first and not fresh:
        there = _config_there(config)
        if there and there.is_depth_first:
            return replace(config, split=there.split).settled
    return config.settled


def _is_under_way(config: Config, fresh: bool) -> bool:
    """Whether a search for all tours is continued, and not begun."""
    there = None if fresh else _config_there(config)
    return there is not None and there.is_exhaustive


def _config_there(config: Config) -> Config | None:
    """What the run that is there already was asked for, if it can be read: whoever opens it says what is wrong."""
    with suppress(OSError, EnumerateError):
        manifest = find_manifest(open_storage(config.place))
        return manifest.config(config.place) if manifest else None
    return None


def _for_workers(config: Config) -> Config:
    """The output as every worker knows it: on another machine the current folder is another one."""
    return config if is_url(config.place) else replace(config, output=os.path.abspath(config.place))


def _work_off(report: Report, run_: Opened, events: Generator[Event], queue: deque[Slice], observer: Observer) -> None:
    """Hand out slices until none is left, and follow each finished one with the next of its job."""
    config, began = report.config, time.perf_counter()
    by_job = {job.job.number: job for job in run_.progress}
    try:
        for event in events:
            run_.hold.check()
            report.add(event)
            if isinstance(event, Finished):
                job = by_job[event.result.job]
                before = job.total
                job.add(event.result)
                report.tours += job.total.tours - before.tours
                report.iterations += job.total.iterations - before.iterations
                following = job.next_slice(config)
                if following and config.is_exhaustive:
                    queue.appendleft(following)  # what is begun is among the largest
                elif following:
                    queue.append(following)
            observer.event(event)
    finally:
        events.close()  # workers are ended, as far as they can be reached
        observer.end()
        report.seconds = time.perf_counter() - began
