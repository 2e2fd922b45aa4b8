"""Searches of one process have no memory in common that they write to: several threads may search at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from enumerate.model.jobs import Job, Slice, Totals
from enumerate.search.slice import search_slice
from enumerate.search.strategy import make_search

from ..support.searches import config_for, copied

STARTS = (0, 18)  # two squares of one colour
ROUNDS = 25
CONFIGS = {
    "warnsdorff": config_for((8, 8), variant="both"),
    "array kernel": config_for((9, 9), h_prob=0.5, seed=1),
    "greedy": config_for((9, 9), strategy="greedy", ties="random"),
    "divide": config_for((9, 9), strategy="divide"),
}


def tours_of(config, start, meet):
    """The batches of one slice. Between the search and the look at what it found, `meet` waits for the other thread."""
    job, batches, limit = Job(0, (start,)), [], 10**17

    def take(batch):
        meet()
        batches.append(copied(batch))

    slice_ = Slice(job, 0, config.board.name(start), job.prefix, Totals(), limit, 40, limit, 40)
    search_slice(config, slice_, make_search(config, job), take)
    return batches


def equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one.columns, other.columns, strict=True))


@pytest.mark.parametrize("name", CONFIGS)
def test_two_threads_that_search_one_board_find_what_each_finds_alone(name):
    config, barrier = CONFIGS[name], Barrier(2, timeout=60)
    alone = [tours_of(config, start, lambda: None) for start in STARTS]

    def searched(start):
        return [tours_of(config, start, barrier.wait) for _ in range(ROUNDS)]

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(searched, STARTS))
    assert not equal(alone[0][0], alone[1][0])
    for (expected,), rounds in zip(alone, together, strict=True):
        assert all(len(batches) == 1 and equal(batches[0], expected) for batches in rounds)
