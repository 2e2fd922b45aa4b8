"""Every kernel on boards so small that it could run as plain Python. `./run.sh coverage` runs these without the
compiler, and so sees which lines and branches of the kernels they take.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from enumerate.catalog.distinct import count_distinct
from enumerate.model.board import Board
from enumerate.model.tour import SYMMETRIES
from enumerate.plan.sizes import sizes_of
from enumerate.studies.count.counting import count_cycles, count_paths
from enumerate.studies.estimate import Goal, estimate

from ..support import reference
from ..support.published import per_square, published
from ..support.runs import run_serially
from ..support.searches import batch_of, config_for, search, slices

KERNELS = ["bits", "array"]
PATHS = published("paths")
CYCLES = published("cycles")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("values", [{}, {"prune": False}, {"strategy": "backtrack"}, {"h_prob": 0.5}], ids=str)
def test_all_tours_of_3x4_are_found(values, kernel):
    config = config_for((3, 4), variant="both", **values)
    assert sum(len(search(config, start, kernel)[0]) for start in range(12)) == PATHS[3, 4]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("values", [{}, {"h_prob": 0.7}, {"strategy": "backtrack", "prune": True}], ids=str)
@pytest.mark.parametrize("variant", ["open", "both"])
def test_all_tours_of_5x5_from_its_corner_are_found(variant, values, kernel):
    config = config_for((5, 5), variant=variant, **values)
    assert len(search(config, 0, kernel)[0]) == per_square("per_start_5x5.csv")[0, 0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("values", [{}, {"h_prob": 0.3}, {"strategy": "backtrack", "prune": True}], ids=str)
def test_all_closed_tours_of_3x10_are_found_in_both_directions_and_of_the_right_kind(values, kernel):
    config = config_for((3, 10), variant="closed", **values)
    batch, _ = batch_of(config, 0, kernel)
    assert len(batch.tours) == 2 * CYCLES[3, 10]
    assert [SYMMETRIES[code] for code in batch.symmetry] == [
        reference.symmetry(3, 10, tour) for tour in batch.tours.tolist()
    ]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("only", ["structured", "symmetric"])
def test_only_tours_of_a_kind_are_kept(only, kernel):
    every, _ = batch_of(config_for((3, 10), variant="both"), 0, kernel)
    kept, found = batch_of(config_for((3, 10), variant="both", only=only), 0, kernel)
    assert len(kept.tours) == (every.structured if only == "structured" else every.symmetry > 0).sum()
    assert found.left_out == len(every.tours) - len(kept.tours)


@pytest.mark.parametrize("values", [{}, {"prune": False}, {"h_prob": 0.5}, {"missing_corner": True}], ids=str)
def test_slices_of_a_few_iterations_find_the_same(values):
    whole = search(config_for((5, 5), variant="both", max=700, **values), 0)[0].tolist()
    config = config_for((5, 5), variant="both", max=700, slice_iterations=97, slice_tours=11, **values)
    found = [tour for _, batches in slices(config, 0) for batch in batches for tour in batch.tours.tolist()]
    assert found == whole


@pytest.mark.parametrize("ties", ["random", "lowest", "pohl", "roth", "squirrel"])
@pytest.mark.parametrize("missing_corner", [False, True])
def test_greedy_tours_are_tours(ties, missing_corner):
    config = config_for((5, 5), variant="both", strategy="greedy", ties=ties, tours=4, missing_corner=missing_corner)
    tours = batch_of(config, 0, tours=4)[0].tours.tolist()
    assert len(tours) == (4 if ties == "random" else 1)
    for tour in tours:
        assert len(set(tour)) == config.board.length
        assert all(square in config.board.neighbours[before] for before, square in pairwise(tour))


@pytest.mark.parametrize(("size", "missing_corner", "variant", "tours"), [
    ((5, 5), False, "open", 1), ((6, 6), False, "both", 2), ((11, 12), False, "both", 2), ((13, 13), True, "closed", 1),
])  # fmt: skip
def test_divide_makes_tours(size, missing_corner, variant, tours):
    config = config_for(size, variant=variant, strategy="divide", start="a1", missing_corner=missing_corner)
    batch, _ = batch_of(config, 0, tours=4)
    assert len(batch.tours) == tours
    assert all(len(set(tour)) == config.board.length for tour in batch.tours.tolist())


@pytest.mark.parametrize("size", [(3, 4), (4, 3), (4, 5), (5, 5)], ids=str)
def test_counts_are_those_published(size):
    assert count_paths(Board(*size)) == PATHS[tuple(sorted(size))]


@pytest.mark.parametrize("size", [(3, 10), (10, 3), (5, 6)], ids=str)
def test_counts_of_closed_tours_are_those_published(size):
    assert count_cycles(Board(*size)) == CYCLES[tuple(sorted(size))]


@pytest.mark.parametrize("variant", ["open", "both"])
def test_an_estimate_is_near_the_number(variant):
    found = estimate(config_for((3, 4), variant=variant), Goal(descents=1))
    assert 0.5 * PATHS[3, 4] < found.tours < 2 * PATHS[3, 4]


@pytest.mark.parametrize(("size", "values"), [
    ((5, 5), {"variant": "both"}), ((3, 4), {"variant": "open", "prune": False}), ((3, 10), {"variant": "closed"}),
    ((3, 10), {"variant": "both"}), ((5, 5), {"variant": "both", "strategy": "backtrack", "prune": True}),
])  # fmt: skip
def test_the_size_of_a_search_is_near_what_it_takes(size, values):
    config = config_for(size, **values)
    sizes, tours = sizes_of(config, [(0,)], 400)
    every, _, _, found = search(config, 0)
    assert 0.3 < sizes[0] / found.iterations < 3
    assert 0.3 < tours[0] / len(every) < 3


def test_tours_that_are_alike_are_counted_once(tmp_path):
    run_serially(config_for((3, 10), variant="closed", output=str(tmp_path / "run"), start="once"))
    (closed,) = count_distinct(tmp_path / "run").variants
    assert (closed.classes, closed.found) == (6, CYCLES[3, 10])
