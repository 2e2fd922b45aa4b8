"""Divide and conquer: every board has its tours, from every square, checked from the definition of a tour alone."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumerate.model.board import Board
from enumerate.model.errors import BadRequest
from enumerate.model.theorems import why_no_tour_from
from enumerate.search.joining import construct, cut

SIDES = range(5, 25)
STEPS = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]


def find(board, start, closed, pairs):
    """Warnsdorff's rule with ties by chance, until a tour is as it should be."""
    rows, cols, missing = board.rows, board.cols, board.missing
    assert max(rows, cols) <= 11, "only small blocks are searched for"
    squares = [square for square in range(rows * cols) if square != missing]
    places = {divmod(square, cols): square for square in squares}
    near = {s: [places[r + down, c + right] for down, right in STEPS if (r + down, c + right) in places]
            for (r, c), s in places.items()}  # fmt: skip
    chance = Random(1)
    for _ in range(100_000):
        tour = warnsdorff(near, start, chance)
        if len(tour) == len(squares) and (tour[-1] in near[start]) == closed:
            moves = {frozenset(move) for move in zip(tour, [*tour[1:], tour[0] if closed else -1], strict=True)}
            if moves.issuperset(map(frozenset, pairs)):
                return tour
    raise AssertionError(f"no tour of {rows}x{cols} from {start} with {pairs}")


def warnsdorff(near, start, chance):
    degrees = {square: len(others) for square, others in near.items()}
    tour, square = [], start
    while square is not None:
        tour.append(square)
        del degrees[square]
        onward = [other for other in near[square] if other in degrees]
        for other in onward:
            degrees[other] -= 1
        square = min(onward, key=lambda other: (degrees[other], chance.random()), default=None)
    return tour


def checked(rows, cols, start=0, closed=True, missing=None):
    """A tour, after it was found to be one."""
    tour = construct(Board(rows, cols, missing), start, closed, find)
    row, col = np.divmod(tour.astype(np.int64), cols)
    are_moves = np.abs(row - np.roll(row, -1)) * np.abs(col - np.roll(col, -1)) == 2
    visits = np.bincount(tour, minlength=rows * cols)
    assert tour[0] == start
    assert np.flatnonzero(visits != 1).tolist() == ([] if missing is None else [missing])
    assert len(tour) == rows * cols - (missing is not None)
    assert are_moves[:-1].all()
    assert are_moves[-1] == closed
    return tour


def is_odd(rows, cols):
    return rows * cols % 2 == 1


def starts_of_open_tours(rows, cols):
    board = Board(rows, cols)
    return [square for square in range(board.squares) if not why_no_tour_from(board, square, "open")]


@pytest.mark.parametrize("rows", SIDES)
def test_every_board_has_its_closed_tour_and_an_odd_one_has_it_without_its_last_corner(rows):
    for cols in SIDES:
        checked(rows, cols, missing=rows * cols - 1 if is_odd(rows, cols) else None)


@pytest.mark.parametrize("rows", SIDES)
def test_every_board_has_its_open_tour_from_the_corner(rows):
    for cols in SIDES:
        checked(rows, cols, closed=False)


@pytest.mark.parametrize("size", [(5, 5), (5, 7), (7, 7), (9, 11), (5, 19), (13, 13), (17, 5), (15, 17)], ids=str)
def test_open_tours_of_odd_boards_start_on_every_square_of_the_corners_colour(size):
    for start in starts_of_open_tours(*size):
        checked(*size, start, closed=False)


@pytest.mark.parametrize("size", [(5, 6), (6, 6), (8, 7), (5, 18), (12, 5), (6, 12), (12, 14), (13, 16)], ids=str)
def test_tours_of_even_boards_start_on_every_square(size):
    for start in range(size[0] * size[1]):
        checked(*size, start)
    for start in starts_of_open_tours(*size):
        checked(*size, start, closed=False)


@pytest.mark.parametrize("size", [(5, 5), (7, 9), (13, 5), (13, 15)], ids=str)
def test_tours_without_the_corner_start_on_every_other_square(size):
    missing = size[0] * size[1] - 1
    for start in range(missing):
        checked(*size, start, missing=missing)


@given(rows=st.integers(5, 200), cols=st.integers(5, 200), closed=st.booleans(), data=st.data())
@settings(max_examples=60)
def test_larger_boards_have_their_tours_from_anywhere(rows, cols, closed, data):
    missing = rows * cols - 1 if closed and is_odd(rows, cols) else None
    start = data.draw(st.integers(0, rows * cols - 2))
    if not closed and start not in starts_of_open_tours(rows, cols):
        start = 0
    checked(rows, cols, start, closed, missing)


@pytest.mark.parametrize("closed", [True, False])
def test_a_million_squares_have_their_tours(closed):
    checked(1000, 1001, 123_456, closed)


@pytest.mark.parametrize("size", [(5, 6), (6, 6), (5, 24), (12, 12), (12, 13), (18, 40), (100, 33)], ids=str)
def test_closed_tours_are_structured(size):
    rows, cols = size
    tour = checked(*size).tolist()
    moves = {frozenset(move) for move in zip(tour, [*tour[1:], tour[0]], strict=True)}
    for (a, b), (c, d) in [((0, 1), (2, 0)), ((0, 2), (1, 0))]:
        for down in (lambda row: row), (lambda row: rows - 1 - row):
            for right in (lambda col: col), (lambda col: cols - 1 - col):
                assert frozenset((down(a) * cols + right(b), down(c) * cols + right(d))) in moves


def test_open_tours_start_everywhere_but_between_two_corners_of_a_side_of_five():
    for (rows, cols), places in {(5, 8): [(2, 1), (2, 6)], (12, 5): [(1, 2), (10, 2)], (6, 6): []}.items():
        found = [
            divmod(square, cols) for square in range(rows * cols) if square not in starts_of_open_tours(rows, cols)
        ]
        assert found == places
    with pytest.raises(BadRequest, match="no open tour of 12x5 starts on this square: 'c2'"):
        construct(Board(12, 5), 7, False, find)


@given(length=st.integers(12, 300), data=st.data())
def test_a_side_is_cut_into_parts_of_which_one_is_odd_if_the_side_is_and_holds_the_home_position(length, data):
    home = data.draw(st.integers(0, length - 1))
    parts = cut(length, home)
    assert sum(parts) == length
    assert all(6 <= part <= 11 for part in parts)
    odd = [place for place, part in enumerate(parts) if part % 2]
    assert len(odd) == length % 2
    for place in odd:
        begin = sum(parts[:place])
        assert begin < home < begin + parts[place] or home == begin == 0
