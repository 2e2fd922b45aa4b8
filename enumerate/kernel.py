"""The hot loops: depth-first search for knight's tours, next squares in Warnsdorff's order.

Two kernels make the same search. `search_bits` holds the unvisited squares of a board of at most 64 squares in one
64-bit word; `search_array` works on any board with a table of degrees that is adjusted as squares are taken and given
back. Order after Warnsdorff (1823): fewest onward moves first, ties by square number.

Rules of this file, which is the one long file of the package: it imports numpy and numba only, the caller owns every
array, and nothing here allocates, prints, raises, or reads a clock. A call runs until the search is exhausted, the
batch is full or the iteration limit is reached, says which, and the same arrays continue it.

Where a search stands: `path[:depth]` has been placed and `registers[NEXT]` is placed next. Everything else on the stack
follows from that path, so the path is the whole cursor, and `resume_*` rebuilds the stack from it.

Pruning never loses a tour. It rests on one observation: when the knight leaves a square, only the unvisited neighbours
of that square lose a way in or out, and those are exactly the candidates for the next move, whose onward moves have
been counted already to sort them. So all checks are free, and they are made before a square is placed:

* a candidate with no onward move is fatal, unless it is the last square;
* a candidate with one onward move must be taken now or be the last square of the tour: a second such candidate is
  fatal when neither can be the last. For a closed tour the start square counts as one more onward move;
* the colour of the last square is known from the parity of the board, so on every other move no candidate can be it;
* the last square of a closed tour is a neighbour of the start, of an open one it is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types, uint64
from numba.extending import intrinsic

# Why a call stopped.
EXHAUSTED, BATCH_FULL, LIMIT_REACHED, BAD_CURSOR = 0, 1, 2, 3

# Variants.
OPEN, CLOSED, BOTH = 0, 1, 2

# Slots of `registers` (int64): what a search carries from call to call.
DEPTH, NEXT, ITERATIONS, DEAD_ENDS, FOUND, REGISTERS = 0, 1, 2, 3, 4, 5

# Slots of `rules` (uint64): what a search is asked to do; constant over all its calls.
START, VARIANT, PRUNE, SEED, SHUFFLE_BELOW, RULES = 0, 1, 2, 3, 4, 5

NOWHERE = -1  # no square, in the array kernel

_0, _1, _8 = uint64(0), uint64(1), uint64(8)
_BYTE = uint64(0xFF)
_EVERY_BYTE = uint64(0x0101010101010101)
_ALL = uint64(0xFFFFFFFFFFFFFFFF)


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    """How many bits are set: one instruction."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), emit


@intrinsic
def _lowest(typing_context: Any, word: Any) -> Any:
    """The number of the lowest set bit: one instruction; the word is never zero."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), emit


@njit(inline="always")
def _mix(x):
    """Steele, Lea and Flood's SplitMix64 finaliser: 64 bits in, 64 well-mixed bits out."""
    x = uint64(x) + uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@njit(inline="always")
def _path_hash(before, square):
    """The hash of a path, from the hash of the path before its last square."""
    return _mix(before ^ (uint64(square) + _1))


@njit(inline="always")
def _shuffles(path_hash, below):
    """Whether the next squares of this path come in shuffled order."""
    return (_mix(path_hash) >> uint64(11)) < below


@njit(inline="always")
def _shuffle_key(path_hash, square):
    """A candidate's place in a shuffled order. It does not depend on the other candidates, so pruning keeps order."""
    return _mix(path_hash + (uint64(square) + _1) * uint64(0xD1B54A32D192ED03))


# ---------------------------------------------------------------------------------------------------------------------
# Boards of at most 64 squares.
#
# A node's candidates are one word of bytes, lowest byte first, each holding a square number plus one; zero means that
# none is left. Sets of squares are words with one bit a square.


@njit(inline="always")
def _insert(order, place, square):
    """Put a square at a place of the order and move those behind it back by one."""
    shift = place * _8
    before = order & ((_1 << shift) - _1)
    return before | ((square + _1) << shift) | ((order ^ before) << _8)


@njit(inline="always")
def _one_bit(word):
    return (word & (word - _1)) == _0


@njit(inline="always")
def _shuffled_bits(candidates, path_hash, keys):
    """The candidates in the order of their shuffle keys."""
    order, count = _0, 0
    while candidates:
        square = _lowest(candidates)
        candidates &= candidates - _1
        key = _shuffle_key(path_hash, square)
        place = _0
        for i in range(count):
            if keys[i] < key:
                place += _1
        keys[count] = key
        count += 1
        order = _insert(order, place, square)
    return order


@njit(inline="always")
def _expand_bits(attacks, square, left, unvisited, end, variant, prune, near_start, path_hash, below, keys):
    """The squares to try after `square`, in order, and the tight ones among the candidates.

    `left` counts the unvisited squares and `end` is the square that must be the last one, if that is known. A tight
    candidate has one onward move: whichever child is not it inherits it as its `end`.
    """
    candidates = attacks[square] & unvisited
    if left == 1 and prune:
        if variant == CLOSED:
            candidates &= near_start
        elif variant == OPEN:
            candidates &= ~near_start

    # Step 1. Count onward moves and sort: `counts` has one byte for each degree, and its prefix sum is the place.
    order, counts, tight, allowed = _0, _0, _0, candidates
    if prune and variant == CLOSED and left > 1:
        last_way_home = near_start & unvisited
        if _one_bit(last_way_home):
            allowed &= ~last_way_home
    rest = candidates
    while rest:
        following = _lowest(rest)
        bit = rest & (~rest + _1)
        rest ^= bit
        onward = _popcount(attacks[following] & unvisited)
        if prune and left > 1:
            if onward == _0:
                return _0, _0
            if onward == _1:
                tight |= bit
        if bit & allowed:
            shift = onward * _8
            place = ((counts * _EVERY_BYTE) >> shift) & _BYTE
            counts += _1 << shift
            order = _insert(order, place, following)
    if below and _shuffles(path_hash, below):
        order = _shuffled_bits(allowed, path_hash, keys)

    # Step 2. Tight candidates: one that cannot be the last square must come next.
    if tight:
        tight &= ~end
        if variant == CLOSED:
            tight &= ~near_start
            may_end = _0
        elif end or left & 1 == 0:
            may_end = _0
        elif variant == OPEN:
            may_end = tight & ~near_start
        else:
            may_end = tight
        must = tight & ~may_end
        if must:
            if _one_bit(must) and _one_bit(may_end):
                return _lowest(must) + _1, tight
            return _0, _0
        if not _one_bit(may_end):
            second = may_end & (may_end - _1)
            if not _one_bit(second):
                return _0, _0
            kept = _0
            place = _0
            while order:
                candidate = (order & _BYTE) - _1
                order >>= _8
                if (may_end >> candidate) & _1:
                    kept |= (candidate + _1) << place
                    place += _8
            return kept, tight
    return order, tight


@njit(nogil=True)
def search_bits(attacks, rules, registers, path, orders, tights, ends, hashes, keys, limit, tours, iterations, closed):
    """Search on; see the top of this file. `limit` is the value of ITERATIONS at which to stop."""
    squares = path.shape[0]
    near_start = attacks[rules[START]]
    variant, prune, below = rules[VARIANT], rules[PRUNE] != _0, rules[SHUFFLE_BELOW]
    depth, square = registers[DEPTH], uint64(registers[NEXT])
    count, dead_ends, found = registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND]
    unvisited = _ALL >> uint64(64 - squares)
    for i in range(depth):
        unvisited ^= _1 << uint64(path[i])
    end = _0
    path_hash = rules[SEED]
    if depth > 0:
        end = ends[depth - 1] | (tights[depth - 1] & ~(_1 << square))
    reason = LIMIT_REACHED
    while count < limit:
        # Step 1. Place the knight.
        count += 1
        path[depth] = square
        unvisited ^= _1 << square
        left = squares - 1 - depth
        if below:
            path_hash = _path_hash(hashes[depth - 1] if depth > 0 else rules[SEED], square)
            hashes[depth] = path_hash

        # Step 2. A tour, or the squares to try next.
        if left == 0:
            orders[depth] = _0
            is_closed = (near_start >> square) & _1
            if variant == BOTH or (variant == CLOSED) == (is_closed == _1):
                for i in range(squares):
                    tours[found, i] = path[i]
                iterations[found] = count
                closed[found] = is_closed
                found += 1
        else:
            order, tight = _expand_bits(
                attacks, square, left, unvisited, end, variant, prune, near_start, path_hash, below, keys
            )
            orders[depth], tights[depth], ends[depth] = order, tight, end
            if order == _0:
                dead_ends += 1

        # Step 3. Go back to the deepest square that has a candidate left.
        while depth >= 0 and orders[depth] == _0:
            unvisited ^= _1 << uint64(path[depth])
            depth -= 1
        if depth < 0:
            reason = EXHAUSTED
            break
        square = (orders[depth] & _BYTE) - _1
        orders[depth] >>= _8
        end = ends[depth] | (tights[depth] & ~(_1 << square))
        depth += 1
        if found == tours.shape[0]:
            reason = BATCH_FULL
            break
    registers[DEPTH], registers[NEXT] = depth, square
    registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND] = count, dead_ends, found
    return reason


@njit(nogil=True)
def resume_bits(attacks, rules, registers, path, orders, tights, ends, hashes, keys, cursor, fixed):
    """Rebuild the stack of a search whose next placement is the last square of `cursor`.

    The first `fixed` squares are a prefix: their siblings are left to other jobs.
    """
    squares = path.shape[0]
    near_start = attacks[rules[START]]
    variant, prune, below = rules[VARIANT], rules[PRUNE] != _0, rules[SHUFFLE_BELOW]
    unvisited = _ALL >> uint64(64 - squares)
    end, path_hash = _0, rules[SEED]
    for depth in range(cursor.shape[0] - 1):
        square, following = uint64(cursor[depth]), uint64(cursor[depth + 1])
        path[depth] = square
        unvisited ^= _1 << square
        path_hash = _path_hash(path_hash, square)
        hashes[depth] = path_hash
        order, tight = _expand_bits(
            attacks, square, squares - 1 - depth, unvisited, end, variant, prune, near_start, path_hash, below, keys
        )
        while order and (order & _BYTE) - _1 != following:
            order >>= _8
        if order == _0:
            return EXHAUSTED if depth + 1 < fixed else BAD_CURSOR
        orders[depth] = order >> _8 if depth + 1 >= fixed else _0
        tights[depth], ends[depth] = tight, end
        end |= tight & ~(_1 << following)
    registers[DEPTH], registers[NEXT] = cursor.shape[0] - 1, cursor[cursor.shape[0] - 1]
    return LIMIT_REACHED


# ---------------------------------------------------------------------------------------------------------------------
# Boards of any size.
#
# `degrees[s]` is the number of unvisited neighbours of s, kept while squares are taken and given back. A node's
# candidates stand in a row of `orders` between `tried` and `counts`; of its tight candidates two are enough to know.


@njit(inline="always")
def _take(neighbours, degrees, square, change):
    """Take a square (change -1) or give it back (+1): the degrees of its neighbours follow."""
    for i in range(8):
        other = neighbours[square, i]
        if other == NOWHERE:
            break
        degrees[other] += change


@njit(inline="always")
def _expand_array(
    neighbours, degrees, visited, near_start, ways_home, square, left, end, variant, prune, path_hash, below, keys,
    order, tight,
):  # fmt: skip
    """As `_expand_bits`: fills `order` and `tight`, returns how many squares there are to try.

    `ways_home` counts the unvisited neighbours of the start square.
    """
    tight[0] = tight[1] = NOWHERE
    shuffled = below != _0 and _shuffles(path_hash, below)
    count = may_end_count = must_count = 0
    must = NOWHERE
    for i in range(8):
        following = neighbours[square, i]
        if following == NOWHERE:
            break
        if visited[following]:
            continue
        onward = degrees[following]
        by_start = near_start[following]
        if prune and left == 1 and ((variant == CLOSED and not by_start) or (variant == OPEN and by_start)):
            continue
        if prune and left > 1:
            if onward == 0:
                return 0
            if onward == 1 and following != end and not (variant == CLOSED and by_start):
                may_end = variant != CLOSED and end == NOWHERE and left & 1 == 1 and not (variant == OPEN and by_start)
                if may_end:
                    if may_end_count < 2:
                        tight[may_end_count] = following
                    may_end_count += 1
                else:
                    must = following
                    must_count += 1
            if variant == CLOSED and by_start and ways_home == 1:
                continue
        # Insertion by (key, square): the neighbours come in the order of their numbers, so equal keys stay in order.
        key = _shuffle_key(path_hash, following) if shuffled else uint64(onward)
        place = count
        while place > 0 and keys[place - 1] > key:
            keys[place], order[place] = keys[place - 1], order[place - 1]
            place -= 1
        keys[place], order[place] = key, following
        count += 1

    if must_count > 0:
        if must_count > 1 or may_end_count > 1:
            return 0
        order[0] = must
        return 1
    if may_end_count > 2:
        return 0
    if may_end_count == 2:
        if order[0] != tight[0] and order[0] != tight[1]:
            for i in range(1, count):
                if order[i] == tight[0] or order[i] == tight[1]:
                    order[0] = order[i]
                    break
        order[1] = tight[0] if order[0] == tight[1] else tight[1]
        return 2
    return count


@njit(inline="always")
def _inherit(end, tight, square):
    """The known last square of a child: its parent's, or the parent's tight candidate that the child is not."""
    if end != NOWHERE:
        return end
    if tight[0] != square:
        return tight[0]
    return tight[1]


@njit(nogil=True)
def search_array(
    neighbours, near_start, degrees, visited, rules, registers, path, orders, counts, tried, tights, ends, hashes, keys,
    limit, tours, iterations, closed,
):  # fmt: skip
    """As `search_bits`, on a board of any size."""
    squares = path.shape[0]
    start = rules[START]
    variant, prune, below = rules[VARIANT], rules[PRUNE] != _0, rules[SHUFFLE_BELOW]
    depth, square = registers[DEPTH], registers[NEXT]
    count, dead_ends, found = registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND]
    end = NOWHERE
    path_hash = rules[SEED]
    if depth > 0:
        end = _inherit(ends[depth - 1], tights[depth - 1], square)
    reason = LIMIT_REACHED
    while count < limit:
        # Step 1. Place the knight.
        count += 1
        path[depth] = square
        visited[square] = True
        _take(neighbours, degrees, square, -1)
        left = squares - 1 - depth
        if below:
            path_hash = _path_hash(hashes[depth - 1] if depth > 0 else rules[SEED], square)
            hashes[depth] = path_hash

        # Step 2. A tour, or the squares to try next.
        tried[depth] = 0
        if left == 0:
            counts[depth] = 0
            is_closed = near_start[square]
            if variant == BOTH or (variant == CLOSED) == is_closed:
                for i in range(squares):
                    tours[found, i] = path[i]
                iterations[found] = count
                closed[found] = is_closed
                found += 1
        else:
            ends[depth] = end
            counts[depth] = _expand_array(
                neighbours, degrees, visited, near_start, degrees[start], square, left, end, variant, prune, path_hash,
                below, keys, orders[depth], tights[depth],
            )  # fmt: skip
            if counts[depth] == 0:
                dead_ends += 1

        # Step 3. Go back to the deepest square that has a candidate left.
        while depth >= 0 and tried[depth] == counts[depth]:
            visited[path[depth]] = False
            _take(neighbours, degrees, path[depth], 1)
            depth -= 1
        if depth < 0:
            reason = EXHAUSTED
            break
        square = np.int64(orders[depth, tried[depth]])
        tried[depth] += 1
        end = _inherit(ends[depth], tights[depth], square)
        depth += 1
        if found == tours.shape[0]:
            reason = BATCH_FULL
            break
    registers[DEPTH], registers[NEXT] = depth, square
    registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND] = count, dead_ends, found
    return reason


@njit(nogil=True)
def resume_array(
    neighbours, near_start, degrees, visited, rules, registers, path, orders, counts, tried, tights, ends, hashes, keys,
    cursor, fixed,
):  # fmt: skip
    """As `resume_bits`, on a board of any size. `degrees` and `visited` are those of the empty board."""
    squares = path.shape[0]
    start = rules[START]
    variant, prune, below = rules[VARIANT], rules[PRUNE] != _0, rules[SHUFFLE_BELOW]
    end, path_hash = NOWHERE, rules[SEED]
    for depth in range(cursor.shape[0] - 1):
        square, following = np.int64(cursor[depth]), np.int64(cursor[depth + 1])
        path[depth] = square
        visited[square] = True
        _take(neighbours, degrees, square, -1)
        path_hash = _path_hash(path_hash, square)
        hashes[depth] = path_hash
        ends[depth] = end
        count = _expand_array(
            neighbours, degrees, visited, near_start, degrees[start], square, squares - 1 - depth, end, variant, prune,
            path_hash, below, keys, orders[depth], tights[depth],
        )  # fmt: skip
        place = 0
        while place < count and orders[depth, place] != following:
            place += 1
        if place == count:
            return EXHAUSTED if depth + 1 < fixed else BAD_CURSOR
        counts[depth] = count
        tried[depth] = place + 1 if depth + 1 >= fixed else count
        end = _inherit(end, tights[depth], following)
    registers[DEPTH], registers[NEXT] = cursor.shape[0] - 1, cursor[cursor.shape[0] - 1]
    return LIMIT_REACHED
