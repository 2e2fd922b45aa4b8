"""Make the runs of experiments, several at a time, each in a folder of its own where the same call finds it again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context

from ...executors.processes import deaf_to_interrupts, end_with_parent
from ...model.config import Config
from ...model.errors import EnumerateError, Stopped
from ...run.coordinator import run
from ...view.progress import Quiet
from .experiments import Experiment

RUNS = "runs"


def place_of(folder: str, experiment: Experiment, name: str) -> str:
    return os.path.join(folder, RUNS, experiment.name, name)


def perform(
    folder: str,
    experiments: Sequence[Experiment],
    workers: int,
    advance: Callable[[str], object],
    stopping: Callable[[], bool],
    fresh: bool,
) -> None:
    """Make all runs; `advance` is told of each one that is done. Timed experiments have the machine to themselves."""
    timed = _configs(folder, [experiment for experiment in experiments if experiment.timed])
    others = _configs(folder, [experiment for experiment in experiments if not experiment.timed])
    try:
        with _pool(workers) as pool:
            for config in timed:
                _wait(_submit(pool, [config], fresh), advance, stopping)
            _wait(_submit(pool, others, fresh), advance, stopping)
    except BrokenProcessPool:
        raise Stopped("a worker of the study was killed; run the same command again to continue") from None


def _configs(folder: str, experiments: Sequence[Experiment]) -> list[Config]:
    return [
        replace(trial.config, output=place_of(folder, experiment, trial.name))
        for experiment in experiments
        for trial in experiment.trials
    ]


def _submit(pool: ProcessPoolExecutor, configs: Sequence[Config], fresh: bool) -> list[Future[str]]:
    with deaf_to_interrupts():  # workers are started here
        return [pool.submit(_make, config, fresh) for config in configs]


def _make(config: Config, fresh: bool) -> str:
    """One whole run in this process. If it is there already, there is nothing to do."""
    with named(config.output):
        run(config, Quiet(), fresh=fresh)
    return "/".join(config.output.split(os.sep)[-2:])


def _wait(futures: Sequence[Future[str]], advance: Callable[[str], object], stopping: Callable[[], bool]) -> None:
    for future in as_completed(futures):
        advance(future.result())
        if stopping():
            raise Stopped("stopped: every finished run is kept; run the same command again to continue")


@contextmanager
def named(place: str) -> Iterator[None]:
    """Errors say in which of the many runs they are."""
    try:
        yield
    except EnumerateError as error:
        raise type(error)(f"{error} (in the run {place!r})") from None


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes that do not hear Ctrl-C: a run at hand is finished, what has not begun is not begun."""
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    end_with_parent()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
