"""The depth-first search on boards of at most 64 squares: sets of squares are words, with one bit a square.

Three words, the **planes**, hold the number of unvisited neighbours of every square at once: `ones`, `twos` and `fours`
have bits 0, 1 and 2 of it. When a square is taken, all its neighbours lose one, in five operations on words; a square
with eight neighbours counts as none until it has lost one, which every candidate has. So what pruning and Warnsdorff's
order ask of all candidates, a few operations answer.

Only squares with a choice are put on the stack, with the planes as they were there. A dead end goes back to the deepest
of them at once, and nothing is undone.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from . import BAD_CURSOR, BATCH_FULL, BOTH, CLOSED, EXHAUSTED, GOING_ON, LIMIT_REACHED
from .common import ONE, ZERO, highest, lowest, popcount
from .depth_first import (
    CHANGED,
    DEAD_ENDS,
    DEPTH,
    EVERY,
    FOUND,
    ITERATIONS,
    NEXT,
    OPENED,
    PRUNE,
    SEED,
    SHUFFLE_BELOW,
    START,
    VARIANT,
    classify_batch,
    fewest,
    has_one,
    is_shuffled,
    lonely,
    path_hash,
    pruned,
    shuffle_key,
)

# Columns of the stack, which has a row for each depth.
UNVISITED, ONES, TWOS, FOURS, UNTRIED = range(5)


@njit(inline="always")
def planes_of(attacks, unvisited):
    """The planes of a board, counted square by square."""
    ones = twos = fours = ZERO
    for square in range(attacks.shape[0]):
        count = popcount(attacks[square] & unvisited)
        ones |= (count & ONE) << uint64(square)
        twos |= (count >> ONE & ONE) << uint64(square)
        fours |= (count >> uint64(2) & ONE) << uint64(square)
    return ones, twos, fours


@njit(inline="always")
def one_less(around, ones, twos, fours):
    """The planes after the squares around have lost a neighbour."""
    borrow = around & ~ones
    return ones ^ around, twos ^ borrow, fours ^ (borrow & ~twos)


@njit(inline="always")
def children(around, left, unvisited, ones, twos, fours, never_ends, near_start, variant, prune):
    """The squares to try after the one with these around it. `never_ends` had one neighbour from the beginning."""
    if not prune:
        return around & unvisited
    has_end = unvisited & lonely(ones, twos, fours) & ~(around | never_ends) != ZERO
    home = near_start & unvisited
    return pruned(around & unvisited, left, ones, twos, fours, near_start, home, has_end, variant)


@njit(inline="always")
def _first_move(neighbours, square, candidates):
    """The candidate that comes first in the list of moves."""
    i = 0
    while (candidates >> uint64(neighbours[square, i])) & ONE == ZERO:
        i += 1
    return uint64(neighbours[square, i])


@njit(inline="always")
def _shuffled_first(candidates, hashed):
    """The candidate with the least key."""
    best, rest = lowest(candidates), candidates & (candidates - ONE)
    best_key = shuffle_key(hashed, best)
    while rest:
        other = lowest(rest)
        rest &= rest - ONE
        key = shuffle_key(hashed, other)
        if key < best_key:
            best, best_key = other, key
    return best


@njit(inline="always")
def _choose(neighbours, rules, path, depth, candidates, ones, twos, fours, hashes, fixed, shuffles):
    """The candidate to try first after the path."""
    if has_one(candidates):
        return lowest(candidates)
    if shuffles and is_shuffled(hashes[depth], rules[SHUFFLE_BELOW]):
        return _shuffled_first(candidates, hashes[depth])
    if fixed:
        return _first_move(neighbours, path[depth], candidates)
    return fewest(candidates, ones, twos, fours)


def _kernel(fixed, shuffles):  # a function that closed over a jitted one would be compiled at every start
    @njit(nogil=True)
    def search(
        attacks, neighbours, rules, registers, path, place, pairs, stack, hashes,
        limit, tours, iterations, closed, structured, symmetry,
    ):  # fmt: skip
        """Continue the search, as described in the package. `limit` is the value of ITERATIONS at which to stop."""
        squares = path.shape[0]
        near_start, variant, prune = attacks[rules[START]], rules[VARIANT], rules[PRUNE] != ZERO
        depth, square = registers[DEPTH], uint64(registers[NEXT])
        count, dead_ends, found = registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND]
        opened, changed, left = uint64(registers[OPENED]), registers[CHANGED], squares
        unvisited = rules[EVERY]
        ones, twos, fours = planes_of(attacks, unvisited)
        never_ends = lonely(ones, twos, fours)
        for i in range(depth):
            unvisited ^= ONE << uint64(path[i])
            ones, twos, fours = one_less(attacks[path[i]], ones, twos, fours)
        reason, kept = BATCH_FULL, found
        while reason == BATCH_FULL and kept < tours.shape[0]:
            reason = GOING_ON
            while reason == GOING_ON:
                candidates = ONE
                while count < limit:
                    # Step 1. Place the knight.
                    count += 1
                    path[depth] = square
                    around = attacks[square]
                    unvisited ^= ONE << square
                    ones, twos, fours = one_less(around, ones, twos, fours)
                    left = squares - 1 - depth
                    if shuffles:
                        hashes[depth] = path_hash(hashes[depth - 1] if depth > 0 else rules[SEED], square)

                    # Step 2. The squares to try next. Pruned, the last one makes a tour and needs no step of its own.
                    candidates = children(
                        around, left, unvisited, ones, twos, fours, never_ends, near_start, variant, prune
                    )
                    if left == 1 and prune and candidates and count < limit:
                        count += 1
                        square = lowest(candidates)
                        path[depth + 1] = square
                        left, candidates = 0, ZERO
                    if candidates == ZERO:
                        break

                    # Step 3. Go on to the first of them.
                    square = _choose(
                        neighbours, rules, path, depth, candidates, ones, twos, fours, hashes, fixed, shuffles
                    )
                    if not has_one(candidates):
                        stack[depth, UNVISITED], stack[depth, UNTRIED] = unvisited, candidates ^ (ONE << square)
                        stack[depth, ONES], stack[depth, TWOS], stack[depth, FOURS] = ones, twos, fours
                        opened |= ONE << uint64(depth)
                    depth += 1
                if candidates:
                    reason = LIMIT_REACHED
                    break

                # Step 4. A tour, or a dead end.
                if left > 0:
                    dead_ends += 1
                else:
                    is_closed = (near_start >> square) & ONE == ONE
                    if variant == BOTH or (variant == CLOSED) == is_closed:
                        for i in range(squares):
                            tours[found, i] = path[i]
                        iterations[found], closed[found], symmetry[found] = count, is_closed, changed
                        found += 1
                        changed = squares

                # Step 5. Go back to the deepest square that has a candidate left.
                if opened == ZERO:
                    reason = EXHAUSTED
                    break
                depth = np.int64(highest(opened))
                unvisited, untried = stack[depth, UNVISITED], stack[depth, UNTRIED]
                ones, twos, fours = stack[depth, ONES], stack[depth, TWOS], stack[depth, FOURS]
                square = _choose(neighbours, rules, path, depth, untried, ones, twos, fours, hashes, fixed, shuffles)
                untried ^= ONE << square
                stack[depth, UNTRIED] = untried
                if untried == ZERO:
                    opened ^= ONE << uint64(depth)
                depth += 1
                changed = min(changed, depth)
                if found == tours.shape[0]:
                    reason = BATCH_FULL
            kept = classify_batch(
                rules, registers, place, pairs, kept, found, tours, iterations, closed, structured, symmetry
            )
            found = kept
        registers[DEPTH], registers[NEXT], registers[OPENED], registers[CHANGED] = depth, square, opened, changed
        registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND] = count, dead_ends, found
        return reason

    @njit(nogil=True)
    def resume(attacks, neighbours, rules, registers, path, place, pairs, stack, hashes, cursor, prefix):
        """Rebuild the stack of a search whose next placement is the last square of `cursor`.

        The first `prefix` squares are given: their siblings are left to other jobs.
        """
        squares, last = path.shape[0], cursor.shape[0] - 1
        near_start, variant, prune = attacks[rules[START]], rules[VARIANT], rules[PRUNE] != ZERO
        unvisited, opened, hashed = rules[EVERY], ZERO, rules[SEED]
        ones, twos, fours = planes_of(attacks, unvisited)
        never_ends = lonely(ones, twos, fours)
        for depth in range(last):
            square, following = uint64(cursor[depth]), uint64(cursor[depth + 1])
            path[depth], around = square, attacks[square]
            unvisited ^= ONE << square
            ones, twos, fours = one_less(around, ones, twos, fours)
            hashed = path_hash(hashed, square)
            hashes[depth] = hashed
            left = squares - 1 - depth
            candidates = children(around, left, unvisited, ones, twos, fours, never_ends, near_start, variant, prune)
            if (candidates >> following) & ONE == ZERO:
                return EXHAUSTED if depth + 1 < prefix else BAD_CURSOR
            picked = uint64(64)
            while picked != following:
                picked = _choose(neighbours, rules, path, depth, candidates, ones, twos, fours, hashes, fixed, shuffles)
                candidates ^= ONE << picked
            if candidates and depth + 1 >= prefix:
                stack[depth, UNVISITED], stack[depth, UNTRIED] = unvisited, candidates
                stack[depth, ONES], stack[depth, TWOS], stack[depth, FOURS] = ones, twos, fours
                opened |= ONE << uint64(depth)
        registers[DEPTH], registers[NEXT], registers[OPENED], registers[CHANGED] = last, cursor[last], opened, 0
        return LIMIT_REACHED

    return search, resume


# The order is a compile-time constant: a check at each square would cost a third of the speed.
search_bits, resume_bits = _kernel(False, False)
search_bits_shuffled, resume_bits_shuffled = _kernel(False, True)
search_bits_fixed, resume_bits_fixed = _kernel(True, False)
search_bits_fixed_shuffled, resume_bits_fixed_shuffled = _kernel(True, True)
