"""Which start squares become jobs, and which requests are refused before anything is searched."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enumerate.model.board import Board, parse_size
from enumerate.model.config import Config
from enumerate.model.errors import BadRequest
from enumerate.model.jobs import Job
from enumerate.plan.plan import make_plan


def plan_for(size, start, **values):
    return make_plan(Config(board=parse_size(size), start=start, **values))


def starts(size, start, **values):
    board = parse_size(size)
    return [board.name(job.start) for job in plan_for(size, start, **values)]


def refusal(size, start, **values):
    with pytest.raises(BadRequest) as caught:
        plan_for(size, start, **values)
    line = str(caught.value)
    assert "\n" not in line
    return line


# What is planned


def test_all_is_one_job_for_each_square_in_order():
    assert plan_for("8", "all") == tuple(Job(square, (square,), 1, None) for square in range(64))


def test_classes_is_one_job_for_each_symmetry_class_with_its_multiplicity():
    board = Board(6, 6)
    jobs = plan_for("6", "classes")
    assert {board.name(job.start): job.multiplicity for job in jobs} == {
        "a1": 4, "b1": 8, "c1": 8, "b2": 4, "c2": 8, "c3": 4
    }  # fmt: skip
    assert [job.number for job in jobs] == list(range(6))
    assert not any(job.infeasible for job in jobs)


def test_named_squares_become_jobs_in_the_order_of_their_squares():
    assert plan_for("8", "d4, A1,h1") == (Job(0, (0,)), Job(1, (7,)), Job(2, (27,)))


def test_the_same_squares_in_another_order_are_the_same_plan():
    assert plan_for("8", "b1,a2") == plan_for("8", "a2,b1")


def test_every_job_starts_with_its_start_square():
    assert all(job.prefix == (job.start,) for job in plan_for("5x6", "all"))


@pytest.mark.parametrize("variant", ["open", "both"])
@pytest.mark.parametrize(("size", "infeasible"), [("5", 12), ("3x7", 10), ("5x7", 17), ("9", 40), ("1", 0), ("6", 0)])
def test_on_an_odd_board_the_squares_of_the_rarer_colour_are_infeasible(size, infeasible, variant):
    board = parse_size(size)
    reasons = Counter(job.infeasible for job in plan_for(size, "all", variant=variant))
    assert reasons.pop(None) == board.squares - infeasible
    assert sum(reasons.values()) == infeasible
    assert all("starts on the colour of its corners" in reason for reason in reasons)


def test_the_corners_of_an_odd_board_are_not_infeasible_and_their_neighbours_are():
    board = Board(5, 5)
    infeasible = {board.name(job.start) for job in plan_for("5", "all") if job.infeasible}
    assert infeasible == {"b1", "d1", "a2", "c2", "e2", "b3", "d3", "a4", "c4", "e4", "b5", "d5"}


def test_an_infeasible_class_of_an_odd_board_is_planned_and_marked():
    board = Board(5, 5)
    jobs = {board.name(job.start): (job.multiplicity, bool(job.infeasible)) for job in plan_for("5", "classes")}
    assert jobs == {"a1": (4, False), "b1": (8, True), "c1": (4, False), "b2": (4, False), "c2": (4, True),
                    "c3": (1, False)}  # fmt: skip


# Random squares


def test_random_squares_are_the_same_today_as_ever():
    """A run continues only if its squares are drawn again: a change here needs a new SEARCH_VERSION."""
    assert starts("8", "random:5", seed=0) == ["b1", "c3", "d6", "h6", "c8"]
    assert starts("8", "random:5", seed=1) == ["e2", "e4", "h4", "e5", "d7"]


@given(st.integers(3, 9), st.integers(7, 9), st.integers(0, 10**18), st.data())
def test_random_squares_are_distinct_sorted_and_able_to_start_a_tour(rows, cols, seed, data):
    board = Board(rows, cols)
    count = data.draw(st.integers(1, (board.squares + 1) // 2))
    jobs = make_plan(Config(board=board, start=f"random:{count}", seed=seed))
    squares = [job.start for job in jobs]
    assert len(set(squares)) == count
    assert squares == sorted(squares)
    assert {(job.infeasible, job.multiplicity) for job in jobs} == {(None, 1)}
    assert jobs == make_plan(Config(board=board, start=f"random:{count}", seed=seed))


def test_drawing_more_squares_keeps_those_drawn_before():
    draws = [set(starts("8", f"random:{count}", seed=7)) for count in range(1, 65)]
    assert all(few < more for few, more in pairwise(draws))
    assert len(draws[-1]) == 64


def test_seeds_draw_every_square_about_equally_often():
    """2,000 draws of 8 out of 64 squares: 250 each, give or take five standard deviations."""
    drawn = Counter(square for seed in range(2_000) for square in starts("8", "random:8", seed=seed))
    assert len(drawn) == 64
    assert 175 < min(drawn.values()) < max(drawn.values()) < 325


def test_the_seed_changes_nothing_but_random_squares():
    for start in ("all", "classes", "a1,d4"):
        assert plan_for("8", start, seed=1) == plan_for("8", start, seed=2)


@pytest.mark.parametrize(("size", "most"), [("8", 64), ("5", 13), ("3x7", 11)])
def test_only_squares_that_can_start_a_tour_are_drawn(size, most):
    assert len(plan_for(size, f"random:{most}")) == most
    line = refusal(size, f"random:{most + 1}")
    assert line.startswith(f"only {most} squares")
    assert line.endswith(f"'random:{most + 1}'")


@pytest.mark.parametrize("start", ["random", "random:", "random:0", "random:-1", "random:x", "random:1.5", "random5",
                                   "random:5x", "randomly", "random:9999999999"])  # fmt: skip
def test_random_without_a_number_of_squares_is_refused(start):
    assert refusal("8", start) == f"expected random and a number of squares, such as random:5: {start!r}"


# What is refused


@pytest.mark.parametrize("start", ["", "al", "none", "class", "corner", "rand"])
def test_an_unknown_word_is_refused_and_the_known_ones_are_told(start):
    assert refusal("8", start) == f"start is all, classes, once, random:N or squares such as a1,d4: {start!r}"


@pytest.mark.parametrize(
    ("start", "culprit"), [("z9", "z9"), ("a1,i1", "i1"), ("a1,a9", "a9"), ("a0", "a0"), ("a1,all", "all"), ("4", "4"),
                           ("a1,random:3", "random:3"), ("a1;b2", "a1;b2"), ("a1,,b2", ""), ("a1,", "")]
)  # fmt: skip
def test_the_one_bad_name_in_a_list_is_pointed_out(start, culprit):
    assert refusal("8", start).endswith(repr(culprit))


@pytest.mark.parametrize("start", ["a1,a1", "d4,a1,D4,h8", "a1, a1"])
def test_a_square_named_twice_is_refused(start):
    name = "d4" if "d4" in start else "a1"
    assert refusal("8", start) == f"a start square is named twice: {name!r}"


@pytest.mark.parametrize(("size", "start", "culprit"), [("5", "a2", "a2"), ("5", "a1,b1", "b1"), ("3x7", "b1", "b1")])
def test_a_named_square_of_the_rarer_colour_is_refused(size, start, culprit):
    board = parse_size(size)
    assert refusal(size, start) == (
        "a tour of a board with an odd number of squares starts on the colour of its corners: "
        f"{culprit!r} on {board}; use a square of the other colour"
    )


@pytest.mark.parametrize("size", ["5", "7", "5x7", "3x9", "1"])
def test_a_closed_tour_of_an_odd_board_is_refused_with_two_ways_out(size):
    board = parse_size(size)
    assert refusal(size, "all", variant="closed") == (
        f"no closed tour visits an odd number of squares: {board}; use --variant open or an even board"
    )


@pytest.mark.parametrize("size", ["3x8", "4x5", "4x6", "8x4", "3x4"])
def test_a_closed_tour_that_schwenk_excludes_is_refused_with_his_name(size):
    line = refusal(size, "all", variant="closed")
    assert "Schwenk" in line
    assert line.endswith(f": {parse_size(size)}; use --variant open")


@pytest.mark.parametrize("variant", ["open", "closed", "both"])
@pytest.mark.parametrize("size", ["2", "3", "4", "3x5", "3x6", "2x100", "1x2"])
def test_a_board_without_any_tour_is_refused_for_every_variant(size, variant):
    assert refusal(size, "all", variant=variant).endswith(f": {parse_size(size)}; use a larger board, such as 5x5")


@pytest.mark.parametrize("size", ["5", "3x8", "4x5", "1"])
@pytest.mark.parametrize("variant", ["open", "both"])
def test_a_board_with_open_tours_only_is_planned_unless_closed_ones_are_asked_for(size, variant):
    assert len(plan_for(size, "all", variant=variant)) == parse_size(size).squares
