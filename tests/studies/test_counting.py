"""Counts against published ones, against every tour walked one by one, and against a frontier in plain Python."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumerate.cli import app as cli
from enumerate.kernels import frontier as kernel
from enumerate.model.board import Board
from enumerate.model.errors import BadRequest
from enumerate.model.literature import Published
from enumerate.studies.count import census as census_module
from enumerate.studies.count.counting import (
    EMPTY,
    Effort,
    cost,
    count,
    count_cycles,
    count_from,
    count_paths,
    memory_limit,
)
from enumerate.studies.count.steps import (
    MAX_PLACES,
    cycles_problem,
    longest_frontier,
    paths_from_problem,
    paths_problem,
    steps,
)

from ..support import counting_reference as reference
from ..support.commands import arguments, called, environment_with, seconds_of, wait_for
from ..support.published import ROWS, per_square
from ..support.searches import config_for, search

SMALL = [(rows, cols) for cols in range(1, 5) for rows in range(cols, 8) if rows * cols <= 20]

# From the list of OEIS A175881: closed tours of 6xn.
CYCLES_OF_SIX = {11: 15_360_134_570_696, 14: 4_005_716_717_182_224_826, 17: 1_050_504_687_249_683_771_795_632}
CYCLES_OF_FIVE = {10: 13_311_268, 12: 4_557_702_762, 14: 1_495_135_512_514}  # OEIS A383661
CYCLES_OF_THREE = {14: 1_536, 20: 1_448_416, 40: 11_010_065_269_439_104, 46: 10_145_938_076_107_491_328}  # A070030


def published(what, squares):
    """Published counts of boards with so many squares, each once whether the board lies or stands."""
    return [(rows, cols, count) for rows, cols, each, count, _ in ROWS if each == what and rows * cols in squares]


@lru_cache
def walked(rows, cols):
    return reference.walked(rows, cols)


# ---------------------------------------------------------------------------------------------------------------------
# Counts.


@pytest.mark.parametrize(("rows", "cols", "count"), published("cycles", range(43)))
def test_closed_tours_are_as_many_as_published_however_the_board_is_turned(rows, cols, count):
    assert count_cycles(Board(rows, cols)) == count_cycles(Board(cols, rows)) == count


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "cols", "count"), published("cycles", range(43, 61)))
def test_closed_tours_of_larger_boards_are_as_many_as_published(rows, cols, count):
    assert count_cycles(Board(rows, cols)) == count


@pytest.mark.parametrize(("rows", "cols", "count"), published("paths", range(36)))
def test_directed_tours_are_as_many_as_published_however_the_board_is_turned(rows, cols, count):
    assert count_paths(Board(rows, cols)) == count_paths(Board(cols, rows)) == count


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "cols", "count"), published("paths", range(36, 43)))
def test_directed_tours_of_larger_boards_are_as_many_as_published(rows, cols, count):
    assert count_paths(Board(rows, cols)) == count


@pytest.mark.parametrize("cols", CYCLES_OF_FIVE)
def test_closed_tours_of_long_boards_five_wide_are_as_many_as_published(cols):
    assert count_cycles(Board(5, cols)) == CYCLES_OF_FIVE[cols]


@pytest.mark.parametrize("cols", CYCLES_OF_THREE)
def test_closed_tours_of_long_boards_three_wide_are_as_many_as_published(cols):
    assert count_cycles(Board(cols, 3)) == CYCLES_OF_THREE[cols]


@pytest.mark.slow
@pytest.mark.parametrize("cols", CYCLES_OF_SIX)
def test_closed_tours_of_long_boards_six_wide_are_as_many_as_published(cols):
    assert count_cycles(Board(6, cols)) == CYCLES_OF_SIX[cols]


def test_from_each_square_of_5x5_there_are_as_many_tours_as_published():
    counts = [count_from(Board(5, 5), square) for square in range(25)]
    assert counts == per_square("per_start_5x5.csv").reshape(-1).tolist()


@pytest.mark.slow
def test_from_each_square_of_6x6_there_are_as_many_tours_as_published():
    counts = [count_from(Board(6, 6), square) for square in range(36)]
    assert counts == per_square("per_start_6x6.csv").reshape(-1).tolist()


@pytest.mark.parametrize(("rows", "cols"), SMALL)
def test_every_count_of_a_small_board_is_that_of_the_tours_walked_one_by_one(rows, cols):
    board, found = Board(rows, cols), walked(rows, cols)
    assert [count_from(board, square) for square in range(board.squares)] == [
        sum(found[each]) for each in sorted(found)
    ]
    assert count_paths(board) == sum(map(sum, found.values()))
    assert {2 * count_cycles(board)} == {closed for _, closed in found.values()}


@pytest.mark.parametrize(
    ("rows", "cols"), [(8, 3), (9, 3), (10, 3), (11, 3), pytest.param(7, 4, marks=pytest.mark.slow)]
)
def test_paths_are_as_many_as_by_the_frontier_in_plain_python(rows, cols):
    assert count_paths(Board(rows, cols)) == count_paths(Board(cols, rows)) == reference.paths(rows, cols)


def test_a_search_finds_as_many_tours_of_a_board_without_its_last_corner_as_are_counted():
    board, config = Board(5, 5, missing=24), config_for((5, 5), variant="both", missing_corner=True)
    found = {square: search(config, square, max_tours=2_000) for square in range(24)}
    assert {square: count_from(board, square) for square in found} == {each: len(found[each][0]) for each in found}
    assert count_from(board, 24) == 0
    assert count_paths(board) == sum(len(tours) for tours, *_ in found.values())
    assert {2 * count_cycles(board)} == {int(closed.sum()) for _, _, closed, _ in found.values()}


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "cols"), [(5, 6), (6, 5), (4, 6), (4, 7), (3, 10)])
def test_a_search_finds_as_many_tours_from_each_square_as_are_counted(rows, cols):
    board, config = Board(rows, cols), config_for((rows, cols), variant="both")
    for square in board.classes:
        assert len(search(config, square)[0]) == count_from(board, square)


# ---------------------------------------------------------------------------------------------------------------------
# Numbers of several words.


@pytest.mark.parametrize(("rows", "words"), [(46, 1), (60, 2), (90, 3)])
def test_counts_beyond_64_bits_are_those_of_python_integers(rows, words):
    count = count_cycles(Board(rows, 3))
    assert count == reference.cycles(rows, 3)
    assert (count.bit_length() + 63) // 64 == words


@pytest.mark.slow
def test_directed_counts_beyond_64_bits_are_those_of_python_integers():
    count = count_paths(Board(3, 46))
    assert count == reference.paths(46, 3) > 2**64


def test_the_carry_runs_through_all_words():
    one, most = 1, 2**64 - 1
    counts = np.array([[most, most, 5]], dtype=np.uint64)
    assert not kernel._add(counts, 0, np.array([[one, 0, 0]], dtype=np.uint64), 0)
    assert counts.tolist() == [[0, 0, 6]]
    counts = np.array([[most, most]], dtype=np.uint64)
    assert kernel._add(counts, 0, np.array([[most, most]], dtype=np.uint64), 0)
    assert counts.tolist() == [[most - 1, most]]


# ---------------------------------------------------------------------------------------------------------------------
# States and steps.


@st.composite
def mates(draw):
    """A frontier in any order: bare and full squares, and pairs of ends."""
    length = draw(st.integers(0, MAX_PLACES))
    order = draw(st.permutations(range(length)))
    ends = 2 * draw(st.integers(0, length // 2))
    mate = np.array([draw(st.sampled_from([place, kernel.FULL])) for place in range(length)], dtype=np.int64)
    for one, other in zip(order[:ends:2], order[1:ends:2], strict=True):
        mate[one], mate[other] = other, one
    return mate


@settings(max_examples=300)
@given(mates())
def test_the_word_of_a_state_tells_it_exactly(mate):
    places, found = np.arange(len(mate)), np.full(len(mate), -7, dtype=np.int64)
    word = kernel._encode(mate, places, len(mate))
    assert word < EMPTY
    full = kernel._decode(np.uint64(word), len(mate), places, found)
    assert found.tolist() == mate.tolist()
    assert full == sum(1 << place for place, other in enumerate(mate.tolist()) if other == kernel.FULL)


def test_ten_paths_on_twenty_places_fit_in_a_word():
    nested = np.arange(MAX_PLACES)[::-1].astype(np.int64)
    word, found = kernel._encode(nested, np.arange(MAX_PLACES), MAX_PLACES), np.zeros(MAX_PLACES, dtype=np.int64)
    kernel._decode(np.uint64(word), MAX_PLACES, np.arange(MAX_PLACES), found)
    assert found.tolist() == nested.tolist()


@pytest.mark.parametrize("width", range(3, 9))
def test_the_frontier_is_two_columns_long_at_most(width):
    board = Board(width, width + 5)
    for problem, extras in ((cycles_problem(board), 0), (paths_from_problem(board, 0), 2)):
        assert longest_frontier(problem) == 2 * width + extras


@pytest.mark.parametrize("board", [Board(5, 8), Board(6, 9), Board(7, 5), Board(7, 7, missing=48)])
@pytest.mark.parametrize("problem_of", [cycles_problem, paths_problem])
def test_every_square_is_processed_once_and_half_of_the_steps_use_the_mirror(board, problem_of):
    found = list(steps(problem_of(board)))
    assert sorted(step.square for step in found) == [each for each in range(board.squares) if each != board.missing]
    assert sum(len(step.mirror) > 0 for step in found) >= board.squares // 3


def test_without_the_mirror_there_are_more_states_and_as_many_tours():
    board, mirrored, unmirrored = Board(5, 8), Effort(), Effort()
    assert count_cycles(board, mirrored) == 44_202
    plain = replace(cycles_problem(board), unlike=frozenset(range(board.squares)))
    assert count(board, plain, unmirrored) == 44_202
    assert unmirrored.states > 1.3 * mirrored.states


# ---------------------------------------------------------------------------------------------------------------------
# Limits.


def test_tables_never_grow_beyond_the_memory_allowed():
    effort = Effort(memory=1_000_000)
    with pytest.raises(BadRequest, match=r"more than the memory allowed.*--memory"):
        count_cycles(Board(6, 8), effort)
    assert 0 < effort.peak_bytes <= effort.memory


@pytest.mark.parametrize("size", [(5, 6), (3, 60)])
def test_every_part_of_every_square_is_told_once_even_if_counts_need_another_word(size):
    board, told = Board(*size), []
    count_cycles(board, Effort(advance=told.append))
    squares = [line.split(",")[0] for line in told]
    assert {square: squares.count(square) for square in squares} == {
        board.name(each): 16 for each in range(board.squares)
    }


def test_a_board_too_wide_for_a_word_is_refused():
    with pytest.raises(BadRequest, match="10x10 is too wide"):
        count_cycles(Board(10, 10))
    with pytest.raises(BadRequest, match="9x9 is too wide"):
        count_from(Board(9, 9), 0)


@pytest.mark.parametrize("size", [(5, 8), (6, 6), (6, 7)])
def test_the_estimate_is_the_number_of_states_where_it_was_measured(size):
    effort, estimate = Effort(), cost(Board(*size), "cycles")
    count_cycles(Board(*size), effort)
    assert effort.peak_states == estimate.states
    assert effort.peak_bytes <= estimate.bytes


def test_estimates_grow_with_the_board():
    for what in ("cycles", "paths"):
        bytes_ = [cost(Board(side, side + 2), what).bytes for side in range(5, 14)]
        assert bytes_ == sorted(set(bytes_))


def test_memory_is_what_was_asked_for_and_never_more_than_is_free():
    assert memory_limit(2**29) == 2**29
    assert 0 < memory_limit(None) < 2**50
    with pytest.raises(BadRequest, match=r"memory must be at most the .* GiB that are free, got 1,0.* GiB"):
        memory_limit(2**60)


# ---------------------------------------------------------------------------------------------------------------------
# The command.


def test_the_command_prints_the_count_and_its_source(tmp_path):
    done = called("count", "--size", "6x7", "--variant", "closed", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert first == "closed tours of 6x7  1,067,638  undirected cycles = OEIS A175881"
    assert "68,370 at a time" in last


def counted(capsys, *words):
    code = cli.main(["count", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_open_closed_and_all_tours_fit_together(capsys):
    code, out, _ = counted(capsys, "--size", "5x6", "--variant", "both", "--start", "classes", "--json")
    document = json.loads(out)
    found = {(each["what"], each["unit"]): each["count"] for each in document["figures"]}
    assert code == 0
    assert found == {
        ("tours", "directed paths"): 37_568,
        ("open tours", "directed"): 37_568 - 2 * 30 * 8,
        ("open tours", "undirected"): 37_568 // 2 - 30 * 8,
        ("closed tours", "undirected cycles"): 8,
    }
    assert sum(each["squares"] for each in document["starts"]) == 30
    assert sum(each["squares"] * each["open"] for each in document["starts"]) == found["open tours", "directed"]
    assert {each["closed"] for each in document["starts"]} == {16}


@pytest.mark.parametrize(
    ("words", "reason"),
    [(("--size", "5x5"), "odd number of squares"), (("--size", "4x8"), "Schwenk 1991"),
     (("--size", "4", "--variant", "both"), "3 or at least 5"), (("--size", "2x9", "--variant", "open"), "two squares"),
     (("--size", "101x103"), "odd number of squares")],
)  # fmt: skip
def test_a_board_without_tours_has_none_and_the_reason_is_told(capsys, words, reason):
    code, out, err = counted(capsys, *words)
    *figures, last = out.splitlines()
    assert (code, err) == (0, "")
    assert reason in last
    assert all(" 0  " in line for line in figures)


def test_the_smallest_board_has_one_tour(capsys):
    code, out, _ = counted(capsys, "--size", "1", "--variant", "open", "--quiet")
    assert (code, out.split()[:5]) == (0, ["open", "tours", "of", "1x1", "1"])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [(("--size", "10"), "takes about"),
     (("--size", "8", "--variant", "open", "--memory", "100MiB"), "published: 19,591,828,170,979,904"),
     (("--size", "7x8", "--memory", "10MiB"), r"published: 34,524,432,316 (OEIS A193054)"),
     (("--size", "5x6", "--start", "a9"), "no such square"), (("--variant", "half",), "variant must be"),
     (("--memory", "x"), "such as 512MiB or 2GB"), (("--size", "0"), "at least one"),
     (("--size", "8192"), "more than the limit of")],
)  # fmt: skip
def test_what_cannot_be_counted_is_refused_in_one_line(capsys, words, complaint):
    code, out, err = counted(capsys, *words)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert complaint in err


@pytest.mark.parametrize(
    ("name", "words"), [("published", ()), ("published_from", ("--variant", "open", "--start", "a1"))]
)
def test_a_count_that_differs_from_the_published_one_is_damage(capsys, monkeypatch, name, words):
    monkeypatch.setattr(census_module, name, lambda *_: Published(9, "a book"))
    code, out, err = counted(capsys, "--size", "5x6", *words)
    assert (code, out) == (4, "")
    assert "published 9 (a book)" in err


def test_ctrl_c_ends_it_at_once(tmp_path):
    process = subprocess.Popen(
        arguments("count", "--size", "7x10", "--memory", "2GiB"),
        cwd=tmp_path,
        env=environment_with(),
        text=True,
        stderr=subprocess.PIPE,
    )
    wait_for(lambda: seconds_of(process.pid) > 1.5)  # it counts; to its end it would take a minute of them
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "stopped: a count cannot be continued, start it again"
