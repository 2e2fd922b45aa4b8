"""Counting by a frontier: square by square, with all that matters of the past in one word.

The *frontier* is the squares that are not processed yet but have a processed neighbour. A *state* says how the moves
chosen so far look from there. A square of the frontier is bare (no move reaches it), full (two do), or the end of a
path whose other end, its mate, is on the frontier too. Processed squares all have their two moves, so nothing else
matters for the future: choices that lead to the same state are counted together.

The *places* here are positions on the frontier. The word of a state has two bits for each place (bare, full, lower end,
upper end). Above them is a digit for each upper end: which of the lower ends that still have no mate is its own, in a
radix that is their number. Twenty places and ten paths fit: 40 bits and 10! < 2**22.

`mate[i]` is the place of the mate, i itself for a bare square, and FULL for a full one.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from .common import ONE, ZERO, mix, nth_bit, popcount

# Why a call stopped.
FINISHED, LIMIT_REACHED, TABLE_FULL, CARRIED = 0, 1, 2, 3

FULL = -1
EMPTY = uint64(0xFFFFFFFFFFFFFFFF)  # marks a free slot of a table; no state has this word
THREE = uint64(3)


@njit(inline="always")
def _decode(word, length, places, mate):
    """Fill in the mates; `places` maps the places of the word to the current ones. Returns the set of full ones."""
    digits = word >> uint64(2 * length)
    open_ends, how_many, full = ZERO, ZERO, ZERO
    for i in range(length):
        symbol = (word >> uint64(2 * i)) & THREE
        at = places[i]
        if symbol == ZERO:
            mate[at] = at
        elif symbol == ONE:
            mate[at] = FULL
            full |= ONE << uint64(at)
        elif symbol == uint64(2):
            open_ends |= ONE << uint64(i)
            how_many += ONE
        else:
            rank = digits % how_many
            digits //= how_many
            how_many -= ONE
            lower = nth_bit(open_ends, rank)
            open_ends ^= ONE << lower
            other = places[lower]
            mate[at] = other
            mate[other] = at
    return full


@njit(inline="always")
def _encode(mate, order, length):
    """The word of a state with its places in this order, which is its own inverse."""
    word, digits, weight, open_ends = ZERO, ZERO, ONE, ZERO
    for i in range(length):
        at = order[i]
        other = mate[at]
        bit = ONE << uint64(i)
        if other == at:
            continue
        if other == FULL:
            word |= bit << uint64(i)
            continue
        lower = order[other]
        if lower > i:
            word |= bit << uint64(i + 1)
            open_ends |= bit
        else:
            word |= THREE << uint64(2 * i)
            lower_bit = ONE << uint64(lower)
            digits += weight * popcount(open_ends & (lower_bit - ONE))
            weight *= popcount(open_ends)
            open_ends ^= lower_bit
    return word | digits << uint64(2 * length)


@njit(inline="always")
def _place(keys, word):
    """The slot of a state in a table, or the free slot for it."""
    size = uint64(keys.shape[0])
    at = (mix(word) >> uint64(32)) * size >> uint64(32)
    while keys[at] != word and keys[at] != EMPTY:
        at += ONE
        if at == size:
            at = ZERO
    return at


@njit(inline="always")
def _add(counts, at, more, which):
    """Add one count to another, word by word; returns whether it overflows."""
    carry = ZERO
    for i in range(counts.shape[1]):
        term = more[which, i]
        total = counts[at, i] + term
        over = total < term
        total += carry
        over |= total < carry
        counts[at, i] = total
        carry = ONE if over else ZERO
    return carry != ZERO


@njit(inline="always")
def _is_dead(mate, full, tight):
    """Whether some square can no longer get two moves.

    Each row of `tight` is about a square that could lack them: its place or FULL if it is not on the frontier, how many
    of its neighbours are neither processed nor on the frontier, and which places the others have.
    """
    for i in range(tight.shape[0]):
        at = tight[i, 0]
        needed = 2
        if at >= 0:
            if mate[at] == FULL:
                continue
            needed = 2 if mate[at] == at else 1
        if tight[i, 1] + np.int64(popcount(uint64(tight[i, 2]) & ~full)) < needed:
            return True
    return False


@njit(inline="always")
def _join(mate, one, other):
    """Join two paths by a move between an end of each. Returns the squares that it made full."""
    one_far, other_far, full = mate[one], mate[other], ZERO
    if one_far != one:
        mate[one] = FULL
        full |= ONE << uint64(one)
    if other_far != other:
        mate[other] = FULL
        full |= ONE << uint64(other)
    if one_far != other:  # otherwise they were the two ends of one path, which is now a cycle
        mate[one_far] = other_far
        mate[other_far] = one_far
    return full


@njit(inline="always")
def _part(mate, one, one_far, other, other_far):
    """Undo a join."""
    mate[one], mate[other] = one_far, other_far
    mate[one_far], mate[other_far] = one, other


@njit(nogil=True)
def advance(
    keys, counts, begin, end, old_length, places, new_places, later, pairs, tight, all_full, forward, mirror,
    mate, new_keys, new_counts, used, room,
):  # fmt: skip
    """Process one square in the states from `begin` to `end`.

    Returns why it stopped, where to continue, and the number of states in the new table, which takes `room` states.

    `places[i]` is the new place of the i-th place of the old frontier; the current square has the place after the last.
    `new_places` are the bare squares that join the frontier. `later` are the places of the square's unprocessed
    neighbours, and `pairs` all pairs of them. A cycle may close when the places in `all_full` are full.

    `forward` is the order of the new places. If the rest of the board is its own mirror image, `mirror` is their
    mirrored order, else it is empty. A state and its image have equally many continuations: the lower word stands for
    both.
    """
    length = forward.shape[0]
    most = max(pairs.shape[0], 4, later.shape[0])
    for which in range(begin, end):
        if used + most > room:
            return TABLE_FULL, which, used
        full = _decode(keys[which], old_length, places, mate)
        for i in range(new_places.shape[0]):
            mate[new_places[i]] = new_places[i]
        # 1. The choices: a bare square takes two moves, the end of a path one, and a full square none.
        bare, done = mate[length] == length, mate[length] == FULL
        choices = pairs.shape[0] if bare else 1 if done else later.shape[0]
        for choice in range(choices):
            one, other, now_full = length, length, full
            if not done:
                one, other = (pairs[choice, 0], pairs[choice, 1]) if bare else (length, later[choice])
                if mate[one] == FULL or mate[other] == FULL:
                    continue
                # 2. Join the two paths; a cycle must be the whole tour.
                one_far, other_far = mate[one], mate[other]
                now_full |= _join(mate, one, other)
            if (done or one_far != other or now_full & all_full == all_full) and not _is_dead(mate, now_full, tight):
                # 3. Count the new state.
                word = _encode(mate, forward, length)
                if mirror.shape[0]:
                    word = min(word, _encode(mate, mirror, length))
                at = _place(new_keys, word)
                if new_keys[at] == EMPTY:
                    new_keys[at] = word
                    used += 1
                if _add(new_counts, at, counts, which):
                    return CARRIED, which, used
            if not done:
                _part(mate, one, one_far, other, other_far)
    return FINISHED, end, used


@njit(nogil=True)
def move(keys, counts, begin, end, new_keys, new_counts):
    """Move the states from `begin` to `end` of a table to a larger one."""
    for i in range(begin, end):
        if keys[i] != EMPTY:
            at = _place(new_keys, keys[i])
            new_keys[at] = keys[i]
            new_counts[at] = counts[i]


@njit(nogil=True)
def compact(keys, counts):
    """Move all states of a table to its front; returns their number."""
    used = 0
    for i in range(keys.shape[0]):
        if keys[i] != EMPTY:
            keys[used] = keys[i]
            counts[used] = counts[i]
            used += 1
    return used
