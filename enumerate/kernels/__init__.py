"""The hot loops, compiled by numba: one file for each kind of search, and what they share.

Rules of these files: they import numpy and numba only, the caller owns every array, and nothing here allocates,
prints, raises, or depends on a clock (one is read, to say how long a tour took). A call runs until the search is
exhausted, the batch is full or the iteration limit is reached, says which, and the same arrays continue it.

Here are the numbers that kernels and their callers agree on; they need no numba, and so reading a run needs none.
"""

# Why a call stopped.
EXHAUSTED, BATCH_FULL, LIMIT_REACHED, BAD_CURSOR = 0, 1, 2, 3

# Variants.
OPEN, CLOSED, BOTH = 0, 1, 2

# Symmetries of a tour.
ASYMMETRIC, PATH_180, CLOSED_180, CLOSED_90, CLOSED_REFLECTION = 0, 1, 2, 3, 4

# Which tours are kept.
ALL_TOURS, ONLY_STRUCTURED, ONLY_SYMMETRIC = 0, 1, 2

NOWHERE = -1  # no square
