"""Random descents into the tree of a depth-first search, to estimate its placements and tours.

After Knuth (1975): descend from a prefix, at each square to one child picked at random, until there is none. A child
picked with probability p stands for 1/p children. The placements on the way, each times the factors above it, add up to
a number whose mean is the size of the tree; a tour counts the whole product. This holds for any probabilities, as long
as every child of the search has one above zero. The probabilities decide how much the numbers scatter.

Here a child's weight is a guess at its share: `guess[OWN, d]` for its own d onward moves, times `guess[LOSS, d]` for
each of the squares they lead to, which lose one of their own d when the knight comes here. Squares with few onward
moves lose most: a soft Warnsdorff's rule that looks one move further.

Random choices are a hash of seed, prefix, number of the descent and depth. So the sums of a prefix do not depend on
other prefixes, and can be made in parts. The children are those of `depth_first`, pruned in the same way; without
pruning, tours of every variant are counted. Both kernels give the same numbers.

`shrink`, a power of two, is multiplied in at each move: it keeps the factors of large boards in the range of doubles.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from . import VISITED
from .array import COUNT, bordered, give_back, inherit, lane_children, mark_near, take
from .bits import children, lonely, one_less, planes_of
from .common import ONE, ZERO, lowest, mix, nth_bit, popcount
from .depth_first import COLS, EVERY, PRUNE, VARIANT

# Rows of `guess` (float64), and columns of `sums` (float64): for all descents below a prefix the placements and tours
# that they stand for, the squares of the numbers of tours, and the largest of them.
OWN, LOSS = 0, 1
PLACEMENTS, TOURS, SQUARES, LARGEST, SUMS = 0, 1, 2, 3, 4

_UNIT = 1.0 / 2**53
_STEP = uint64(0xD1B54A32D192ED03)  # odd, so that depths times it are all different


@njit(inline="always")
def _draw(weights, count, chance):
    """The index of one of `count` weights, picked in proportion to it, and the factor that it stands for."""
    total = 0.0
    for i in range(count):
        total += weights[i]
    point = (chance >> uint64(11)) * _UNIT * total
    i = 0
    while i < count - 1 and point >= weights[i]:
        point -= weights[i]
        i += 1
    return i, total / weights[i]


@njit(inline="always")
def _add(sums, placements, tours):
    sums[PLACEMENTS] += placements
    sums[TOURS] += tours
    sums[SQUARES] += tours * tours
    sums[LARGEST] = max(sums[LARGEST], tours)


@njit(inline="always")
def _path_seed(seed, prefix, length):
    """A hash of the seed and the prefix."""
    state = mix(uint64(seed))
    for i in range(length):
        state = mix(state ^ (uint64(prefix[i]) + ONE))
    return state


# ---------------------------------------------------------------------------------------------------------------------
# Boards of at most 64 squares.


@njit(inline="always")
def _weigh_bits(attacks, guess, unvisited, candidates, weights):
    """Fill in the weights of the candidates, in the order of their squares; returns their number."""
    count = 0
    while candidates:
        around = attacks[lowest(candidates)] & unvisited
        candidates &= candidates - ONE
        weight = guess[OWN, popcount(around)]
        while around:
            weight *= guess[LOSS, popcount(attacks[lowest(around)] & unvisited)]
            around &= around - ONE
        weights[count] = weight
        count += 1
    return count


@njit(inline="always")
def _descend_bits(
    attacks, guess, variant, prune, shrink, near_start, never_ends, square, left, unvisited, planes, base, weights
):  # fmt: skip
    """One descent from `square`, which is placed: the placements and tours that it stands for."""
    factor, placements = 1.0, 1.0
    while left > 0:
        ones, twos, fours = planes
        candidates = children(
            attacks[square], left, unvisited, ones, twos, fours, never_ends, near_start, variant, prune
        )
        if candidates == ZERO:
            return placements, 0.0
        drawn = 0
        if candidates & (candidates - ONE):
            count = _weigh_bits(attacks, guess, unvisited, candidates, weights)
            drawn, share = _draw(weights, count, mix(base + uint64(left) * _STEP))
            factor *= share
        factor *= shrink
        square = nth_bit(candidates, drawn)
        placements += factor
        unvisited ^= ONE << square
        planes = one_less(attacks[square], planes[0], planes[1], planes[2])
        left -= 1
    return placements, factor


@njit(nogil=True)
def descend_bits(attacks, guess, rules, shrink, prefixes, lengths, firsts, counts, seed, weights, sums):
    """Add up `counts` descents below each prefix, from number `firsts` on; none below a prefix that is never taken."""
    variant, prune = rules[VARIANT], rules[PRUNE] != ZERO
    squares = np.int64(popcount(rules[EVERY]))
    empty = planes_of(attacks, rules[EVERY])
    never_ends = lonely(empty[0], empty[1], empty[2])
    for row in range(prefixes.shape[0]):
        prefix, length = prefixes[row], lengths[row]
        near_start = attacks[prefix[0]]
        square, unvisited, taken = uint64(prefix[0]), rules[EVERY] ^ (ONE << uint64(prefix[0])), True
        planes = one_less(near_start, empty[0], empty[1], empty[2])
        for i in range(1, length):
            ones, twos, fours = planes
            candidates = children(
                attacks[square], squares - i, unvisited, ones, twos, fours, never_ends, near_start, variant, prune
            )
            square = uint64(prefix[i])
            taken &= (candidates >> square) & ONE == ONE
            unvisited &= ~(ONE << square)
            planes = one_less(attacks[square], planes[0], planes[1], planes[2])
        state, left = _path_seed(seed, prefix, length), squares - length
        for number in range(firsts[row], firsts[row] + counts[row] if taken else 0):
            base = mix(state + uint64(number))
            placements, tours = _descend_bits(
                attacks, guess, variant, prune, shrink, near_start, never_ends, square, left, unvisited, planes, base,
                weights,
            )  # fmt: skip
            _add(sums[row], placements, tours)


# ---------------------------------------------------------------------------------------------------------------------
# Boards of any size.


@njit(inline="always")
def _weigh_lanes(state, offsets, guess, at, candidates, weights):
    """As `_weigh_bits`."""
    count = 0
    while candidates:
        other = at + offsets[lowest(candidates) >> uint64(3)]
        candidates &= candidates - ONE
        weight = guess[OWN, state[other] & COUNT]
        for i in range(8):
            around = state[other + offsets[i]]
            if around < VISITED:
                weight *= guess[LOSS, around & COUNT]
        weights[count] = weight
        count += 1
    return count


@njit(inline="always")
def _descend_array(
    offsets, state, guess, variant, prune, shrink, start, taken, depth, length, lanes, end, base, weights
):
    """As `_descend_bits`, from the last of `depth` squares of the path. All squares after it are then given back.

    The descent ends where the numbers are beyond the range of doubles.
    """
    factor, placements, found = 1.0, 1.0, 0.0
    begin, at = depth, taken[depth - 1]
    while True:
        if depth == length:
            found = factor
            break
        if placements == np.inf:
            found = np.inf
            break
        candidates = lane_children(lanes, length - depth, state[start] & COUNT, end, variant, prune)
        if candidates == ZERO:
            break
        drawn = 0
        if candidates & (candidates - ONE):
            count = _weigh_lanes(state, offsets, guess, at, candidates, weights)
            drawn, share = _draw(weights, count, mix(base + uint64(length - depth) * _STEP))
            factor *= share
        factor *= shrink
        lane = nth_bit(candidates, drawn)
        placements += factor
        if prune:
            end = inherit(end, lanes, lane, at, offsets, variant)
        at += offsets[lane >> uint64(3)]
        lanes = take(state, offsets, at)
        taken[depth] = at
        depth += 1
    for i in range(begin, depth):
        give_back(state, offsets, taken[i])
    return placements, found


@njit(nogil=True)
def descend_array(
    offsets, state, taken, guess, rules, shrink, prefixes, lengths, firsts, counts, seed, weights, sums
):  # fmt: skip
    """As `descend_bits`. `state` is that of the empty board, and is left so; `taken` has room for a path."""
    variant, prune, cols, squares = rules[VARIANT], rules[PRUNE] != ZERO, rules[COLS], taken.shape[0]
    for row in range(prefixes.shape[0]):
        prefix, length = prefixes[row], lengths[row]
        start = bordered(prefix[0], cols)
        mark_near(state, offsets, start)
        at, end, is_taken, depth = start, ZERO, True, 1
        lanes = take(state, offsets, at)
        taken[0] = at
        while is_taken and depth < length:
            candidates = lane_children(lanes, squares - depth, state[start] & COUNT, end, variant, prune)
            following = bordered(prefix[depth], cols)
            is_taken = False
            while candidates and not is_taken:
                lane = lowest(candidates)
                candidates &= candidates - ONE
                is_taken = at + offsets[lane >> uint64(3)] == following
            if is_taken:
                if prune:
                    end = inherit(end, lanes, lane, at, offsets, variant)
                at = following
                lanes = take(state, offsets, at)
                taken[depth] = at
                depth += 1
        path_state = _path_seed(seed, prefix, length)
        for number in range(firsts[row], firsts[row] + counts[row] if is_taken else 0):
            base = mix(path_state + uint64(number))
            placements, tours = _descend_array(
                offsets, state, guess, variant, prune, shrink, start, taken, depth, squares, lanes, end, base, weights
            )
            _add(sums[row], placements, tours)
        for i in range(depth):
            give_back(state, offsets, taken[i])
        mark_near(state, offsets, start)
