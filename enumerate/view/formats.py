"""One tour in each format that is a text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..model.board import Board
from ..model.tour import SYMMETRIES, Tours, as_text


@dataclass(frozen=True)
class Exported:
    """One tour on its way out."""

    number: int  # in this export, from 1
    start: str
    variant: str
    structured: bool
    symmetry: str
    iteration: int
    squares: Tours

    @property
    def kind(self) -> str:
        """The name of its file where kinds are kept apart."""
        return f"{self.variant}-{'structured' if self.structured else 'unstructured'}"


def _txt(board: Board, tour: Exported) -> str:
    """A line about the tour, the board with its numbers, and an empty line."""
    words = [tour.variant, *(["structured"] if tour.structured else [])]
    words += [tour.symmetry] if tour.symmetry != SYMMETRIES[0] else []
    end = board.name(int(tour.squares[-1]))
    about = f"{tour.number}: {', '.join(words)}, from {tour.start} to {end}, found after {tour.iteration} iterations"
    return f"{about}\n{as_text(board, tour.squares)}\n\n"


CSV_COLUMNS = ("number", "start", "variant", "structured", "symmetry", "iteration", "tour")


def _csv(board: Board, tour: Exported) -> str:
    """The squares of the tour are one field, with spaces between their names."""
    squares = " ".join(_path(board, tour))
    word = "true" if tour.structured else "false"
    return f"{tour.number},{tour.start},{tour.variant},{word},{tour.symmetry},{tour.iteration},{squares}\n"


def _jsonl(board: Board, tour: Exported) -> str:
    values = {name: getattr(tour, name) for name in CSV_COLUMNS[:-1]}
    return json.dumps({**values, "tour": list(_path(board, tour))}) + "\n"


FORMATS: dict[str, tuple[Callable[[Board, Exported], str], str]] = {
    "txt": (_txt, ""),
    "csv": (_csv, ",".join(CSV_COLUMNS) + "\n"),
    "jsonl": (_jsonl, ""),
}


@lru_cache(maxsize=1)
def _names(board: Board) -> Sequence[str]:
    """The names of all squares: made once, for a million tours would make them a million times."""
    return [board.name(square) for square in range(board.squares)]


def _path(board: Board, tour: Exported) -> Iterable[str]:
    return map(_names(board).__getitem__, tour.squares.tolist())
