"""What kind a tour is: told by the kernels as they find it, by `tour` afterwards, and by the definition, all the
same."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.model.batch import batch_arrays
from enumerate.model.board import Board
from enumerate.model.jobs import EXHAUSTED, Job
from enumerate.model.tour import (
    SYMMETRIES,
    are_closed,
    are_complete,
    are_legal,
    are_structured,
    square_dtype,
    symmetries,
)
from enumerate.search.divide import Divide
from enumerate.search.strategy import strategy_of

from ..support import reference
from ..support.canonical import canonical
from ..support.runs import run_serially
from ..support.searches import batch_of, config_for

KERNELS = ("bits", "array")
WHOLE = [(3, 4), (4, 3), (4, 5), (5, 5), (3, 10), (10, 3), (5, 6)]  # every tour from every square
UNLIMITED = 10**17


def names(batch):
    return [SYMMETRIES[code] for code in batch.symmetry]


@cache
def all_tours(size, kernel, variant="both"):
    """Every directed tour of a board; of 6x6, the closed ones from a corner, which are all cycles in both
    directions."""
    starts = [0] if size == (6, 6) else range(size[0] * size[1])
    batches = [batch_of(config_for(size, variant=variant), start, kernel) for start in starts]
    assert {found.ended for _, found in batches} == {EXHAUSTED}
    tours, structured, symmetry = (
        np.concatenate([getattr(batch, name) for batch, _ in batches]) for name in ("tours", "structured", "symmetry")
    )
    return tours, structured, symmetry


@cache
def kinds_by_definition(size, variant="both"):
    tours = all_tours(size, "bits", variant)[0].tolist()
    return [(reference.is_structured(*size, tour), reference.symmetry(*size, tour)) for tour in tours]


EVERYTHING = [*((size, "both") for size in WHOLE), ((6, 6), "closed")]
everything = pytest.mark.parametrize(("size", "variant"), EVERYTHING, ids=str)


# ---------------------------------------------------------------------------------------------------------------------
# Against the definition, on every tour of small boards.


@pytest.mark.parametrize("kernel", KERNELS)
@everything
def test_the_kernels_know_every_tour_of_a_small_board_as_the_definition_does(size, variant, kernel):
    _, structured, symmetry = all_tours(size, kernel, variant)
    told = list(zip(structured.tolist(), [SYMMETRIES[code] for code in symmetry], strict=True))
    assert told == kinds_by_definition(size, variant)


@everything
def test_the_judge_knows_every_tour_of_a_small_board_as_the_definition_does(size, variant):
    board, tours = Board(*size), all_tours(size, "bits", variant)[0]
    told = zip(are_structured(board, tours).tolist(), symmetries(board, tours), strict=True)
    assert [(structured, SYMMETRIES[code]) for structured, code in told] == kinds_by_definition(size, variant)


@pytest.mark.parametrize("size", [(3, 4), (4, 5), (5, 5), (3, 10), (5, 6)], ids=str)
def test_no_map_of_the_board_but_a_half_turn_keeps_an_open_tour(size):
    for tour in symmetric_tours(size):
        assert reference.is_closed(*size, tour) or reference.kept_by(*size, tour) == {"half turn"}


def symmetric_tours(size, variant="both"):
    """Those that any map of the board but the identity keeps."""
    tours, kinds = all_tours(size, "bits", variant)[0].tolist(), kinds_by_definition(size, variant)
    return [tour for tour, (_, symmetry) in zip(tours, kinds, strict=True) if symmetry != "none"]


@pytest.mark.parametrize(
    ("size", "variant", "expected"),
    [
        ((3, 4), "both", {"none": 8, "path-180": 8}),
        ((5, 5), "both", {"none": 1_664, "path-180": 64}),
        ((5, 6), "both", {"none": 37_328, "closed-reflection": 4 * 60}),
        ((3, 10), "both", {"none": 5_544, "path-180": 72, "closed-180": 4 * 60, "closed-reflection": 4 * 60}),
        ((6, 6), "closed", {"none": 2 * 9_784, "closed-180": 2 * 68, "closed-90": 2 * 10}),
    ],
    ids=str,
)
def test_tours_of_each_symmetry_are_as_many_as_known(size, variant, expected):
    """A closed tour is found from each of its squares and in both directions: 60 times on a board of 30 squares."""
    assert Counter(SYMMETRIES[code] for code in all_tours(size, "array", variant)[2]) == expected


def test_a_tour_keeps_its_kind_whatever_symmetry_of_the_board_and_direction_it_is_seen_in():
    for size in [(5, 5), (3, 10), (6, 6)]:
        board = Board(*size)
        every = all_tours(size, "bits", "closed" if size == (6, 6) else "both")
        tours, structured, symmetry = (column[::4] for column in every)
        for image in board.symmetries:
            turned = np.asarray(image, dtype=tours.dtype)[tours]
            for seen in (turned, turned[:, ::-1]):
                assert np.array_equal(are_structured(board, seen), structured)
                assert np.array_equal(symmetries(board, seen), symmetry)


def test_a_closed_tour_keeps_its_kind_whatever_square_it_starts_on():
    board = Board(6, 6)
    tours, structured, symmetry = all_tours((6, 6), "bits", "closed")
    for shift in (1, 2, 17, 18, 35):
        turned = np.roll(tours, shift, axis=1)
        assert np.array_equal(are_structured(board, turned), structured)
        assert np.array_equal(symmetries(board, turned), symmetry)


# ---------------------------------------------------------------------------------------------------------------------
# Classes.


def test_the_closed_tours_of_6x6_fall_into_the_known_classes():
    """9,862 cycles, 1,245 classes; of these 17 are kept by a half turn and 5 by a quarter turn."""
    board = Board(6, 6)
    tours, _, symmetry = all_tours((6, 6), "bits", "closed")
    assert len(tours) == 2 * 9_862
    classes = canonical(board, tours)
    assert len(np.unique(classes, axis=0)) == 1_245
    for name, count, cycles in (("closed-180", 17, 68), ("closed-90", 5, 10), ("closed-reflection", 0, 0)):
        chosen = symmetry == SYMMETRIES.index(name)
        assert (len(np.unique(classes[chosen], axis=0)), chosen.sum() / 2) == (count, cycles)


def test_burnsides_count_of_the_classes_of_6x6_agrees():
    """As many classes as cycles are kept by a symmetry of the board, on average."""
    fixed = Counter()
    for tour in symmetric_tours((6, 6), "closed"):
        fixed.update(reference.kept_by(6, 6, tour))
    assert fixed == {"half turn": 2 * 78, "quarter turn": 2 * 10, "quarter turn back": 2 * 10}
    assert (9_862 + fixed.total() // 2) / 8 == 1_245


def test_as_few_classes_as_the_sets_of_moves_say():
    for size in [(3, 4), (4, 5), (5, 5), (3, 10)]:
        board, tours = Board(*size), all_tours(size, "bits")[0][::3]
        firsts = list(map(tuple, canonical(board, tours).tolist()))
        classes = [str(reference.class_of(*size, tour)) for tour in tours.tolist()]
        assert len(set(zip(firsts, classes, strict=True))) == len(set(firsts)) == len(set(classes))


@pytest.mark.parametrize(("size", "step"), [((3, 4), 1), ((5, 5), 7), ((3, 10), 41), ((5, 6), 499)], ids=str)
def test_the_canonical_tour_is_the_first_of_all_that_are_alike(size, step):
    tours = all_tours(size, "bits")[0][::step]
    expected = [min(reference.alike(*size, tour)) for tour in tours.tolist()]
    assert canonical(Board(*size), tours).tolist() == expected


def test_a_board_without_a_corner_has_two_symmetries_and_half_as_many_classes():
    """The diagonal through the missing corner is left: 30 cycles, each of which it maps to another one."""
    config = config_for((5, 5), variant="closed", missing_corner=True)
    tours = batch_of(config, 0)[0].tours
    assert len(tours) == 2 * 30
    firsts = canonical(config.board, tours)
    assert len(np.unique(firsts, axis=0)) == 15
    assert are_complete(config.board, firsts).all()
    assert are_legal(config.board, firsts).all()


# ---------------------------------------------------------------------------------------------------------------------
# Kernels against the judge on larger boards.


def assert_judged_alike(config, batch):
    board = config.board
    assert np.array_equal(batch.closed, are_closed(board, batch.tours))
    assert np.array_equal(batch.structured, are_structured(board, batch.tours))
    assert np.array_equal(batch.symmetry, symmetries(board, batch.tours))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("variant", ["open", "closed"])
@pytest.mark.parametrize("size", [(5, 6), (6, 7), (6, 9), (8, 8)], ids=str)
def test_tours_in_shuffled_order_are_judged_alike(size, variant, kernel):
    seen = 0
    for seed in range(6):
        config = config_for(size, variant=variant, h_prob=0.3, seed=seed, max=60_000)
        batch, _ = batch_of(config, seed * 5 % 30, kernel, tours=3_000)
        assert_judged_alike(config, batch)
        seen += len(batch.tours)
    assert seen > 50


@pytest.mark.parametrize("variant", ["open", "closed"])
@pytest.mark.parametrize("size", [(5, 6), (6, 6), (6, 7), (6, 9), (8, 8), (9, 10), (12, 12), (18, 17)], ids=str)
def test_greedy_tours_are_judged_alike(size, variant):
    config = config_for(size, variant=variant, strategy="greedy", failures=50, tours=1_500)
    batch, _ = batch_of(config, 2 * size[1] + 2, tours=1_500)
    assert len(batch.tours) > 100
    assert_judged_alike(config, batch)
    assert set(names(batch)) > {"none"} or size not in ((5, 6), (6, 6)) or variant == "open"


@pytest.mark.parametrize("strategy", ["warnsdorff", "backtrack", "greedy"])
@pytest.mark.parametrize("variant", ["open", "closed"])
def test_tours_without_a_corner_are_judged_alike_and_none_is_symmetric(variant, strategy):
    for size in [(5, 5), (5, 7), (7, 7), (9, 9)][: 1 if strategy == "backtrack" else 4]:
        extra = {"tours": 300, "failures": 50} if strategy == "greedy" else {"prune": True, "max": 100_000}
        config = config_for(size, variant=variant, missing_corner=True, strategy=strategy, **extra)
        batch, _ = batch_of(config, 2 * size[1] + 2, tours=300)
        assert len(batch.tours) > 0
        assert_judged_alike(config, batch)
        assert set(names(batch)) == {"none"}
        for tour, structured in zip(batch.tours[:30].tolist(), batch.structured, strict=False):
            assert reference.is_structured(*size, tour) == structured
            assert reference.kept_by(*size, tour) == set()


# Closed tours that were made symmetric, on boards with one byte a square and two, of 64 squares and of more, whose
# number is and is not a multiple of four. Quarter turns keep tours only of boards whose side is 2 modulo 4, and
# reflections only if the number of squares is so.
CYCLES = [
    ((6, 6), "half turn", "closed-180"),
    ((6, 6), "quarter turn", "closed-90"),
    ((8, 8), "half turn", "closed-180"),
    ((6, 7), "half turn", "closed-180"),
    ((7, 10), "half turn", "closed-180"),
    ((6, 9), "rows flipped", "closed-reflection"),
    ((9, 6), "columns flipped", "closed-reflection"),
    ((10, 10), "half turn", "closed-180"),
    ((10, 10), "quarter turn", "closed-90"),
    ((5, 14), "columns flipped", "closed-reflection"),
    ((10, 7), "rows flipped", "closed-reflection"),
    ((9, 10), "columns flipped", "closed-reflection"),
    ((12, 12), "half turn", "closed-180"),
    ((14, 14), "quarter turn", "closed-90"),
    ((18, 17), "rows flipped", "closed-reflection"),
    ((18, 18), "quarter turn", "closed-90"),
]


def kernels_for(size):
    return KERNELS if size[0] * size[1] <= 64 else ("array",)


def told_of(size, tour, kernel, **values):
    """What a kernel says of a tour: it is asked for all tours with nearly all of its squares in its order."""
    config = config_for(size, variant="both", prune=False, **values)
    batch, found = batch_of(config, tour[0], kernel, prefix=tuple(tour[:-9]))
    assert found.ended == EXHAUSTED
    place = batch.tours.tolist().index(tour)
    return bool(batch.structured[place]), names(batch)[place]


@pytest.mark.parametrize(("size", "map_name", "expected"), CYCLES, ids=str)
def test_a_closed_tour_that_was_made_symmetric_is_known_as_such_from_wherever_it_starts(size, map_name, expected):
    board_map = reference.board_maps(*size)[map_name]
    cycle = reference.symmetric_cycle(*size, board_map, 4 if "quarter" in map_name else 2)
    board, length = Board(*size), len(cycle)
    tours = [turned[::step] for shift in (0, 1, length // 3, length - 1) for step in (1, -1)
             for turned in [cycle[shift:] + cycle[:shift]]]  # fmt: skip
    kind = (reference.is_structured(*size, cycle), expected)
    assert reference.symmetry(*size, cycle) == expected
    as_array = np.array(tours, dtype=square_dtype(board))
    assert are_legal(board, as_array).all()
    assert are_complete(board, as_array).all()
    assert are_closed(board, as_array).all()
    assert [SYMMETRIES[code] for code in symmetries(board, as_array)] == [expected] * len(tours)
    assert len(np.unique(canonical(board, as_array), axis=0)) == 1
    for tour in tours:
        for kernel in kernels_for(size):
            assert told_of(size, tour, kernel) == kind
            assert told_of(size, tour, kernel, only="symmetric") == kind


@pytest.mark.parametrize(
    "size", [(5, 5), (7, 7), (7, 8), (8, 7), (9, 9), (9, 10), (5, 13), (17, 17), (18, 17)], ids=str
)
def test_an_open_tour_that_was_made_symmetric_is_known_as_such_in_both_directions(size):
    path, board = reference.symmetric_path(*size), Board(*size)
    assert are_legal(board, np.array([path])).all()
    assert are_complete(board, np.array([path])).all()
    assert reference.symmetry(*size, path) == "path-180"
    for tour in (path, path[::-1]):
        assert symmetries(board, np.array([tour], dtype=square_dtype(board))).tolist() == [1]
        for kernel in kernels_for(size):
            assert told_of(size, tour, kernel) == (reference.is_structured(*size, tour), "path-180")


@pytest.mark.parametrize("size", [(8, 8), (10, 10), (9, 10), (18, 18)], ids=str)
def test_two_moves_exchanged_end_the_symmetry(size):
    """A tour that is symmetric but for its last squares: whoever looks at the first moves only would be taken in."""
    cycle = reference.symmetric_cycle(*size, reference.board_maps(*size)["half turn"], 2)
    board, changed = Board(*size), 0
    for shift in range(len(cycle)):
        turned = cycle[shift:] + cycle[:shift]
        config = config_for(size, variant="both", prune=False)
        batch, _ = batch_of(config, turned[0], prefix=tuple(turned[:-9]))
        assert_judged_alike(config, batch)
        assert names(batch) == [reference.symmetry(*size, tour) for tour in batch.tours.tolist()]
        changed += len(batch.tours) - 1
        if changed > 20:
            break
    assert changed > 0
    assert board.squares == len(cycle)


def test_divide_knows_the_kind_of_its_tours():
    for size, missing in [((5, 5), False), ((6, 6), False), ((5, 5), True), ((7, 9), True), ((12, 13), False)]:
        config = config_for(size, variant="closed" if missing else "both", strategy="divide", missing_corner=missing)
        for start in (0, 2 * size[1] + 2):
            search, batch = Divide(config, Job(0, (start,))), batch_arrays(2, config.board)
            search.resume((start,), 0)
            count = search.fill(batch, 0, UNLIMITED)
            assert count > 0
            assert_judged_alike(config, batch[:count])
            for tour, structured, name in zip(batch.tours[:count].tolist(), batch.structured, names(batch[:count]),
                                              strict=False):  # fmt: skip
                assert (structured, name) == (reference.is_structured(*size, tour), reference.symmetry(*size, tour))


# ---------------------------------------------------------------------------------------------------------------------
# Only tours of a kind.


def is_of_kind(batch, only):
    return batch.structured if only == "structured" else batch.symmetry != 0


FILTERED = [
    pytest.param({"board": Board(5, 6), "variant": "both"}, id="warnsdorff 5x6"),
    pytest.param({"board": Board(5, 5), "variant": "open", "prune": False}, id="warnsdorff 5x5 without pruning"),
    pytest.param({"board": Board(6, 6), "variant": "closed", "h_prob": 0.5, "max": 60_000}, id="shuffled 6x6"),
    pytest.param({"board": Board(9, 10), "variant": "both", "max": 30_000}, id="warnsdorff 9x10"),
    pytest.param({"board": Board(5, 5), "variant": "both", "strategy": "backtrack", "prune": False}, id="backtrack"),
    pytest.param({"board": Board(6, 6), "variant": "both", "strategy": "greedy", "max": 80_000}, id="greedy 6x6"),
    pytest.param({"board": Board(3, 10), "variant": "both", "strategy": "greedy", "max": 90_000}, id="greedy 3x10"),
    pytest.param({"board": Board(5, 5), "missing_corner": True, "variant": "both"}, id="5x5 without a corner"),
]


@pytest.mark.parametrize("only", ["structured", "symmetric"])
@pytest.mark.parametrize("values", FILTERED)
def test_only_tours_of_a_kind_are_kept_as_they_are_and_the_rest_is_counted(values, only):
    config = config_for((5, 5), **values)
    filtered = config_for((5, 5), only=only, **values)
    for start in (0, 2 * config.board.cols + 2):
        every, whole = batch_of(config, start)
        kept, found = batch_of(filtered, start)
        chosen = every[is_of_kind(every, only)]
        for name in ("tours", "iterations", "closed", "structured", "symmetry"):
            assert np.array_equal(getattr(kept, name), getattr(chosen, name))
        assert found.left_out == len(every.tours) - len(kept.tours)
        assert whole.left_out == 0
        for name in ("ended", "cursor", "iterations", "dead_ends", "given_up"):
            assert getattr(found, name) == getattr(whole, name)
        if strategy_of(config).has_times:
            assert np.array_equal(kept.efforts[:, :2], chosen.efforts[:, :2])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("only", ["structured", "symmetric"])
def test_both_kernels_keep_the_same_tours(only, kernel):
    config = config_for((6, 6), variant="closed", only=only)
    batch, found = batch_of(config, 7, kernel)
    assert len(batch.tours) == {"structured": 5_892, "symmetric": 2 * 78}[only]
    assert found.left_out == 2 * 9_862 - len(batch.tours)


@pytest.mark.parametrize("strategy", ["warnsdorff", "backtrack", "greedy"])
@pytest.mark.parametrize("only", ["structured", "symmetric"])
def test_a_budget_of_tours_counts_only_those_that_are_kept(only, strategy, tmp_path):
    extra = {"prune": True, "start": "a1,c3"}
    if strategy == "greedy":  # it may draw for ever, so it is given a limit of iterations that it does not need
        extra = {"failures": 1_000, "start": "c3,d3", "max": 10**9}
    config = config_for((6, 6), variant="closed", strategy=strategy, only=only, tours=10, output=str(tmp_path), **extra)
    report = run_serially(config)
    total = report.totals
    assert report.summary["tours_closed"].to_pylist() == [10, 10]
    assert total["left_out"] > 0
    assert total["finished"]
    assert (total["structured"] if only == "structured" else symmetric_of(total)) == 20
    assert verify(Run(tmp_path)).damage == []


def symmetric_of(row):
    return sum(row[name.replace("-", "_")] for name in SYMMETRIES[1:])


def test_the_summary_counts_the_kinds_of_all_tours_from_every_square(tmp_path):
    report = run_serially(config_for((5, 5), variant="both", output=str(tmp_path), slice_tours=20))
    rows, total = report.summary.to_pylist(), report.totals
    assert (total["structured"], total["path_180"], symmetric_of(total)) == (416, 64, 64)
    kinds = kinds_by_definition((5, 5))
    starts = all_tours((5, 5), "bits")[0][:, 0].tolist()
    for row in rows:
        square = row["row"] * 5 + row["column"]
        own = [kind for kind, start in zip(kinds, starts, strict=True) if start == square]
        assert row["structured"] == sum(structured for structured, _ in own)
        assert row["path_180"] == sum(name == "path-180" for _, name in own)
    assert verify(Run(tmp_path)).damage == []
