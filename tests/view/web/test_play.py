"""The game and the watcher without a browser: the pages, what is refused, and what the real search answers."""

from __future__ import annotations

from itertools import pairwise, product
from urllib.request import urlopen

import pytest
from starlette.datastructures import QueryParams
from starlette.testclient import TestClient

from enumerate.cli.app import main
from enumerate.model.board import Board
from enumerate.model.theorems import are_near
from enumerate.view.web.play import finish, first_tour, next_square, watched
from enumerate.view.web.server import make_app

from ...support.commands import serving
from ...support.reference import tours as reference_tours


@pytest.fixture(scope="module")
def site():
    return TestClient(make_app(), base_url="http://127.0.0.1:8642", raise_server_exceptions=False)


def answer(site, page, **params):
    got = site.get(f"/{page}/answer.json", params=params)
    assert got.status_code == 200, got.text
    return got.json()


def is_tour(board, path):
    steps = pairwise(path)
    return sorted(path) == list(range(board.squares)) and all(are_near(*step, board.cols) for step in steps)


def names(board, path):
    return ",".join(map(board.name, path))


@pytest.mark.parametrize("path", ["/play", "/play?size=3x20", "/play/help", "/watch", "/watch?size=20x3&start=c20"])
def test_the_pages_are_there_and_nothing_in_them_is_inline(site, path):
    got = site.get(path)
    assert got.status_code == 200
    assert "script-src 'self'" in got.headers["content-security-policy"]
    assert " style=" not in got.text
    assert "<script>" not in got.text
    assert 'aria-current="page"' in got.text


BAD = {
    "/play?size=2x5": "3 to 20 rows and columns",
    "/play?size=5x21": "3 to 20 rows and columns",
    "/play?size=abc": "expected a size",
    "/play?size=5&size=6": "given twice",
    "/play?sise=5": "did you mean 'size'?",
    "/play/help?x=1": "unknown parameter",
    "/play/answer.json?size=5&path=a1,a2": "not a knight's move: a1 to a2",
    "/play/answer.json?size=5&path=a1,b3,a1": "visited twice: a1",
    "/play/answer.json?size=5&path=a6": "no such square",
    "/play/answer.json?size=5&path=a1,,b3": "expected a square",
    "/play/answer.json?size=3&path=" + "a1," * 30: "at most 9 squares",
    "/watch?size=99x99": "3 to 20 rows and columns",
    "/watch?start=z9": "no such square",
    "/watch?strategy=divide": "warnsdorff, backtrack or greedy",
    "/watch/answer.json?strategy=bactrack": "did you mean 'backtrack'?",
    "/watch/answer.json?variant=all": "both, open or closed",
}


@pytest.mark.parametrize("path", BAD)
def test_what_cannot_be_asked_is_refused(site, path):
    got = site.get(path, headers={"accept": "application/json"})
    assert got.status_code == 400
    assert BAD[path] in got.json()["error"]


# The game's answers.


@pytest.mark.parametrize("board", [Board(3, 4), Board(4, 5)])
def test_every_path_of_few_squares_is_answered_as_the_reference_says(site, board):
    """Found exactly where a tour is left, and the tour begins with the path."""
    tours = {start: [tour for _, tour in reference_tours(board.rows, board.cols, start)] for start in (0, 1, 2)}
    for start, found in tours.items():
        for second in board.neighbours[start]:
            for third in set(board.neighbours[second]) - {start}:
                path = [start, second, third]
                has_tour = any(tour[:3] == path for tour in found)
                got = answer(site, "play", size=str(board), path=names(board, path))
                assert got["state"] == ("found" if has_tour else "none"), path
                if has_tour:
                    assert got["tour"][:3] == path
                    assert is_tour(board, got["tour"])
                    assert got["hint"] == got["tour"][3]


def test_whether_the_tour_is_closed(site):
    kinds = set()
    board = Board(6, 6)
    for start, second in product((0, 7, 14), (0, 1)):
        path = [start, board.neighbours[start][second]]
        got = answer(site, "play", size="6", path=names(board, path))
        assert got["closed"] == are_near(got["tour"][0], got["tour"][-1], 6)
        kinds.add(got["closed"])
    assert kinds == {True, False}


@pytest.mark.parametrize("size", ["3x4", "5x5", "8x8", "3x20", "17x20", "20x20"])
def test_an_empty_board_is_finished_from_anywhere(site, size):
    board = Board(*map(int, size.split("x")))
    got = answer(site, "play", size=size, path="")
    assert is_tour(board, got["tour"])
    assert got["hint"] == got["tour"][0]


def test_a_whole_tour_is_its_own_answer(site):
    tour = answer(site, "play", size="5", path="")["tour"]
    got = answer(site, "play", size="5", path=names(Board(5, 5), tour))
    assert (got["state"], got["tour"], got["hint"]) == ("found", tour, None)


@pytest.mark.parametrize(
    ("size", "path", "why"), [("4x4", "", "3 or at least 5"), ("7x7", "b1", "colour of its corners")]
)
def test_a_theorem_answers_before_a_search(site, size, path, why):
    got = answer(site, "play", size=size, path=path)
    assert got["state"] == "none"
    assert why in got["why"]


def test_no_tour_is_denied_before_the_search_is_at_its_end():
    """With next to nothing to spend, the answer is that it is not known; the hint is then Warnsdorff's."""
    board = Board(5, 5)
    path = [board.square(name) for name in ("a1", "b3", "c5")]
    got = finish(board, path, most=20, most_shuffled=5)
    assert got.state == "unknown"
    assert got.tour is None
    # From c5 the knight may go to a4, e4 and d3, which have 1, 2 and 6 onward moves.
    assert board.name(next_square(board, path, got.tour)) == "a4"


def test_a_dead_end_has_no_hint(site):
    path = "e2,c1,a2,b4,d5,e3,d1,b2,a4,c5,e4,d2,b1,a3,c2,a1,b3,a5,c4,e5,d3,e1"
    got = answer(site, "play", size="5", path=path)
    assert (got["state"], got["hint"]) == ("none", None)


# The watcher's answers.


def test_the_first_tour_comes_after_as_many_placements_as_published(site):
    """8x8 from the corner, this order of moves: 3,242,064 placements after that of the first square."""
    got = answer(site, "watch", size="8", strategy="backtrack", start="a8")
    assert (got["state"], got["iterations"]) == ("found", 3_242_065)
    assert is_tour(Board(8, 8), got["tour"])


def test_a_search_that_takes_long_is_pruned_and_comes_to_the_same_tour():
    config = watched(QueryParams(size="6", strategy="backtrack"))
    whole = first_tour(config)
    got = first_tour(config, most=whole.iterations - 1)
    assert got.iterations is None
    assert got.tour == whole.tour


def test_greedy_may_give_up(site):
    states = [answer(site, "watch", size="5x6", strategy="greedy", variant="closed", start=f"{col}{row}")["state"]
              for col in "abcdef" for row in range(1, 6)]  # fmt: skip
    assert set(states) == {"found", "given up"}


def test_a_board_without_tours_is_searched_to_its_end(site):
    got = answer(site, "watch", size="3x3", strategy="warnsdorff", start="a1")
    # Around the centre the knight has eight squares, in both directions.
    assert (got["state"], got["iterations"]) == ("none", 15)


# The command.


def test_the_command_serves_the_game():
    with serving("play", "--size", "5x6") as address:
        assert b"Visit every square once" in urlopen(f"{address}/play").read()


def test_the_command_refuses_a_board_that_is_too_large(capsys):
    assert main(["play", "--size", "21", "--no-open"]) == 2
    assert "3 to 20 rows and columns, got '21'" in capsys.readouterr().err
