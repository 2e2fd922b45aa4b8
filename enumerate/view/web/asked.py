"""What the pages of the game and of the watcher are asked behind the question mark: boards, paths, and words."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from starlette.datastructures import QueryParams

from ...model.board import Board, parse_size
from ...model.config import hint
from ...model.errors import BadRequest
from ...model.theorems import are_near

SMALLEST, LARGEST = 3, 20  # rows, and columns


def single(params: QueryParams, known: tuple[str, ...]) -> Mapping[str, str]:
    """Each parameter once, and none that is unknown."""
    names = [name for name, _ in params.multi_items()]
    for name in names:
        if name not in known:
            raise BadRequest(f"unknown parameter: {name!r}{hint(name, known)}")
        if names.count(name) > 1:
            raise BadRequest(f"a parameter is given twice: {name!r}")
    return dict(params)


def board_of(word: str) -> Board:
    board = parse_size(word)
    if not (SMALLEST <= board.rows <= LARGEST and SMALLEST <= board.cols <= LARGEST):
        raise BadRequest(f"this page has boards of {SMALLEST} to {LARGEST} rows and columns: {word!r}")
    return board


def path_of(board: Board, word: str) -> list[int]:
    """`a1,b3,...` as squares, each a knight's move from the one before and none twice."""
    if len(word) > 4 * board.squares:  # no name has more letters, its comma included
        raise BadRequest(f"a path has at most {board.squares} squares")
    path = [board.square(name) for name in word.split(",")] if word else []
    for before, square in pairwise(path):
        if not are_near(before, square, board.cols):
            raise BadRequest(f"not a knight's move: {board.name(before)} to {board.name(square)}")
    if len(set(path)) < len(path):
        twice = next(square for square in path if path.count(square) > 1)
        raise BadRequest(f"a square is visited twice: {board.name(twice)}")
    return path


def one_of(name: str, word: str, choices: tuple[str, ...]) -> str:
    if word not in choices:
        raise BadRequest(f"{name} is one of {', '.join(choices)}: {word!r}{hint(word, choices)}")
    return word
