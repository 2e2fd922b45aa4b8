"""Boards of rows x columns, their squares, names, neighbours and symmetries.

A square is an int, `row * cols + col`; its name is a column letter and a row number from 1: `a1` is square 0. After
column `z` comes `aa`. Boards are rows x columns: 5x6 has 5 rows, named 1 to 5, and 6 columns, named a to f.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .errors import BadRequest

MAX_SQUARES = 2**26  # a tour takes four bytes a square
MAX_SIDE = 65_536

MOVES = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))


@dataclass(frozen=True)
class Board:
    """A board of `rows` x `cols` squares, of which one may be missing: no tour visits it."""

    rows: int
    cols: int
    missing: int | None = None

    def __str__(self) -> str:
        return f"{self.rows}x{self.cols}"

    @property
    def squares(self) -> int:
        return self.rows * self.cols

    @property
    def length(self) -> int:
        """How many squares a tour visits."""
        return self.squares - (self.missing is not None)

    @property
    def corner_moves(self) -> list[tuple[int, int]]:
        """The two moves next to each corner, which a structured tour has, as pairs of squares."""
        if min(self.rows, self.cols) < 3:
            return []
        last_row, last_col = self.rows - 1, self.cols - 1
        return [
            (abs(row - a) * self.cols + abs(col - b), abs(row - c) * self.cols + abs(col - d))
            for row in (0, last_row)
            for col in (0, last_col)
            for (a, b), (c, d) in (((0, 1), (2, 0)), ((0, 2), (1, 0)))
        ]

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(self.neighbours_of(square)) for square in range(self.squares))

    def neighbours_of(self, square: int) -> Iterator[int]:
        """The squares a knight's move away, in ascending order."""
        row, col = divmod(square, self.cols)
        for down, right in MOVES:
            other = square + down * self.cols + right
            if 0 <= row + down < self.rows and 0 <= col + right < self.cols and self.missing not in (square, other):
                yield other

    def name(self, square: int) -> str:
        row, col = divmod(square, self.cols)
        return f"{column_name(col)}{row + 1}"

    def square(self, name: str) -> int:
        """The square of that name; the inverse of `name`."""
        match = re.fullmatch(r"([a-z]{1,4})([1-9][0-9]{0,5})", name.strip().lower())
        if not match:
            raise BadRequest(f"expected a square such as a1 or d4, got {name!r}")
        row, col = int(match[2]) - 1, column_number(match[1])
        if row >= self.rows or col >= self.cols:
            last = self.name(self.squares - 1)
            raise BadRequest(f"no such square on the {self} board (a1 to {last}): {name!r}")
        return row * self.cols + col

    def is_dark(self, square: int) -> bool:
        """Whether a square has the colour of a1."""
        row, col = divmod(square, self.cols)
        return (row + col) % 2 == 0

    @cached_property
    def maps(self) -> tuple[tuple[int, int, int], ...]:
        """The maps of the board onto itself as a, b, c: the image of a square is `a * row + b * col + c`."""
        found = []
        for down, right in ((self.cols, 1), (1, self.cols)) if self.rows == self.cols else ((self.cols, 1),):
            for a, from_last_row in ((down, 0), (-down, down * (self.rows - 1))):
                for b, from_last_col in ((right, 0), (-right, right * (self.cols - 1))):
                    found.append((a, b, from_last_row + from_last_col))
        return tuple(each for each in found if self.missing is None or self.image(each, self.missing) == self.missing)

    def image(self, each: tuple[int, int, int], square: int) -> int:
        """Where one of `maps` takes a square."""
        (a, b, c), (row, col) = each, divmod(square, self.cols)
        return a * row + b * col + c

    def images_of(self, square: int) -> dict[int, tuple[int, int, int]]:
        """The squares of its symmetry class, each with the first of `maps` that takes the square there."""
        images: dict[int, tuple[int, int, int]] = {}
        for each in self.maps:
            images.setdefault(self.image(each, square), each)
        return images

    @cached_property
    def symmetries(self) -> tuple[tuple[int, ...], ...]:
        """The maps of the board onto itself, each as the list of images: eight for a square board, else four."""
        return tuple(tuple(self.image(each, square) for square in range(self.squares)) for each in self.maps)

    @cached_property
    def classes(self) -> dict[int, int]:
        """One square for each class under the symmetries, the lowest, and how many squares the class has."""
        return dict(Counter(map(min, zip(*self.symmetries, strict=True))))


def column_name(col: int) -> str:
    before, digit = divmod(col, 26)
    return (column_name(before - 1) if before else "") + chr(ord("a") + digit)


def column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("a") + 1
    return number - 1


def size_of(board: Board) -> str:
    """The shortest text that `parse_size` takes for it."""
    return str(board.rows) if board.rows == board.cols else str(board)


def parse_size(text: str) -> Board:
    """`8` is 8x8, `5x6` has 5 rows and 6 columns."""
    match = re.fullmatch(r"([0-9]{1,9})(?:[xX]([0-9]{1,9}))?", text.strip())
    if not match:
        raise BadRequest(f"expected a size such as 8 or 5x6, got {text!r}")
    rows = int(match[1])
    cols = int(match[2]) if match[2] else rows
    if rows < 1 or cols < 1:
        raise BadRequest(f"a board needs at least one row and one column, got {text!r}")
    if rows * cols > MAX_SQUARES or max(rows, cols) > MAX_SIDE:
        most = f"{MAX_SQUARES:,} squares (8192x8192) and {MAX_SIDE:,} rows"
        raise BadRequest(f"a board may have at most {most}, got {text!r}")
    return Board(rows, cols)
