"""The hot loops, compiled by numba: one file for each kind of search, and what they share.

Rules of these files: they import numpy and numba only. The caller owns every array. Nothing here allocates, prints,
raises, or depends on a clock (one is read, to measure each tour). A call runs until the search is exhausted, the batch
is full or the iteration limit is reached, and returns which. The same arrays continue it.

This file has the numbers that kernels and their callers share. It needs no numba, so reading a run needs none either.
"""

# Why a call stopped; GOING_ON: it has not.
EXHAUSTED, BATCH_FULL, LIMIT_REACHED, BAD_CURSOR, GOING_ON = 0, 1, 2, 3, 4

# Variants.
OPEN, CLOSED, BOTH = 0, 1, 2

# Symmetries of a tour.
ASYMMETRIC, PATH_180, CLOSED_180, CLOSED_90, CLOSED_REFLECTION = 0, 1, 2, 3, 4

# Which tours are kept.
ALL_TOURS, ONLY_STRUCTURED, ONLY_SYMMETRIC = 0, 1, 2

NOWHERE = -1  # no square

# What the arrays of a depth-first search look like: words of a row of its stack, and in `array` the border of the board
# and the bit of a square's byte that says it is visited.
STACK_WORDS = {"bits": 5, "array": 4}
BORDER, VISITED = 2, 128
