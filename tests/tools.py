"""What the tests share: searches in small steps, the command line as a user runs it, and runs as plain data."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from enumerate.ledger.layout import LOCK
from enumerate.ledger.storage import is_url, open_storage
from enumerate.model.batch import Batch, batch_arrays
from enumerate.model.board import Board
from enumerate.model.config import Config
from enumerate.model.jobs import Job, Slice, Totals
from enumerate.run.coordinator import run
from enumerate.search.depth_first import backtrack, warnsdorff
from enumerate.search.slice import make_search, search_slice

ROOT = Path(__file__).parents[1]
PUBLISHED = Path(__file__).with_name("published")


class Silent:
    """An observer that keeps what it was told."""

    def __init__(self):
        self.notices, self.events = [], []

    def notice(self, text):
        self.notices.append(text)

    def begin(self, config, progress, slots):
        pass

    def event(self, event):
        self.events.append(event)

    def end(self):
        pass


def config_for(size, **values) -> Config:
    """A config without limits unless they are given; sizes as (rows, cols)."""
    return Config(**{"board": Board(*size), "max": 0, "executor": "serial", **values})


def search(config, start, kernel="", prefix=None, max_tours=200_000):
    """Everything one job finds, in memory: tours, iterations, closed, and the last slice's Found."""
    job = Job(0, prefix or (start,))
    limit = config.max or 10**17
    slice_ = Slice(job, 0, job.prefix, Totals(), limit, max_tours, limit, max_tours)
    batch, found = search_batch(config, slice_, kernel)
    return batch.tours, batch.iterations, batch.closed, found


def search_batch(config, slice_, kernel=""):
    """What one slice finds, as one batch, and how it went. `kernel` is for depth-first searches."""
    batches = [batch_arrays(0, config.board, config.has_times)]
    depth_first = {"warnsdorff": warnsdorff, "backtrack": backtrack}.get(config.strategy)
    make = (lambda config, job: depth_first(config, job, kernel)) if kernel else make_search
    found = search_slice(config, slice_, lambda batch: batches.append(copied(batch)), make)
    columns = [np.concatenate(columns) for columns in zip(*(batch.columns for batch in batches), strict=True)]
    efforts = np.concatenate([batch.efforts for batch in batches]) if config.has_times else None
    return Batch(*columns, efforts), found


def copied(batch):
    return Batch(*(column.copy() for column in batch.columns), None if batch.efforts is None else batch.efforts.copy())


def run_serially(config, **options):
    """A whole run in this process."""
    return run(config, Silent(), **options)


def command(*words, cwd, environment=None, timeout=120) -> subprocess.CompletedProcess[str]:
    """`python -m enumerate ...` as a user calls it."""
    return subprocess.run(
        arguments(*words),
        cwd=cwd,
        env=environment_with(environment),
        text=True,
        capture_output=True,
        timeout=timeout,
        check=False,
    )


def arguments(*words) -> list[str]:
    return [sys.executable, "-m", "enumerate", *map(str, words)]


def environment_with(extra=None) -> dict[str, str]:
    """This environment, with the package on the path and a plain terminal."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1", **(extra or {})}


def part_sums(place) -> dict[str, str]:
    """Every file below tours/, by name, with its checksum."""
    if is_url(str(place)):
        return {
            name.removeprefix("tours/"): hashlib.sha256(data).hexdigest()
            for name, data in sorted(run_files(place).items())
            if name.startswith("tours/")
        }
    tours = Path(place) / "tours"
    return {
        str(path.relative_to(tours)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(tours.rglob("*"))
        if path.is_file()
    }


def run_files(place) -> dict[str, bytes]:
    """Every file of a run, by name, with its content; the lock aside."""
    storage = open_storage(str(place))
    return {name: storage.read(name) for name, _ in storage.entries(".") if name != LOCK}


def per_square(name) -> np.ndarray:
    """A published table with one number a square, row by row."""
    return np.loadtxt(PUBLISHED / name, delimiter=",", dtype=np.int64)
