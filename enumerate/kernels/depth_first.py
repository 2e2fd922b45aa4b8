"""Depth-first search for knight's tours, with the next squares in Warnsdorff's order or in a fixed one.

Two kernels make the same search. `search_bits` holds the unvisited squares of a board of at most 64 squares in one
64-bit word; `search_array` works on any board with a table of degrees that it updates as it takes squares and gives
them back. Order after Warnsdorff (1823): fewest onward moves first, ties by square number; or by a list of moves only.

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
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from . import BAD_CURSOR, BATCH_FULL, BOTH, CLOSED, EXHAUSTED, LIMIT_REACHED, NOWHERE, OPEN
from .classify import is_kept, is_structured, symmetry_of
from .common import ONE, ZERO, lowest, mix, popcount

# Slots of `registers` (int64): the state of a search between calls. GIVEN_UP is for others: it stays 0.
DEPTH, NEXT, ITERATIONS, DEAD_ENDS, FOUND, LEFT_OUT, GIVEN_UP, REGISTERS = range(8)

# Slots of `rules` (uint64): the parameters of a search, constant over all its calls. EVERY: the squares to visit, as a
# word, for boards of at most 64.
START, VARIANT, PRUNE, SEED, SHUFFLE_BELOW, ONLY, ROWS, COLS, EVERY, RULES = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9


@njit(inline="always")
def _path_hash(before, square):
    """The hash of a path, from the hash of the path before its last square."""
    return mix(before ^ (uint64(square) + ONE))


@njit(inline="always")
def _shuffles(path_hash, below):
    """Whether the next squares of this path come in shuffled order."""
    return (mix(path_hash) >> uint64(11)) < below


@njit(inline="always")
def _shuffle_key(path_hash, square):
    """A candidate's rank in a shuffled order. It does not depend on other candidates, so pruning keeps the order."""
    return mix(path_hash + (uint64(square) + ONE) * uint64(0xD1B54A32D192ED03))


@njit
def _keep(rules, registers, place, pairs, kept, found, tours, iterations, closed, structured, symmetry):
    """Classify the tours from `kept` to `found`, and move the wanted ones together; returns how many are kept.

    This is done after the search: within it, every placement would be slower.
    """
    rows, cols, length = np.int64(rules[ROWS]), np.int64(rules[COLS]), tours.shape[1]
    for i in range(kept, found):
        tour, is_closed = tours[i], closed[i]
        for at in range(length):
            place[tour[at]] = at
        is_joinable = is_structured(place, pairs, length, is_closed)
        kind = symmetry_of(tour, place, rows, cols, is_closed)
        if not is_kept(rules[ONLY], is_joinable, kind):
            registers[LEFT_OUT] += 1
            continue
        if kept < i:
            tours[kept] = tour
            iterations[kept], closed[kept] = iterations[i], is_closed
        structured[kept], symmetry[kept] = is_joinable, kind
        kept += 1
    return kept


# ---------------------------------------------------------------------------------------------------------------------
# Boards of at most 64 squares.
#
# Sets of squares are words with one bit a square. A node keeps the set of its untried candidates and picks the best of
# them each time the search returns: the unvisited squares are then the same as before, so the order is too, and nothing
# is sorted that is never tried.


@njit(inline="always")
def _one_bit(word):
    """Whether at most one bit is set."""
    return (word & (word - ONE)) == ZERO


@njit(inline="always")
def _key(attacks, unvisited, square, shuffled, path_hash):
    """The candidate with the least key is tried first."""
    return _shuffle_key(path_hash, square) if shuffled else popcount(attacks[square] & unvisited)


@njit(inline="always")
def _pick(attacks, neighbours, square, candidates, unvisited, fixed, shuffled, path_hash):
    """The candidate to try first after `square`."""
    best = lowest(candidates)
    if _one_bit(candidates):
        return best
    if fixed and not shuffled:
        i = 0
        while (candidates >> uint64(neighbours[square, i])) & ONE == ZERO:
            i += 1
        return uint64(neighbours[square, i])
    best_key, rest = _key(attacks, unvisited, best, shuffled, path_hash), candidates & (candidates - ONE)
    while rest:
        other = lowest(rest)
        rest &= rest - ONE
        key = _key(attacks, unvisited, other, shuffled, path_hash)
        if key < best_key:
            best, best_key = other, key
    return best


@njit(inline="always")
def expand_bits(attacks, square, left, unvisited, end, variant, near_start, prune):
    """The candidates after `square`, with `prune` those that can lead to a tour, and the tight ones among them.

    `left` counts the unvisited squares and `end` is the square that must be the last one, if that is known. A tight
    candidate has one onward move: whichever child is not it inherits it as its `end`.
    """
    candidates = attacks[square] & unvisited
    if not prune:
        return candidates, ZERO
    if left == 1:
        if variant == CLOSED:
            candidates &= near_start
        elif variant == OPEN:
            candidates &= ~near_start
        return candidates, ZERO

    # Step 1. Look at the onward moves of each candidate.
    tight, rest = ZERO, candidates
    while rest:
        bit = rest & (~rest + ONE)
        onward = attacks[lowest(rest)] & unvisited
        rest ^= bit
        if onward == ZERO:
            return ZERO, ZERO
        if _one_bit(onward):
            tight |= bit

    # Step 2. The last unvisited neighbour of the start is the end of a closed tour: not to be taken before.
    if variant == CLOSED:
        tight &= ~near_start
        last_way_home = near_start & unvisited
        if _one_bit(last_way_home):
            candidates &= ~last_way_home

    # Step 3. Tight candidates: one that cannot be the last square must come next.
    if tight:
        tight &= ~end
        if variant == CLOSED or end or left & 1 == 0:
            may_end = ZERO
        elif variant == OPEN:
            may_end = tight & ~near_start
        else:
            may_end = tight
        must = tight & ~may_end
        if must:
            candidates = must if _one_bit(must) and _one_bit(may_end) else ZERO
        elif not _one_bit(may_end):
            candidates = may_end if _one_bit(may_end & (may_end - ONE)) else ZERO
    return candidates, tight


def _bits(fixed, shuffles):
    @njit(nogil=True)
    def search_bits(
        attacks, neighbours, rules, registers, path, place, pairs, untried, tights, ends, hashes,
        limit, tours, iterations, closed, structured, symmetry,
    ):  # fmt: skip
        """Continue the search, as described in the package. `limit` is the value of ITERATIONS at which to stop."""
        squares = path.shape[0]
        near_start = attacks[rules[START]]
        variant, prune = rules[VARIANT], rules[PRUNE] != ZERO
        depth, square = registers[DEPTH], uint64(registers[NEXT])
        count, dead_ends, found = registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND]
        unvisited = rules[EVERY]
        for i in range(depth):
            unvisited ^= ONE << uint64(path[i])
        end = ZERO
        if depth > 0:
            end = ends[depth - 1] | (tights[depth - 1] & ~(ONE << square))
        reason, kept = BATCH_FULL, found
        while reason == BATCH_FULL and kept < tours.shape[0]:
            reason = LIMIT_REACHED
            while count < limit:
                # Step 1. Place the knight.
                count += 1
                path[depth] = square
                unvisited ^= ONE << square
                left = squares - 1 - depth
                if shuffles:
                    hashes[depth] = _path_hash(hashes[depth - 1] if depth > 0 else rules[SEED], square)

                # Step 2. A tour, or the squares to try next.
                if left == 0:
                    candidates = ZERO
                    is_closed = (near_start >> square) & ONE == ONE
                    if variant == BOTH or (variant == CLOSED) == is_closed:
                        for i in range(squares):
                            tours[found, i] = path[i]
                        iterations[found], closed[found] = count, is_closed
                        found += 1
                else:
                    candidates, tight = expand_bits(attacks, square, left, unvisited, end, variant, near_start, prune)
                    if prune:
                        tights[depth], ends[depth] = tight, end
                    if candidates == ZERO:
                        dead_ends += 1

                # Step 3. Go back to the deepest square that has a candidate left.
                while candidates == ZERO:
                    unvisited ^= ONE << uint64(path[depth])
                    depth -= 1
                    if depth < 0:
                        break
                    candidates = untried[depth]
                if depth < 0:
                    reason = EXHAUSTED
                    break
                shuffled = shuffles and _shuffles(hashes[depth], rules[SHUFFLE_BELOW])
                square = _pick(attacks, neighbours, path[depth], candidates, unvisited, fixed, shuffled, hashes[depth])
                untried[depth] = candidates ^ (ONE << square)
                if prune:
                    end = ends[depth] | (tights[depth] & ~(ONE << square))
                depth += 1
                if found == tours.shape[0]:
                    reason = BATCH_FULL
                    break
            kept = _keep(rules, registers, place, pairs, kept, found, tours, iterations, closed, structured, symmetry)
            found = kept
        registers[DEPTH], registers[NEXT] = depth, square
        registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND] = count, dead_ends, found
        return reason

    @njit(nogil=True)
    def resume_bits(
        attacks, neighbours, rules, registers, path, place, pairs, untried, tights, ends, hashes, cursor, prefix
    ):  # fmt: skip
        """Rebuild the stack of a search whose next placement is the last square of `cursor`.

        The first `prefix` squares are given: their siblings are left to other jobs.
        """
        squares = path.shape[0]
        near_start = attacks[rules[START]]
        variant, prune = rules[VARIANT], rules[PRUNE] != ZERO
        unvisited = rules[EVERY]
        end, path_hash = ZERO, rules[SEED]
        for depth in range(cursor.shape[0] - 1):
            square, following = uint64(cursor[depth]), uint64(cursor[depth + 1])
            path[depth] = square
            unvisited ^= ONE << square
            path_hash = _path_hash(path_hash, square)
            hashes[depth] = path_hash
            shuffled = shuffles and _shuffles(path_hash, rules[SHUFFLE_BELOW])
            left = squares - 1 - depth
            candidates, tight = expand_bits(attacks, square, left, unvisited, end, variant, near_start, prune)
            if (candidates >> following) & ONE == ZERO:
                return EXHAUSTED if depth + 1 < prefix else BAD_CURSOR
            picked = uint64(64)
            while picked != following:
                picked = _pick(attacks, neighbours, square, candidates, unvisited, fixed, shuffled, path_hash)
                candidates ^= ONE << picked
            untried[depth] = candidates if depth + 1 >= prefix else ZERO
            tights[depth], ends[depth] = tight, end
            end |= tight & ~(ONE << following)
        registers[DEPTH], registers[NEXT] = cursor.shape[0] - 1, cursor[cursor.shape[0] - 1]
        return LIMIT_REACHED

    return search_bits, resume_bits


# ---------------------------------------------------------------------------------------------------------------------
# Boards of any size.
#
# `degrees[s]` is the number of unvisited neighbours of s, kept while squares are taken and given back. A node's
# candidates are bits, one for each place in its row of `neighbours`; of its tight candidates two are enough to know.


@njit(inline="always")
def mark_near(neighbours, near_start, start, value):
    """Note the neighbours of the start square, or forget them."""
    for i in range(8):
        if neighbours[start, i] != NOWHERE:
            near_start[neighbours[start, i]] = value


@njit(inline="always")
def take(neighbours, degrees, visited, square, is_taken):
    """Take a square or give it back: the degrees of its neighbours follow."""
    visited[square] = is_taken
    for i in range(8):
        other = neighbours[square, i]
        if other == NOWHERE:
            break
        degrees[other] += -1 if is_taken else 1


@njit(inline="always")
def _pick_array(neighbours, degrees, square, candidates, fixed, shuffled, path_hash):
    """The place of the candidate to try first."""
    best, best_key = -1, ZERO
    if fixed and not shuffled:
        best = 0
        while candidates >> best & 1 == 0:
            best += 1
        return best
    for i in range(8):
        if candidates >> i & 1:
            other = neighbours[square, i]
            key = _shuffle_key(path_hash, other) if shuffled else uint64(degrees[other])
            if best < 0 or key < best_key:
                best, best_key = i, key
    return best


@njit(inline="always")
def unvisited_around(neighbours, visited, square):
    """The places of the unvisited neighbours of a square."""
    places = 0
    for i in range(8):
        other = neighbours[square, i]
        if other == NOWHERE:
            break
        if not visited[other]:
            places |= 1 << i
    return places


@njit(inline="always")
def expand_array(neighbours, degrees, candidates, near_start, ways_home, square, left, end, variant, tight):
    """Like `expand_bits`: the candidates that can lead to a tour; fills `tight` with those that may be the last square.

    `ways_home` counts the unvisited neighbours of the start square.
    """
    tight[0] = tight[1] = NOWHERE
    must = may_end = must_count = may_end_count = 0
    kept = candidates
    for i in range(8):
        if candidates >> i & 1 == 0:
            continue
        other = neighbours[square, i]
        by_start = near_start[other]
        if left == 1:
            if (variant == CLOSED and not by_start) or (variant == OPEN and by_start):
                kept = 0
            continue
        if degrees[other] == 0:
            return 0
        if degrees[other] == 1 and other != end and not (variant == CLOSED and by_start):
            if variant == CLOSED or end != NOWHERE or left & 1 == 0 or (variant == OPEN and by_start):
                must |= 1 << i
                must_count += 1
            else:
                if may_end_count < 2:
                    tight[may_end_count] = other
                may_end |= 1 << i
                may_end_count += 1
        if variant == CLOSED and by_start and ways_home == 1:
            kept ^= 1 << i
    if must_count:
        return must if must_count == 1 and may_end_count <= 1 else 0
    if may_end_count > 1:
        return may_end if may_end_count == 2 else 0
    return kept


@njit(inline="always")
def inherit(end, tight, square):
    """The known last square of a child: its parent's, or the parent's tight candidate that the child is not."""
    if end != NOWHERE:
        return np.int64(end)
    return np.int64(tight[0] if tight[0] != square else tight[1])


def _array(fixed, shuffles):
    @njit(nogil=True)
    def search_array(
        neighbours, near_start, degrees, visited, rules, registers, path, place, pairs, untried, tights, ends, hashes,
        limit, tours, iterations, closed, structured, symmetry,
    ):  # fmt: skip
        """As `search_bits`, on a board of any size."""
        squares = path.shape[0]
        start, variant, prune = rules[START], rules[VARIANT], rules[PRUNE] != ZERO
        depth, square = registers[DEPTH], registers[NEXT]
        count, dead_ends, found = registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND]
        end = np.int64(NOWHERE)
        if depth > 0:
            end = inherit(ends[depth - 1], tights[depth - 1], square)
        reason, kept = BATCH_FULL, found
        while reason == BATCH_FULL and kept < tours.shape[0]:
            reason = LIMIT_REACHED
            while count < limit:
                # Step 1. Place the knight.
                count += 1
                path[depth] = square
                take(neighbours, degrees, visited, square, True)
                left = squares - 1 - depth
                if shuffles:
                    hashes[depth] = _path_hash(hashes[depth - 1] if depth > 0 else rules[SEED], square)

                # Step 2. A tour, or the squares to try next.
                if left == 0:
                    candidates = 0
                    is_closed = near_start[square]
                    if variant == BOTH or (variant == CLOSED) == is_closed:
                        for i in range(squares):
                            tours[found, i] = path[i]
                        iterations[found], closed[found] = count, is_closed
                        found += 1
                else:
                    candidates = unvisited_around(neighbours, visited, square)
                    if prune:
                        candidates = expand_array(
                            neighbours, degrees, candidates, near_start, degrees[start], square, left, end, variant,
                            tights[depth],
                        )  # fmt: skip
                        ends[depth] = end
                    if candidates == 0:
                        dead_ends += 1

                # Step 3. Go back to the deepest square that has a candidate left, and take the first of them.
                while candidates == 0:
                    take(neighbours, degrees, visited, square, False)
                    depth -= 1
                    if depth < 0:
                        break
                    square = np.int64(path[depth])
                    candidates = np.int64(untried[depth])
                if depth < 0:
                    reason = EXHAUSTED
                    break
                shuffled = shuffles and _shuffles(hashes[depth], rules[SHUFFLE_BELOW])
                choice = _pick_array(neighbours, degrees, square, candidates, fixed, shuffled, hashes[depth])
                untried[depth] = candidates ^ (1 << choice)
                square = np.int64(neighbours[square, choice])
                if prune:
                    end = inherit(ends[depth], tights[depth], square)
                depth += 1
                if found == tours.shape[0]:
                    reason = BATCH_FULL
                    break
            kept = _keep(rules, registers, place, pairs, kept, found, tours, iterations, closed, structured, symmetry)
            found = kept
        registers[DEPTH], registers[NEXT] = depth, square
        registers[ITERATIONS], registers[DEAD_ENDS], registers[FOUND] = count, dead_ends, found
        return reason

    @njit(nogil=True)
    def resume_array(
        neighbours, near_start, degrees, visited, rules, registers, path, place, pairs, untried, tights, ends, hashes,
        cursor, prefix,
    ):  # fmt: skip
        """As `resume_bits`, on a board of any size. `degrees` are those of the empty board, all else is zero."""
        squares = path.shape[0]
        start, variant, prune = rules[START], rules[VARIANT], rules[PRUNE] != ZERO
        mark_near(neighbours, near_start, start, True)
        end, path_hash = np.int64(NOWHERE), rules[SEED]
        for depth in range(cursor.shape[0] - 1):
            square, following = cursor[depth], cursor[depth + 1]
            path[depth] = square
            take(neighbours, degrees, visited, square, True)
            path_hash = _path_hash(path_hash, square)
            hashes[depth] = path_hash
            shuffled = shuffles and _shuffles(path_hash, rules[SHUFFLE_BELOW])
            candidates, left, tight = unvisited_around(neighbours, visited, square), squares - 1 - depth, tights[depth]
            if prune:
                candidates = expand_array(
                    neighbours, degrees, candidates, near_start, degrees[start], square, left, end, variant, tight
                )
            ends[depth] = end
            picked = np.int64(NOWHERE)
            while candidates and picked != following:
                choice = _pick_array(neighbours, degrees, square, candidates, fixed, shuffled, path_hash)
                candidates ^= 1 << choice
                picked = np.int64(neighbours[square, choice])
            if picked != following:
                return EXHAUSTED if depth + 1 < prefix else BAD_CURSOR
            untried[depth] = candidates if depth + 1 >= prefix else 0
            end = inherit(end, tight, following)
        registers[DEPTH], registers[NEXT] = cursor.shape[0] - 1, cursor[cursor.shape[0] - 1]
        return LIMIT_REACHED

    return search_array, resume_array


# The order is a compile-time constant: a check at each node would cost a third of the speed.
search_bits, resume_bits = _bits(False, False)
search_bits_shuffled, resume_bits_shuffled = _bits(False, True)
search_bits_fixed, resume_bits_fixed = _bits(True, False)
search_bits_fixed_shuffled, resume_bits_fixed_shuffled = _bits(True, True)
search_array, resume_array = _array(False, False)
search_array_shuffled, resume_array_shuffled = _array(False, True)
search_array_fixed, resume_array_fixed = _array(True, False)
search_array_fixed_shuffled, resume_array_fixed_shuffled = _array(True, True)
