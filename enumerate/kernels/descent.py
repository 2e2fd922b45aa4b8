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

from . import NOWHERE
from .common import ONE, ZERO, lowest, mix, nth_bit, popcount
from .depth_first import EVERY, PRUNE, VARIANT, expand_array, expand_bits, inherit, mark_near, take, unvisited_around

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
def _descend_bits(attacks, guess, variant, prune, shrink, near_start, square, left, unvisited, end, base, weights):
    """One descent from `square`, which is placed: the placements and tours that it stands for."""
    factor, placements = 1.0, 1.0
    while left > 0:
        candidates, tight = expand_bits(attacks, square, left, unvisited, end, variant, near_start, prune)
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
        end |= tight & ~(ONE << square)
        left -= 1
    return placements, factor


@njit(nogil=True)
def descend_bits(attacks, guess, rules, shrink, prefixes, lengths, firsts, counts, seed, weights, sums):
    """Add up `counts` descents below each prefix, from number `firsts` on; none below a prefix that is never taken."""
    variant, prune = rules[VARIANT], rules[PRUNE] != ZERO
    squares = np.int64(popcount(rules[EVERY]))
    for row in range(prefixes.shape[0]):
        prefix, length = prefixes[row], lengths[row]
        near_start = attacks[prefix[0]]
        square, unvisited, end, taken = uint64(prefix[0]), rules[EVERY] ^ (ONE << uint64(prefix[0])), ZERO, True
        for i in range(1, length):
            candidates, tight = expand_bits(attacks, square, squares - i, unvisited, end, variant, near_start, prune)
            square = uint64(prefix[i])
            taken &= (candidates >> square) & ONE == ONE
            unvisited &= ~(ONE << square)
            end |= tight & ~(ONE << square)
        state, left = _path_seed(seed, prefix, length), squares - length
        for number in range(firsts[row], firsts[row] + counts[row] if taken else 0):
            base = mix(state + uint64(number))
            placements, tours = _descend_bits(
                attacks, guess, variant, prune, shrink, near_start, square, left, unvisited, end, base, weights
            )
            _add(sums[row], placements, tours)


# ---------------------------------------------------------------------------------------------------------------------
# Boards of any size.


@njit(inline="always")
def _weigh_array(neighbours, degrees, visited, guess, square, candidates, weights):
    """As `_weigh_bits`."""
    count = 0
    for i in range(8):
        if candidates >> i & 1:
            other = neighbours[square, i]
            weight = guess[OWN, degrees[other]]
            for j in range(8):
                around = neighbours[other, j]
                if around == NOWHERE:
                    break
                if not visited[around]:
                    weight *= guess[LOSS, degrees[around]]
            weights[count] = weight
            count += 1
    return count


@njit(inline="always")
def _descend_array(
    neighbours, guess, variant, prune, shrink, start, near_start, degrees, visited, path, depth, end, tight, base,
    weights,
):  # fmt: skip
    """As `_descend_bits`, from the last of `depth` squares of the path. All squares after it are then given back.

    The descent ends where the numbers are beyond the range of doubles.
    """
    factor, placements, found, length = 1.0, 1.0, 0.0, path.shape[0]
    begin = depth
    while True:
        square = np.int64(path[depth - 1])
        if depth == length:
            found = factor
            break
        if placements == np.inf:
            found = np.inf
            break
        candidates = unvisited_around(neighbours, visited, square)
        if prune:
            candidates = expand_array(
                neighbours, degrees, candidates, near_start, degrees[start], square, length - depth, end, variant, tight
            )
        if candidates == 0:
            break
        drawn = 0
        if candidates & (candidates - 1):
            count = _weigh_array(neighbours, degrees, visited, guess, square, candidates, weights)
            drawn, share = _draw(weights, count, mix(base + uint64(length - depth) * _STEP))
            factor *= share
        factor *= shrink
        square = np.int64(neighbours[square, nth_bit(uint64(candidates), drawn)])
        placements += factor
        if prune:
            end = inherit(end, tight, square)
        path[depth] = square
        take(neighbours, degrees, visited, square, True)
        depth += 1
    for at in range(begin, depth):
        take(neighbours, degrees, visited, path[at], False)
    return placements, found


@njit(nogil=True)
def descend_array(
    neighbours, near_start, degrees, visited, path, tight, guess, rules, shrink,
    prefixes, lengths, firsts, counts, seed, weights, sums,
):  # fmt: skip
    """As `descend_bits`. The arrays are those of an empty board, and are left so; path and tight are scratch space."""
    variant, prune = rules[VARIANT], rules[PRUNE] != ZERO
    for row in range(prefixes.shape[0]):
        prefix, length, start = prefixes[row], lengths[row], np.int64(prefixes[row, 0])
        mark_near(neighbours, near_start, start, True)
        end, taken, depth = np.int64(NOWHERE), True, 0
        while depth < length:
            square = np.int64(prefix[depth])
            if depth > 0:
                candidates = unvisited_around(neighbours, visited, path[depth - 1])
                if prune:
                    candidates = expand_array(
                        neighbours, degrees, candidates, near_start, degrees[start], np.int64(path[depth - 1]),
                        path.shape[0] - depth, end, variant, tight,
                    )  # fmt: skip
                    end = inherit(end, tight, square)
                taken = False
                for i in range(8):
                    taken |= candidates >> i & 1 == 1 and neighbours[path[depth - 1], i] == square
                if not taken:
                    break
            path[depth] = square
            take(neighbours, degrees, visited, square, True)
            depth += 1
        state = _path_seed(seed, prefix, length)
        for number in range(firsts[row], firsts[row] + counts[row] if taken else 0):
            base = mix(state + uint64(number))
            placements, tours = _descend_array(
                neighbours, guess, variant, prune, shrink, start, near_start, degrees, visited, path, depth, end, tight,
                base, weights,
            )  # fmt: skip
            _add(sums[row], placements, tours)
        for at in range(depth):
            take(neighbours, degrees, visited, path[at], False)
        mark_near(neighbours, near_start, start, False)
