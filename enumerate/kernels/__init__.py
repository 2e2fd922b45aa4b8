"""The hot loops, compiled by numba: one file for each kind of search, and what they share.

Rules of these files: they import numpy and numba only, the caller owns every array, and nothing here allocates, prints,
raises, or depends on a clock. A call runs until the search is exhausted, the batch is full or the iteration limit is
reached, says which, and the same arrays continue it.
"""
