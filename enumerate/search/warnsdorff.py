"""Backtracking in Warnsdorff's order: the default, and the one that finds most tours.

At each square the next squares are tried in the order of their onward moves, fewest first, ties by square number; a
dead end goes back to the last square that has a choice left. So every tour is found, the easy ones first.

The rule is H. C. von Warnsdorff's (Des Rösselsprungs einfachste und allgemeinste Lösung, 1823), who used it without
going back; `greedy` does that. What the pruning knows is told at the top of `kernels.depth_first`.
"""

from __future__ import annotations

from ..model.config import Config
from ..model.jobs import Job
from .depth_first import DepthFirst
from .strategy import Searching


def search(config: Config, job: Job, kernel: str = "") -> Searching:
    return DepthFirst(config, job, kernel)
