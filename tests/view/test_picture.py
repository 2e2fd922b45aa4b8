"""PNG pictures show the squares, the path and the numbers where they are."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from enumerate.cli.app import main
from enumerate.model.board import Board
from enumerate.search.strategy import resolve
from enumerate.view.picture import COLOURS, centre, tour_png

from ..support.runs import run_serially

PATH = [0, 7, 14, 5, 8, 1, 10, 3, 6, 9, 2, 11]  # no tour is needed for a picture: 3x4


def decoded(data):
    """The points of a PNG file."""
    with Image.open(io.BytesIO(data), formats=["PNG"]) as picture:
        assert picture.mode == "RGB"
        return np.asarray(picture)


def rgb(name):
    return [int(COLOURS[name][at : at + 2], 16) for at in (1, 3, 5)]


def test_the_picture_shows_path_and_ends_where_they_are():
    board = Board(3, 4)
    picture = decoded(tour_png(board, PATH, closed=False))
    assert picture.shape == (2 * 164, 2 * 204, 3)  # two points for each unit of the SVG picture
    for square, kind in ((PATH[0], "first"), (PATH[-1], "last"), (PATH[5], "disc")):
        x, y = centre(board, square)
        assert picture[2 * y + 15, 2 * x].tolist() == rgb(kind)
    (x0, y0), (x1, y1) = centre(board, PATH[0]), centre(board, PATH[1])
    assert picture[y0 + y1, x0 + x1].tolist() == rgb("path")  # in the middle of the first move


def test_squares_have_their_colours():
    board = Board(3, 4)
    picture = decoded(tour_png(board, [0], closed=False))
    for square in range(12):
        x, y = centre(board, square)
        for point in (picture[2 * y - 39, 2 * x - 39], picture[2 * y + 39, 2 * x + 39]):
            assert point.tolist() == rgb("dark" if board.is_dark(square) else "light")


def test_a_closed_tour_has_its_closing_move():
    board = Board(3, 4)
    # The picture does not ask whether it is one: any path will do.
    path = [0, 7, 1, 6]
    (x0, y0), (x1, y1) = centre(board, path[-1]), centre(board, path[0])
    middle = (y0 + y1, x0 + x1)
    assert decoded(tour_png(board, path, closed=True))[middle].tolist() == rgb("path")
    assert decoded(tour_png(board, path, closed=False))[middle].tolist() != rgb("path")


def test_a_missing_corner_is_left_out():
    picture = decoded(tour_png(Board(3, 3, missing=8), [0, 5, 6, 1], closed=False))
    x, y = centre(Board(3, 3), 8)
    assert picture[2 * y, 2 * x].tolist() == rgb("card-ground")


def test_every_square_of_a_tour_has_its_number_and_every_row_and_column_its_name():
    board = Board(27, 27)
    picture = decoded(tour_png(board, [0, 29], closed=False))
    for x, y in ((11, centre(board, 0)[1]), (centre(board, 26)[0], 27 * 40 + 33), centre(board, 29)):
        around = picture[int(y) - 5 : int(y) + 5, int(x) - 6 : int(x) + 6]
        assert len(np.unique(around.reshape(-1, 3), axis=0)) > 5  # ink, ground, and shades between them


def test_edges_are_smooth():
    board = Board(3, 4)
    picture = decoded(tour_png(board, PATH, closed=False))
    (x0, y0), (x1, y1) = centre(board, PATH[0]), centre(board, PATH[1])
    across = picture[y0 + y1, x0 + x1 - 10 : x0 + x1 + 10]  # the first move, cut at its middle
    assert len(np.unique(across.reshape(-1, 3), axis=0)) > 3


def test_show_writes_a_picture_for_each_format_that_is_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_serially(resolve({"size": "5", "start": "a1", "output": "run", "executor": "serial", "max": 20_000}))
    assert main(["show", "run", "--png", "tour.png", "--svg", "tour.svg"]) == 0
    assert capsys.readouterr().out == "wrote tour.svg\nwrote tour.png\n"
    assert decoded((tmp_path / "tour.png").read_bytes()).shape == (2 * 244, 2 * 244, 3)
    assert (tmp_path / "tour.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("flag", ["--svg", "--png"])
def test_a_picture_that_cannot_be_written_costs_one_line(tmp_path, monkeypatch, capsys, flag):
    monkeypatch.chdir(tmp_path)
    run_serially(resolve({"size": "5", "start": "a1", "output": "run", "executor": "serial", "max": 20_000}))
    assert main(["show", "run", flag, "no/such/folder/tour"]) == 2
    assert "cannot write the file: 'no/such/folder/tour'" in capsys.readouterr().err
