"""The table of published counts against the files of tests/support/counts, from which it was not generated."""

from __future__ import annotations

import pytest

from enumerate.model.board import Board
from enumerate.model.literature import published, published_from
from enumerate.model.theorems import why_no_closed_tour, why_no_tour

from ..support.published import ROWS, per_square


@pytest.mark.parametrize(("rows", "cols", "what", "count", "source"), ROWS)
def test_a_published_count_is_found_with_its_source_however_the_board_is_turned(rows, cols, what, count, source):
    for board in (Board(rows, cols), Board(cols, rows)):
        found = published(board, what)
        assert (found.count, found.source) == (count, source)


def test_nothing_else_is_in_the_table():
    known = {(rows, cols, what) for rows, cols, what, *_ in ROWS}
    for rows in range(1, 13):
        for cols in range(rows, 21):
            for what in ("paths", "cycles"):
                assert (published(Board(rows, cols), what) is not None) == ((rows, cols, what) in known)


@pytest.mark.parametrize("what", ["paths", "cycles"])
def test_a_board_without_its_corner_is_another_board(what):
    assert published(Board(5, 5, missing=24), what) is None
    assert published_from(Board(5, 5, missing=24), 0) is None


@pytest.mark.parametrize(("rows", "cols", "what", "count", "source"), ROWS)
def test_the_counts_agree_with_the_theorems_on_which_boards_have_tours(rows, cols, what, count, source):
    why = why_no_tour if what == "paths" else lambda board: why_no_tour(board) or why_no_closed_tour(board)
    assert (count == 0) == (why(Board(rows, cols)) is not None)


@pytest.mark.parametrize("side", [5, 6])
def test_every_start_square_has_its_published_number_of_tours(side):
    table = per_square(f"per_start_{side}x{side}.csv")
    board = Board(side, side)
    found = [published_from(board, square) for square in range(board.squares)]
    assert [each.count for each in found] == table.reshape(-1).tolist()
    assert sum(each.count for each in found) == published(board, "paths").count
    assert {each.source for each in found} == {"OEIS A165134"}


def test_start_squares_of_other_boards_are_not_known():
    assert published_from(Board(5, 6), 0) is None
    assert published_from(Board(8, 8), 0) is None
