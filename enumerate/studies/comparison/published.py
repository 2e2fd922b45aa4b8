"""Figures that others have published for the same tasks, to be shown beside ours.

They are those of five descriptions of programs, here called by the letters A to E:

* A: a game and a simulation in Python with pygame; plain backtracking, and Warnsdorff's rule with ties by chance.
* B: a browser game with three searches; no figures.
* C: Warnsdorff's rule with ties by chance on boards of up to 400x400, and divide and conquer.
* D: a program in C++: plain backtracking (it does not say in which order) and Warnsdorff's rule from 5x5 to 100x100.
* E: an enumerator in Python, whose search is our `--no-prune`; timed again on one core of a machine like those of ours.

Times are theirs, of their machines, some of them years old.
"""

from __future__ import annotations

# A: 900 tours of 8x8 by Warnsdorff's rule from row 7, column 0, and the first tour by backtracking from there. A step
# is a turn of its loop, a placement or a retreat, counted from 1.
GREEDY_TOURS = 900
GREEDY_SECONDS = 2.54
BACKTRACK_SECONDS = 27.4
BACKTRACK_STEPS = 6_484_066
BACKTRACK_PLACEMENTS = 3_242_064  # after the one on the start square

# C: success of Warnsdorff's rule with ties by chance: sizes from, to, rates from, to.
SUCCESS = (
    (5, 49, 0.85, 1.0, "over 85 % for most"),
    (50, 99, 0.5, 1.0, "over 50 % for most"),
    (201, 325, 0.0, 0.05, "under 5 %"),
    (326, 400, 0.0, 0.0, "none"),
)

# D: seconds to the first tour, by board size.
WARNSDORFF_SECONDS = {5: 40e-6, 6: 196e-6, 7: 95e-6, 8: 130e-6}
BACKTRACKING_SECONDS = {5: 8e-6, 6: 0.740954, 7: 0.129180, 8: 0.829404}

# E: open tours of 8x8 with 500,000 iterations from each square, without pruning.
ENUMERATOR_TOURS = 252_672
ENUMERATOR_SECONDS = 392.0


def steps(placements: int, squares: int) -> int:
    """How many of A's steps a search has made when it completes a tour after so many placements, the first one aside.

    What was placed and does not stand was taken back, and the count starts at 1.
    """
    return 1 + placements + (placements - (squares - 1))
