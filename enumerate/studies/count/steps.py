"""A board as a series of steps, one for each square, for the kernel that counts tours.

The kernel counts cycles through all squares of a graph. A path is a cycle with extra squares. On a board with equally
many dark and light squares, one *extra* square is next to all dark ones and one next to all light ones; the two are
joined already, because the ends of a path have different colours. On an odd board, one extra square is next to all dark
ones.

The order of the squares decides the number of states. It runs along the longer side, so that the frontier, about two
columns of squares, is as short as possible. It takes a square and its mirror image one after the other: then every
other time the rest of the board is its own mirror image, which halves the states. Of the orders within a column that
were tried (32 on 6x7, 8 on 7x6, 3 on 5x10), the edge first and the row next to it last, after the edge of the next
column, has the fewest states in all; on 7x6 and 5x10 others have up to a tenth fewer at the peak.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model.board import Board

Ints = NDArray[np.int64]

MAX_PLACES = 20  # that fit in the word of a state
NOT_YET = 2**64 - 1  # no set of places is so large: a cycle must not close


@dataclass(frozen=True)
class Problem:
    """Count the cycles that visit each square once."""

    order: list[int]
    extras: tuple[int, ...]  # always on the frontier; numbered after the squares of the board; two are joined already
    neighbours: dict[int, frozenset[int]]
    mirror: dict[int, int]
    unlike: frozenset[int]  # until these squares are processed, the board differs from its mirror image


class Step(NamedTuple):
    square: int
    mirror: Ints
    arrays: tuple[object, ...]  # what the kernel needs to know; see `kernels.frontier.advance`


def cycles_problem(board: Board) -> Problem:
    return _problem(board, (), None)


def paths_problem(board: Board) -> Problem:
    """Each undirected path is one cycle."""
    dark, light = _colours(board)
    return _problem(board, (dark, light) if len(dark) == len(light) else (dark,), None)


def paths_from_problem(board: Board, start: int) -> Problem:
    """Each path from this square is one cycle: one extra square is next to it only, the other to its possible ends."""
    colours = _colours(board)
    end_is_dark = board.length % 2 == 1 or not board.is_dark(start)
    ends = colours[0 if end_is_dark else 1] - {start}
    return _problem(board, (frozenset({start}), ends), start)


def _colours(board: Board) -> tuple[frozenset[int], frozenset[int]]:
    squares = frozenset(range(board.squares)) - {board.missing}
    dark = frozenset(filter(board.is_dark, squares))
    return dark, squares - dark


def _problem(board: Board, extras: tuple[frozenset[int], ...], start: int | None) -> Problem:
    names = tuple(range(board.squares, board.squares + len(extras)))
    near = dict(zip(names, extras, strict=True))
    neighbours = {
        square: frozenset(board.neighbours[square]) | {name for name in names if square in near[name]}
        for square in range(board.squares)
        if square != board.missing
    }
    across, along = _coordinates(board, board.missing if start is None else start)
    width = min(board.rows, board.cols)

    def turn(square: int) -> tuple[int, int, int]:
        edge = min(across[square], width - 1 - across[square])
        return along[square] + (edge == 1), edge, across[square]

    mirror = _mirror(width, across, along) | dict(zip(names, names if width % 2 else names[::-1], strict=True))
    order = sorted(neighbours, key=turn)
    return Problem(order, names, neighbours | near, mirror, _unlike(board, mirror, start))


def _unlike(board: Board, mirror: dict[int, int], start: int | None) -> frozenset[int]:
    """The squares whose neighbours are not those of their mirror images."""
    if start is not None and min(board.rows, board.cols) % 2 == 0:
        return frozenset(range(board.squares))  # the mirror swaps the colours, and a path from here ends on one of them
    return frozenset() if start is None or mirror[start] == start else frozenset({start})


def _coordinates(board: Board, early: int | None) -> tuple[list[int], list[int]]:
    """The coordinates of each square on the shorter and the longer side, counted so that `early` comes soon."""
    rows = [square // board.cols for square in range(board.squares)]
    cols = [square % board.cols for square in range(board.squares)]
    choices = []
    if board.rows <= board.cols:
        choices += [(rows, cols), (rows, [board.cols - 1 - col for col in cols])]
    if board.cols <= board.rows:
        choices += [(cols, rows), (cols, [board.rows - 1 - row for row in rows])]
    return min(choices, key=lambda choice: 0 if early is None else choice[1][early])


def _mirror(width: int, across: list[int], along: list[int]) -> dict[int, int]:
    square_at = {point: square for square, point in enumerate(zip(across, along, strict=True))}
    return {square: square_at[width - 1 - across[square], along[square]] for square in range(len(across))}


def _walk(problem: Problem) -> Iterator[tuple[int, set[int], set[int]]]:
    """Each square in its turn, and then all that is left, and what of it is on the frontier."""
    left, frontier = {*problem.extras, *problem.order}, set(problem.extras)
    for square in problem.order:
        left.discard(square)
        frontier = (frontier | problem.neighbours[square]) & left
        yield square, left, frontier


def longest_frontier(problem: Problem) -> int:
    return max(len(frontier) for _, _, frontier in _walk(problem))


def steps(problem: Problem) -> Iterator[Step]:
    """The steps in order. A frontier is a list of squares, extra squares first, then in the order of the steps."""
    turns = {square: turn for turn, square in enumerate([*problem.extras, *problem.order])}
    before = list(problem.extras)
    for square, left, frontier in _walk(problem):
        after = sorted(frontier, key=turns.__getitem__)
        yield _step(problem, square, before, after, left)
        before = after


def _step(problem: Problem, square: int, before: list[int], after: list[int], left: set[int]) -> Step:
    place = {each: i for i, each in enumerate([*after, square])}
    later_places = sorted(place[each] for each in problem.neighbours[square] & left)
    is_symmetric = not problem.unlike & left and all(
        {problem.mirror[each] for each in squares} == set(squares) for squares in (left, after)
    )
    mirror = _ints(place[problem.mirror[each]] for each in after) if is_symmetric else _ints(())
    arrays = (
        len(before),
        _ints(place[each] for each in before),
        _ints(place[each] for each in place if each not in before),
        _ints(later_places),
        _ints(combinations(later_places, 2)).reshape(-1, 2),
        _ints(_tight(problem, {each: place[each] for each in after}, left)).reshape(-1, 3),
        np.uint64(2 ** len(after) - 1 if len(left) == len(after) else NOT_YET),
        np.arange(len(after)),
        mirror,
        np.empty(len(after) + 1, dtype=np.int64),
    )
    return Step(square, mirror, arrays)


def _tight(problem: Problem, place: dict[int, int], left: set[int]) -> Iterator[tuple[int, int, int]]:
    """The squares that depend on the frontier for their two moves, see `kernels.frontier`."""
    near = {each for square in place if square not in problem.extras for each in problem.neighbours[square]}
    for square in sorted((near | set(place)) & left):
        unprocessed = problem.neighbours[square] & left
        on_frontier = [place[each] for each in unprocessed if each in place]
        spare = len(unprocessed) - len(on_frontier)
        if spare < 2:
            yield place.get(square, -1), spare, sum(1 << at for at in on_frontier)


def _ints(values: object) -> Ints:
    return np.array(list(values), dtype=np.int64)  # type: ignore[call-overload]  # any iterable
