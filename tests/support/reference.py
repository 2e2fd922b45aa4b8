"""An obviously right enumerator: Warnsdorff-ordered backtracking without any cleverness. The judge of the kernels.

One iteration is one placement of the knight. Squares are (row, column) here; `number` makes them what the kernels use.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from random import Random

JUMPS = ((1, 2), (1, -2), (-1, 2), (-1, -2), (2, 1), (2, -1), (-2, 1), (-2, -1))


@cache
def moves(square, rows, cols):
    """The squares a knight's move away."""
    row, col = square
    return tuple((row + a, col + b) for a, b in JUMPS if 0 <= row + a < rows and 0 <= col + b < cols)


def number(square, cols):
    return square[0] * cols + square[1]


def tours(rows, cols, start, limit=10**18):
    """Yield each tour from the square of that number, in the order of the search, with its iteration."""
    path, visited, iterations = [], set(), 0
    waiting = [[divmod(start, cols)]]  # what is still to be tried first, second, ...
    while waiting and iterations < limit:
        if not waiting[-1]:  # nothing left to try here: take the last square back
            waiting.pop()
            if path:
                visited.remove(path.pop())
            continue
        square = waiting[-1].pop(0)
        iterations += 1
        path.append(square)
        visited.add(square)
        if len(path) == rows * cols:
            yield iterations, [number(each, cols) for each in path]
        candidates = [each for each in moves(square, rows, cols) if each not in visited]
        onward = {each: sum(other not in visited for other in moves(each, rows, cols)) for each in candidates}
        waiting.append(sorted(candidates, key=lambda each: (onward[each], each)))


def is_closed(rows, cols, tour):
    """Whether the last square is a knight's move from the first."""
    return divmod(tour[0], cols) in moves(divmod(tour[-1], cols), rows, cols)


# ---------------------------------------------------------------------------------------------------------------------
# Other strategies, each from its definition. `missing` is the number of a square that is not there.


def squares_of(rows, cols, missing=None):
    return {divmod(square, cols) for square in range(rows * cols) if square != missing}


def backtracking(rows, cols, start, order, limit=10**18, missing=None):
    """As `tours`, but the moves are tried in one order, which lists them as (rows, columns)."""
    path, free, iterations = [], squares_of(rows, cols, missing), 0

    def place(square):
        nonlocal iterations
        iterations += 1
        path.append(square)
        free.remove(square)
        if not free:
            yield iterations, [number(each, cols) for each in path]
        for down, right in order:
            following = (square[0] + down, square[1] + right)
            if following in free and iterations < limit:
                yield from place(following)
        free.add(path.pop())

    return place(divmod(start, cols))


def greedy(rows, cols, start, ties, missing=None):
    """Warnsdorff's rule without going back: the path until the knight is stuck."""
    free = squares_of(rows, cols, missing)

    def ways(square):
        return [each for each in moves(square, rows, cols) if each in free]

    def second(square):
        """What decides between squares with as few onward moves; the least is taken."""
        if ties == "pohl":
            return sum(len(ways(each)) for each in ways(square))
        if ties == "roth":
            return -((2 * square[0] - (rows - 1)) ** 2) - (2 * square[1] - (cols - 1)) ** 2
        return 0

    path = [divmod(start, cols)]
    free.remove(path[0])
    while ways(path[-1]):
        path.append(min(ways(path[-1]), key=lambda each: (len(ways(each)), second(each), each)))
        free.remove(path[-1])
    return [number(each, cols) for each in path]


def obeys_warnsdorff(rows, cols, path, missing=None):
    """Whether each step of a path leads to a free square, and none of the others has fewer onward moves."""
    free = squares_of(rows, cols, missing) - {divmod(path[0], cols)}

    def ways(square):
        return [each for each in moves(square, rows, cols) if each in free]

    for before, after in pairwise(path):
        choice, choices = divmod(after, cols), ways(divmod(before, cols))
        if choice not in choices or len(ways(choice)) > min(len(ways(each)) for each in choices):
            return False
        free.remove(choice)
    return True


# ---------------------------------------------------------------------------------------------------------------------
# Kinds of tours, by their sets of moves. A move is a set of two squares.


def edges(rows, cols, tour):
    """The moves of a tour, the closing move of a closed one among them."""
    squares = [divmod(square, cols) for square in tour]
    closing = [(squares[-1], squares[0])] if is_closed(rows, cols, tour) else []
    return {frozenset(move) for move in [*pairwise(squares), *closing]}


def board_maps(rows, cols):
    """The symmetries of a board by name, each a map of (row, column): eight of a square board, else four."""
    maps = {
        "identity": lambda row, col: (row, col),
        "rows flipped": lambda row, col: (rows - 1 - row, col),
        "columns flipped": lambda row, col: (row, cols - 1 - col),
        "half turn": lambda row, col: (rows - 1 - row, cols - 1 - col),
    }
    if rows == cols:
        maps["transposed"] = lambda row, col: (col, row)
        maps["quarter turn"] = lambda row, col: (col, rows - 1 - row)
        maps["quarter turn back"] = lambda row, col: (cols - 1 - col, row)
        maps["transposed the other way"] = lambda row, col: (cols - 1 - col, rows - 1 - row)
    return maps


def mapped(symmetry, moves_):
    return {frozenset(symmetry(*square) for square in move) for move in moves_}


def kept_by(rows, cols, tour):
    """The names of the symmetries of the board, but the identity, that map the moves of a tour onto themselves."""
    own = edges(rows, cols, tour)
    return {
        name
        for name, symmetry in board_maps(rows, cols).items()
        if name != "identity" and all(frozenset(symmetry(*square) for square in move) in own for move in own)
    }


def symmetry(rows, cols, tour):
    """The name of a tour's symmetry. The strongest: a quarter turn, then a half turn, then a reflection."""
    kept = kept_by(rows, cols, tour)
    if not kept:
        return "none"
    kind = "90" if "quarter turn" in kept else "180" if "half turn" in kept else "reflection"
    return f"closed-{kind}" if is_closed(rows, cols, tour) else f"path-{kind}"


def is_structured(rows, cols, tour):
    """Whether the two moves that pass by each corner are moves of the tour."""
    own, maps = edges(rows, cols, tour), board_maps(rows, cols)
    by_a_corner = {frozenset({(0, 1), (2, 0)}), frozenset({(0, 2), (1, 0)})}
    return all(
        mapped(maps[name], by_a_corner) <= own for name in ("identity", "rows flipped", "columns flipped", "half turn")
    )


def class_of(rows, cols, tour):
    """The same for tours that a symmetry of the board, reversal, or another start on a cycle turn into one another."""
    own = edges(rows, cols, tour)
    images = [mapped(symmetry, own) for symmetry in board_maps(rows, cols).values()]
    return min(sorted(sorted(move) for move in image) for image in images)


def alike(rows, cols, tour):
    """All tours of that class, as lists of squares: from each square and in each direction, if it is a cycle."""
    squares = [divmod(square, cols) for square in tour]
    shifts = range(len(tour)) if is_closed(rows, cols, tour) else [0]
    for symmetry in board_maps(rows, cols).values():
        image = [number(symmetry(*square), cols) for square in squares]
        for shift in shifts:
            turned = image[shift:] + image[:shift]
            yield turned
            yield turned[::-1]


def first_part(rows, cols, symmetry, first, is_last, seeds=1_000):
    """A path from this square with one square of each set that the symmetry makes of a square, up to a last one.

    Warnsdorff's rule finds it, with ties by chance, sooner or later.
    """
    for seed in range(seeds):
        chance, path, free, ways = Random(seed), [], squares_of(rows, cols), [first]
        while ways:
            onward = {way: sum(each in free for each in moves(way, rows, cols)) for way in ways}
            path.append(min(ways, key=lambda way: (onward[way], chance.random())))
            image = path[-1]
            while image in free:
                free.remove(image)
                image = symmetry(*image)
            ways = [each for each in moves(path[-1], rows, cols) if each in free]
        if not free and is_last(path[-1]):
            return path
    raise AssertionError(f"no such tour of {rows}x{cols} in {seeds} attempts")


def symmetric_cycle(rows, cols, symmetry, times):
    """A closed tour that a symmetry of the board makes of its first part, repeated so many times."""
    middle = (rows // 2, cols // 2)
    part = first_part(rows, cols, symmetry, middle, lambda last: symmetry(*middle) in moves(last, rows, cols))
    tour = []
    for _ in range(times):
        tour += part
        part = [symmetry(*square) for square in part]
    return [number(square, cols) for square in tour]


def symmetric_path(rows, cols):
    """An open tour that is its own reversal when turned by 180 degrees.

    In its middle is the square in the middle of the board or, if one side is even, a move across it.
    """
    turn = board_maps(rows, cols)["half turn"]
    first = (rows // 2 + (cols % 2 == 0), cols // 2 + (rows % 2 == 0))
    part = first_part(rows, cols, turn, first, lambda last: turn(*last) not in moves(last, rows, cols))
    before = [turn(*square) for square in reversed(part) if turn(*square) != square]
    return [number(square, cols) for square in [*before, *part]]
