"""Depth-first search for knight's tours, with the next squares in Warnsdorff's order or in a fixed one.

Two kernels make the same search: `bits` on boards of at most 64 squares, `array` on boards of any size. Here is what
they share. Rules and order work on words, which have a bit for each square in the one kernel, and for each neighbour of
the last square in the other. Order after Warnsdorff (1823): fewest onward moves first, ties by square number; or by a
list of moves only.

The state of a search: `path[:depth]` has been placed and `registers[NEXT]` is placed next. Everything else on the stack
follows from that path, so the path is the whole cursor, and `resume_*` rebuilds the stack from it.

Pruning never loses a tour. It rests on one observation: when the knight leaves a square, only the unvisited neighbours
of that square lose a way in or out. These are exactly the candidates for the next move, whose onward moves are counted
anyway to order them. So all checks are free, and are made before a square is placed:

* a candidate with no onward move is fatal, unless it is the last square;
* a candidate with one onward move must be taken now or be the last square of the tour: a second such candidate is
  fatal when neither can be the last. For a closed tour the start square counts as one more onward move;
* the colour of the last square is known from the parity of the board, so on every other move no candidate can be it;
* the last square of a closed tour is a neighbour of the start, of an open one it is not.

**A tour costs what changed since the one before it.** The search remembers the lowest depth that it went back to since
its last tour, `registers[CHANGED]`: the squares before it are where they were, and only the others are looked at.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from . import ASYMMETRIC, CLOSED, OPEN
from .classify import is_kept, is_structured, symmetry_of
from .common import ONE, ZERO, lowest, mix

# Slots of `registers` (int64): the state of a search between calls. GIVEN_UP is for others: it stays 0. OPENED: in
# `bits`, a bit for each depth where candidates are left. END: in `array`, the square known to be the last.
DEPTH, NEXT, ITERATIONS, DEAD_ENDS, FOUND, LEFT_OUT, GIVEN_UP, CHANGED, OPENED, END, REGISTERS = range(11)

# Slots of `rules` (uint64): the parameters of a search, constant over all its calls. EVERY: the squares to visit, as a
# word, for boards of at most 64.
START, VARIANT, PRUNE, SEED, SHUFFLE_BELOW, ONLY, ROWS, COLS, EVERY, RULES = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9


@njit(inline="always")
def path_hash(before, square):
    """The hash of a path, from the hash of the path before its last square."""
    return mix(before ^ (uint64(square) + ONE))


@njit(inline="always")
def is_shuffled(hashed, below):
    """Whether the next squares of the path with this hash come in shuffled order."""
    return (mix(hashed) >> uint64(11)) < below


@njit(inline="always")
def shuffle_key(hashed, square):
    """A candidate's rank in a shuffled order. It does not depend on other candidates, so pruning keeps the order."""
    return mix(hashed + (uint64(square) + ONE) * uint64(0xD1B54A32D192ED03))


@njit(inline="always")
def has_one(word):
    """Whether at most one bit is set."""
    return (word & (word - ONE)) == ZERO


@njit(inline="always")
def lonely(ones, twos, fours):
    """The squares with one unvisited neighbour, by bits 0, 1 and 2 of the number that each square has."""
    return ones & ~(twos | fours)


@njit(inline="always")
def fewest(candidates, ones, twos, fours):
    """The bit of the candidate with the fewest onward moves, of several the lowest."""
    if candidates & ~fours:
        candidates &= ~fours
    if candidates & ~twos:
        candidates &= ~twos
    if candidates & ~ones:
        candidates &= ~ones
    return lowest(candidates)


@njit(inline="always")
def can_be_last(candidates, near_start, variant):
    if variant == CLOSED:
        return candidates & near_start
    return candidates & ~near_start if variant == OPEN else candidates


@njit(inline="always")
def pruned(candidates, left, ones, twos, fours, near_start, home, has_end, variant):
    """The candidates that can lead to a tour. `left` squares are unvisited.

    `home` are the unvisited neighbours of the start; `has_end`: whether another square is known to be the last.
    """
    if left == 1:
        return can_be_last(candidates, near_start, variant)

    # Rule 1. A candidate without an onward move is fatal. One with a single one is tight.
    if candidates & ~(ones | twos | fours):
        return ZERO
    tight = candidates & lonely(ones, twos, fours)

    # Rule 2. The last unvisited neighbour of the start is the end of a closed tour: not to be taken before. The start
    # counts as one more onward move, and a tight candidate must come next.
    if variant == CLOSED:
        if has_one(home):
            candidates &= ~home
        tight &= ~near_start
        if tight:
            return tight if has_one(tight) else ZERO
        return candidates

    # Rule 3. A tight candidate comes next or is the last square: if the colour fits, no other is known to be the last,
    # and it is not a neighbour of the start, where an open tour cannot end.
    if tight == ZERO:
        return candidates
    may_end = ZERO
    if left & 1 and not has_end:
        may_end = tight & ~near_start if variant == OPEN else tight
    must = tight ^ may_end
    if must:
        return must if has_one(must) and has_one(may_end) else ZERO
    if has_one(may_end):
        return candidates
    return may_end if has_one(may_end & (may_end - ONE)) else ZERO


@njit(inline="always")
def record(
    rules, path, place, pairs, changed, found, count, is_closed, tours, iterations, closed, structured, symmetry
):  # fmt: skip
    """Classify the tour that is the path, and write it down if it is wanted; returns whether it is.

    The squares from `changed` on are others than in the tour before. A batch without columns for squares only counts.
    """
    length = path.shape[0]
    for at in range(changed, length):
        place[path[at]] = at
    is_joinable = is_structured(place, pairs, length, is_closed)
    kind = symmetry_of(path, place, np.int64(rules[ROWS]), np.int64(rules[COLS]), is_closed)
    if not is_kept(rules[ONLY], is_joinable, kind):
        return False
    for at in range(tours.shape[1]):
        tours[found, at] = path[at]
    iterations[found], closed[found], structured[found], symmetry[found] = count, is_closed, is_joinable, kind
    return True


@njit
def classify_batch(rules, registers, place, pairs, kept, found, tours, iterations, closed, structured, symmetry):
    """Classify the tours from `kept` to `found`, and move the wanted ones together; returns how many are kept.

    In `symmetry` stands from which square on each is another than the tour before. This is done after the search:
    within it, every placement on a small board would be slower.
    """
    rows, cols, length = np.int64(rules[ROWS]), np.int64(rules[COLS]), tours.shape[1]
    last = rows * cols - 1
    for i in range(kept, found):
        is_closed = closed[i]
        for at in range(symmetry[i], length):
            place[tours[i, at]] = at
        is_joinable = is_structured(place, pairs, length, is_closed)
        kind = ASYMMETRIC  # nearly always the ends of an open tour show it
        if is_closed or np.int64(tours[i, 0]) + np.int64(tours[i, length - 1]) == last:
            kind = symmetry_of(tours[i], place, rows, cols, is_closed)
        if not is_kept(rules[ONLY], is_joinable, kind):
            registers[LEFT_OUT] += 1
            continue
        if kept < i:
            tours[kept] = tours[i]
            iterations[kept], closed[kept] = iterations[i], is_closed
        structured[kept], symmetry[kept] = is_joinable, kind
        kept += 1
    return kept
