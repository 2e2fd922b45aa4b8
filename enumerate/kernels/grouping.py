"""Rows with equal keys become one. A row is 64-bit words: a key, then values.

The values: how often the key was found, where it was found first (start square, then iteration), and what is the same
for all rows with this key.
"""

from __future__ import annotations

from numba import njit, uint64

from .common import mix

FOUND, START, ITERATION, KIND, VALUES = 0, 1, 2, 3, 4  # after the key

# Why `merge` stopped.
AT_END, BLOCK_EMPTY, OUT_FULL = 0, 1, 2

FREE = -1  # no row in this slot


@njit(nogil=True)
def collect(rows, first, table, slots, used):
    """Add rows from `first` on to a table without repetitions; returns the next row, and the used rows of the table.

    It stops at a row without room in the table. `slots` is a power of two, more than the rows of the table.
    """
    key, last_slot = rows.shape[1] - VALUES, uint64(slots.shape[0] - 1)
    for i in range(first, rows.shape[0]):
        code = uint64(0)
        for w in range(key):
            code = mix(code ^ rows[i, w])
        slot = code & last_slot
        while slots[slot] != FREE and not _is_same(table[slots[slot]], rows[i], key):
            slot = (slot + uint64(1)) & last_slot
        if slots[slot] != FREE:
            _add(table[slots[slot]], rows[i], key)
            continue
        if used == table.shape[0]:
            return i, used
        slots[slot] = used
        table[used] = rows[i]
        used += 1
    return rows.shape[0], used


@njit(nogil=True)
def sort_order(table, used, order, scratch):
    """The rows of a table in the order of their keys: a bottom-up merge sort of their numbers.

    Much is in order already, and is not touched.
    """
    key = table.shape[1] - VALUES
    for i in range(used):
        order[i] = i
    width = 1
    while width < used:
        for low in range(0, used - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, used)
            if not _is_before(table[order[middle]], table[order[middle - 1]], key):
                continue
            scratch[low:middle] = order[low:middle]
            left, right, at = low, middle, low
            while left < middle and right < high:
                if _is_before(table[order[right]], table[scratch[left]], key):
                    order[at] = order[right]
                    right += 1
                else:
                    order[at] = scratch[left]
                    left += 1
                at += 1
            order[at : at + middle - left] = scratch[left:middle]
        width *= 2


@njit(nogil=True)
def merge(blocks, at, filled, out, used):
    """Merge sorted blocks into `out` until one of them is empty or `out` is full; returns why, and the used rows.

    `at` is the next row of each block, `filled` its number of rows: none if its source is at its end. The last row of
    `out` may still grow.
    """
    key = out.shape[1] - VALUES
    while True:
        least = -1
        for b in range(blocks.shape[0]):
            if at[b] < filled[b] and (least < 0 or _is_before(blocks[b, at[b]], blocks[least, at[least]], key)):
                least = b
        if least < 0:
            return AT_END, used
        row = blocks[least, at[least]]
        if used > 0 and _is_same(out[used - 1], row, key):
            _add(out[used - 1], row, key)
        elif used == out.shape[0]:
            return OUT_FULL, used
        else:
            out[used] = row
            used += 1
        at[least] += 1
        if at[least] == filled[least]:
            return BLOCK_EMPTY, used


@njit(inline="always")
def _is_same(row, other, key):
    for w in range(key):  # noqa: SIM110  # numba has no generators inside expressions
        if row[w] != other[w]:
            return False
    return True


@njit(inline="always")
def _is_before(row, other, key):
    for w in range(key):
        if row[w] != other[w]:
            return row[w] < other[w]
    return False


@njit(inline="always")
def _add(row, other, key):
    """Add a row to another with the same key: the sum of both, and the earlier first find."""
    row[key + FOUND] += other[key + FOUND]
    earlier = other[key + ITERATION] < row[key + ITERATION]
    if other[key + START] < row[key + START] or (other[key + START] == row[key + START] and earlier):
        row[key + START], row[key + ITERATION] = other[key + START], other[key + ITERATION]
