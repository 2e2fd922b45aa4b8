"""The loop: a config becomes a plan, the plan slices, the slices events, and the events a report."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Protocol

from ..catalog.reader import plan_of
from ..executors.events import Executor, Finished
from ..executors.make import make_executor
from ..ledger.guide import write_guide
from ..ledger.records import JobProgress, extent_of
from ..ledger.storage import free_bytes, is_url, stopped_by_storage
from ..ledger.summary import is_current, remove_summary, summary_table, write_summary
from ..model.config import Config
from ..model.errors import BadRequest, EnumerateError
from ..model.jobs import Job, Slice
from ..model.settings import LARGEST
from ..plan.plan import Forecast, forecast_of, make_plan, refuse_endless, refuse_impossible
from ..search.strategy import is_exhaustive
from .compiling import announce, compile_first
from .handshake import Handshake
from .opening import Held, Opened, held, opened
from .pulse import Pulse
from .report import Report, SliceEvent, reconcile
from .tidying import SIZES, SUMS, tidied
from .worker import run_slice


class Observer(Protocol):
    """Receives what happens; `view.progress` shows it to people."""

    def begin(self, config: Config, progress: list[JobProgress], slots: int) -> None: ...

    def event(self, event: SliceEvent) -> None: ...

    def end(self) -> None: ...


class Display(Observer, Protocol):
    """An observer that people look at."""

    def notice(self, text: str) -> None: ...


def run(
    config: Config,
    observer: Display,
    stopping: Callable[[], bool] = lambda: False,
    fresh: bool = False,
    check: str = "",
    yes: bool = False,
    repair: bool = False,
) -> Report:
    """Run a config, or continue the run in its folder. `yes`: also if it will hardly ever end. `repair`: see `opened`.

    What can be refused is refused before the run is opened, and so before anything is written; only that an unfinished
    run was asked for more is known from its records.
    """
    check = check or (SIZES if is_url(config.output) else SUMS)
    if check not in (SIZES, SUMS):
        raise BadRequest(f"check must be {SUMS} or {SIZES}, got {check!r}")
    refuse_impossible(config.board, config.variant)
    with held(config, fresh) as held_:
        announce(held_.config, held_.manifest is None, observer)
        plan = plan_of(held_.storage, held_.config) if held_.manifest else make_plan(held_.config, observer.notice)
        handshake = Handshake(_for_workers(config).output, config.strategy)
        with closing(make_executor(config, handshake)) as executor:
            forecast = _forecast(held_, plan, executor.slots, yes)
            run_ = opened(held_, plan, fresh, check, observer.notice, repair)
            if forecast:
                for job, weight in zip(run_.progress, forecast.weights.tolist(), strict=True):
                    job.weight = weight
            with stopped_by_storage(config.output):
                report = _run(held_.config, plan, executor, run_, observer, stopping)
    report.comparisons = reconcile(report.config, report.summary)
    return report


def _forecast(held_: Held, plan: Sequence[Job], slots: int, yes: bool) -> Forecast | None:
    """What a search for all tours will take; one that begins may be refused for it, one under way is continued."""
    forecast = forecast_of(held_.config, plan, slots)
    is_under_way = held_.before is not None and is_exhaustive(held_.before)
    if forecast and not yes and not is_under_way:
        refuse_endless(forecast, slots, free_bytes(held_.config.output))
    return forecast


def _run(
    config: Config, plan: Sequence[Job], executor: Executor, run_: Opened, observer: Display,
    stopping: Callable[[], bool],
) -> Report:  # fmt: skip
    """Work off what an opened run has left."""
    _refuse_smaller_budget(config, run_.before, run_.progress)
    # The largest first, so that workers end at about the same time; jobs of one weight stay in their order.
    largest_first = sorted(run_.progress, key=lambda job: -job.weight)
    queue = deque(slice_ for job in largest_first if (slice_ := job.next_slice(config)))
    report = Report(config, worked=bool(queue))
    if not queue and not run_.manifest.epoch:
        report.summary = summary_table(config, run_.progress)
        if is_current(run_.storage, report.summary):
            return report
    asked = config if queue else run_.before  # only the summary is to be mended: what was asked for before still holds
    epoch = run_.begin_epoch(asked)
    remove_summary(run_.storage)
    try:
        if queue:
            compile_first(config, queue[0].job, observer, stopping)
            observers: list[Observer] = [observer, Pulse(run_.storage, epoch)]
            for each in observers:
                each.begin(config, run_.progress, min(executor.slots, len(queue)))
            events = executor.run(partial(run_slice, _for_workers(config), epoch), queue, stopping)
            _work_off(report, run_, events, queue, observers)
    except BaseException:
        with suppress(OSError, EnumerateError):  # the first error is the one to report
            _conclude(report, run_, asked, plan)
        raise
    _conclude(report, run_, asked, plan)
    report.interrupted = stopping() and not report.complete
    return report


def _conclude(report: Report, run_: Opened, asked: Config, plan: Sequence[Job]) -> None:
    """The summary, from the records: a killed worker may have committed a slice that it did not report.

    First the epoch ends, so that a worker out of reach records nothing of what is tidied away.
    """
    run_.begin_conclusion()
    progress = tidied(run_.storage, plan, extent_of(run_.progress))
    report.summary = summary_table(report.config, progress)
    report.complete = all(job.next_slice(report.config) is None for job in progress)
    try:
        write_summary(run_.storage, report.summary)
        write_guide(run_.storage, asked, report.totals)
    except OSError:
        remove_summary(run_.storage)
        raise
    run_.conclude(progress)


def _refuse_smaller_budget(config: Config, asked: Config, progress: list[JobProgress]) -> None:
    """An unfinished run goes on at least as far as it was asked to: else some start squares would be ahead for ever."""
    smaller = [
        f"--{name} {getattr(asked, name)}"
        for name in ("max", "tours")
        if (getattr(config, name) or LARGEST) < (getattr(asked, name) or LARGEST)
    ]
    if smaller and any(job.next_slice(asked) for job in progress):
        raise BadRequest(f"this run is unfinished and was started with {' '.join(smaller)}; ask for at least as much")


def _for_workers(config: Config) -> Config:
    """The output as every worker knows it: on another machine the current folder is another one."""
    return config if is_url(config.output) else replace(config, output=os.path.abspath(config.output))


def _work_off(
    report: Report, run_: Opened, events: Generator[SliceEvent], queue: deque[Slice], observers: Sequence[Observer]
) -> None:
    """Hand out slices until none is left, and follow each finished one with the next of its job."""
    config, began = report.config, time.perf_counter()
    by_job = {job.job.number: job for job in run_.progress}
    follow = queue.appendleft if is_exhaustive(config) else queue.append  # then a job under way is among the largest
    try:
        for event in events:
            run_.storage.check_lock()
            report.add(event)
            if isinstance(event, Finished):
                job = by_job[event.result.job]
                before = job.total
                job.add(event.result)
                report.tours += job.total.tours - before.tours
                report.iterations += job.total.iterations - before.iterations
                if following := job.next_slice(config):
                    follow(following)
            for each in observers:
                each.event(event)
    finally:
        events.close()  # workers are ended, as far as they can be reached
        for each in observers:
            each.end()
        report.seconds = time.perf_counter() - began
