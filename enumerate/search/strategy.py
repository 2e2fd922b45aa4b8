"""What every strategy offers to the slices, and what those with registers and rules share."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kernels import classify, common
from ..model.batch import Batch
from ..model.config import Config
from ..model.errors import Damaged
from ..model.jobs import Cursor, Job
from ..model.tour import SYMMETRIES
from .tables import fresh_room

Rules = NDArray[np.uint64]

_VARIANTS = {"open": common.OPEN, "closed": common.CLOSED, "both": common.BOTH}
_KINDS = {"": classify.ALL_TOURS, "structured": classify.ONLY_STRUCTURED, "symmetric": classify.ONLY_SYMMETRIC}

# The kernels' codes are places in `SYMMETRIES`.
assert SYMMETRIES[classify.CLOSED_REFLECTION] == "closed-reflection"


class Searching(Protocol):
    """A search of one job that stands at a cursor, can go on from there, and can be left there."""

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to find."""

    @property
    def cursor(self) -> Cursor:
        """Where it stands; empty when nothing is left. It begins with the start square."""

    @property
    def iterations(self) -> int:
        """Placements so far, from the first slice on."""

    @property
    def dead_ends(self) -> int:
        """Since `resume`, like the two below."""

    @property
    def left_out(self) -> int:
        """Tours that were found, but not of the kind that is kept."""

    @property
    def given_up(self) -> int:
        """Tours that were begun and not found."""

    def resume(self, cursor: Cursor, iterations: int) -> None:
        """Stand at the cursor, after so many iterations."""

    def fill(self, batch: Batch, found: int, limit: int) -> int:
        """Search until `limit` iterations in all, or the batch, which holds `found` tours, is full; count its tours.

        Tours given up take room in the batch as if they had been found.
        """


class KernelSearch:
    """What the searches have in common whose kernels keep registers and take rules."""

    def __init__(self, kernel: Any, config: Config, job: Job) -> None:
        self.board, self.job = config.board, job
        self.exhausted = False
        self._kernel = kernel
        self._room = fresh_room(kernel, config.board)
        self._registers, self._path, _ = self._room

    @property
    def iterations(self) -> int:
        return int(self._registers[self._kernel.ITERATIONS])

    @property
    def dead_ends(self) -> int:
        return int(self._registers[self._kernel.DEAD_ENDS])

    @property
    def left_out(self) -> int:
        return int(self._registers[self._kernel.LEFT_OUT])

    def _refuse_cursor(self) -> NoReturn:
        start = self.board.name(self.job.start)
        raise Damaged(f"damaged, a commit record of start square {start} has a cursor of another search")


def common_rules(kernel: Any, config: Config, start: int) -> Rules:
    """What every such kernel is asked."""
    rules = np.zeros(kernel.RULES, dtype=np.uint64)
    rules[kernel.START] = start
    rules[kernel.VARIANT] = _VARIANTS[config.variant]
    rules[kernel.SEED] = config.seed
    rules[kernel.ONLY] = _KINDS[config.only]
    rules[kernel.ROWS], rules[kernel.COLS] = config.board.rows, config.board.cols
    return rules
