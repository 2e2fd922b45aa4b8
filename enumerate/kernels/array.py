"""The depth-first search on boards of any size.

The board has a border of two squares that count as visited, so that the neighbours of every square are at the same
`offsets`, ascending or in the order of the moves. A byte of `state` says all of a square: how many unvisited neighbours
it has, whether it is a neighbour of the start, whether it is visited. `real` are the numbers of the squares without
the border.

What a square's neighbours have is gathered into one word, a byte for each: its **lanes**. Rules and order are those of
`depth_first`, with the bits of lanes for those of squares. A word is kept for each depth, as it was there.
"""

from __future__ import annotations

from numba import njit, uint64

from . import BAD_CURSOR, BATCH_FULL, BORDER, BOTH, CLOSED, EXHAUSTED, GOING_ON, LIMIT_REACHED, VISITED
from .common import ONE, ZERO, lowest
from .depth_first import (
    CHANGED,
    COLS,
    DEAD_ENDS,
    DEPTH,
    END,
    FOUND,
    ITERATIONS,
    LEFT_OUT,
    NEXT,
    PRUNE,
    SEED,
    SHUFFLE_BELOW,
    START,
    VARIANT,
    fewest,
    has_one,
    is_shuffled,
    lonely,
    path_hash,
    pruned,
    record,
    shuffle_key,
)

NEAR, COUNT = 64, 15  # bits of a byte of state, beside VISITED

# Columns of the stack, which has a row for each depth: the square in the board with its border, its lanes, the lanes
# of its candidates that are left, and the end that was known there.
PLACED, LANES, UNTRIED, KNOWN_END = range(4)

_LANES = uint64(0x0101010101010101)


@njit(inline="always")
def bordered(square, cols):
    """The number of a square in the board with its border."""
    square, cols = uint64(square), uint64(cols)
    return (square // cols + uint64(BORDER)) * (cols + uint64(BORDER)) + square % cols + uint64(BORDER)


@njit(inline="always")
def take(state, offsets, at):
    """Take a square: its neighbours have one unvisited neighbour less. Returns their bytes as lanes."""
    lanes = ZERO
    for i in range(8):
        other = at + offsets[i]
        value = state[other] - 1
        state[other] = value
        lanes |= uint64(value) << uint64(8 * i)
    state[at] |= VISITED
    return lanes


@njit(inline="always")
def give_back(state, offsets, at):
    state[at] &= VISITED - 1
    for i in range(8):
        state[at + offsets[i]] += 1


@njit(inline="always")
def mark_near(state, offsets, start):
    """Note the neighbours of the start square, or forget them."""
    for i in range(8):
        state[start + offsets[i]] ^= NEAR


@njit(inline="always")
def lanes_with(lanes, bit):
    """The lanes that have this bit, as their lowest bits."""
    return (lanes >> uint64(bit)) & _LANES


@njit(inline="always")
def lane_children(lanes, left, ways_home, end, variant, prune):
    """The lanes to try next. `ways_home` counts the unvisited neighbours of the start."""
    candidates = lanes_with(~lanes, 7)
    if not prune:
        return candidates
    near = lanes_with(lanes, 6)
    home = near & candidates if ways_home == 1 else _LANES
    ones, twos, fours = lanes_with(lanes, 0), lanes_with(lanes, 1), lanes_with(lanes, 2)
    return pruned(candidates, left, ones, twos, fours, near, home, end != ZERO, variant)


@njit(inline="always")
def inherit(end, lanes, lane, at, offsets, variant):
    """The known last square of the child in a lane: its parent's, or the tight candidate that the child is not."""
    if end == ZERO and variant != CLOSED:
        tight = lanes_with(~lanes, 7) & lonely(lanes_with(lanes, 0), lanes_with(lanes, 1), lanes_with(lanes, 2))
        others = tight & ~(ONE << lane)
        if others:
            return at + offsets[lowest(others) >> uint64(3)]
    return end


@njit(inline="always")
def _choose(offsets, real, rules, at, candidates, lanes, hashed, fixed, shuffles):
    """The lane to try first after a square."""
    if has_one(candidates):
        return lowest(candidates)
    if shuffles and is_shuffled(hashed, rules[SHUFFLE_BELOW]):
        best, rest = lowest(candidates), candidates & (candidates - ONE)
        best_key = shuffle_key(hashed, real[at + offsets[best >> uint64(3)]])
        while rest:
            lane = lowest(rest)
            rest &= rest - ONE
            key = shuffle_key(hashed, real[at + offsets[lane >> uint64(3)]])
            if key < best_key:
                best, best_key = lane, key
        return best
    if fixed:
        return lowest(candidates)
    return fewest(candidates, lanes_with(lanes, 0), lanes_with(lanes, 1), lanes_with(lanes, 2))


def _kernel(fixed, shuffles):  # a function that closed over a jitted one would be compiled at every start
    @njit(nogil=True)
    def search(
        offsets, state, real, rules, registers, path, place, pairs, stack, hashes,
        limit, tours, iterations, closed, structured, symmetry,
    ):  # fmt: skip
        """As the search of `bits`, on a board of any size."""
        squares, cols = path.shape[0], rules[COLS]
        start, variant, prune = bordered(rules[START], cols), rules[VARIANT], rules[PRUNE] != ZERO
        depth, at, end = registers[DEPTH], bordered(registers[NEXT], cols), uint64(registers[END])
        count, dead_ends, found = registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND]
        changed, left = registers[CHANGED], squares
        reason = GOING_ON
        while reason == GOING_ON:
            candidates = ONE
            while count < limit:
                # Step 1. Place the knight.
                count += 1
                path[depth] = real[at]
                lanes = take(state, offsets, at)
                left = squares - 1 - depth
                stack[depth, PLACED], stack[depth, LANES], stack[depth, KNOWN_END] = at, lanes, end
                if shuffles:
                    hashes[depth] = path_hash(hashes[depth - 1] if depth > 0 else rules[SEED], real[at])

                # Step 2. The squares to try next.
                candidates = lane_children(lanes, left, state[start] & COUNT, end, variant, prune)
                if candidates == ZERO:
                    break

                # Step 3. Go on to the first of them.
                lane = _choose(offsets, real, rules, at, candidates, lanes, hashes[depth], fixed, shuffles)
                stack[depth, UNTRIED] = candidates ^ (ONE << lane)
                if prune:
                    end = inherit(end, lanes, lane, at, offsets, variant)
                at += offsets[lane >> uint64(3)]
                depth += 1
            if candidates:
                reason = LIMIT_REACHED
                break

            # Step 4. A tour, or a dead end.
            if left > 0:
                dead_ends += 1
            else:
                is_closed = state[at] & NEAR != 0
                if variant == BOTH or (variant == CLOSED) == is_closed:
                    if record(
                        rules, path, place, pairs, changed, found, count, is_closed,
                        tours, iterations, closed, structured, symmetry,
                    ):  # fmt: skip
                        found += 1
                    else:
                        registers[LEFT_OUT] += 1
                    changed = squares

            # Step 5. Go back to the deepest square that has a candidate left.
            while candidates == ZERO:
                give_back(state, offsets, stack[depth, PLACED])
                depth -= 1
                if depth < 0:
                    break
                candidates = stack[depth, UNTRIED]
            if depth < 0:
                reason = EXHAUSTED
                break
            at, lanes, end = stack[depth, PLACED], stack[depth, LANES], stack[depth, KNOWN_END]
            lane = _choose(offsets, real, rules, at, candidates, lanes, hashes[depth], fixed, shuffles)
            stack[depth, UNTRIED] = candidates ^ (ONE << lane)
            if prune:
                end = inherit(end, lanes, lane, at, offsets, variant)
            at += offsets[lane >> uint64(3)]
            depth += 1
            changed = min(changed, depth)
            if found == tours.shape[0]:
                reason = BATCH_FULL
        registers[DEPTH], registers[NEXT], registers[END], registers[CHANGED] = depth, real[at], end, changed
        registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND] = count, dead_ends, found
        return reason

    @njit(nogil=True)
    def resume(offsets, state, real, rules, registers, path, place, pairs, stack, hashes, cursor, prefix):
        """As the resume of `bits`, on a board of any size. `state` is that of the empty board, all else is zero."""
        squares, last, cols = path.shape[0], cursor.shape[0] - 1, rules[COLS]
        start, variant, prune = bordered(rules[START], cols), rules[VARIANT], rules[PRUNE] != ZERO
        mark_near(state, offsets, start)
        end, hashed = ZERO, rules[SEED]
        for depth in range(last):
            at, following = bordered(cursor[depth], cols), bordered(cursor[depth + 1], cols)
            path[depth] = cursor[depth]
            lanes = take(state, offsets, at)
            stack[depth, PLACED], stack[depth, LANES], stack[depth, KNOWN_END] = at, lanes, end
            hashed = path_hash(hashed, cursor[depth])
            hashes[depth] = hashed
            candidates = lane_children(lanes, squares - 1 - depth, state[start] & COUNT, end, variant, prune)
            lane, picked = ZERO, ZERO
            while candidates and picked != following:
                lane = _choose(offsets, real, rules, at, candidates, lanes, hashed, fixed, shuffles)
                candidates ^= ONE << lane
                picked = at + offsets[lane >> uint64(3)]
            if picked != following:
                return EXHAUSTED if depth + 1 < prefix else BAD_CURSOR
            stack[depth, UNTRIED] = candidates if depth + 1 >= prefix else ZERO
            if prune:
                end = inherit(end, lanes, lane, at, offsets, variant)
        registers[DEPTH], registers[NEXT], registers[END], registers[CHANGED] = last, cursor[last], end, 0
        return LIMIT_REACHED

    return search, resume


search_array, resume_array = _kernel(False, False)
search_array_shuffled, resume_array_shuffled = _kernel(False, True)
search_array_fixed, resume_array_fixed = _kernel(True, False)
search_array_fixed_shuffled, resume_array_fixed_shuffled = _kernel(True, True)
