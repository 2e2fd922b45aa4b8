"""Checks of tours against published tours, hand-made bad ones, and the definition written out in plain Python."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enumerate.model.board import Board
from enumerate.model.tour import are_closed, are_complete, are_legal, as_text, hashes, square_dtype

# William Beverley, Philosophical Magazine, 1848: open, and each row and column adds up to 260.
BEVERLEY = """\
 1 48 31 50 33 16 63 18
30 51 46  3 62 19 14 35
47  2 49 32 15 34 17 64
52 29  4 45 20 61 36 13
 5 44 25 56  9 40 21 60
28 53  8 41 24 57 12 37
43  6 55 26 39 10 59 22
54 27 42  7 58 23 38 11"""


def from_text(text):
    """The tour whose numbers stand in the text, row 1 at the bottom."""
    numbers = [int(word) for line in reversed(text.splitlines()) for word in line.split()]
    return [numbers.index(number) for number in range(1, len(numbers) + 1)]


def is_move(board, before, after):
    (row, col), (other_row, other_col) = divmod(before, board.cols), divmod(after, board.cols)
    return {abs(row - other_row), abs(col - other_col)} == {1, 2}


def warnsdorff(board, start):
    """Always on to the square with the fewest ways on: from these start squares it gives a tour."""
    path, left = [start], set(range(board.squares)) - {start}

    def ways_on(square):
        return sum(is_move(board, square, after) for after in left)

    while left:
        path.append(min((square for square in left if is_move(board, path[-1], square)), key=ways_on))
        left.remove(path[-1])
    return path


def array(board, *tours):
    return np.array(tours, dtype=square_dtype(board))


# Open and closed, with one byte a square and with two, in one 64-bit word and in more.
TOURS = {
    "Beverley": (Board(8, 8), from_text(BEVERLEY), False),
    "3x4": (Board(3, 4), from_text(" 3  6  9 12\n 8 11  2  5\n 1  4  7 10"), False),
    "10x10": (Board(10, 10), warnsdorff(Board(10, 10), 0), False),
    "10x10 closed": (Board(10, 10), warnsdorff(Board(10, 10), 55), True),
    "6x6 closed": (Board(6, 6), warnsdorff(Board(6, 6), 14), True),
    "17x17": (Board(17, 17), warnsdorff(Board(17, 17), 0), False),
}
each_tour = pytest.mark.parametrize(("board", "tour", "closed"), TOURS.values(), ids=TOURS.keys())


@each_tour
def test_a_good_tour_is_complete_legal_and_known_as_open_or_closed(board, tour, closed):
    tours = array(board, tour, tour[::-1])
    assert are_complete(board, tours).tolist() == [True, True]
    assert are_legal(board, tours).tolist() == [True, True]
    assert are_closed(board, tours).tolist() == [closed, closed]


@each_tour
def test_a_repeated_square_is_noticed_wherever_it_stands(board, tour, closed):
    """One square twice means another one is missing."""
    places = range(0, board.squares, 1 + board.squares // 64)
    bad = [[*tour[:place], tour[place - 1], *tour[place + 1 :]] for place in places]
    assert not are_complete(board, array(board, *bad)).any()


@each_tour
def test_only_the_bad_tour_of_a_batch_is_named(board, tour, closed):
    repeated = [*tour[:-1], tour[0]]
    swapped = [tour[0], tour[2], tour[1], *tour[3:]]
    tours = array(board, tour, repeated, tour, swapped)
    assert are_complete(board, tours).tolist() == [True, False, True, True]
    assert are_legal(board, tours)[[0, 2, 3]].tolist() == [True, True, False]


@each_tour
def test_an_illegal_step_is_noticed_wherever_it_is(board, tour, closed):
    """The end of a tour turned around: complete, and illegal at the seam unless a move happens to lead there."""
    bad = [tour[:place] + tour[place:][::-1] for place in range(1, board.squares - 1)]
    expected = [is_move(board, tour[place - 1], tour[-1]) for place in range(1, board.squares - 1)]
    assert are_legal(board, array(board, *bad)).tolist() == expected
    assert not all(expected)
    assert are_complete(board, array(board, *bad)).all()


@each_tour
def test_a_closed_tour_may_start_anywhere_and_an_open_one_may_not(board, tour, closed):
    turned = [tour[place:] + tour[:place] for place in range(1, board.squares)]
    assert are_legal(board, array(board, *turned)).tolist() == [closed] * (board.squares - 1)


def test_a_step_over_the_edge_of_the_board_is_no_move():
    """The numbers of h1 and b3 are as far apart as those of b1 and d2, but the way there leads around the edge."""
    board = Board(8, 8)
    steps = [("h1", "b3"), ("h1", "a4"), ("a3", "g1"), ("a3", "h3"), ("g1", "a3"), ("a1", "b3"), ("a1", "c2")]
    pairs = array(board, *([board.square(name) for name in step] for step in steps))
    assert are_legal(board, pairs).tolist() == [False] * 5 + [True] * 2
    assert are_closed(board, pairs).tolist() == [False] * 5 + [True] * 2


@given(st.integers(1, 7), st.integers(1, 7), st.data())
def test_each_pair_of_squares_is_judged_as_the_definition_says(rows, cols, data):
    board = Board(rows, cols)
    path = data.draw(st.lists(st.integers(0, board.squares - 1), min_size=1, max_size=5))
    steps = list(pairwise(path))
    assert are_legal(board, array(board, path)).tolist() == [all(is_move(board, *step) for step in steps)]
    assert are_closed(board, array(board, path)).tolist() == [is_move(board, path[-1], path[0])]


@given(st.sampled_from([Board(3, 4), Board(8, 8), Board(5, 13), Board(16, 16), Board(17, 17)]), st.data())
def test_complete_means_every_square_once(board, data):
    """On boards of 64 squares and fewer a set of bits decides, on larger ones a sort."""
    squares = list(range(board.squares))
    data.draw(st.randoms(use_true_random=False)).shuffle(squares)
    changed = data.draw(st.dictionaries(st.sampled_from(range(board.squares)), st.integers(0, board.squares - 1),
                                        max_size=3))  # fmt: skip
    row = [changed.get(place, square) for place, square in enumerate(squares)]
    expected = sorted(row) == list(range(board.squares))
    assert are_complete(board, array(board, row, squares)).tolist() == [expected, True]


@pytest.mark.parametrize("board", [Board(3, 4), Board(8, 8), Board(9, 9), Board(17, 17)], ids=str)
def test_a_square_off_the_board_does_not_complete_a_tour(board):
    tour = list(range(board.squares))
    assert not are_complete(board, array(board, [*tour[:-1], board.squares])).any()


@pytest.mark.parametrize("board", [Board(8, 8), Board(9, 9)], ids=str)
def test_a_batch_without_tours_is_judged_too(board):
    none = np.empty((0, board.squares), dtype=square_dtype(board))
    for judge in (are_complete, are_legal, are_closed):
        assert judge(board, none).shape == (0,)
    assert hashes(none).shape == (0,)


def test_the_only_tour_of_the_smallest_board_is_open():
    board = Board(1, 1)
    tours = array(board, [0])
    assert (are_complete(board, tours)[0], are_legal(board, tours)[0], are_closed(board, tours)[0]) == (1, 1, 0)


# Hashes


@pytest.mark.parametrize("dtype", ["u1", "<u2"])
@pytest.mark.parametrize("width", [1, 7, 8, 9, 25, 36, 64, 81])
def test_equal_tours_have_equal_hashes_and_others_differ(width, dtype):
    """Each tour differs from the first in one place, the last place and the padding of odd widths among them."""
    tours = np.tile(np.arange(width, dtype=dtype), (width + 1, 1))
    tours[np.arange(width), np.arange(width)] += 1
    found = hashes(tours)
    assert found.dtype == np.uint64
    assert len(set(found.tolist())) == width + 1
    assert (hashes(tours.copy()) == found).all()


@pytest.mark.parametrize("words_apart", [1, 8, 16])
def test_hashes_tell_the_order_of_squares(words_apart):
    """Words of eight bytes in another order, too: a sum or an exclusive or of them would not do."""
    orders = np.array(list(permutations(range(6))), dtype=np.uint8)
    tours = np.repeat(orders, words_apart, axis=1)
    assert len(set(hashes(tours).tolist())) == 720


@pytest.mark.parametrize("dtype", ["u1", "<u2"])
def test_a_hash_does_not_depend_on_the_other_tours_or_on_the_layout_in_memory(dtype):
    orders = np.array(list(permutations(range(7))), dtype=dtype)
    assert len(set(hashes(orders).tolist())) == len(orders)
    assert (hashes(orders[::3]) == hashes(orders)[::3]).all()
    assert (hashes(np.asfortranarray(orders)) == hashes(orders)).all()
    assert hashes(orders[17:18])[0] == hashes(orders)[17]


# Text and type


def test_beverleys_tour_prints_as_he_printed_it():
    assert as_text(Board(8, 8), array(Board(8, 8), from_text(BEVERLEY))[0]) == BEVERLEY


@pytest.mark.parametrize(
    ("board", "squares", "text"),
    [
        (Board(1, 1), [0], "1"),
        (Board(3, 3), [0, 5, 6, 1, 8, 3, 2, 7, 4], "3 8 5\n6 9 2\n1 4 7"),
        (Board(2, 5), list(range(10)), " 6  7  8  9 10\n 1  2  3  4  5"),
    ],
)
def test_a_tour_prints_as_a_board_with_row_1_at_the_bottom(board, squares, text):
    assert as_text(board, array(board, squares)[0]) == text


@each_tour
def test_a_tour_and_its_text_are_inverses(board, tour, closed):
    assert from_text(as_text(board, array(board, tour)[0])) == tour


@pytest.mark.parametrize(
    ("board", "name"), [(Board(1, 1), "|u1"), (Board(16, 16), "|u1"), (Board(1, 257), "<u2"), (Board(256, 256), "<u2")]
)
def test_a_square_takes_one_byte_up_to_256_squares_and_then_two_little_endian(board, name):
    assert square_dtype(board).str == name
    assert np.iinfo(square_dtype(board)).max >= board.squares - 1
