"""Estimated sizes of searches against searches that were really made."""

from __future__ import annotations

import numpy as np
import pytest

from enumerate.kernels.descent import LOSS
from enumerate.model.board import Board
from enumerate.model.config import Config
from enumerate.plan.sizes import size_guess, sizes_of

from ..support.searches import by_kernel, config_for, search

SEEDS = range(200)


def true_size(config, prefix):
    """Iterations and tours of the exhausted search of one job."""
    tours, _, _, found = search(config, prefix[0], prefix=prefix, max_tours=400_000)
    assert found.ended == "exhausted"
    return found.iterations, len(tours)


def longer(board, prefixes):
    """All paths with one square more."""
    return [(*path, other) for path in prefixes for other in board.neighbours[path[-1]] if other not in path]


def is_mean(values, truth, errors=4.5):
    """Whether values scatter around the truth, as far as so many of them can tell."""
    return abs(np.mean(values) - truth) <= errors * np.std(values) / np.sqrt(len(values)) + 1e-9 * truth


@pytest.mark.parametrize("kernel", ["bits", "array"])
@pytest.mark.parametrize(
    ("size", "prefix", "values"),
    [
        ((5, 5), (0,), {"variant": "open"}),
        ((5, 5), (12, 1), {"variant": "both"}),
        ((5, 5), (0,), {"variant": "open", "prune": False}),
        ((5, 5), (0, 7, 14), {"variant": "both", "prune": False}),
        ((5, 6), (0,), {"variant": "both"}),
        ((5, 6), (9, 1), {"variant": "closed"}),
        ((5, 6), (8, 0), {"variant": "open"}),
        ((6, 6), (0, 8, 4), {"variant": "closed"}),
        ((6, 6), (7, 3), {"variant": "open"}),
        ((3, 10), (0,), {"variant": "closed"}),
        ((5, 5), (0,), {"variant": "closed", "board": Board(5, 5, missing=24)}),
    ],
)
def test_the_mean_of_the_estimates_is_the_size_of_the_search(size, prefix, values, kernel):
    config = config_for(size, **values)
    with by_kernel(kernel):
        estimates = np.array([sizes_of(config, [prefix], seed=seed) for seed in SEEDS])[:, :, 0]
    for column, truth in enumerate(true_size(config, prefix)):
        assert is_mean(estimates[:, column], truth), (estimates[:, column].mean(), truth)


def test_estimates_are_close_enough_to_tell_large_jobs_from_small_ones():
    config = config_for((6, 6), variant="open")
    prefixes = longer(config.board, longer(config.board, [(0,), (7,)]))
    true = np.array([true_size(config, prefix) for prefix in prefixes])
    iterations, tours = sizes_of(config, prefixes, 256)
    for estimate, column in ((iterations, 0), (tours, 1)):
        assert np.corrcoef(estimate, true[:, column])[0, 1] > 0.95
        assert estimate.sum() == pytest.approx(true[:, column].sum(), rel=0.05)


@pytest.mark.parametrize("variant", ["open", "closed", "both"])
def test_the_sizes_of_the_children_add_up_to_that_of_their_parent(variant):
    config = Config(variant=variant)
    parent = (0, 10)
    children = longer(config.board, [parent])
    below, of_parent = sizes_of(config, children, 20_000), sizes_of(config, [parent], 60_000)
    assert below[0].sum() + 1 == pytest.approx(of_parent[0].sum(), rel=0.1)
    assert below[1].sum() == pytest.approx(of_parent[1].sum(), rel=0.2)


@pytest.mark.parametrize(("size", "values"), [
    ((8, 8), {"variant": "open"}),
    ((8, 8), {"variant": "closed"}),
    ((5, 8), {"variant": "both"}),
    ((6, 7), {"variant": "open", "prune": False}),
])  # fmt: skip
def test_both_kernels_give_the_same_numbers(size, values):
    config = config_for(size, **values)
    prefixes = [(start,) for start in range(config.board.squares)]
    prefixes += longer(config.board, prefixes)
    with by_kernel("bits"):
        bits = sizes_of(config, prefixes, 8)
    with by_kernel("array"):
        array = sizes_of(config, prefixes, 8)
    assert np.array_equal(bits, array)
    assert bits[1].any()


@pytest.mark.parametrize("kernel", ["bits", "array"])
def test_a_path_that_the_search_never_takes_has_no_size_and_one_that_ends_at_once_has_one(kernel):
    config = config_for((5, 6), variant="closed")
    never = (0, 11)  # c2 is next to two corners: a closed tour from a1 comes back by one of its two neighbours
    dead = next(
        path for path in longer(config.board, longer(config.board, longer(config.board, [(9,)])))
        if true_size(config, path)[0] == 1
    )  # fmt: skip
    assert true_size(config, never)[0] == 0
    with by_kernel(kernel):
        iterations, tours = sizes_of(config, [never, dead])
    assert iterations.tolist() == [0, 1]
    assert tours.tolist() == [0, 0]


@pytest.mark.parametrize("kernel", ["bits", "array"])
def test_a_whole_tour_is_one_iteration(kernel):
    for variant in ("open", "both"):
        config = config_for((5, 5), variant=variant)
        tours, _, closed, _ = search(config, 0)
        assert not closed.any()
        with by_kernel(kernel):
            iterations, found = sizes_of(config, [tuple(tours[0].tolist())])
        assert (iterations.tolist(), found.tolist()) == ([1], [1])


def test_the_size_of_a_path_depends_on_the_path_the_seed_and_nothing_else():
    config = Config()
    prefixes = [(start, other) for start in (0, 27) for other in config.board.neighbours[start]]
    together = sizes_of(config, prefixes, seed=3)
    alone = [sizes_of(config, [prefix], seed=3) for prefix in prefixes]
    assert np.array_equal(together, np.concatenate(alone, axis=1))
    assert not np.array_equal(together, sizes_of(config, prefixes, seed=4))


def test_no_paths_have_no_sizes():
    assert [len(column) for column in sizes_of(Config(), [])] == [0, 0]


def test_beyond_the_range_of_doubles_a_size_is_infinite():
    iterations, tours = sizes_of(Config(board=Board(512, 512)), [(0,), (5, 1028)], 2)
    assert np.isinf(iterations).all()
    assert np.isinf(tours).all()


def test_a_square_that_loses_its_last_moves_weighs_more_than_one_with_many():
    assert (np.diff(size_guess(True)[LOSS, 2:]) > 0).all()
    assert (size_guess(True) > 0).all()
