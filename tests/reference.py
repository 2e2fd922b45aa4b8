"""An obviously right enumerator: Warnsdorff-ordered backtracking without any cleverness. The judge of the kernels.

One iteration is one placement of the knight. Squares are (row, column) here; `number` makes them what the kernels use.
"""

from __future__ import annotations

JUMPS = ((1, 2), (1, -2), (-1, 2), (-1, -2), (2, 1), (2, -1), (-2, 1), (-2, -1))


def moves(square, rows, cols):
    """The squares a knight's move away."""
    row, col = square
    return [(row + a, col + b) for a, b in JUMPS if 0 <= row + a < rows and 0 <= col + b < cols]


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
