"""Warnsdorff's rule without backtracking: always to a square with the fewest onward moves, until the tour is complete
or the knight is stuck. Then it starts over; after FAILURES failures the tour is given up and the next one begins.

`degrees[s]` counts the unvisited neighbours of s, and visited squares have VISITED added, so one load gives both.
`neighbours[s, i]` is the square that the i-th move leads to, or NOWHERE.

Random choices are a hash of seed, start, tour, attempt and move, so a tour does not depend on the worker or the slice.
The state of a search is the tour, the attempt and the number of squares placed in it; the squares follow from these.

The clock that is read here decides nothing: it only measures each tour.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types, uint64

from . import BATCH_FULL, BOTH, CLOSED, EXHAUSTED, LIMIT_REACHED, NOWHERE
from .classify import close_together, is_kept, is_structured, symmetry_of
from .common import lowest, mix, nth_bit, popcount

# Slots of `registers` (int64). TOUR counts the tours begun, BEGAN is the iteration before the first of this tour,
# NANOS the time it has taken so far, and PHASE the move ordering in use.
(DEPTH, NEXT, ITERATIONS, DEAD_ENDS, FOUND, LEFT_OUT, GIVEN_UP, TOUR, ATTEMPT, BEGAN, NANOS, PHASE,
 REGISTERS) = range(13)  # fmt: skip

# Slots of `rules` (uint64).
START, VARIANT, SEED, TIES, FAILURES, ONLY, ROWS, COLS, CLOCK, RULES = range(10)

# How ties are broken.
RANDOM, LOWEST, POHL, ROTH, SQUIRREL = range(5)

# Columns of `efforts` (int64): the effort for one tour, including its failed attempts.
PLACEMENTS, ATTEMPTS, NANOSECONDS = range(3)

VISITED = 64  # more than any degree

_clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.voidptr))


@njit(inline="always")
def _now(clock_id, clock):
    """Nanoseconds of a steady clock; `clock` has room for its two words."""
    _clock_gettime(np.int32(clock_id), clock.ctypes)
    return clock[0] * 1_000_000_000 + clock[1]


@njit(inline="always")
def _fewest(neighbours, degrees, square):
    """The moves that lead to the unvisited squares with the fewest onward moves, as bits."""
    fewest, tied = VISITED, 0
    for i in range(8):
        other = neighbours[square, i]
        if other == NOWHERE:
            continue
        degree = degrees[other]
        if degree < fewest:
            fewest, tied = degree, 1 << i
        elif degree == fewest and degree < VISITED:
            tied |= 1 << i
    return tied


@njit(inline="always")
def _second_level(neighbours, degrees, square):
    """The sum of the onward moves of the squares reachable from this one."""
    total = 0
    for i in range(8):
        other = neighbours[square, i]
        if other != NOWHERE and degrees[other] < VISITED:
            total += degrees[other]
    return total


@njit(inline="always")
def _break_tie(neighbours, degrees, distances, ranks, phase, ties, square, tied, chance):
    """The move to make, of several that tie by Warnsdorff's rule. The moves have ranks where their order decides."""
    if ties == RANDOM:
        word = uint64(tied)
        return np.int64(nth_bit(word, ((chance >> uint64(32)) * popcount(word)) >> uint64(32)))
    best, best_key = -1, 0
    for i in range(8):
        if tied >> i & 1:
            other = neighbours[square, i]
            if ties == POHL:
                key = _second_level(neighbours, degrees, other)
            else:
                key = np.int64(-distances[other] if ties == ROTH else ranks[phase, i])
            if best < 0 or key < best_key:
                best, best_key = i, key
    return best


@njit(nogil=True)
def search_greedy(
    neighbours, fresh, distances, ranks, switches, rules, registers, path, place, degrees, pairs, clock,
    limit, tours, iterations, closed, structured, symmetry, efforts,
):  # fmt: skip
    """Continue to make tours, as described in the package. Tours given up take room in the batch."""
    length, squares = path.shape[0], fresh.shape[0]
    rows, cols, start = np.int64(rules[ROWS]), np.int64(rules[COLS]), np.int64(rules[START])
    ties, variant, failures = rules[TIES], rules[VARIANT], np.int64(rules[FAILURES])
    depth, square, phase = registers[DEPTH], registers[NEXT], registers[PHASE]
    count, found, tour, attempt = registers[ITERATIONS], registers[FOUND], registers[TOUR], registers[ATTEMPT]
    room = tours.shape[0] + registers[GIVEN_UP]
    before = _now(rules[CLOCK], clock)
    reason = LIMIT_REACHED
    while count < limit:
        # Step 1. Begin an attempt, or continue the current one.
        base = mix(mix(mix(rules[SEED]) ^ uint64(start)) ^ uint64(tour)) ^ uint64(attempt)
        if depth == 0:
            for i in range(squares):
                degrees[i] = fresh[i]
            square, phase = start, 0

        # Step 2. Place the knight until it is stuck or no iteration is left.
        stuck = False
        while count < limit and not stuck:
            count += 1
            path[depth] = square
            place[square] = depth
            depth += 1
            degrees[square] += VISITED
            for i in range(8):
                if neighbours[square, i] != NOWHERE:
                    degrees[neighbours[square, i]] -= 1
            if square == switches[phase]:
                phase += 1
            tied = _fewest(neighbours, degrees, square)
            if tied == 0:
                stuck = True
            elif tied & (tied - 1) == 0:
                square = np.int64(neighbours[square, lowest(uint64(tied))])
            else:
                chance = mix(base + uint64(depth) * uint64(0xD1B54A32D192ED03))
                move = _break_tie(neighbours, degrees, distances, ranks, phase, ties, square, tied, chance)
                square = np.int64(neighbours[square, move])
        if not stuck:
            break

        # Step 3. A tour, a failure, or the last failure.
        is_closed = depth == length and close_together(square, start, cols)
        succeeded = depth == length and (variant == BOTH or (variant == CLOSED) == is_closed)
        depth = 0
        attempt += 1
        if succeeded:
            is_joinable = is_structured(place, pairs, length, is_closed)
            kind = symmetry_of(path, place, rows, cols, is_closed)
            now = _now(rules[CLOCK], clock)
            if is_kept(rules[ONLY], is_joinable, kind):
                for i in range(length):
                    tours[found, i] = path[i]
                iterations[found] = count
                closed[found] = is_closed
                structured[found] = is_joinable
                symmetry[found] = kind
                efforts[found, PLACEMENTS] = count - registers[BEGAN]
                efforts[found, ATTEMPTS] = attempt
                efforts[found, NANOSECONDS] = registers[NANOS] + now - before
                found += 1
            else:
                registers[LEFT_OUT] += 1
        else:
            registers[DEAD_ENDS] += 1
            if ties == RANDOM and attempt < failures:  # the other rules are deterministic
                continue
            registers[GIVEN_UP] += 1
            now = _now(rules[CLOCK], clock)
        registers[NANOS], registers[BEGAN], before = 0, count, now
        tour += 1
        attempt = 0
        if ties != RANDOM:  # there is only one attempt
            reason = EXHAUSTED
            break
        if found + registers[GIVEN_UP] == room:
            reason = BATCH_FULL
            break
    registers[NANOS] += _now(rules[CLOCK], clock) - before
    registers[DEPTH], registers[NEXT], registers[PHASE] = depth, square, phase
    registers[ITERATIONS], registers[FOUND], registers[TOUR], registers[ATTEMPT] = count, found, tour, attempt
    return reason
