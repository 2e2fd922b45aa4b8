"""What comes in behind the question mark of an address, and the templates that go out.

Every view of the explorer is one query, so that a link leads back to it. What cannot be understood is refused with a
line that says why.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import QueryParams
from starlette.responses import HTMLResponse

from ... import __version__
from ...model.board import Board, parse_size
from ...model.errors import BadRequest
from ...model.numbers import short_time
from ...model.theorems import are_near
from ...model.tour import SYMMETRIES
from ...model.values import hint, one_of

SECTIONS = [("runs", "/", "Runs"), ("watch", "/watch", "Watch"), ("play", "/play", "Play")]  # at the top of every page
STATIC = Path(__file__).parent / "static"
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals.update(version=__version__, sections=SECTIONS, symmetries=SYMMETRIES[1:])
TEMPLATES.filters["number"] = lambda value: f"{value:,}"
TEMPLATES.filters["json"] = lambda value: json.dumps(value, separators=(",", ":"))
TEMPLATES.filters["time"] = short_time

SMALLEST, LARGEST = 3, 20  # rows and columns of the boards to play on and to watch
MOST = 10**15  # pages, or tours
MEASURES = {"tours": "tours", "iterations": "iterations", "first": "time to the first tour"}
SYMMETRIC = "symmetric"  # in any way
CHOICES: dict[str, tuple[str, ...]] = {  # beside the default
    "by": tuple(MEASURES),
    "variant": ("open", "closed"),
    "structured": ("yes", "no"),
    "symmetry": (SYMMETRIC, *SYMMETRIES),
    "sort": ("first", "last"),
}


def page(template: str, section: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page; `section` is the one of SECTIONS that it belongs to, or empty."""
    return HTMLResponse(TEMPLATES.get_template(template).render(section=section, **values), status)


@dataclass(frozen=True)
class Query:
    """A view of the explorer; an empty word means any. Its address has only what differs from these defaults."""

    start: str = ""
    variant: str = ""
    structured: str = ""
    symmetry: str = ""
    by: str = "tours"
    sort: str = "first"
    page: int = 1
    number: int = 1

    def to(self, path: str, **changes: str | int) -> str:
        """The address below `path` of this view with some values changed."""
        values = asdict(replace(self, **changes))  # type: ignore[arg-type]  # each value is of its field's type
        given = {name: value for name, value in values.items() if value != getattr(Query, name)}
        return f"{path}?{urlencode(given)}" if given else path


def parse_query(params: QueryParams, board: Board) -> Query:
    given: dict[str, str | int] = {}
    for name, word in parameters(params, Query.__dataclass_fields__).items():
        if name in ("page", "number"):
            given[name] = _count(name, word)
        elif name == "start":
            given[name] = board.name(board.square(word)) if word else ""
        else:
            if word != getattr(Query, name):
                one_of(name, word, CHOICES[name])
            given[name] = word
    return Query(**given)  # type: ignore[arg-type]  # as above


def parameters(params: QueryParams, known: Iterable[str]) -> dict[str, str]:
    """The parameters, each known and given once."""
    names, known = [name for name, _ in params.multi_items()], tuple(known)
    for name in names:
        if name not in known:
            raise BadRequest(f"unknown parameter: {name!r}{hint(name, known)}")
        if names.count(name) > 1:
            raise BadRequest(f"parameter given twice: {name!r}")
    return dict(params)


def _count(name: str, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 16 and 1 <= int(word) <= MOST):
        raise BadRequest(f"{name} must be a whole number from 1, got {word!r}")
    return int(word)


def board_of(word: str) -> Board:
    board = parse_size(word)
    if not (SMALLEST <= board.rows <= LARGEST and SMALLEST <= board.cols <= LARGEST):
        raise BadRequest(f"this page takes boards of {SMALLEST} to {LARGEST} rows and columns, got {word!r}")
    return board


def parse_path(board: Board, word: str) -> list[int]:
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
