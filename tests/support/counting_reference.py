"""Obviously right counts: every tour walked, and the frontier in plain Python, with dicts, sets and unlimited numbers.

The second knows nothing of words, mirrors, hash tables or the order of squares that the kernel likes: it takes the
squares row by row, and its states are sets of pairs. It is for boards with few columns; they may be long.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from .reference import moves, squares_of


def walked(rows, cols, missing=None):
    """For each start square the open and the closed tours from it, by going every way."""
    free = squares_of(rows, cols, missing)
    found = {}

    def go(start, square):
        free.remove(square)
        if not free:
            found[start][start in moves(square, rows, cols)] += 1
        for each in moves(square, rows, cols):
            if each in free:
                go(start, each)
        free.add(square)

    for start in sorted(free):
        found[start] = [0, 0]
        go(start, start)
    return found


def graph(rows, cols, missing=None):
    squares = squares_of(rows, cols, missing)
    return {square: {each for each in moves(square, rows, cols) if each in squares} for square in squares}


def cycles(rows, cols, missing=None):
    return hamiltonian_cycles(graph(rows, cols, missing), sorted(squares_of(rows, cols, missing)))


def paths(rows, cols, missing=None):
    """Directed paths: each is a cycle through one more place, next to all squares, in one of two directions."""
    near, squares = graph(rows, cols, missing), sorted(squares_of(rows, cols, missing))
    near["nowhere"] = set(squares)
    return 2 * hamiltonian_cycles({each: near[each] | {"nowhere"} - {each} for each in near}, squares)


def hamiltonian_cycles(near, order):
    """How many cycles visit all; `order` has all vertices but perhaps one, the last.

    A state is the set of paths so far, as the pairs of their ends, and the set of vertices inside of them; those that
    are processed are forgotten. A vertex in neither set is free.
    """
    states, done = Counter({(frozenset(), frozenset()): 1}), set()
    for vertex in order:
        done.add(vertex)
        after = Counter()
        for (pairs, inside), count in states.items():
            ends = {end: other for pair in pairs for end, other in (tuple(pair), tuple(pair)[::-1])}
            wanted = 0 if vertex in inside else 1 if vertex in ends else 2
            for chosen in combinations([each for each in near[vertex] - done if each not in inside], wanted):
                state = with_moves(pairs, inside, vertex, chosen, set(near) - done)
                if state is not None:
                    after[state] += count
        states = after
    return sum(count for (pairs, _), count in states.items() if not pairs)


def with_moves(pairs, inside, vertex, chosen, left):
    """The state after the moves from a vertex to those chosen; None if they close a cycle too early."""
    pairs, inside = set(pairs), set(inside)
    for each in chosen:
        mine = next((pair for pair in pairs if vertex in pair), frozenset({vertex}))
        its = next((pair for pair in pairs if each in pair), frozenset({each}))
        if mine == its:  # the two ends of one path
            pairs.remove(mine)
            inside |= {vertex, each}
            if pairs or not left <= inside:
                return None
            continue
        pairs -= {mine, its}
        inside |= {end for end, path in ((vertex, mine), (each, its)) if len(path) == 2}
        far = (mine - {vertex} or {vertex}) | (its - {each} or {each})
        pairs.add(frozenset(far))
    return frozenset(pairs), frozenset(inside & left)
