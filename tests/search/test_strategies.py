"""The strategies: each against its definition, in any slicing, by any executor, written, counted and read back."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.cli.app import main
from enumerate.cli.request import config_of as from_file
from enumerate.ledger.manifest import seal, unseal
from enumerate.ledger.parts import PartWriter, times_schema
from enumerate.model.board import Board
from enumerate.model.config import Config
from enumerate.model.errors import BadRequest
from enumerate.model.jobs import EXHAUSTED, TIMES
from enumerate.model.settings import MOVE_ORDER, parse_moves
from enumerate.model.tour import SYMMETRIES, are_closed, are_complete, are_legal
from enumerate.plan.plan import make_plan
from enumerate.search.greedy import orderings_of
from enumerate.search.strategy import identity_of, resolve, strategy_of

from ..support import reference
from ..support.published import per_square, published
from ..support.runs import damage, part_sums, run_files, run_serially
from ..support.searches import batch_of, config_for, slices

KERNELS = ("bits", "array")
# Shuffled orders of backtrack are rare, and each of their kernels takes seconds to compile.
shuffled_or_not = pytest.mark.parametrize("h_prob", [1.0, pytest.param(0.5, marks=pytest.mark.slow)])
VARIANTS = ("open", "closed", "both")
ORDERS = {
    "default": MOVE_ORDER,
    "ascending": "-2,-1 -2,1 -1,-2 -1,2 1,-2 1,2 2,-1 2,1",
    "mixed": "1,-2 -2,1 2,1 -1,2 -1,-2 2,-1 1,2 -2,-1",
    "zigzag": "-1,2 1,-2 2,1 -2,-1 -1,-2 1,2 -2,1 2,-1",
}
each_order = pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())


def is_wanted(size, tour, variant):
    return variant in ("both", "closed" if reference.is_closed(*size, tour) else "open")


# ---------------------------------------------------------------------------------------------------------------------
# Backtracking in a fixed order.


def backtrack(size, **values):
    return config_for(size, **{"strategy": "backtrack", "prune": False, "variant": "both", **values})


@cache
def reference_backtracking(size, start, order, limit, missing=None):
    return list(reference.backtracking(*size, start, parse_moves(order), limit, missing))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("variant", VARIANTS)
@each_order
def test_backtrack_finds_what_the_reference_finds_at_the_same_iterations(order, variant, kernel):
    for size, starts, limit in [((3, 4), range(12), 10**6), ((4, 3), range(12), 10**6), ((4, 4), (0, 5), 10**6),
                                ((4, 5), (0, 1, 7), 10**6), ((3, 7), (0, 2), 10**6), ((5, 5), (0, 12), 20_000),
                                ((5, 6), (0, 8), 20_000)]:  # fmt: skip
        for start in starts:
            batch, found = batch_of(backtrack(size, variant=variant, move_order=order, max=limit), start, kernel)
            every = reference_backtracking(size, start, order, limit)
            expected = [(iteration, tour) for iteration, tour in every if is_wanted(size, tour, variant)]
            assert list(zip(batch.iterations.tolist(), batch.tours.tolist(), strict=True)) == expected
            assert found.ended == EXHAUSTED or limit == 20_000


@pytest.mark.parametrize(
    ("size", "start"), [((9, 9), 0), ((6, 12), 20), pytest.param((17, 17), 100, marks=pytest.mark.slow)]
)
@each_order
def test_beyond_64_squares_backtrack_still_follows_the_reference(order, size, start):
    """No tour is found there so soon, so it is where the search stands that is compared."""
    _, found = batch_of(backtrack(size, move_order=order, max=4_000), start)
    assert found.iterations == 4_000
    path = path_after(size, start, parse_moves(order), 4_000)
    assert found.cursor == tuple(reference.number(square, size[1]) for square in path)


def path_after(size, start, order, iterations):
    """Where plain backtracking stands after so many placements: the path whose last square comes next."""
    squares, path, waiting = reference.squares_of(*size), [], [[divmod(start, size[1])]]
    while True:
        while not waiting[-1]:
            waiting.pop()
            path.pop()
        square = waiting[-1].pop(0)
        path.append(square)
        if not iterations:
            return path
        iterations -= 1
        following = [(square[0] + down, square[1] + right) for down, right in order]
        waiting.append([each for each in following if each in squares and each not in path])


@pytest.mark.parametrize("kernel", KERNELS)
@each_order
def test_backtrack_with_pruning_finds_the_same_tours_in_the_same_order(order, kernel):
    for size, starts in [((3, 4), (0, 1)), ((4, 5), (0, 3)), ((3, 10), (0, 1)), ((5, 5), (0, 12))]:
        for variant in ("both", "closed") if size == (3, 10) else ("both",):
            for start in starts:
                plain, slow = batch_of(backtrack(size, variant=variant, move_order=order), start, kernel)
                config = backtrack(size, variant=variant, move_order=order, prune=True)
                pruned, fast = batch_of(config, start, kernel)
                assert np.array_equal(plain.tours, pruned.tours)
                assert fast.ended == slow.ended == EXHAUSTED
                assert fast.iterations < slow.iterations


@given(
    size=st.sampled_from([(3, 4), (4, 5), (5, 5), (5, 6), (6, 6), (3, 10), (7, 8), (8, 8), (4, 16)]),
    order=st.permutations(parse_moves(MOVE_ORDER)),
    start=st.integers(0, 63),
    variant=st.sampled_from(VARIANTS),
    prune=st.booleans(),
    limit=st.integers(1, 20_000),
)
@shuffled_or_not
@settings(max_examples=40)
def test_both_kernels_backtrack_alike_in_any_order(size, order, start, variant, prune, h_prob, limit):
    text = " ".join(f"{down},{right}" for down, right in order)
    config = backtrack(size, move_order=text, variant=variant, prune=prune, h_prob=h_prob, max=limit)
    bits, bits_end = batch_of(config, start % (size[0] * size[1]), "bits", tours=500)
    array, array_end = batch_of(config, start % (size[0] * size[1]), "array", tours=500)
    for left, right in zip(bits.columns, array.columns, strict=True):
        assert np.array_equal(left, right)
    for name in ("ended", "cursor", "iterations", "dead_ends", "left_out", "first_iteration"):
        assert getattr(bits_end, name) == getattr(array_end, name)


@given(
    size=st.sampled_from([(4, 5), (5, 5), (3, 10), (8, 8), (9, 9)]),
    order=st.sampled_from(list(ORDERS.values())),
    start=st.integers(0, 80),
    prune=st.booleans(),
    slice_iterations=st.integers(1, 400),
    slice_tours=st.integers(1, 20),
)
@shuffled_or_not
@settings(max_examples=20)
def test_backtrack_in_any_slicing_finds_the_same(size, order, start, prune, h_prob, slice_iterations, slice_tours):
    start %= size[0] * size[1]
    values = {"move_order": order, "prune": prune, "h_prob": h_prob, "max": 1_500}
    whole, found = batch_of(backtrack(size, **values), start)
    config = backtrack(size, slice_iterations=slice_iterations, slice_tours=slice_tours, **values)
    assert_same_in_slices(config, start, whole, found)


def assert_same_in_slices(config, start, whole, found):
    """A search in slices finds what it finds in one go, and it takes as much."""
    sums, batches = Counter(), []
    for part, taken in slices(config, start):
        batches += taken
        for name in ("iterations", "dead_ends", "given_up", "left_out"):
            sums[name] += getattr(part, name)
    for name in ("tours", "iterations", "closed", "structured", "symmetry"):
        assert [row for batch in batches for row in getattr(batch, name).tolist()] == getattr(whole, name).tolist()
    if strategy_of(config).has_times:
        assert [row for batch in batches for row in batch.efforts[:, :2].tolist()] == whole.efforts[:, :2].tolist()
    for name in ("iterations", "dead_ends", "given_up", "left_out"):
        assert sums[name] == getattr(found, name)


@pytest.mark.parametrize("kernel", KERNELS)
def test_from_a8_in_the_default_order_the_first_tour_of_8x8_comes_at_the_known_placement(kernel):
    """Each placement but those of the tour itself is followed by a retreat; both are turns of the textbook's loop."""
    batch, found = batch_of(backtrack((8, 8)), Board(8, 8).square("a8"), kernel, tours=1)
    assert batch.iterations.tolist() == [3_242_065]
    placements = found.iterations - 1  # the start square is no turn
    retreats = found.iterations - 64
    assert (placements, placements + retreats + 1) == (3_242_064, 6_484_066)
    assert are_complete(Board(8, 8), batch.tours).all()
    assert are_legal(Board(8, 8), batch.tours).all()


@pytest.mark.slow
def test_the_reference_itself_finds_that_tour_at_that_placement():
    iteration, tour = next(reference.backtracking(8, 8, Board(8, 8).square("a8"), parse_moves(MOVE_ORDER)))
    batch, _ = batch_of(backtrack((8, 8)), Board(8, 8).square("a8"), tours=1)
    assert (iteration, tour) == (3_242_065, batch.tours[0].tolist())


@pytest.mark.parametrize("prune", [True, False])
def test_backtrack_exhausts_boards_with_the_published_numbers_of_tours(prune):
    for size in [(3, 4), (3, 7), (4, 4), (4, 5), (5, 5), *([(3, 10), (5, 6)] if prune else [])]:
        config = backtrack(size, prune=prune)
        found = [len(batch_of(config, start)[0].tours) for start in range(size[0] * size[1])]
        assert sum(found) == published("paths")[size]
        if size == (5, 5):
            assert found == per_square("per_start_5x5.csv").ravel().tolist()


def test_backtrack_finds_every_published_cycle_twice_from_any_square():
    for size in [(3, 10), (5, 6), (6, 6)]:
        for start in (0, 8):
            tours = batch_of(backtrack(size, prune=True, variant="closed"), start)[0].tours
            assert len(tours) == 2 * published("cycles")[size]


@pytest.mark.parametrize("start", [0, 12])
def test_another_order_of_moves_finds_another_tour_first_and_in_the_end_the_same(start):
    found = {name: batch_of(backtrack((5, 5), move_order=order), start)[0] for name, order in ORDERS.items()}
    firsts = {name: tuple(batch.tours[0].tolist()) for name, batch in found.items()}
    assert len(set(firsts.values())) == len(ORDERS)
    assert len({frozenset(map(tuple, batch.tours.tolist())) for batch in found.values()}) == 1
    warnsdorff = batch_of(config_for((5, 5), variant="both"), start)[0].tours
    assert sorted(warnsdorff.tolist()) == sorted(found["mixed"].tours.tolist())


# ---------------------------------------------------------------------------------------------------------------------
# Warnsdorff's rule without going back.


def greedy(size, **values):
    return config_for(size, **{"strategy": "greedy", "variant": "both", **values})


SIZES = [(1, 1), (3, 4), (4, 3), (3, 7), (7, 3), (4, 5), (5, 4), (3, 10), (5, 5), (5, 6), (6, 5), (6, 6), (7, 7),
         (7, 8), (8, 8), (9, 7), (10, 10), (11, 11), (16, 16), (16, 17)]  # fmt: skip


@pytest.mark.parametrize("ties", ["lowest", "pohl", "roth"])
def test_greedy_goes_the_way_of_its_definition_to_a_tour_or_to_a_dead_end(ties):
    ends = Counter()
    for size in SIZES:
        squares = size[0] * size[1]
        for start in range(0, squares, 1 + squares // 15):
            path = reference.greedy(*size, start, ties)
            batch, found = batch_of(greedy(size, ties=ties, failures=1), start)
            succeeded = len(path) == squares
            assert batch.tours.tolist() == [path] * succeeded
            assert batch.iterations.tolist() == [squares] * succeeded
            assert batch.efforts[:, :2].tolist() == [[squares, 1]] * succeeded
            assert (found.ended, found.cursor, found.iterations) == (EXHAUSTED, (), len(path))
            assert (found.dead_ends, found.given_up) == (not succeeded, not succeeded)
            ends[succeeded] += 1
    assert ends[True] > 50
    assert ends[False] > 5


@pytest.mark.parametrize("ties", ["lowest", "pohl", "roth"])
@pytest.mark.parametrize("variant", ["open", "closed"])
def test_a_greedy_tour_of_the_other_variant_is_a_failure(ties, variant):
    seen = Counter()
    for size in [(5, 5), (5, 6), (6, 6), (7, 8), (8, 8), (10, 10)]:
        for start in range(0, size[0] * size[1], 3):
            path = reference.greedy(*size, start, ties)
            is_tour = len(path) == size[0] * size[1] and is_wanted(size, path, variant)
            batch, found = batch_of(greedy(size, ties=ties, failures=1, variant=variant), start)
            assert batch.tours.tolist() == [path] * is_tour
            assert batch.closed.tolist() == [variant == "closed"] * is_tour
            assert (found.iterations, found.dead_ends, found.given_up) == (len(path), not is_tour, not is_tour)
            seen[is_tour] += 1
    assert seen[True] > 0 < seen[False]


@pytest.mark.parametrize("ties", ["lowest", "pohl", "roth"])
def test_greedy_without_a_corner_goes_the_way_of_its_definition(ties):
    for size in [(5, 5), (5, 7), (7, 7), (9, 9)]:
        missing = size[0] * size[1] - 1
        for start in range(0, missing, 5):
            path = reference.greedy(*size, start, ties, missing)
            batch, found = batch_of(greedy(size, ties=ties, failures=1, missing_corner=True), start)
            assert batch.tours.tolist() == [path] * (len(path) == missing)
            assert found.iterations == len(path)


@pytest.mark.parametrize("ties", ["lowest", "pohl", "roth", "squirrel"])
def test_a_way_that_is_always_the_same_is_not_tried_again(ties):
    """The default allows five failures, but a second attempt would go the same way as the first."""
    failing = [start for start in range(0, 121) if batch_of(greedy((11, 11), ties=ties, failures=1), start)[1].given_up]
    for start in failing[:3]:
        once, again = (batch_of(greedy((11, 11), ties=ties, failures=count), start)[1] for count in (1, 5))
        assert (again.given_up, again.dead_ends, again.iterations) == (1, 1, once.iterations)


@pytest.mark.parametrize("size", [(5, 5), (5, 6), (6, 6), (7, 7), (8, 8), (3, 10), (9, 10), (17, 16)], ids=str)
def test_each_step_of_a_tour_with_random_ties_obeys_warnsdorffs_rule(size):
    for start in (0, 2 * size[1] + 2):
        batch, _ = batch_of(greedy(size, tours=40, failures=10), start, tours=40)
        assert len(batch.tours) > 0
        assert are_complete(Board(*size), batch.tours).all()
        assert are_legal(Board(*size), batch.tours).all()
        assert (batch.tours[:, 0] == start).all()
        assert np.array_equal(batch.closed, are_closed(Board(*size), batch.tours))
        assert all(reference.obeys_warnsdorff(*size, tour) for tour in batch.tours.tolist())
    if size in [(8, 8), (17, 16)]:  # small boards have few such tours
        assert len(np.unique(batch.tours, axis=0)) > 35


def test_random_ties_depend_on_the_seed_alone():
    one, again, other = (batch_of(greedy((8, 8), tours=50, seed=seed), 0, tours=50)[0] for seed in (1, 1, 2))
    assert np.array_equal(one.tours, again.tours)
    assert np.array_equal(one.iterations, again.iterations)
    assert not set(map(bytes, one.tours)) & set(map(bytes, other.tours))


def test_from_another_square_chance_is_another_one():
    """Far from the edges all eight moves are tied at first: the same draw would take the same one from every square."""
    firsts = []
    for start in (189, 190, 210):
        batch, _ = batch_of(greedy((20, 20), tours=60, failures=50), start, tours=60)
        firsts.append((batch.tours[:, 1].astype(np.int64) - start).tolist())
    assert {len(set(first)) for first in firsts} == {8}
    for one, other in combinations(firsts, 2):
        assert sum(left == right for left, right in zip(one, other, strict=True)) < 25


def test_tied_squares_are_taken_equally_often():
    """From a1 two squares are tied, and from the middle of 9x9 all eight."""
    for size, start, tied in [((8, 8), 0, 2), ((9, 9), 40, 8)]:
        batch, _ = batch_of(greedy(size, tours=8_000, failures=1), start, tours=8_000)
        seconds = Counter(batch.tours[:, 1].tolist())
        mean, deviation = len(batch.tours) / tied, (len(batch.tours) / tied * (1 - 1 / tied)) ** 0.5
        assert len(seconds) == tied
        assert all(abs(count - mean) < 5 * deviation for count in seconds.values())


@pytest.mark.parametrize(
    ("size", "attempts", "least", "most"), [((8, 8), 6_000, 0.97, 0.99), ((7, 7), 6_000, 0.70, 0.80),
                                            ((50, 50), 600, 0.76, 0.87)]
)  # fmt: skip
def test_random_ties_succeed_from_a1_as_often_as_known(size, attempts, least, most):
    batch, found = batch_of(greedy(size, tours=attempts, failures=1), 0, tours=attempts)
    assert len(batch.tours) + found.given_up == attempts
    assert least < len(batch.tours) / attempts < most


def test_what_a_tour_took_is_counted_from_the_end_of_the_one_before():
    batch, found = batch_of(greedy((7, 7), tours=500, failures=1_000), 0, tours=500)
    assert (len(batch.tours), found.given_up) == (500, 0)
    placements, attempts, nanoseconds = batch.efforts.T
    assert np.array_equal(placements, np.diff(batch.iterations, prepend=0))
    assert attempts.sum() == 500 + found.dead_ends
    assert np.array_equal(attempts == 1, placements == 49)
    assert (nanoseconds > 0).all()


@pytest.mark.parametrize(("size", "start"), [((5, 5), 2), ((7, 7), 0), ((7, 7), 48)], ids=str)
@pytest.mark.parametrize("failures", [1, 2, 3])
def test_a_tour_is_given_up_after_so_many_failures_and_counts_as_one_of_the_tours(size, start, failures):
    squares = size[0] * size[1]
    batch, found = batch_of(greedy(size, tours=400, failures=failures), start, tours=400)
    placements, attempts, _ = batch.efforts.T
    assert len(batch.tours) + found.given_up == 400
    assert found.given_up > 0
    assert ((attempts >= 1) & (attempts <= failures)).all()
    assert found.dead_ends == (attempts - 1).sum() + failures * found.given_up
    assert (placements <= np.diff(batch.iterations, prepend=0)).all()
    assert (placements[attempts == 1] == squares).all()
    assert (placements[attempts > 1] > squares).all()
    if failures == 1:
        assert placements.sum() < found.iterations


@pytest.mark.parametrize("variant", VARIANTS)
def test_tours_with_random_ties_are_of_the_variant_that_is_asked_for(variant):
    batch, found = batch_of(greedy((6, 6), variant=variant, tours=300), 14, tours=300)
    assert len(batch.tours) + found.given_up == 300
    assert set(are_closed(Board(6, 6), batch.tours).tolist()) == {
        "open": {False}, "closed": {True}, "both": {False, True}
    }[variant]  # fmt: skip


def test_the_attempts_for_both_variants_are_those_for_each():
    """What is asked for decides which tours are kept, not which way the knight goes."""
    every = batch_of(greedy((6, 6), failures=1, tours=300), 14, tours=300)[0]
    for closed in (False, True):
        kept = batch_of(
            greedy((6, 6), failures=1, tours=300, variant=("open", "closed")[closed]), 14, tours=300
        )[0]  # fmt: skip
        assert np.array_equal(kept.tours, every.tours[every.closed == closed])
        assert np.array_equal(kept.iterations, every.iterations[every.closed == closed])


@given(
    size=st.sampled_from([(1, 1), (3, 4), (5, 5), (5, 6), (6, 6), (7, 7), (8, 8), (3, 10), (9, 9)]),
    start=st.integers(0, 80),
    ties=st.sampled_from(["random", "random", "random", "lowest", "roth"]),
    variant=st.sampled_from(VARIANTS),
    only=st.sampled_from(["", "", "structured", "symmetric"]),
    failures=st.integers(1, 4),
    seed=st.integers(0, 10**18),
    slice_iterations=st.integers(1, 300),
    slice_tours=st.integers(1, 12),
    limit=st.integers(1, 2_500),
    tours=st.integers(0, 30),
)
@settings(max_examples=120)
def test_greedy_in_any_slicing_finds_the_same_after_as_many_placements(
    size, start, ties, variant, only, failures, seed, slice_iterations, slice_tours, limit, tours
):
    start %= size[0] * size[1]
    values = {"ties": ties, "variant": variant, "only": only, "failures": failures, "seed": seed, "max": limit}
    whole, found = batch_of(greedy(size, **values), start, tours=tours or 10**6)
    config = greedy(size, tours=tours, slice_iterations=slice_iterations, slice_tours=slice_tours, **values)
    assert_same_in_slices(config, start, whole, found)


def test_the_orderings_of_squirrel_and_cull_are_permutations_and_end_on_squares_of_the_board():
    for side in range(5, 140):
        orderings, ends = orderings_of(Board(side, side))
        assert (np.sort(orderings, axis=1) == np.arange(8)).all()
        assert len(orderings) == len(ends)
        assert ends[-1] == -1
        assert (ends[:-1] < side * side).all()
        assert side < 16 or (ends[:-1] >= 0).all()


def test_squirrels_orderings_make_a_tour_from_the_corner_of_every_board_up_to_72():
    """They were published for every size; we know of one where they fail, 74."""
    failed = [side for side in range(5, 81) if batch_of(greedy((side, side), ties="squirrel"), 0)[1].given_up]
    assert failed == [74]


def test_squirrels_tours_obey_warnsdorffs_rule():
    for side in (5, 6, 7, 8, 9, 10, 11, 12, 29):
        tours = batch_of(greedy((side, side), ties="squirrel"), 0)[0].tours
        assert reference.obeys_warnsdorff(side, side, tours[0].tolist())
        assert are_complete(Board(side, side), tours).all()


def test_roths_rule_makes_a_tour_from_the_corner_of_every_board_up_to_60():
    assert [side for side in range(5, 61) if batch_of(greedy((side, side), ties="roth"), 0)[1].given_up] == []


@pytest.mark.slow
def test_roths_rule_fails_on_289():
    batch, found = batch_of(greedy((289, 289), ties="roth", failures=1), 0)
    assert (len(batch.tours), found.given_up, found.iterations) == (0, 1, 289 * 289 - 6)


# ---------------------------------------------------------------------------------------------------------------------
# A board without its last corner.


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("strategy", ["warnsdorff", "backtrack"])
@pytest.mark.parametrize("prune", [True, False])
def test_without_a_corner_the_tours_are_those_of_brute_force(strategy, prune, kernel):
    """5x5 has 30 cycles then: 60 closed tours from a1."""
    every = reference_backtracking((5, 5), 0, MOVE_ORDER, 10**18, 24)
    for variant in VARIANTS:
        expected = [(iteration, tour) for iteration, tour in every if is_wanted((5, 5), tour, variant)]
        config = config_for((5, 5), missing_corner=True, variant=variant, strategy=strategy, prune=prune)
        batch, found = batch_of(config, 0, kernel)
        assert found.ended == EXHAUSTED
        assert sorted(batch.tours.tolist()) == sorted(tour for _, tour in expected)
        assert variant != "closed" or len(batch.tours) == 60
        if strategy == "backtrack":
            assert batch.tours.tolist() == [tour for _, tour in expected]
            assert prune or batch.iterations.tolist() == [iteration for iteration, _ in expected]


@pytest.mark.parametrize(
    ("size", "variant", "missing"),
    [
        *((size, variant, False) for size in [(3, 4), (4, 5), (3, 7), (5, 5)] for variant in ("open", "both")),
        *((size, variant, False) for size in [(3, 10), (5, 6)] for variant in VARIANTS),
        *(((5, 5), variant, True) for variant in VARIANTS),
    ],
    ids=str,
)
def test_no_tour_starts_on_a_square_that_the_plan_calls_infeasible(size, variant, missing):
    config = config_for(size, variant=variant, missing_corner=missing)
    found = {
        job: len(batch_of(config, job.start)[0].tours) for job in make_plan(config) if job.start != config.board.missing
    }
    assert [config.board.name(job.start) for job, tours in found.items() if tours and job.infeasible] == []
    if min(size) >= 5:
        assert [config.board.name(job.start) for job, tours in found.items() if not tours and not job.infeasible] == []


# ---------------------------------------------------------------------------------------------------------------------
# Whole runs.


RUNS = {
    "warnsdorff": {"board": Board(6, 6), "start": "a1,c3", "max": 4_000, "slice_iterations": 700, "slice_tours": 150},
    "backtrack": {"board": Board(5, 5), "strategy": "backtrack", "prune": False, "start": "a1,c3", "max": 90_000,
                  "slice_iterations": 20_000, "slice_tours": 10, "move_order": ORDERS["mixed"]},
    "backtrack pruned": {"board": Board(6, 6), "strategy": "backtrack", "prune": True, "start": "b2", "max": 60_000,
                         "slice_iterations": 11_000},
    "greedy": {"board": Board(7, 8), "strategy": "greedy", "start": "a1,d4", "tours": 200, "max": 0, "failures": 2,
               "slice_iterations": 2_000, "slice_tours": 30},
    "greedy roth": {"board": Board(7, 7), "strategy": "greedy", "ties": "roth", "slice_iterations": 20},
    "greedy symmetric": {"board": Board(6, 6), "strategy": "greedy", "variant": "closed", "only": "symmetric",
                         "start": "c3,d3", "max": 30_000, "slice_tours": 7},
    "divide": {"board": Board(6, 6), "strategy": "divide", "start": "all", "slice_tours": 1},
    "divide without a corner": {"board": Board(7, 5), "strategy": "divide", "variant": "closed", "start": "a1,b2",
                                "missing_corner": True},
    "without a corner": {"board": Board(5, 5), "missing_corner": True, "start": "a1,d3", "slice_tours": 50},
    "structured": {"board": Board(6, 6), "only": "structured", "start": "a1", "max": 20_000, "slice_tours": 100},
}  # fmt: skip
each_run = pytest.mark.parametrize("name", RUNS)


def config_of(name, folder, **values):
    return config_for((8, 8), **{"variant": "both", "output": str(folder), **RUNS[name], **values})


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A function that makes each run once, in this process."""

    @cache
    def made(name):
        folder = tmp_path_factory.mktemp("runs") / "run"
        return folder, run_serially(config_of(name, folder))

    return made


@each_run
def test_a_run_of_each_strategy_is_sound_and_complete(done, name):
    folder, report = done(name)
    verdict = verify(Run(folder))
    total = report.totals
    assert verdict.damage == []
    assert verdict.complete
    assert report.complete
    assert verdict.tours == total["tours_open"] + total["tours_closed"] > 0
    assert (verdict.repeats > 0) <= (name in ("greedy", "greedy symmetric"))


@each_run
def test_the_manifest_gives_back_the_config_of_the_run(done, name):
    folder, report = done(name)
    config = Run(folder).config
    assert identity_of(config) == identity_of(report.config)
    assert config.board == report.config.board
    assert make_plan(config) == make_plan(report.config)


WITH_WORKERS = [
    "greedy",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("backtrack", "divide", "without a corner")),
]


@pytest.mark.parametrize("name", WITH_WORKERS)
def test_processes_write_the_same_parts_as_one_process(done, name, tmp_path):
    folder, report = done(name)
    other = run_serially(config_of(name, tmp_path / "run", executor="processes", workers=2))
    assert part_sums(tmp_path / "run") == part_sums(folder) != {}
    assert counted(other.summary) == counted(report.summary)
    assert damage(tmp_path / "run") == []
    assert times_without_clock(tmp_path / "run") == times_without_clock(folder)


def counted(summary, *but):
    """A summary without what the clock says, and without what is a sample of each batch."""
    clocks = ("first_seconds", "search_seconds", "write_seconds", "shared_squares", "neighbours", *but)
    rows = [{key: value for key, value in row.items() if key not in clocks} for row in summary.to_pylist()]
    for row in rows:
        row.pop("bytes")  # the sizes of times differ
    return rows


def times_without_clock(folder):
    return Run(folder).times().drop_columns("seconds").to_pylist()


@each_run
def test_other_slices_give_the_same_tours_and_counts(done, name, tmp_path):
    folder, report = done(name)
    config = config_of(name, tmp_path / "run", slice_iterations=3_333, slice_tours=70)
    other = run_serially(config)
    assert rows_of(tmp_path / "run") == rows_of(folder)
    assert times_without_clock(tmp_path / "run") == times_without_clock(folder)
    assert counted(other.summary, "parts") == counted(report.summary, "parts")
    assert damage(tmp_path / "run") == []


def rows_of(folder):
    return duckdb.sql(
        f"select variant, start, iteration, tour, structured, symmetry from '{folder}/tours/**/*.parquet'"
        " order by variant, start, iteration"
    ).fetchall()


@pytest.mark.parametrize(
    "steps",
    [
        [{"tours": 1}, {"tours": 29}, {"tours": 30}, {"tours": 31}, {"tours": 200}],
        [{"max": 1}, {"max": 1_999}, {"max": 2_001}, {"max": 7_000}, {"tours": 200}],
        [{"tours": 50, "max": 900}, {"tours": 60, "max": 9_000}, {"tours": 200}],
    ],
    ids=["tours", "max", "both"],
)
def test_a_greedy_run_that_was_extended_has_the_same_parts_as_one_made_at_once(done, steps, tmp_path):
    folder, report = done("greedy")
    for step in steps:
        values = {"tours": 0, "max": 0, **step}
        last = run_serially(config_of("greedy", tmp_path / "run", **values))
        for row in last.summary.to_pylist():
            tries = row["tours_open"] + row["tours_closed"] + row["given_up"]
            assert tries == values["tours"] or row["iterations"] == values["max"]
            assert row["finished"]
        assert damage(tmp_path / "run") == []
    assert part_sums(tmp_path / "run") == part_sums(folder)
    assert times_without_clock(tmp_path / "run") == times_without_clock(folder)
    assert counted(last.summary) == counted(report.summary)


@pytest.mark.parametrize("name", ["backtrack", "divide", "structured", "greedy roth"])
def test_other_runs_that_were_extended_have_the_same_parts_too(done, name, tmp_path):
    folder, report = done(name)
    whole = config_of(name, folder)
    for tours in (1, 2, 0):
        last = run_serially(config_of(name, tmp_path / "run", tours=tours))
        assert damage(tmp_path / "run") == []
    assert whole.tours == 0
    assert part_sums(tmp_path / "run") == part_sums(folder)
    assert counted(last.summary) == counted(report.summary)


def test_there_is_a_time_for_each_tour_of_a_greedy_run(done):
    folder, report = done("greedy")
    run = Run(folder)
    rows, *starts = report.totals, *report.summary.to_pylist()
    assert run.times().num_rows == rows["tours_open"] + rows["tours_closed"]
    for row in starts:
        times = run.times(row["start"]).to_pydict()
        iterations = sorted(
            iteration
            for part in run.parts(row["start"])
            for batch in run.read_part(part)
            for iteration in batch.iterations
        )
        assert times["iteration"] == iterations
        assert all(seconds > 0 for seconds in times["seconds"] if seconds is not None)
        assert sum(filter(None, times["seconds"])) < row["search_seconds"]
        # Only a tour on which a slice of iterations ended was begun in another slice.
        assert times["seconds"].count(None) <= row["iterations"] // 2_000
        attempts, placements = np.array(times["attempts"]), np.array(times["placements"])
        assert row["dead_ends"] == (attempts - 1).sum() + 2 * row["given_up"]
        assert ((placements == 56) == (attempts == 1)).all()
        assert placements.sum() <= row["iterations"]


@pytest.mark.parametrize(
    ("column", "value"),
    [("placements", 63), ("placements", 10**6), ("attempts", 0), ("attempts", 6), ("seconds", -1.0)],
)
def test_times_that_cannot_be_are_found_even_if_every_checksum_fits(column, value, tmp_path):
    """An attempt has at most 64 placements, a tour at most 5 attempts, and it begins where the one before ended."""
    config = greedy((8, 8), start="a1", tours=20, output=str(tmp_path))
    run_serially(config)
    times = Run(tmp_path).times().to_pydict()
    times[column][3] = value
    replace_times(tmp_path, pa.table(times, schema=times_schema(config)))
    run_serially(config)  # renews the summary, which tells the size of the parts
    assert any(TIMES in line for line in damage(tmp_path))


def replace_times(folder, table):
    """Put other times into the only slice of a run, and make its record fit."""
    [path] = (folder / "_run" / "commits").iterdir()
    record = unseal(path.read_bytes(), "record")
    entry = next(part for part in record["parts"] if part["holds"] == TIMES)
    (folder / entry["name"]).unlink()
    writer = PartWriter(times_schema(Run(folder).config))
    writer.write(table.combine_chunks().columns)
    data = bytes(writer.close())
    checksum = hashlib.sha256(data).hexdigest()
    name = re.sub("[0-9a-f]{16}(?=.parquet)", checksum[:16], entry["name"])
    entry.update(name=name, bytes=len(data), sha256=checksum)
    (folder / name).write_bytes(data)
    path.write_bytes(seal(record))


def test_the_same_times_written_again_are_no_damage(tmp_path):
    config = greedy((8, 8), start="a1", tours=20, output=str(tmp_path))
    run_serially(config)
    replace_times(tmp_path, Run(tmp_path).times())
    run_serially(config)
    assert damage(tmp_path) == []


def test_the_time_of_a_tour_is_unknown_if_it_was_begun_in_another_slice(tmp_path):
    run_serially(greedy((8, 8), start="a1", max=20_000, slice_iterations=1_000, output=str(tmp_path)))
    times = Run(tmp_path).times().to_pylist()
    for row in times:
        began = row["iteration"] - row["placements"]
        assert (row["seconds"] is None) == (began // 1_000 < (row["iteration"] - 1) // 1_000)
    assert 10 < sum(row["seconds"] is None for row in times) < 20


def test_slices_of_tours_leave_no_time_unknown(tmp_path):
    run_serially(greedy((8, 8), start="a1", tours=100, slice_tours=9, output=str(tmp_path)))
    assert Run(tmp_path).times().column("seconds").null_count == 0
    assert Run(tmp_path).times().num_rows == 100


def test_runs_of_other_strategies_have_no_times(done):
    for name in ("warnsdorff", "divide"):
        folder, _ = done(name)
        assert not (folder / TIMES).exists()
        assert Run(folder).times().num_rows == 0


def test_duckdb_and_polars_read_the_kinds_of_tours_and_can_choose_by_them(done):
    for name in ("greedy symmetric", "structured", "without a corner"):
        folder, report = done(name)
        total, tours = report.totals, f"{folder}/tours/**/*.parquet"
        types = {row[0]: row[1] for row in duckdb.sql(f"describe select * from '{tours}'").fetchall()}
        assert (types["structured"], types["symmetry"]) == ("BOOLEAN", "VARCHAR")
        frame = pl.read_parquet(tours)
        assert frame.schema["structured"] == pl.Boolean
        assert set(frame["symmetry"].cast(pl.String).unique()) <= set(SYMMETRIES)
        for condition, column in (("structured", "structured"), ("symmetry = 'closed-180'", "closed_180")):
            assert duckdb.sql(f"select count(*) from '{tours}' where {condition}").fetchall() == [(total[column],)]
        lazy = pl.scan_parquet(tours)
        assert lazy.filter(pl.col("structured")).collect().height == total["structured"]
        assert lazy.filter(pl.col("symmetry") == "closed-180").collect().height == total["closed_180"]
        assert lazy.filter(pl.col("symmetry") != "none").collect().height == sum(
            total[kind.replace("-", "_")] for kind in SYMMETRIES[1:]
        )


def test_duckdb_and_polars_read_the_times_and_can_join_them_to_the_tours(done):
    folder, report = done("greedy")
    total = report.totals
    [joined] = duckdb.sql(
        f"select count(*), min(seconds) > 0 from '{folder}/times/**/*.parquet' join '{folder}/tours/**/*.parquet'"
        " using (start, iteration)"
    ).fetchall()
    assert joined == (total["tours_open"] + total["tours_closed"], True)
    frame = pl.read_parquet(f"{folder}/times/**/*.parquet")
    assert frame.schema == {"iteration": pl.Int64, "placements": pl.Int64, "attempts": pl.Int64, "seconds": pl.Float64}
    assert frame.height == joined[0]


# ---------------------------------------------------------------------------------------------------------------------
# Divide and conquer, as a run.


def divide(folder, size, **values):
    return config_for(size, **{"strategy": "divide", "start": "a1", "output": str(folder), **values})


def test_divide_makes_one_tour_of_each_variant_from_every_square(done):
    folder, report = done("divide")
    rows = report.summary.to_pylist()
    assert {(row["tours_open"], row["tours_closed"]) for row in rows} == {(1, 1)}
    assert {(row["iterations"], row["exhausted"], row["dead_ends"]) for row in rows} == {(72, True, 0)}
    assert {row["first_iteration"] for row in rows} == {36}
    slices_of = Counter(name.split("/")[-1][:6] for name in run_files(folder) if name.startswith("_run/commits/"))
    assert set(slices_of.values()) == {2}


@pytest.mark.parametrize(
    ("size", "values", "expected"),
    [
        ((7, 7), {"variant": "open"}, (1, 0)),
        ((7, 7), {"variant": "both"}, (1, 0)),
        ((7, 7), {"variant": "closed", "missing_corner": True}, (0, 1)),
        ((12, 13), {"variant": "open"}, (1, 0)),
        ((12, 13), {"variant": "closed"}, (0, 1)),
        ((12, 13), {"variant": "both", "only": "structured"}, (1, 1)),
        ((300, 300), {"variant": "both"}, (1, 1)),
        ((301, 257), {"variant": "closed", "missing_corner": True, "start": "a1,c3"}, (0, 2)),
    ],
    ids=str,
)
def test_divide_makes_the_tours_that_exist(size, values, expected, tmp_path):
    config = divide(tmp_path, size, **values)
    total = run_serially(config).totals
    assert (total["tours_open"], total["tours_closed"], total["exhausted"]) == (*expected, True)
    run = Run(tmp_path)
    assert {batch.dtype.itemsize for batch in run.tours()} == {1 if size[0] < 16 else 4}
    assert verify(run).damage == []
    assert not run_serially(config).worked


@pytest.mark.parametrize("only", ["structured", "symmetric"])
def test_divide_leaves_out_what_is_not_of_the_kind(done, only, tmp_path):
    folder, _ = done("divide")
    report = run_serially(config_of("divide", tmp_path / "run", only=only))
    place = {"structured": 4, "symmetric": 5}[only]
    expected = [row for row in rows_of(folder) if row[place] not in (False, "none")]
    total = report.totals
    assert len(expected) == total["tours_open"] + total["tours_closed"] == 72 - total["left_out"]
    assert expected == (rows_of(tmp_path / "run") if expected else [])
    assert damage(tmp_path / "run") == []


def test_divide_has_all_the_placements_that_its_tours_take_or_is_refused(tmp_path):
    """Both tours of 6x6 take 72 placements, and 5x5 has no closed one."""
    for size, least in (((6, 6), 72), ((5, 5), 25)):
        report = run_serially(divide(tmp_path / str(least), size, variant="both", max=least))
        assert report.totals["iterations"] == least
        with pytest.raises(BadRequest, match=f"divide places all {least} squares: --max {least - 1} is too few"):
            run_serially(divide(tmp_path / "less", size, variant="both", max=least - 1))


# ---------------------------------------------------------------------------------------------------------------------
# Large boards.


@pytest.mark.slow  # each compiles a kernel for four bytes
@pytest.mark.parametrize(
    "values",
    [
        {"strategy": "warnsdorff", "max": 70_000},
        {"strategy": "greedy", "ties": "roth", "variant": "both"},
        {"strategy": "greedy", "ties": "random", "variant": "both", "max": 150_000},
        {"strategy": "backtrack", "prune": False, "max": 30_000},
    ],
    ids=lambda values: "-".join(map(str, values.values())),
)
def test_searches_of_boards_with_four_bytes_a_square_go_on_from_their_cursors(values, tmp_path):
    config = config_for((260, 256), start="a1", output=str(tmp_path / "at once"), **values)
    sliced = config_for((260, 256), start="a1", output=str(tmp_path / "sliced"), slice_iterations=19_999, **values)
    one, other = run_serially(config), run_serially(sliced)
    assert counted(one.summary, "parts") == counted(other.summary, "parts")
    assert damage(tmp_path / "at once") == damage(tmp_path / "sliced") == []
    assert (values.get("ties") == "roth") == bool(one.totals["tours_open"])


# ---------------------------------------------------------------------------------------------------------------------
# Tours that are counted and not written.


@each_run
def test_a_run_that_only_counts_says_the_same_and_writes_no_part(done, name, tmp_path):
    _, report = done(name)
    config = config_of(name, tmp_path / "run", write=False)
    counts = run_serially(config)
    assert counted(counts.summary, "parts") == counted(report.summary, "parts")
    assert {(row["parts"], row["bytes"]) for row in counts.summary.to_pylist()} == {(0, 0)}
    assert not (tmp_path / "run" / "tours").exists()
    assert not (tmp_path / "run" / TIMES).exists()
    verdict = verify(Run(tmp_path / "run"))
    assert (verdict.damage, verdict.complete, verdict.tours) == ([], True, 0)
    assert not run_serially(config).worked


# ---------------------------------------------------------------------------------------------------------------------
# Settings.


def planned(values):
    return make_plan(resolve(values))


def refusal(values, make=planned):
    with pytest.raises(BadRequest) as caught:
        make(values)
    line = str(caught.value)
    assert line
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("values", "wrong", "instead"),
    [
        ({"strategy": "divide", "size": "4x5"}, "divide needs both sides to be at least 5, got 4x5", "warnsdorff"),
        ({"strategy": "divide", "size": "3x10"}, "divide needs both sides to be at least 5, got 3x10", "warnsdorff"),
        ({"strategy": "divide", "size": 7, "variant": "closed"}, "odd number of squares: 7x7", "--variant open"),
        ({"strategy": "divide", "size": 7, "missing-corner": True}, "board without a corner", "--variant closed"),
        ({"strategy": "divide", "size": 8, "max": 63}, "places all 64 squares: --max 63", "leave it out"),
        ({"strategy": "divide", "size": 600, "start": "all"}, "more than 262,144 squares", "such as a1"),
        ({"strategy": "divide", "size": 600, "start": "classes"}, "more than 262,144 squares", "such as a1"),
        ({"strategy": "divide", "size": "5x8", "start": "b3"}, "next to two corners", "--variant closed or both"),
        ({"strategy": "warnsdorff", "size": 513}, "262,144 squares (512x512), got 513x513", "--strategy divide"),
        ({"strategy": "backtrack", "size": "5x60000"}, "at most 262,144 squares", "--strategy divide"),
        ({"strategy": "greedy", "size": 513}, "at most 262,144 squares", "--strategy divide"),
        ({"strategy": "greedy", "max": 0}, "never ends without a limit", "--max or --tours"),
        ({"strategy": "greedy", "ties": "roth", "failures": 1}, "--ties roth is deterministic", "--ties random"),
        ({"strategy": "greedy", "ties": "squirrel", "size": "5x6"}, "needs a square board, got 5x6", "--ties roth"),
        ({"size": 5, "missing-corner": True, "start": "e5"}, "this corner is missing: 'e5'", "another square"),
        ({"size": 8193, "strategy": "divide"}, "at most 67,108,864 squares", "8192x8192"),
    ],
    ids=str,
)  # fmt: skip
def test_what_a_strategy_cannot_do_is_refused_in_one_line_with_what_can(values, wrong, instead):
    line = refusal(values)
    assert wrong in line
    assert instead in line.partition(wrong)[2] or instead in line


@pytest.mark.parametrize("size", ["6", "5x6", "8"])
def test_a_board_that_cannot_lack_a_corner_is_not_told_to_be_larger(size):
    line = refusal({"size": size, "missing-corner": True})
    assert "a corner may be missing where both sides are odd and at least 5" in line
    assert "larger" not in line


@pytest.mark.parametrize(
    ("strategy", "key", "value", "who"),
    [
        ("warnsdorff", "ties", "roth", "only to greedy"),
        ("warnsdorff", "failures", 3, "only to greedy"),
        ("warnsdorff", "move-order", MOVE_ORDER, "only to backtrack"),
        ("backtrack", "ties", "roth", "only to greedy"),
        ("backtrack", "failures", 3, "only to greedy"),
        ("greedy", "prune", True, "only to warnsdorff and backtrack"),
        ("greedy", "h-prob", 0.5, "only to warnsdorff and backtrack"),
        ("greedy", "move-order", MOVE_ORDER, "only to backtrack"),
        ("divide", "prune", False, "only to warnsdorff and backtrack"),
        ("divide", "h-prob", 0.5, "only to warnsdorff and backtrack"),
        ("divide", "ties", "lowest", "only to greedy"),
        ("divide", "failures", 1, "only to greedy"),
        ("divide", "move-order", MOVE_ORDER, "only to backtrack"),
    ],
)
def test_a_setting_of_another_strategy_is_refused_and_its_owner_is_named(strategy, key, value, who):
    assert refusal({"strategy": strategy, key: value}) == f"--{key} does not apply to --strategy {strategy}, {who}"


@pytest.mark.parametrize(
    ("key", "word", "meant"),
    [
        ("strategy", "warnsdorf", "warnsdorff"),
        ("strategy", "bactrack", "backtrack"),
        ("strategy", "gready", "greedy"),
        ("strategy", "divde", "divide"),
        ("ties", "rot", "roth"),
        ("ties", "lowst", "lowest"),
        ("ties", "squirel", "squirrel"),
        ("only", "structred", "structured"),
        ("only", "symetric", "symmetric"),
    ],
)
def test_a_misspelt_word_gets_a_hint(key, word, meant):
    values = {key: word, **({"strategy": "greedy"} if key == "ties" else {})}
    line = refusal(values, resolve)
    assert line.startswith(f"{key} must be ")
    assert line.endswith(f"{word!r}; did you mean {meant!r}?")


@pytest.mark.parametrize(
    ("key", "meant"),
    [("moveorder", "move-order"), ("move_order", "move-order"), ("failure", "failures"), ("tie", "ties"),
     ("strategie", "strategy"), ("missing_corner", "missing-corner"), ("no-write", "write"), ("onyl", "only")],
)  # fmt: skip
def test_a_misspelt_key_gets_a_hint(key, meant):
    assert refusal({key: "x"}, resolve) == f"unknown key: {key!r}; did you mean {meant!r}?"


@pytest.mark.parametrize(
    "order",
    [
        "",
        "2,1",
        "2,1 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2",
        "2,1 2,1 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1",
        "2,1 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1 2,1",
        "2,2 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1",
        "3,1 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1",
        "2,1 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1 x",
        "a b c d e f g h",
        "2;1 1;2 -1;2 -2;1 -2;-1 -1;-2 1;-2 2;-1",
        "2.1 1.2",
        "2,12 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1",
        "12,1 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1",
        "2,1 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1 1",
        "2,1 1,2 --1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1",
    ],
)
def test_a_list_that_is_not_one_of_the_eight_moves_is_refused_and_shown(order):
    line = refusal({"strategy": "backtrack", "move-order": order}, resolve)
    assert line == f"move-order must list the eight moves, such as {MOVE_ORDER!r}, got {order!r}"


def test_the_same_moves_with_other_spaces_are_the_same_search():
    said = "  2,1  1,2 -1,2\t-2,1\n-2,-1 -1,-2 1,-2 2,-1\n"
    assert resolve({"strategy": "backtrack", "move-order": said}) == resolve({"strategy": "backtrack"})


@pytest.mark.parametrize("words", [["--move-order", ORDERS["ascending"]], [f"--move-order={ORDERS['ascending']}"]])
def test_an_order_that_begins_with_a_minus_can_be_given_as_a_flag(words, capsys):
    """Half of all orders do."""
    assert main(["plan", "--size", "5", "--start", "a1", "--strategy", "backtrack", *words]) == 0
    assert "open-5x5-a1-backtrack-order" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["--strategy", "greedy", "--failures", "2"], "open-8x8-greedy-random-failures2"),
        (["--strategy", "greedy", "--ties", "roth", "--max", "0"], "open-8x8-greedy-roth"),
        (["--strategy", "divide", "--size", "100"], "open-100x100-divide"),
        (["--no-write", "--only", "symmetric", "--start", "a1"], "open-8x8-a1-symmetric-counted"),
        (["--missing-corner", "--size", "5", "--variant", "closed"], "closed-5x5-without-corner"),
        (["--strategy", "backtrack", "--prune"], "open-8x8-backtrack-pruned"),
        (["--no-prune"], "open-8x8-plain"),
    ],
)
def test_flags_of_the_strategies_lead_to_their_folder(words, place, capsys):
    assert main(["plan", *words]) == 0
    assert f"output/{place}" in capsys.readouterr().out.split()


def test_a_file_sets_every_key_of_the_strategies(tmp_path):
    path = tmp_path / "some.toml"
    for text, expected in [
        (
            f'strategy = "backtrack"\nmove-order = "{ORDERS["mixed"]}"\nonly = "structured"\nwrite = false\nsize = 7\n'
            'missing-corner = true\nvariant = "closed"\nprune = true',
            Config.checked(
                board=Board(7, 7), missing_corner=True, strategy="backtrack", move_order=ORDERS["mixed"], prune=True,
                only="structured", write=False, variant="closed",
            ),
        ),
        (
            'strategy = "greedy"\nties = "pohl"\nfailures = 9\nonly = ""',
            Config.checked(strategy="greedy", ties="pohl", failures=9),
        ),
        (
            'strategy = "divide"\nsize = "40x50"',
            Config.checked(board=Board(40, 50), strategy="divide", start="a1", max=0),
        ),
    ]:  # fmt: skip
        path.write_text(text)
        assert replace(from_file({"config": str(path)}), output="") == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('strategy = "greedy"\nfailures = 0', "failures must be a whole number from 1"),
        ('strategy = "greedy"\nfailures = 1.5', "failures must be a whole number, got 1.5"),
        ('strategy = "greedy"\nties = 1', "ties must be a string, got 1"),
        ("strategy = true", "strategy must be a string, got True"),
        ('write = "no"', "write must be true or false, got 'no'"),
        ("missing-corner = 1", "missing-corner must be true or false, got 1"),
        ("only = false", "only must be a string, got False"),
        ('strategy = "backtrack"\nmove-order = [[2, 1]]', "move-order must be a string, got [[2, 1]]"),
        ('strategy = "greedy"\nprune = true', "--prune does not apply to --strategy greedy"),
    ],
)
def test_a_bad_key_of_a_strategy_in_a_file_is_refused_in_one_line(text, told, tmp_path):
    path = tmp_path / "some.toml"
    path.write_text(text)
    with pytest.raises(BadRequest) as caught:
        from_file({"config": str(path)})
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("warnsdorff", {"prune": True, "start": "all", "max": 500_000}),
        ("backtrack", {"prune": False, "start": "all", "max": 500_000, "move_order": MOVE_ORDER}),
        ("greedy", {"start": "all", "max": 500_000, "ties": "random", "failures": 5}),
        ("divide", {"start": "a1", "max": 0}),
    ],
)
def test_what_is_not_said_depends_on_the_strategy(strategy, expected):
    config = resolve({"strategy": strategy})
    assert {name: getattr(config, name) for name in expected} == expected
    assert (config.tours, config.only, config.write, config.missing_corner) == (0, "", True, False)


COMMON = {"format", "search", "size", "missing-corner", "variant", "strategy", "start", "only", "write", "seed",
          "expand", "slice-iterations", "slice-tours"}  # fmt: skip


@pytest.mark.parametrize(
    ("strategy", "own"),
    [
        ("warnsdorff", {"prune", "h-prob", "split"}),
        ("backtrack", {"prune", "h-prob", "move-order", "split"}),
        ("greedy", {"ties", "failures"}),
        ("divide", set()),
    ],
)
def test_the_identity_has_the_keys_that_the_strategy_knows(strategy, own):
    assert set(identity_of(resolve({"strategy": strategy}))) == COMMON | own


def settings_of(strategy):
    """Settings that decide which tours a strategy finds, each with a few values."""
    squares = st.lists(st.sampled_from(["a1", "b2", "c3", "a3", "e1"]), min_size=1, max_size=3, unique=True)
    starts = st.sampled_from(["all", "classes", "random:3", "a1"]) | squares.map(",".join)
    keys = {
        "size": st.sampled_from(["5", "5x7", "7x5", "9", "11"]),
        "variant": st.sampled_from(VARIANTS),
        "start": starts,
        "only": st.sampled_from(["", "structured", "symmetric"]),
        "write": st.booleans(),
        "missing-corner": st.booleans(),
        "seed": st.integers(0, 3),
    }
    if strategy in ("warnsdorff", "backtrack"):
        keys |= {"prune": st.booleans(), "h-prob": st.sampled_from([0.0, 0.1, 0.5, 1.0])}
    if strategy == "backtrack":
        keys["move-order"] = st.sampled_from(list(ORDERS.values()))
    if strategy == "greedy":
        keys |= {"ties": st.sampled_from(["random", "lowest", "pohl"]), "failures": st.sampled_from([1, 5, 6])}
    return st.fixed_dictionaries({"strategy": st.just(strategy)}, optional=keys)


any_settings = st.sampled_from(["warnsdorff", "backtrack", "greedy", "divide"]).flatmap(settings_of)


@given(st.lists(any_settings, min_size=2, max_size=40))
@settings(max_examples=40)
def test_runs_with_different_tours_have_folders_with_different_names(every):
    configs = [resolve(values) for values in every]
    identities = {str(identity_of(config)) for config in configs}
    assert len({(config.output, str(identity_of(config))) for config in configs}) == len(identities)
    assert len({config.output for config in configs}) == len(identities)


@given(any_settings)
@settings(max_examples=100)
def test_a_config_is_rebuilt_from_the_identity_of_any_strategy(values):
    config = resolve(values)
    said = {key: value for key, value in identity_of(config).items() if key not in ("format", "search")}
    again = resolve({**said, "max": config.max, "tours": config.tours})
    assert identity_of(again) == identity_of(config)
    assert again.output == config.output
    assert again.board == config.board
