"""The query of an address: a view of a run, a board, a path, a word.

Every view of the explorer is one query, so it has a link. An invalid query is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from ...model.board import Board, parse_size
from ...model.errors import BadRequest
from ...model.theorems import are_near
from ...model.tour import SYMMETRIES
from ...model.values import hint
from .filters import SORTS, SYMMETRIC, Wanted

SMALLEST, LARGEST = 3, 20  # rows and columns of the boards to play on and to watch
MOST = 10**15  # pages, or tours
MEASURES = {"tours": "tours", "iterations": "iterations", "first": "time to the first tour"}
CHOICES: dict[str, tuple[str, ...]] = {
    "by": tuple(MEASURES),
    "variant": ("", "open", "closed"),
    "structured": ("", "yes", "no"),
    "symmetry": ("", SYMMETRIC, *SYMMETRIES),
    "sort": SORTS,
}


@dataclass(frozen=True)
class Query:
    """A view of the explorer. An address holds only what differs from these defaults."""

    by: str = "tours"
    start: str = ""
    variant: str = ""
    structured: str = ""
    symmetry: str = ""
    sort: str = "first"
    page: int = 1
    number: int = 1

    @property
    def wanted(self) -> Wanted:
        return Wanted(self.start, self.variant, self.structured, self.symmetry)

    def to(self, path: str, **changes: str | int) -> str:
        """The address below `path` of this view with some values changed."""
        values = asdict(replace(self, **changes))  # type: ignore[arg-type]  # each value is of its field's type
        given = {name: value for name, value in values.items() if value != getattr(Query, name)}
        return f"{path}?{urlencode(given)}" if given else path


def parse_query(params: QueryParams, board: Board) -> Query:
    given: dict[str, str | int] = {}
    for name, word in single(params, Query.__dataclass_fields__).items():
        if name in ("page", "number"):
            given[name] = _count(name, word)
        elif name == "start":
            given[name] = board.name(board.square(word)) if word else ""
        else:
            given[name] = one_of(name, word, CHOICES[name])
    return Query(**given)  # type: ignore[arg-type]  # as above


def single(params: QueryParams, known: Iterable[str]) -> dict[str, str]:
    """The parameters, each known and given once."""
    names, known = [name for name, _ in params.multi_items()], tuple(known)
    for name in names:
        if name not in known:
            raise BadRequest(f"unknown parameter: {name!r}{hint(name, known)}")
        if names.count(name) > 1:
            raise BadRequest(f"parameter given twice: {name!r}")
    return dict(params)


def one_of(name: str, word: str, choices: tuple[str, ...]) -> str:
    if word not in choices:
        raise BadRequest(f"{name} must be one of {', '.join(filter(None, choices))}, got {word!r}{hint(word, choices)}")
    return word


def _count(name: str, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 16 and 1 <= int(word) <= MOST):
        raise BadRequest(f"{name} must be a whole number from 1, got {word!r}")
    return int(word)


def board_of(word: str) -> Board:
    board = parse_size(word)
    if not (SMALLEST <= board.rows <= LARGEST and SMALLEST <= board.cols <= LARGEST):
        raise BadRequest(f"this page takes boards of {SMALLEST} to {LARGEST} rows and columns, got {word!r}")
    return board


def path_of(board: Board, word: str) -> list[int]:
    """`a1,b3,...` as squares, each a knight's move from the one before, none twice."""
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
