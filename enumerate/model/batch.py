"""Tours in memory: the arrays that kernels fill, and that are written as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .board import Board
from .tour import Tours, square_dtype

EFFORTS = ("placements", "attempts", "nanoseconds")  # columns of a batch's efforts; negative nanoseconds are not known


@dataclass(frozen=True)
class Batch:
    """Tours in memory, in the order they were found, and when: after so many iterations; and of which kind they are.

    Efforts are what each tour took; only strategies that make one tour after the other fill them in.
    """

    tours: Tours
    iterations: NDArray[np.int64]
    closed: NDArray[np.bool_]
    structured: NDArray[np.bool_]
    symmetry: NDArray[np.uint8]  # an index into SYMMETRIES
    efforts: NDArray[np.int64] | None = None

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """The arrays that every kernel fills, in their order."""
        return self.tours, self.iterations, self.closed, self.structured, self.symmetry

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> Batch:
        tours, iterations, closed, structured, symmetry = (column[rows] for column in self.columns)
        efforts = None if self.efforts is None else self.efforts[rows]
        return Batch(tours, iterations, closed, structured, symmetry, efforts)


def batch_arrays(capacity: int, board: Board, efforts: bool = False) -> Batch:
    return Batch(
        np.empty((capacity, board.length), dtype=square_dtype(board)),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.bool_),
        np.empty(capacity, dtype=np.bool_),
        np.empty(capacity, dtype=np.uint8),
        np.empty((capacity, len(EFFORTS)), dtype=np.int64) if efforts else None,
    )
