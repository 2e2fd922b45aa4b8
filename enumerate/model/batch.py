"""Tours in memory: the arrays that kernels fill, and that are written as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .board import Board
from .tour import Tours, square_dtype


@dataclass(frozen=True)
class Column:
    """A column that a strategy adds to those of all tours."""

    name: str
    dtype: str  # of numpy
    description: str


EFFORTS = ("placements", "attempts", "nanoseconds")  # columns of a batch's efforts; negative nanoseconds are not known


@dataclass(frozen=True)
class Batch:
    """Tours in memory, in the order they were found, and when: after so many iterations; and of which kind they are.

    Efforts are what each tour took; only strategies that make one tour after the other fill them in. `more` are the
    columns that the strategy adds.
    """

    tours: Tours
    iterations: NDArray[np.int64]
    closed: NDArray[np.bool_]
    structured: NDArray[np.bool_]
    symmetry: NDArray[np.uint8]  # an index into SYMMETRIES
    efforts: NDArray[np.int64] | None = None
    more: tuple[np.ndarray, ...] = ()

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """The arrays that every kernel fills, in their order."""
        return self.tours, self.iterations, self.closed, self.structured, self.symmetry

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> Batch:
        tours, iterations, closed, structured, symmetry = (column[rows] for column in self.columns)
        efforts = None if self.efforts is None else self.efforts[rows]
        more = tuple(column[rows] for column in self.more)
        return Batch(tours, iterations, closed, structured, symmetry, efforts, more)


def batch_arrays(capacity: int, board: Board, efforts: bool = False, more: Sequence[Column] = ()) -> Batch:
    return Batch(
        np.empty((capacity, board.length), dtype=square_dtype(board)),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.bool_),
        np.empty(capacity, dtype=np.bool_),
        np.empty(capacity, dtype=np.uint8),
        np.empty((capacity, len(EFFORTS)), dtype=np.int64) if efforts else None,
        tuple(np.empty(capacity, dtype=column.dtype) for column in more),
    )
