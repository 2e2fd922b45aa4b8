"""Plain backtracking: at each square the moves are tried in one fixed order, whatever the board looks like.

It is the oldest way to search, known for tours since Vandermonde (1771) asked for a system, and the measure of all
others: it needs millions of placements where Warnsdorff's order needs as many as there are squares. The order decides
how many; `--move-order` lists the eight moves as row,column: `2,1` leads from a1 to b3.

Without `--prune` it is the textbook's search, so that its counts can be compared; with it, the tours come in the same
order after fewer placements.
"""

from __future__ import annotations

from ..model.config import Config, parse_moves
from ..model.jobs import Job
from .depth_first import DepthFirst
from .strategy import Searching


def search(config: Config, job: Job, kernel: str = "") -> Searching:
    return DepthFirst(config, job, kernel, parse_moves(config.move_order))
