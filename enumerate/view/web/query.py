"""What is asked for behind the question mark of an address. Every view of the explorer is one such query, so that a
link leads back to it; what cannot be one is refused with a line that says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from ...model.board import Board
from ...model.config import hint
from ...model.errors import BadRequest
from ...model.tour import SYMMETRIES
from .counting import SYMMETRIC, Wanted
from .selection import SORTS

MEASURES = {"tours": "tours", "iterations": "iterations", "first": "time to the first tour"}
CHOICES: dict[str, tuple[str, ...]] = {
    "by": tuple(MEASURES),
    "variant": ("", "open", "closed"),
    "structured": ("", "yes", "no"),
    "symmetry": ("", SYMMETRIC, *SYMMETRIES),
    "sort": SORTS,
}
LARGEST = 10**15


@dataclass(frozen=True)
class Query:
    """A view of the explorer. Only what differs from these defaults stands in an address."""

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
        """The address of the view below `path` that differs from this one in some values."""
        other = replace(self, **changes)  # type: ignore[arg-type]  # each value is of its field's type
        values = {field.name: getattr(other, field.name) for field in fields(Query)}
        given = {name: value for name, value in values.items() if value != Query.__dataclass_fields__[name].default}
        return f"{path}?{urlencode(given)}" if given else path


def parse_query(params: QueryParams, board: Board) -> Query:
    values = _single(params)
    given: dict[str, str | int] = {}
    for name, word in values.items():
        if name in ("page", "number"):
            given[name] = _count(name, word)
        elif name == "start":
            given[name] = board.name(board.square(word)) if word else ""
        else:
            given[name] = _one_of(name, word)
    return Query(**given)  # type: ignore[arg-type]  # as above


def _single(params: QueryParams) -> Mapping[str, str]:
    """Each parameter once, and none that is unknown."""
    names = [name for name, _ in params.multi_items()]
    for name in names:
        if name not in Query.__dataclass_fields__:
            raise BadRequest(f"unknown parameter: {name!r}{hint(name, tuple(Query.__dataclass_fields__))}")
        if names.count(name) > 1:
            raise BadRequest(f"a parameter is given twice: {name!r}")
    return dict(params)


def _count(name: str, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 16 and 1 <= int(word) <= LARGEST):
        raise BadRequest(f"{name} is a whole number from 1: {word!r}")
    return int(word)


def _one_of(name: str, word: str) -> str:
    if word not in CHOICES[name]:
        known = ", ".join(choice for choice in CHOICES[name] if choice)
        raise BadRequest(f"{name} is one of {known}: {word!r}{hint(word, CHOICES[name])}")
    return word
