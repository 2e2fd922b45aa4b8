"""Divide and conquer: a tour from any start square of a board of any size, in time linear in the number of squares.

Ian Parberry, An efficient algorithm for the knight's tour problem (1997): cut the board into four, make a tour of each
quarter, and join them where they meet, by taking away one move of each and putting in four others. A tour with certain
moves at its corners, a *structured* one, can be joined like that, and what comes out is structured again. Shun-Shii Lin
and Chung-Liang Wei, Optimal algorithms for constructing knight's tours on arbitrary n×m chessboards (2005), reach all
boards. The cuts and the joins are our own here, and the tours of the smallest blocks are searched for when needed.

A tour takes as many iterations as it has squares. `joining` has the pictures of the joins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..model.batch import Batch, batch_arrays
from ..model.board import Board
from ..model.config import Config
from ..model.errors import BadRequest, EnumerateError
from ..model.jobs import Cursor, Job
from ..model.settings import MAX_FAILURES
from ..model.theorems import why_no_closed_tour, why_no_tour_from
from ..model.tour import Tours
from .greedy import Greedy
from .joining import compiled_kernel, construct, prepare
from .kernel_search import corner_pairs
from .strategy import Strategy

_BASE_ITERATIONS = 10**8  # a few thousand are needed


class Divide:
    """The tours of one start square: a closed one and an open one, if they are asked for and exist.

    The cursor is the start square and how many of them are made.
    """

    dead_ends = given_up = 0

    def __init__(self, config: Config, job: Job) -> None:
        self.board, self.start, self.only = config.board, job.start, config.only
        self.iterations = self.left_out = self._made = 0
        wanted = {"open": (False,), "closed": (True,), "both": (True, False)}[config.variant]
        why_not = {True: why_no_closed_tour(self.board), False: why_no_tour_from(self.board, self.start, "open")}
        self._variants = [closed for closed in wanted if why_not[closed] is None]
        for closed in self._variants:  # before the clock is started
            prepare(self.board, self.start, closed, find_base)
        compiled_kernel()

    def resume(self, cursor: Cursor, iterations: int) -> None:
        self._made, self.iterations = cursor[1] if len(cursor) > 1 else 0, iterations

    @property
    def exhausted(self) -> bool:
        return self._made == len(self._variants)

    @property
    def cursor(self) -> Cursor:
        return () if self.exhausted else (self.start, self._made)

    def fill(self, batch: Batch, found: int, limit: int) -> int:
        while not self.exhausted and found < len(batch.tours) and self.iterations < limit:
            closed = self._variants[self._made]
            tour = construct(self.board, self.start, closed, find_base, batch.tours[found])
            self._made += 1
            self.iterations += self.board.length
            found += self._keep(batch, found, tour, closed)
        return found

    def _keep(self, batch: Batch, at: int, tour: Tours, closed: bool) -> bool:
        """Put a tour there in a batch, if it is of the kind that is kept."""
        place = np.empty(self.board.squares, dtype=np.int32)
        pairs, rows, cols = corner_pairs(self.board), self.board.rows, self.board.cols
        kind = compiled_kernel().classify(tour, place, pairs, rows, cols, closed)
        if not np.may_share_memory(tour, batch.tours):
            batch.tours[at] = tour
        batch.iterations[at], batch.closed[at] = self.iterations, closed
        batch.structured[at], batch.symmetry[at] = kind
        is_kept = not self.only or bool(kind[0] if self.only == "structured" else kind[1])
        self.left_out += not is_kept
        return is_kept


class _Divide(Strategy):
    """One tour of any number of squares from one square, unless more are asked for."""

    summary = "joins small tours to a large one"
    defaults: Mapping[str, object] = {"start": "a1", "max": 0}

    def search(self, config: Config, job: Job) -> Divide:
        return Divide(config, job)

    def kernels(self, config: Config) -> list[tuple[str, int]]:  # noqa: ARG002
        return [("search_greedy", 1), ("join_blocks", 4)]

    def refuse(self, config: Config) -> None:
        board = config.board
        if min(board.rows, board.cols) < 5:
            raise BadRequest(f"divide needs both sides to be at least 5, got {board}; use --strategy warnsdorff")
        if board.missing is not None and config.variant != "closed":
            raise BadRequest("divide makes closed tours of a board without a corner; use --variant closed")
        tours = 2 if config.variant == "both" and board.length % 2 == 0 else 1
        if 0 < config.max < tours * board.length:
            needed = f"{tours * board.length:,} squares"
            raise BadRequest(f"divide places all {needed}: --max {config.max} is too few; leave it out")


DIVIDE = _Divide()


def find_base(board: Board, start: int, closed: bool, pairs: Sequence[tuple[int, int]]) -> Sequence[int]:
    """A base tour, by Warnsdorff's rule with random ties: the first one that has all the pairs."""
    config = Config(
        board=board, variant="closed" if closed else "open", strategy="greedy", failures=MAX_FAILURES,
        only="structured" if pairs else "",
    )  # fmt: skip
    greedy = Greedy(config, Job(0, (start,)), np.array(pairs, dtype=np.int32).reshape(-1, 2))
    batch = batch_arrays(1, board, efforts=True)
    greedy.resume((start,), 0)
    if not greedy.fill(batch, 0, _BASE_ITERATIONS):
        raise EnumerateError(f"no base tour of {board} from {board.name(start)}")  # there are, on every block we cut
    return list(map(int, batch.tours[0]))
