"""The hot loops, compiled by numba: one file for each kind of search, and what they share.

Rules of these files: they import numpy and numba only, the caller owns every array, and nothing here allocates,
prints, raises, or depends on a clock (one is read, to say how long a tour took). A call runs until the search is
exhausted, the batch is full or the iteration limit is reached, says which, and the same arrays continue it.
"""
