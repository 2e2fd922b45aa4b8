"""Cut a board into blocks and join the tours of the blocks to one: what `divide` does.

Four blocks meet, or two lie side by side (or, with rows and columns exchanged, one below the other). Row 0 is on top.

    . . . . | . . . .    taken away   put in          . . . | d . . .    taken away   put in
    . . a . | . . . .       a-b        b-c            . a . | . . . .       a-b        b-c
    . . . . | h . . .       c-d        d-e            . . . | . c . .       c-d        d-a
    . . . b | . . g .       e-f        f-g            . . b | . . . .
    --------+--------       g-h        h-a            . . . | . . . .
    . c . . | f . . .
    . . . d | . . . .
    . . . . | . e . .
    . . . . | . . . .

A closed tour has both moves of every corner, so a-b and e-f on the left and c-d on the right are always there. A block
needs four more: c-d and g-h of the left picture, which every structured tour has, and a-b of the right picture and of
its transpose.

A side is cut into parts of 6 to 11 squares (or 5, if it has no more). Both sides are halved at once, level by level,
and four blocks are joined; when one side is down to one part, the other is halved alone, and two are joined. An even
board has even blocks only, and their tours are closed. An odd board has one odd block: the one with the start square,
whose tour is a path from there, or the one with the missing corner, whose tour is closed without it. A path that is
joined to closed tours is still a path, with the same ends.

An open tour of an even board comes from a closed one by a turn of Lajos Pósa, Hamiltonian circuits in random graphs
(1976): from the end of a path go to a square in its middle, leave out the move after that square, and walk the rest
backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.cache import load_kernel
from ..model.board import MOVES, Board
from ..model.errors import BadRequest
from ..model.theorems import are_near
from ..model.tour import Tours
from .kernel_search import corner_pairs

# Makes a tour of a small board: the board, the start, whether closed (else open), and the pairs of squares that must
# follow one another in it, in either order. The same request always brings the same tour.
Finder = Callable[[Board, int, bool, Sequence[tuple[int, int]]], Sequence[int]]

Spot = tuple[int, int]  # row and column; negative ones count from the end of a block, as in a list

# The joins of the pictures, from letter to letter: take away the first move, put in the second, and so on around.
_FOUR: tuple[Spot, ...] = ((-3, -2), (-1, -1), (0, -3), (1, -1), (2, 1), (0, 0), (-1, 2), (-2, 0))
_BESIDE: tuple[Spot, ...] = ((1, -2), (3, -1), (2, 1), (0, 0))
_STACKED: tuple[Spot, ...] = tuple((row, col) for col, row in _BESIDE)

_KINDS = {move: kind for kind, move in enumerate(MOVES)}  # 7 minus a kind is the same move backwards
_LARGEST, _ODD = 11, 7  # parts
_BESIDES = {0: (), 2: (10,), 4: (6, 6), 6: (6,)}  # the parts of an even side that are not 8, by its rest modulo 8


def prepare(board: Board, start: int, closed: bool, find: Finder) -> tuple[Side, Side, dict[int, NDArray[np.uint8]]]:
    """Both sides, cut, and strips of the blocks that are joined; known at once when it is asked again."""
    row, col = divmod(board.squares - 1 if closed else start, board.cols)
    down, across = side_of(board.rows, row), side_of(board.cols, col)
    return down, across, _strips(down, across, closed, find)


def construct(board: Board, start: int, closed: bool, find: Finder, out: Tours | None = None) -> Tours:
    """The tour from this square of a board whose sides are at least 5, and that has such a tour.

    Closed tours are for even boards, and for odd ones whose last corner is missing. Open ones start anywhere on an even
    board, but for a few squares of boards five squares wide, and on the colour of the corners on an odd one. It has
    four bytes a square, and is put into `out` if that has, too.
    """
    down, across, strips = prepare(board, start, closed, find)
    links = np.vstack([strips[rows] for rows in down.parts])
    tour = np.empty(board.length, dtype="<u4") if out is None or out.itemsize != 4 else out
    kernel = compiled_kernel()
    kernel.join_blocks(*down.arrays, *across.arrays, *_PATCHES, links)
    steps = np.array([down * board.cols + right for down, right in MOVES]).astype(np.uint64)
    kernel.walk(links.reshape(-1), steps, start, tour)
    if not closed and are_near(int(tour[-1]), start, board.cols):
        tour = _opened(board, tour)
    return tour


@lru_cache
def compiled_kernel() -> Any:
    def warm_up(kernel: Any) -> None:
        side, links = side_of(6, 0), np.zeros((6, 6), dtype=np.uint8)
        kernel.join_blocks(*side.arrays, *side.arrays, *_PATCHES, links)
        kernel.walk(links.reshape(-1), np.zeros(8, dtype=np.uint64), 0, np.empty(1, dtype="<u4"))
        tour, board = np.arange(25, dtype="<u4"), Board(5, 5)
        kernel.classify(tour, np.zeros(25, dtype=np.int32), corner_pairs(board), 5, 5, False)

    return load_kernel("divide", ("join_blocks", "walk", "classify"), 4, warm_up)


# ---------------------------------------------------------------------------------------------------------------------
# Cuts.


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a board, cut into parts."""

    parts: tuple[int, ...]  # their sizes
    home_part: int  # the part with the home position: of the start square, or of the missing corner
    home: int  # that position, from the beginning of the part
    begins: NDArray[np.int64]  # where each part begins, and where the last one ends
    cuts: NDArray[np.int64]  # the level of the recursion at which it is cut from the part before it, or -1
    whole: NDArray[np.int64]  # the level at which it stands alone

    @property
    def arrays(self) -> tuple[NDArray[np.int64], ...]:
        return self.begins, self.cuts, self.whole

    def goes_on(self, position: int) -> bool:
        """Whether there is another part before the home part or, if the position is negative, after it."""
        return self.home_part + 1 < len(self.parts) if position < 0 else self.home_part > 0


@lru_cache(maxsize=8)
def side_of(length: int, home: int) -> Side:
    parts = tuple(cut(length, home))
    begins = np.array([0, *accumulate(parts)], dtype=np.int64)
    home_part = int(np.searchsorted(begins, home, side="right")) - 1
    return Side(parts, home_part, home - int(begins[home_part]), begins, *_levels(len(parts)))


def cut(length: int, home: int) -> list[int]:
    """The parts of a side. If it is odd, so is one of them, the one with the home position.

    That is not the first position of the part, unless it is the first of the side: so no path starts on the corner of a
    block where it is to be joined by both of that corner's moves.
    """
    if length <= _LARGEST:
        return [length]
    if length % 2 == 0:
        return _even_parts(length)
    before = 0 if home < _ODD else min((home - 1) // 2 * 2, length - _ODD)
    after = length - before - _ODD
    if after in (2, 4):  # too short for a part
        after = 0
    return [*_even_parts(before), length - before - after, *_even_parts(after)]


def _even_parts(length: int) -> list[int]:
    besides = _BESIDES[length % 8]
    return [*besides, *[8] * ((length - sum(besides)) // 8)]


def _levels(parts: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Halve the parts until each stands alone: the cuts and the whole of a side."""
    cuts, whole = np.full(parts, -1, dtype=np.int64), np.zeros(parts, dtype=np.int64)
    ranges = [(0, parts, 0)]
    for first, end, level in ranges:  # it grows while it is read
        middle = (first + end) // 2
        if middle == first:
            whole[first] = level
        else:
            cuts[middle] = level
            ranges += [(first, middle, level + 1), (middle, end, level + 1)]
    return cuts, whole


# ---------------------------------------------------------------------------------------------------------------------
# Blocks.


@lru_cache(maxsize=8)
def _strips(down: Side, across: Side, closed: bool, find: Finder) -> dict[int, NDArray[np.uint8]]:
    """The links of blocks side by side, by their number of rows. An odd block is the only one of its size."""
    is_path = not closed and len(down.parts) == len(across.parts) == 1
    strips = {}
    for rows in set(down.parts):
        blocks = {
            cols: _home_block(down, across, closed, find) if rows * cols % 2 or is_path else _block(rows, cols, find)
            for cols in set(across.parts)
        }
        strips[rows] = np.hstack([blocks[cols] for cols in across.parts])
    return strips


def _block(rows: int, cols: int, find: Finder) -> NDArray[np.uint8]:
    """A block that can be joined on all sides, and is structured so that what it is joined to is structured too."""
    moves = [*_taken_away(_FOUR), *_taken_away(_BESIDE), *_taken_away(_STACKED)]
    pairs = {*_pairs(moves, rows, cols), *Board(rows, cols).corner_moves}
    return _links(Board(rows, cols), _quick_start(cols), True, tuple(sorted(pairs)), find)


def _home_block(down: Side, across: Side, closed: bool, find: Finder) -> NDArray[np.uint8]:
    """The block with the start of a path, or with the missing corner. It can be joined where there are other blocks."""
    rows, cols = down.parts[down.home_part], across.parts[across.home_part]
    moves = [move for move in _taken_away(_FOUR) if down.goes_on(move[0][0]) and across.goes_on(move[0][1])]
    moves += [move for move in _taken_away(_BESIDE) if across.goes_on(move[0][1])]
    moves += [move for move in _taken_away(_STACKED) if down.goes_on(move[0][0])]
    pairs = tuple(sorted(_pairs(moves, rows, cols)))
    if closed:
        return _links(Board(rows, cols, rows * cols - 1), _quick_start(cols), True, pairs, find)
    return _links(Board(rows, cols), down.home * cols + across.home, False, pairs, find)


def _quick_start(cols: int) -> int:
    """Where a search for a closed tour is quick on boards of any size. From a corner of 6x6 Warnsdorff's rule fails."""
    return 2 * cols + 2


def _taken_away(ring: Sequence[Spot]) -> Iterator[tuple[Spot, Spot]]:
    return zip(ring[::2], ring[1::2], strict=True)


def _pairs(moves: Sequence[tuple[Spot, Spot]], rows: int, cols: int) -> set[tuple[int, int]]:
    """Moves as pairs of squares of a block."""
    return {(a % rows * cols + b % cols, c % rows * cols + d % cols) for (a, b), (c, d) in moves}


@lru_cache(maxsize=1024)
def _links(
    board: Board, start: int, closed: bool, pairs: tuple[tuple[int, int], ...], find: Finder
) -> NDArray[np.uint8]:
    """The links of a tour that is searched for."""
    tour = [divmod(square, board.cols) for square in find(board, start, closed, pairs)]
    kinds = [_kind(*move) for move in pairwise(tour)]
    ahead = [*kinds, _kind(tour[-1], tour[0]) if closed else 7 - kinds[-1]]
    behind = [7 - ahead[-1] if closed else kinds[0], *(7 - kind for kind in kinds)]
    links = np.zeros((board.rows, board.cols), dtype=np.uint8)
    for spot, one, other in zip(tour, ahead, behind, strict=True):
        links[spot] = one | other << 3
    return links


def _kind(spot: Spot, to: Spot) -> int:
    return _KINDS[to[0] - spot[0], to[1] - spot[1]]


def _patches(ring: Sequence[Spot]) -> NDArray[np.int64]:
    """A join as the kernel makes it: each square, the kind of move that is taken away from it, and the one put in."""
    patches = []
    for i, spot in enumerate(ring):
        before, after = ring[i - 1], ring[(i + 1) % len(ring)]
        old, new = (before, after) if i % 2 else (after, before)
        patches.append((*spot, _kind(spot, old), _kind(spot, new)))
    return np.array(patches, dtype=np.int64)


_PATCHES = tuple(map(_patches, (_FOUR, _BESIDE, _STACKED)))


# ---------------------------------------------------------------------------------------------------------------------
# Turns.


def _opened(board: Board, tour: Tours) -> Tours:
    """An open tour with the start of a closed one, by as few turns as can be. One is enough but for a few squares."""
    start = int(tour[0])
    paths, ends = [tour], {int(tour[-1])}
    for path in paths:  # it grows while it is read, by paths that end on other neighbours of the start
        turns: dict[int, int] = {}
        for square in board.neighbours_of(int(path[-1])):
            middle = int((path == square).argmax())
            end = int(path[middle + 1])
            if not are_near(end, start, board.cols):
                path[middle + 1 :] = path[:middle:-1]
                return path
            turns[end] = middle
        for end in [end for end in turns if end not in ends]:
            paths.append(np.concatenate([path[: turns[end] + 1], path[: turns[end] : -1]]))
            ends.add(end)
    raise BadRequest(f"no open tour of {board} starts on this square: {board.name(start)!r}")
