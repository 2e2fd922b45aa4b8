"""The kernels against the reference, against each other, against the literature, and in any slicing."""

from __future__ import annotations

import csv
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumerate.model.board import Board
from enumerate.model.errors import Damaged
from enumerate.model.jobs import EXHAUSTED, FULL, Job
from enumerate.model.tour import are_closed, are_complete, are_legal
from enumerate.search.strategy import make_search

from ..support import reference
from ..support.published import PUBLISHED, per_square, published
from ..support.searches import config_for, search, slices

VARIANTS = ("open", "closed", "both")
KERNELS = ("bits", "array")
SMALL = [(1, 1), (2, 3), (3, 3), (3, 4), (4, 3), (4, 4), (4, 5), (3, 7), (5, 5)]


@cache
def reference_search(size, start, limit):
    """The reference is slow: it searches once for all variants and kernels."""
    found = list(reference.tours(*size, start, limit))
    return [(iteration, tour, reference.is_closed(*size, tour)) for iteration, tour in found]


def reference_tours(size, start, variant, limit):
    return [
        (iteration, tour)
        for iteration, tour, closed in reference_search(size, start, limit)
        if variant in ("both", "closed" if closed else "open")
    ]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", [*SMALL, (5, 6), (7, 5), (8, 8)], ids=str)
def test_the_plain_search_finds_what_the_reference_finds_at_the_same_iterations(size, variant, kernel):
    for start in range(0, size[0] * size[1], 3):
        tours, iterations, *_ = search(config_for(size, variant=variant, prune=False, max=6_000), start, kernel)
        expected = reference_tours(size, start, variant, 6_000)
        assert list(zip(iterations.tolist(), tours.tolist(), strict=True)) == expected


@pytest.mark.parametrize("size", [(9, 8), (6, 15), (17, 16)], ids=str)
def test_beyond_64_squares_the_array_kernel_follows_the_reference(size):
    for start in (0, 8, 37):
        tours, iterations, *_ = search(config_for(size, variant="both", prune=False, max=6_000), start)
        expected = reference_tours(size, start, "both", 6_000)
        assert list(zip(iterations.tolist(), tours.tolist(), strict=True)) == expected


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("h_prob", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", SMALL, ids=str)
def test_pruning_loses_no_tour_and_keeps_their_order(size, variant, h_prob, kernel):
    for start in range(0, size[0] * size[1], 4):
        plain = config_for(size, variant=variant, h_prob=h_prob, seed=7, prune=False)
        pruned = config_for(size, variant=variant, h_prob=h_prob, seed=7)
        expected, _, _, slow = search(plain, start, kernel)
        tours, _, closed, fast = search(pruned, start, kernel)
        assert np.array_equal(tours, expected)
        assert fast.ended == slow.ended == EXHAUSTED
        assert fast.iterations <= slow.iterations
        if len(tours):
            assert np.array_equal(closed, are_closed(Board(*size), tours))


@given(
    size=st.sampled_from([(3, 4), (4, 5), (5, 5), (5, 6), (6, 6), (3, 10), (7, 8), (8, 7), (8, 8), (4, 16), (2, 32)]),
    start=st.integers(0, 63),
    variant=st.sampled_from(VARIANTS),
    prune=st.booleans(),
    h_prob=st.sampled_from([1.0, 0.9, 0.3, 0.0]),
    seed=st.integers(0, 10**18),
    limit=st.integers(1, 20_000),
)
@settings(max_examples=150)
def test_both_kernels_make_the_same_search(size, start, variant, prune, h_prob, seed, limit):
    start %= size[0] * size[1]
    config = config_for(size, variant=variant, prune=prune, h_prob=h_prob, seed=seed, max=limit)
    *bits, bits_end = search(config, start, "bits", max_tours=500)
    *array, array_end = search(config, start, "array", max_tours=500)
    for left, right in zip(bits, array, strict=True):
        assert np.array_equal(left, right)
    for name in ("ended", "cursor", "iterations", "dead_ends", "first_iteration"):
        assert getattr(bits_end, name) == getattr(array_end, name)


@given(
    slice_iterations=st.integers(1, 400),
    slice_tours=st.integers(1, 40),
    size=st.sampled_from([(3, 4), (4, 5), (5, 5), (3, 10), (8, 8), (9, 9)]),
    start=st.integers(0, 80),
    prune=st.booleans(),
    h_prob=st.sampled_from([1.0, 0.5]),
)
@settings(max_examples=80)
def test_any_slicing_finds_the_same_tours_at_the_same_iterations(
    slice_iterations, slice_tours, size, start, prune, h_prob
):
    start %= size[0] * size[1]
    config = config_for(size, variant="both", prune=prune, h_prob=h_prob, max=2_000)
    whole, whole_iterations, _, found = search(config, start)
    sliced = config_for(
        size, variant="both", prune=prune, h_prob=h_prob, max=2_000,
        slice_iterations=slice_iterations, slice_tours=slice_tours,
    )  # fmt: skip
    tours, iterations, dead_ends = [], [], 0
    for part, batches in slices(sliced, start):
        for batch in batches:
            tours += batch.tours.tolist()
            iterations += batch.iterations.tolist()
        dead_ends += part.dead_ends
    assert tours == whole.tolist()
    assert iterations == whole_iterations.tolist()
    assert dead_ends == found.dead_ends


@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("depth", [2, 3, 5])
def test_prefixes_of_any_length_partition_the_tours(depth, kernel, prune):
    config = config_for((5, 5), variant="both", prune=prune)
    for start in (0, 2, 12):
        whole = search(config, start, kernel)[0].tolist()
        prefixes = paths(start, depth)
        parts = [search(config, start, kernel, prefix=prefix)[0].tolist() for prefix in prefixes]
        assert sorted(tour for part in parts for tour in part) == sorted(whole)
        assert sum(map(len, parts)) == len(whole)


def paths(start, length):
    """All paths of a knight on 5x5 that begin on a square and have so many squares."""
    found = [(start,)]
    for _ in range(length - 1):
        found = [
            (*path, reference.number(square, 5))
            for path in found
            for square in reference.moves(divmod(path[-1], 5), 5, 5)
            if reference.number(square, 5) not in path
        ]
    return found


def test_a_cursor_of_another_search_is_refused():
    found = make_search(config_for((8, 8)), Job(0, (0,)))
    with pytest.raises(Damaged, match="start square a1 has a cursor of another search"):
        found.resume((0, 10, 0), 2)


def test_shuffled_orders_differ_by_seed_and_are_the_same_for_one_seed():
    firsts = {
        seed: search(config_for((8, 8), h_prob=0.5, seed=seed, max=20_000), 0)[0][:1].tolist() for seed in (1, 1, 2, 3)
    }
    assert len({str(first) for first in firsts.values()}) == 3
    again = search(config_for((8, 8), h_prob=0.5, seed=1, max=20_000), 0)[0][:1].tolist()
    assert again == firsts[1] != []


def test_h_prob_1_never_shuffles_and_the_seed_has_no_effect():
    first, second = (search(config_for((8, 8), seed=seed, max=20_000), 0)[0] for seed in (1, 2))
    assert np.array_equal(first, second)
    assert len(first) > 100


# ---------------------------------------------------------------------------------------------------------------------
# Against the literature.


def exhausted(size, variant, prune):
    """Tours from each start square that can have any, one for each class, with how many squares it stands for."""
    config = config_for(size, variant=variant, prune=prune)
    for start, multiplicity in Board(*size).classes.items():
        tours, _, _, found = search(config, start, max_tours=600_000)
        assert found.ended == EXHAUSTED
        yield start, multiplicity, len(tours)


# Each board with and without pruning; on 5x6 plain needs a thousand times the iterations of pruned.
BOTH_WAYS = [
    *((size, prune) for size in [(3, 4), (3, 7), (3, 9), (3, 10), (4, 4), (4, 5), (5, 5)] for prune in (True, False)),
    ((5, 6), True),
    pytest.param((5, 6), False, marks=pytest.mark.slow),
    ((5, 7), True),
    ((6, 6), True),
]


@pytest.mark.parametrize(("size", "prune"), BOTH_WAYS, ids=str)
def test_all_directed_tours_are_as_many_as_published(size, prune):
    assert sum(squares * tours for _, squares, tours in exhausted(size, "both", prune)) == published("paths")[size]


CYCLES_BOTH_WAYS = [
    *((size, prune) for size in [(3, 8), (3, 10), (5, 5)] for prune in (True, False)),
    *((size, True) for size in [(3, 12), (4, 8), (5, 6), (5, 8), (6, 6)]),
    pytest.param((5, 6), False, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("size", "prune"), CYCLES_BOTH_WAYS, ids=str)
def test_every_start_square_has_two_closed_tours_for_each_published_cycle(size, prune):
    for _, _, tours in exhausted(size, "closed", prune):
        assert tours == 2 * published("cycles")[size]


def test_from_each_square_of_5x5_there_are_as_many_tours_as_published():
    config = config_for((5, 5), variant="both")
    assert [len(search(config, start)[0]) for start in range(25)] == per_square("per_start_5x5.csv").ravel().tolist()


def test_from_each_class_of_squares_of_6x6_there_are_as_many_tours_as_published():
    expected = per_square("per_start_6x6.csv").ravel()
    assert [tours for *_, tours in exhausted((6, 6), "both", True)] == expected[list(Board(6, 6).classes)].tolist()


def plain_totals():
    with open(PUBLISHED / "plain_8x8_500000.csv", encoding="utf-8") as file:
        return {
            variant: [int(row[variant]) for row in rows]
            for rows in [list(csv.DictReader(file))]
            for variant in ("open", "closed")
        }


@pytest.mark.parametrize(("variant", "total"), [("open", 252_672), ("closed", 37_246)])
def test_plain_8x8_finds_the_known_totals_from_every_square(variant, total):
    config = config_for((8, 8), variant=variant, prune=False, max=500_000)
    counts = [len(search(config, start)[0]) for start in range(64)]
    assert counts == plain_totals()[variant]
    assert sum(counts) == total


@pytest.mark.slow
@pytest.mark.parametrize("start", range(64))
def test_the_reference_itself_finds_those_totals(start):
    closed = [reference.is_closed(8, 8, tour) for _, tour in reference.tours(8, 8, start, 500_000)]
    assert len(closed) - sum(closed) == plain_totals()["open"][start]
    assert sum(closed) == plain_totals()["closed"][start]


@pytest.mark.parametrize(("variant", "least"), [("open", 2_000_000), ("closed", 1_500_000)])
def test_pruned_8x8_finds_millions_in_the_same_iterations(variant, least):
    config = config_for((8, 8), variant=variant, max=500_000)
    assert sum(len(search(config, start)[0]) for start in range(64)) >= least


@pytest.mark.parametrize("size", [(9, 9), (10, 10), (3, 40), (17, 17), (50, 51), (200, 200)], ids=str)
@pytest.mark.parametrize("variant", ["open", "closed"])
def test_tours_on_large_boards_are_tours(size, variant):
    board = Board(*size)
    if variant == "closed" and (board.squares % 2 or board.squares > 2600):
        variant = "both"
    tours, iterations, closed, found = search(config_for(size, variant=variant, max=200_000), 0, max_tours=20)
    assert found.ended == FULL
    assert len(tours) > 0 or size == (3, 40)
    if len(tours):
        assert are_complete(board, tours).all()
        assert are_legal(board, tours).all()
        assert np.array_equal(are_closed(board, tours), closed)
        assert (np.diff(iterations) > 0).all()
