"""Searches in memory, in small steps."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from enumerate.ledger.records import JobProgress
from enumerate.model.batch import Batch, batch_arrays
from enumerate.model.board import Board
from enumerate.model.config import Config
from enumerate.model.jobs import Job, Slice, Totals
from enumerate.plan import sizes
from enumerate.search import depth_first
from enumerate.search.slice import search_slice
from enumerate.search.strategy import make_search, strategy_of


def config_for(size, **values) -> Config:
    """A config without limits unless they are given; sizes as (rows, cols)."""
    return Config.checked(**{"board": Board(*size), "max": 0, "executor": "serial", **values})


def search(config, start, kernel="", prefix=None, max_tours=200_000):
    """Everything one job finds, in memory: tours, iterations, closed, and how the last slice went."""
    job = Job(0, prefix or (start,))
    limit = config.max or 10**17
    slice_ = Slice(job, 0, config.board.name(job.start), job.prefix, Totals(), limit, max_tours, limit, max_tours)
    batch, found = search_batch(config, slice_, kernel)
    return batch.tours, batch.iterations, batch.closed, found


def search_batch(config, slice_, kernel=""):
    """What one slice finds, as one batch, and how it went. `kernel` is for depth-first searches."""
    batches = [batch_arrays(0, config.board, strategy_of(config).has_times)]
    found = search_slice(
        config, slice_, search_with(config, slice_.job, kernel), lambda batch: batches.append(copied(batch))
    )
    columns = [np.concatenate(columns) for columns in zip(*(batch.columns for batch in batches), strict=True)]
    efforts = np.concatenate([batch.efforts for batch in batches]) if strategy_of(config).has_times else None
    return Batch(*columns, efforts), found


def search_with(config, job, kernel=""):
    """The search of a job; a depth-first one by this kernel."""
    with by_kernel(kernel):
        return make_search(config, job)


@contextmanager
def by_kernel(kernel):
    """Depth-first searches and the estimates of their sizes, by this kernel if it is not left to the board."""
    if not kernel:
        yield
        return
    with patch.object(depth_first, "kernel_for", lambda _: kernel), patch.object(sizes, "kernel_for", lambda _: kernel):
        yield


def batch_of(config, start, kernel="", prefix=None, tours=200_000):
    """What one search finds, with the kinds of its tours, and how it went."""
    job, limit = Job(0, prefix or (start,)), config.max or 10**17
    return search_batch(
        config, Slice(job, 0, config.board.name(job.start), job.prefix, Totals(), limit, tours, limit, tours), kernel
    )


def copied(batch):
    return Batch(*(column.copy() for column in batch.columns), None if batch.efforts is None else batch.efforts.copy())


def slices(config, start):
    """The slices of one job, one after the other, each from the cursor of the one before."""
    progress = JobProgress(Job(0, (start,)))
    while slice_ := progress.next_slice(config):
        batches = []
        found = search_slice(
            config,
            slice_,
            make_search(config, slice_.job),
            lambda batch, taken=batches: taken.append(copied(batch)),
        )
        yield found, batches
        progress.add(replace(found, tours_open=sum(len(batch.tours) for batch in batches)))
