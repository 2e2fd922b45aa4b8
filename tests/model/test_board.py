"""The board against its definition, published facts, and a brute force that knows nothing of theorems."""

from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enumerate.model.board import MAX_SIDE, Board, column_name, column_number, parse_size
from enumerate.model.errors import BadRequest
from enumerate.model.theorems import why_no_closed_tour, why_no_tour, why_no_tour_from

sides = st.integers(1, 9)
boards = st.builds(Board, sides, sides)

SMALL = [(rows, cols) for rows in range(1, 7) for cols in range(rows, 7)] + [(3, 7), (3, 8), (3, 10)]


def knight_graph(rows, cols):
    """Each (row, column) and those a knight's move away, by the definition: one step one way, two the other."""
    squares = list(product(range(rows), range(cols)))
    return {a: frozenset(b for b in squares if abs(a[0] - b[0]) * abs(a[1] - b[1]) == 2) for a in squares}


def has_tour_from(start, near, closed):
    """Depth first over all paths. Squares with few ways on come first, only to be quick where there is a tour."""

    @cache
    def finishes(square, left):
        if not left:
            return not closed or square in near[start]
        if closed and not near[start] & left:
            return False
        onward = sorted(near[square] & left, key=lambda after: len(near[after] & left))
        return any(finishes(after, left - {after}) for after in onward)

    return finishes(start, frozenset(near) - {start})


# Names


@pytest.mark.parametrize("board", [Board(8, 8), Board(5, 6), Board(200, 200), Board(3, 800), Board(1, 1)], ids=str)
def test_a_square_and_its_name_are_inverses(board):
    names = [board.name(square) for square in range(board.squares)]
    assert len(set(names)) == board.squares
    assert [board.square(name) for name in names] == list(range(board.squares))


@pytest.mark.parametrize(
    ("board", "square", "name"),
    [
        (Board(8, 8), 0, "a1"),
        (Board(8, 8), 7, "h1"),
        (Board(8, 8), 8, "a2"),
        (Board(8, 8), 63, "h8"),
        (Board(5, 6), 29, "f5"),
        (Board(200, 200), 26, "aa1"),
        (Board(200, 200), 200 * 200 - 1, "gr200"),
    ],
)
def test_squares_have_the_names_chess_players_give_them(board, square, name):
    assert board.name(square) == name


@pytest.mark.parametrize(("number", "name"), [(1, "a"), (26, "z"), (27, "aa"), (256, "iv"), (702, "zz"), (703, "aaa"),
                                              (16_384, "xfd")])  # fmt: skip
def test_columns_are_named_as_in_a_spreadsheet(number, name):
    assert column_name(number - 1) == name
    assert column_number(name) == number - 1


@given(st.integers(0, MAX_SIDE))
def test_a_column_and_its_name_are_inverses(col):
    assert column_number(column_name(col)) == col


def test_a_name_may_be_written_in_capitals_and_with_space_around_it():
    assert Board(8, 8).square(" H8 ") == 63


@pytest.mark.parametrize("name", ["", "a", "1", "a0", "a-1", "a01", "1a", "a1b", "a 1", "a1,b2", "ä1", "a١", "abcde1"])
def test_what_is_not_a_name_is_refused(name):
    with pytest.raises(BadRequest, match=r"^expected a square such as a1 or d4, got ") as caught:
        Board(8, 8).square(name)
    assert str(caught.value).endswith(repr(name))


@pytest.mark.parametrize("name", ["a6", "g1", "g6", "z9", "aa1", "a100", "zzzz1", "a999999"])
def test_a_square_off_the_board_is_refused_and_the_squares_are_told(name):
    with pytest.raises(BadRequest, match=r"no such square on the 5x6 board \(a1 to f5\): ") as caught:
        Board(5, 6).square(name)
    assert str(caught.value).endswith(repr(name))


# Moves


@given(boards)
def test_neighbours_are_the_squares_a_knights_move_away_in_ascending_order(board):
    for (row, col), near in knight_graph(board.rows, board.cols).items():
        expected = sorted(r * board.cols + c for r, c in near)
        assert list(board.neighbours[row * board.cols + col]) == expected


@given(boards)
def test_a_move_can_be_taken_back(board):
    for square, near in enumerate(board.neighbours):
        assert all(square in board.neighbours[other] for other in near)


@pytest.mark.parametrize(
    ("size", "moves"), [("2", 0), ("3", 16), ("4", 48), ("5", 96), ("6", 160), ("7", 240), ("8", 336), ("9", 448)]
)
def test_a_board_has_the_known_number_of_moves(size, moves):
    """OEIS A035008."""
    assert sum(len(near) for near in parse_size(size).neighbours) == moves


@given(boards)
def test_a_move_changes_the_colour(board):
    assert board.is_dark(0)
    for square, near in enumerate(board.neighbours):
        assert all(board.is_dark(other) != board.is_dark(square) for other in near)


# Symmetries


@pytest.mark.parametrize(
    ("board", "count"), [(Board(8, 8), 8), (Board(5, 5), 8), (Board(5, 6), 4), (Board(6, 5), 4), (Board(3, 10), 4)],
    ids=str,
)  # fmt: skip
def test_the_symmetries_are_a_group_of_eight_or_four(board, count):
    group = set(board.symmetries)
    assert len(board.symmetries) == len(group) == count
    assert tuple(range(board.squares)) in group
    assert all(tuple(a[image] for image in b) in group for a in group for b in group)


@given(boards)
def test_a_symmetry_maps_the_squares_onto_themselves_and_neighbours_to_neighbours(board):
    for symmetry in board.symmetries:
        assert sorted(symmetry) == list(range(board.squares))
        for square, near in enumerate(board.neighbours):
            assert {symmetry[other] for other in near} == set(board.neighbours[symmetry[square]])


def test_the_symmetries_of_a_square_board_take_a_corner_to_each_corner_twice():
    board = Board(8, 8)
    images = sorted(board.name(symmetry[0]) for symmetry in board.symmetries)
    assert images == ["a1", "a1", "a8", "a8", "h1", "h1", "h8", "h8"]


def test_the_classes_of_the_chess_board_are_a_triangle_of_ten():
    board = Board(8, 8)
    names = {board.name(square): size for square, size in board.classes.items()}
    assert names == {"a1": 4, "b1": 8, "c1": 8, "d1": 8, "b2": 4, "c2": 8, "d2": 8, "c3": 4, "d3": 8, "d4": 4}


@pytest.mark.parametrize(
    ("size", "classes"), [("8", 10), ("7", 10), ("6", 6), ("5", 6), ("5x6", 9), ("3x10", 10), ("1", 1)]
)
def test_the_classes_are_as_many_as_known_and_hold_every_square(size, classes):
    board = parse_size(size)
    assert len(board.classes) == classes
    assert sum(board.classes.values()) == board.squares


@given(boards)
def test_a_class_is_named_by_its_lowest_square_and_counts_the_images_of_it(board):
    seen = set()
    for square, size in board.classes.items():
        images = {symmetry[square] for symmetry in board.symmetries}
        assert (min(images), len(images)) == (square, size)
        assert not images & seen
        seen |= images


# Sizes


@pytest.mark.parametrize(
    ("text", "board"),
    [
        ("8", Board(8, 8)),
        ("5x6", Board(5, 6)),
        ("6X5", Board(6, 5)),
        (" 8 ", Board(8, 8)),
        ("1", Board(1, 1)),
        ("256", Board(256, 256)),
        ("1x65536", Board(1, 65_536)),
    ],
)
def test_a_size_is_rows_by_columns_or_the_side_of_a_square(text, board):
    assert parse_size(text) == board


@given(st.integers(1, 256), st.integers(1, 256))
def test_a_board_and_its_size_are_inverses(rows, cols):
    assert parse_size(str(Board(rows, cols))) == Board(rows, cols)


@pytest.mark.parametrize(
    "text",
    ["", "0", "-1", "+8", "8x", "x8", "x", "abc", "1e9", "8.0", "5x0", "0x5", "8x8x8", "8 x 8", "8\n9", "٨", "8,8",
     "8193", "100000x1000", "1x65537", "999999999x999999999", "9" * 100],
)  # fmt: skip
def test_a_bad_size_is_refused_in_one_line_that_ends_with_it(text):
    with pytest.raises(BadRequest) as caught:
        parse_size(text)
    line = str(caught.value)
    assert line.endswith(f", got {text!r}")
    assert "\n" not in line


# Which boards can have tours


@pytest.mark.parametrize(("rows", "cols"), SMALL, ids=str)
def test_a_board_is_refused_exactly_if_brute_force_finds_no_tour(rows, cols):
    near = knight_graph(rows, cols)
    has_tour = any(has_tour_from(start, near, closed=False) for start in near)
    assert has_tour is (why_no_tour(Board(rows, cols)) is None)
    assert has_tour is (why_no_tour(Board(cols, rows)) is None)


# Brute force takes seconds there.
LONG = [pytest.param(*size, marks=pytest.mark.slow) if size in ((5, 5), (5, 6)) else size for size in SMALL]


@pytest.mark.parametrize(("rows", "cols"), LONG, ids=str)
def test_a_board_is_refused_exactly_if_brute_force_finds_no_closed_tour(rows, cols):
    has_tour = (rows, cols) != (1, 1) and has_tour_from((0, 0), knight_graph(rows, cols), closed=True)
    assert has_tour is (why_no_closed_tour(Board(rows, cols)) is None)
    assert has_tour is (why_no_closed_tour(Board(cols, rows)) is None)


@pytest.mark.parametrize(
    "size", ["3x4", "3x6", "3x8", "4x5", "4x6", "4x10", "4x100", "5", "7x9", "1x10", "2x10", "3x7"]
)
def test_schwenk_excludes_closed_tours(size):
    """A. Schwenk, Which rectangular chessboards have a knight's tour? Mathematics Magazine 64 (1991)."""
    assert why_no_closed_tour(parse_size(size))


@pytest.mark.parametrize("size", ["3x10", "10x3", "3x12", "3x14", "5x6", "5x8", "6", "6x7", "7x8", "8", "100", "5x100"])
def test_schwenk_allows_closed_tours(size):
    assert why_no_closed_tour(parse_size(size)) is None
    assert why_no_tour(parse_size(size)) is None


@pytest.mark.parametrize("size", ["5", "5x7", "6", "7", "8", "4x5", "4x7", "3x4", "3x7", "3x8", "3x9", "3x100", "1"])
def test_cull_and_de_curtins_allow_tours(size):
    """P. Cull and J. De Curtins, Knight's tour revisited, Fibonacci Quarterly 16 (1978), and the narrow boards."""
    assert why_no_tour(parse_size(size)) is None


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_board_with_a_closed_tour_has_a_tour(rows, cols):
    board = Board(rows, cols)
    assert why_no_closed_tour(board) or why_no_tour(board) is None


def test_brute_force_finds_no_tour_from_a_square_that_is_refused():
    board = Board(3, 7)
    near = knight_graph(board.rows, board.cols)
    refused = [square for square in range(board.squares) if why_no_tour_from(board, square)]
    assert len(refused) == board.squares // 2
    assert not any(has_tour_from(divmod(square, board.cols), near, closed=False) for square in refused)


@pytest.mark.parametrize(("board", "count"), [(Board(5, 5), 13), (Board(6, 6), 36)], ids=str)
def test_brute_force_finds_a_tour_from_every_other_square(board, count):
    near = knight_graph(board.rows, board.cols)
    allowed = [square for square in range(board.squares) if not why_no_tour_from(board, square)]
    assert len(allowed) == count
    assert all(has_tour_from(divmod(square, board.cols), near, closed=False) for square in allowed)
