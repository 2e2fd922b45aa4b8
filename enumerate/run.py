"""The loop: a config becomes a plan, the plan slices, the slices events, and the events a report."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import pyarrow as pa

from .config import LARGEST, Config, usable_cores
from .errors import BadRequest, EnumerateError
from .executors.events import Event, Executor, Finished, SetAside
from .executors.processes import processes
from .executors.serial import Serial
from .folder import committed, opened, remove_unrecorded
from .jobs import Job, Slice
from .ledger import JobProgress
from .manifest import Manifest, write_manifest
from .plan import make_plan
from .storage import Storage
from .summary import is_current, remove_summary, summary_table, write_summary
from .work import run_slice, stopped_by_disk


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
    set_aside: list[SetAside] = field(default_factory=list)


def run(
    config: Config, observer: Observer, stopping: Callable[[], bool] = lambda: False, fresh: bool = False
) -> Report:
    """Run a config, or continue the run in its folder."""
    plan = make_plan(config)
    with opened(config, plan, fresh, observer.notice) as (storage, manifest, progress), stopped_by_disk(config):
        _refuse_smaller_budget(config, manifest, progress)
        queue = deque(slice_ for job in progress if (slice_ := job.next_slice(config)))
        report = Report(config, summary_table(config, progress), worked=bool(queue))
        if not queue and is_current(storage, report.summary):
            return report
        write_manifest(storage, config if queue else manifest.config(config.folder), manifest)
        remove_summary(storage)
        try:
            if queue:
                _work_off(report, progress, queue, observer, stopping)
        except BaseException:
            with suppress(OSError, EnumerateError):  # the first error is the one to tell
                _conclude(report, storage, plan)
            raise
        _conclude(report, storage, plan)
    return report


def _conclude(report: Report, storage: Storage, plan: Sequence[Job]) -> None:
    """The summary, from the records: a worker that was ended may have committed what nobody heard of."""
    progress = committed(storage, plan)
    remove_unrecorded(storage, progress)
    report.summary = summary_table(report.config, progress)
    try:
        write_summary(storage, report.summary)
    except OSError:
        remove_summary(storage)
        raise


def _refuse_smaller_budget(config: Config, manifest: Manifest, progress: list[JobProgress]) -> None:
    """An unfinished run goes on at least as far as it was asked to: else some start squares would be ahead for ever."""
    asked = manifest.config(config.folder)
    smaller = [
        f"--{name} {getattr(asked, name)}"
        for name in ("max", "tours")
        if (getattr(config, name) or LARGEST) < (getattr(asked, name) or LARGEST)
    ]
    if smaller and any(job.next_slice(asked) for job in progress):
        raise BadRequest(f"this run is unfinished and was begun with {' '.join(smaller)}; ask for at least as much")


def _work_off(
    report: Report,
    progress: list[JobProgress],
    queue: deque[Slice],
    observer: Observer,
    stopping: Callable[[], bool],
) -> None:
    """Hand out slices until none is left, and follow each finished one with the next of its job."""
    config, began = report.config, time.perf_counter()
    by_job = {job.job.number: job for job in progress}
    executor = make_executor(config, len(queue))
    events = executor.run(partial(run_slice, config), queue, stopping)
    report.complete = False
    observer.begin(config, progress, executor.slots)
    try:
        for event in events:
            if isinstance(event, Finished):
                job = by_job[event.result.job]
                before = job.results[-1] if event.slice.replaces else None
                report.tours += event.result.tours - (before.tours if before else 0)
                report.iterations += event.result.iterations - (before.iterations if before else 0)
                job.add(event.result)
                following = job.next_slice(config)
                if following:
                    queue.append(following)
            elif isinstance(event, SetAside):
                report.set_aside.append(event)
            observer.event(event)
    finally:
        events.close()  # no worker is left after this
        observer.end()
        report.seconds = time.perf_counter() - began
        report.complete = all(job.next_slice(config) is None for job in progress)
        report.interrupted = stopping() and not report.complete


def make_executor(config: Config, jobs: int) -> Executor:
    """The executor a config asks for; more workers than jobs would have nothing to do."""
    if config.executor == "serial":
        return Serial()
    return processes(min(config.workers or usable_cores(), jobs))
