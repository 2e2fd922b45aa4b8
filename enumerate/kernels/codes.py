"""The numbers that kernels and their callers agree on. Free of numba: who only looks at a run imports them too."""

from __future__ import annotations

# Why a call stopped.
EXHAUSTED, BATCH_FULL, LIMIT_REACHED, BAD_CURSOR = 0, 1, 2, 3

# Variants.
OPEN, CLOSED, BOTH = 0, 1, 2

# Symmetries of a tour.
ASYMMETRIC, PATH_180, CLOSED_180, CLOSED_90, CLOSED_REFLECTION = 0, 1, 2, 3, 4

# Which tours are kept.
ALL_TOURS, ONLY_STRUCTURED, ONLY_SYMMETRIC = 0, 1, 2

NOWHERE = -1  # no square
