"""Move orderings that break the ties of Warnsdorff's rule on square boards.

Douglas Squirrel and Paul Cull, A Warnsdorff-Rule Algorithm for Knight's Tours on Square Boards (1996): the eight moves
are numbered clockwise, and ties go to the move that comes first in an ordering. When the knight comes to a certain
square, the next ordering takes over. The lists below, for each size modulo 8, are theirs; squares are (row, column)
from 1, and the tour starts on (1, 1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..kernels.common import NOWHERE
from ..model.board import MOVES, Board

Phase = tuple[str, Callable[[int], tuple[int, int]] | None]  # an ordering, and the square where it ends

_NUMBERED = ((-2, 1), (-1, 2), (1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1))  # moves 1 to 8

_PHASES: tuple[tuple[Phase, ...], ...] = (
    (
        ("34261578", lambda m: (m - 1, m - 2)),
        ("87642135", lambda _: (2, 2)),
        ("51867342", lambda m: (m - 8, 1)),
        ("51342678", lambda m: (7, m - 3)),
        ("21435678", None),
    ),
    (
        ("34261578", lambda m: (m - 1, m - 2)),
        ("87642135", lambda _: (2, 2)),
        ("51324678", lambda m: (m - 6, (m - 1) // 2 + 5)),
        ("32481765", None),
    ),
    (
        ("34261578", lambda _: (6, 1)),
        ("87642135", lambda _: (3, 1)),
        ("54132678", lambda m: (m - 15, 4)),
        ("52431678", lambda m: (10, m - 2)),
        ("85647123", lambda m: (5, m // 2 - 3)),
        ("15746823", None),
    ),
    (
        ("34625718", lambda m: (m - 1, m - 2)),
        ("42681357", lambda m: (m - 6, m)),
        ("86512347", lambda _: (2, 5)),
        ("51867342", lambda m: (m - 10, 3)),
        ("61825437", lambda m: ((m - 1) // 2 + 1, m - 2)),
        ("71642538", None),
    ),
    (
        ("34261578", lambda m: (m - 1, m - 2)),
        ("87642135", lambda _: (2, 2)),
        ("51867342", lambda m: (m - 8, 1)),
        ("51342678", lambda m: (10, m - 5)),
        ("86753421", lambda m: (13, m // 2 + 1)),
        ("78563421", None),
    ),
    (
        ("34261578", lambda m: (m - 1, m - 2)),
        ("87642135", lambda _: (2, 2)),
        ("51324678", lambda m: (m - 2, (m - 1) // 2 - (2 if m % 16 == 5 else 6))),
        ("15234678", None),
    ),
    (
        ("34261578", lambda _: (6, 1)),
        ("87642135", lambda _: (3, 1)),
        ("54132678", lambda m: (m - 10, 1)),
        ("52431678", lambda m: (10, m - 2)),
        ("85647123", lambda m: (3, m // 2 + 4)),
        ("12453678", None),
    ),
    (
        ("34625718", lambda m: (m - 1, m - 2)),
        ("42681357", lambda m: (m - 6, m)),
        ("86512347", lambda _: (2, 5)),
        ("51867342", lambda m: (m - 6, 3)),
        ("61825437", lambda m: ((m - 1) // 2 + 1, m - 2)),
        ("61357284", None),
    ),
)


def orderings_of(board: Board) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """For each phase the kinds of moves in its order, as places in MOVES, and the square where it ends."""
    phases = _PHASES[board.rows % 8]
    orderings = [[MOVES.index(_NUMBERED[int(digit) - 1]) for digit in ordering] for ordering, _ in phases]
    switches = [_square(board, *until(board.rows)) if until else NOWHERE for _, until in phases]
    return np.array(orderings, dtype=np.int8), np.array(switches, dtype=np.int32)


def one_ordering() -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """The moves as they are, to the end."""
    return np.arange(8, dtype=np.int8).reshape(1, 8), np.full(1, NOWHERE, dtype=np.int32)


def _square(board: Board, row: int, col: int) -> int:
    """The square in row and column from 1; on small boards there may be none."""
    on_board = 1 <= row <= board.rows and 1 <= col <= board.cols
    return (row - 1) * board.cols + col - 1 if on_board else NOWHERE
