"""Random descents into the tree of a depth-first search: how many placements and tours does it have?

After Knuth (1975): go down from a path, at each square to one child drawn by lot, until there is none. If a child is
drawn with probability p, it stands for 1/p children like it; the placements on the way, each with the product of these
factors above it, add up to a number whose mean is the size of the tree, and a tour counts as the whole product. That
holds for any probabilities, as long as every child of the search has one above zero; they decide how much the numbers
scatter.

Here a child's weight is a guess at the share of tours below it. To go to a square takes one onward move from each of
its unvisited neighbours; a neighbour with d of them then has d - 1, and the weight is the product of `losses[d]` over
them. Squares with few moves left suffer most, so this prefers their neighbours last: Warnsdorff's rule, softened and
looking one move further.

Chance is a hash of seed, path, number of the descent and depth, so a path's result does not depend on what else is
asked. The children are those of `depth_first`, pruned in the same way. Both kernels give the same numbers.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from .common import BOTH, CLOSED, NOWHERE, ONE, ZERO, lowest, mix, popcount
from .depth_first import EVERY, PRUNE, VARIANT, _expand_array, _expand_bits, _inherit, _take, _unvisited_around

_0, _1 = ZERO, ONE

_UNIT = 1.0 / 2**53
_STEP = uint64(0xD1B54A32D192ED03)  # odd, so that depths times it are all different


@njit(inline="always")
def _draw(weights, count, chance):
    """The place of one of `count` weights, drawn by its share, and the factor that it stands for."""
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
def _path_seed(seed, prefix, length):
    """A hash of the seed and the path, where its descents begin."""
    state = mix(uint64(seed))
    for i in range(length):
        state = mix(state ^ (uint64(prefix[i]) + _1))
    return state


@njit(inline="always")
def _fits(variant, is_closed):
    """Whether a tour is of the variant that is searched."""
    return variant == BOTH or (variant == CLOSED) == is_closed


# ---------------------------------------------------------------------------------------------------------------------
# Boards of at most 64 squares.


@njit(inline="always")
def _children_bits(attacks, square, left, unvisited, end, variant, near_start, prune):
    """The squares that the search would try after `square`, and the tight ones among them."""
    if prune:
        return _expand_bits(attacks, square, left, unvisited, end, variant, near_start)
    return attacks[square] & unvisited, _0


@njit(inline="always")
def _weigh_bits(attacks, losses, unvisited, candidates, weights):
    """Fill in the weights of the candidates, in the order of their squares; how many they are."""
    count = 0
    while candidates:
        around = attacks[lowest(candidates)] & unvisited
        candidates &= candidates - _1
        weight = 1.0
        while around:
            weight *= losses[popcount(attacks[lowest(around)] & unvisited)]
            around &= around - _1
        weights[count] = weight
        count += 1
    return count


@njit(inline="always")
def _descend_bits(attacks, losses, variant, prune, near_start, square, left, unvisited, end, base, weights):
    """One descent from `square`, which is placed: the placements and tours that it stands for."""
    factor, placements = 1.0, 1.0
    while left > 0:
        candidates, tight = _children_bits(attacks, square, left, unvisited, end, variant, near_start, prune)
        if candidates == _0:
            return placements, 0.0
        if candidates & (candidates - _1):
            count = _weigh_bits(attacks, losses, unvisited, candidates, weights)
            drawn, share = _draw(weights, count, mix(base + uint64(left) * _STEP))
            factor *= share
            for _ in range(drawn):
                candidates &= candidates - _1
        square = lowest(candidates)
        placements += factor
        unvisited ^= _1 << square
        end |= tight & ~(_1 << square)
        left -= 1
    return placements, factor if _fits(variant, (near_start >> square) & _1 == _1) else 0.0


@njit(nogil=True)
def size_bits(attacks, losses, rules, prefixes, lengths, descents, seed, weights, placements, tours):
    """Fill in the mean of so many descents below each path. A path that the search never takes has no placements."""
    variant, prune = rules[VARIANT], rules[PRUNE] != _0
    squares = np.int64(popcount(rules[EVERY]))
    for row in range(prefixes.shape[0]):
        prefix, length = prefixes[row], lengths[row]
        near_start = attacks[prefix[0]]
        square, unvisited, end, taken = uint64(prefix[0]), rules[EVERY] ^ (_1 << uint64(prefix[0])), _0, True
        for i in range(1, length):
            candidates, tight = _children_bits(attacks, square, squares - i, unvisited, end, variant, near_start, prune)
            square = uint64(prefix[i])
            taken &= (candidates >> square) & _1 == _1
            unvisited &= ~(_1 << square)
            end |= tight & ~(_1 << square)
        placements[row] = tours[row] = 0.0
        if taken:
            state = _path_seed(seed, prefix, length)
            for number in range(descents):
                base = mix(state + uint64(number))
                size, found = _descend_bits(
                    attacks, losses, variant, prune, near_start, square, squares - length, unvisited, end, base, weights
                )
                placements[row] += size
                tours[row] += found
            placements[row] /= descents
            tours[row] /= descents


# ---------------------------------------------------------------------------------------------------------------------
# Boards of any size.


@njit(inline="always")
def _weigh_array(neighbours, degrees, visited, losses, square, candidates, weights):
    """As `_weigh_bits`."""
    count = 0
    for i in range(8):
        if candidates >> i & 1:
            other, weight = neighbours[square, i], 1.0
            for j in range(8):
                around = neighbours[other, j]
                if around == NOWHERE:
                    break
                if not visited[around]:
                    weight *= losses[degrees[around]]
            weights[count] = weight
            count += 1
    return count


@njit(inline="always")
def _nth(candidates, count):
    """The place of the set bit with so many below it."""
    word = uint64(candidates)
    for _ in range(count):
        word &= word - _1
    return np.int64(lowest(word))


@njit(inline="always")
def _descend_array(
    neighbours, losses, variant, prune, start, near_start, degrees, visited, path, depth, end, tight, base, weights
):  # fmt: skip
    """As `_descend_bits`, from the last of `depth` squares of the path. All squares after it are given back.

    The descent ends where the numbers are beyond the range of doubles.
    """
    factor, placements, found, length = 1.0, 1.0, 0.0, path.shape[0]
    begin = depth
    while True:
        square = np.int64(path[depth - 1])
        if depth == length:
            found = factor if _fits(variant, near_start[square]) else 0.0
            break
        if placements == np.inf:
            found = np.inf
            break
        candidates = _unvisited_around(neighbours, visited, square)
        if prune:
            candidates = _expand_array(
                neighbours, degrees, candidates, near_start, degrees[start], square, length - depth, end, variant, tight
            )
        if candidates == 0:
            break
        drawn = 0
        if candidates & (candidates - 1):
            count = _weigh_array(neighbours, degrees, visited, losses, square, candidates, weights)
            drawn, share = _draw(weights, count, mix(base + uint64(length - depth) * _STEP))
            factor *= share
        square = np.int64(neighbours[square, _nth(candidates, drawn)])
        placements += factor
        if prune:
            end = np.int64(_inherit(end, tight, square))
        path[depth] = square
        visited[square] = True
        _take(neighbours, degrees, square, -1)
        depth += 1
    while depth > begin:
        depth -= 1
        visited[path[depth]] = False
        _take(neighbours, degrees, path[depth], 1)
    return placements, found


@njit(nogil=True)
def size_array(
    neighbours, losses, rules, near_start, degrees, visited, path, tight,
    prefixes, lengths, descents, seed, weights, placements, tours,
):  # fmt: skip
    """As `size_bits`. `degrees` are those of the empty board, `near_start` and `visited` are false, here and after."""
    variant, prune = rules[VARIANT], rules[PRUNE] != _0
    for row in range(prefixes.shape[0]):
        prefix, length, start = prefixes[row], lengths[row], np.int64(prefixes[row, 0])
        for i in range(8):
            if neighbours[start, i] != NOWHERE:
                near_start[neighbours[start, i]] = True
        end, taken, depth = np.int64(NOWHERE), True, 0
        while depth < length:
            square = np.int64(prefix[depth])
            if depth > 0:
                candidates = _unvisited_around(neighbours, visited, path[depth - 1])
                if prune:
                    candidates = _expand_array(
                        neighbours, degrees, candidates, near_start, degrees[start], np.int64(path[depth - 1]),
                        path.shape[0] - depth, end, variant, tight,
                    )  # fmt: skip
                    end = np.int64(_inherit(end, tight, square))
                taken = False
                for i in range(8):
                    taken |= candidates >> i & 1 == 1 and neighbours[path[depth - 1], i] == square
                if not taken:
                    break
            path[depth] = square
            visited[square] = True
            _take(neighbours, degrees, square, -1)
            depth += 1
        placements[row] = tours[row] = 0.0
        if taken:
            state = _path_seed(seed, prefix, length)
            for number in range(descents):
                base = mix(state + uint64(number))
                size, found = _descend_array(
                    neighbours, losses, variant, prune, start, near_start, degrees, visited, path, depth, end, tight,
                    base, weights,
                )  # fmt: skip
                placements[row] += size
                tours[row] += found
            placements[row] /= descents
            tours[row] /= descents
        while depth > 0:
            depth -= 1
            visited[path[depth]] = False
            _take(neighbours, degrees, path[depth], 1)
        for i in range(8):
            if neighbours[start, i] != NOWHERE:
                near_start[neighbours[start, i]] = False
