"""The Arrow schemas of what is written: parts of tours, and the summary."""

from __future__ import annotations

import pyarrow as pa

from ..model.board import Board
from ..model.tour import square_dtype


def tours_schema(board: Board) -> pa.Schema:
    """A part of tours: `tour` holds the squares in the order of the visit, `iteration` counts placements until it was
    found, and the rest tells of which kind it is.
    """
    width = square_dtype(board).itemsize
    return pa.schema(
        [
            pa.field("tour", pa.binary(board.length * width), nullable=False),
            pa.field("iteration", pa.int64(), nullable=False),
            pa.field("structured", pa.bool_(), nullable=False),
            pa.field("symmetry", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        ],
        metadata={"rows": str(board.rows), "cols": str(board.cols), "bytes_per_square": str(width)},
    )


def distinct_schema(board: Board) -> pa.Schema:
    """Distinct tours: the canonical tour of a class, how many undirected tours the class has, how many tours of the run
    belong to it, where and when the first of them was found (least start square, then iteration), and of which kind
    they are.
    """
    tour, _, structured, symmetry = tours_schema(board)
    return pa.schema(
        [
            tour,
            pa.field("multiplicity", pa.int32(), nullable=False),
            pa.field("found", pa.int64(), nullable=False),
            pa.field("start", pa.dictionary(pa.int32(), pa.string()), nullable=False),
            pa.field("iteration", pa.int64(), nullable=False),
            structured,
            symmetry,
        ],
        metadata=tours_schema(board).metadata,
    )


# What each tour took, its failed attempts included, for strategies that make one tour after the other. `iteration` is
# that of the tour. It is a part of its own because it is never the same twice.
TIMES_SCHEMA = pa.schema(
    [
        pa.field("iteration", pa.int64(), nullable=False),
        pa.field("placements", pa.int64(), nullable=False),
        pa.field("attempts", pa.int64(), nullable=False),
        pa.field("seconds", pa.float64()),  # not known of a tour that was begun in another slice
    ]
)


SUMMARY_SCHEMA = pa.schema(
    [
        pa.field("start", pa.string(), nullable=False),
        pa.field("row", pa.int32()),
        pa.field("column", pa.int32()),
        pa.field("multiplicity", pa.int64(), nullable=False),
        pa.field("tours_open", pa.int64(), nullable=False),
        pa.field("tours_closed", pa.int64(), nullable=False),
        pa.field("structured", pa.int64(), nullable=False),
        pa.field("path_180", pa.int64(), nullable=False),
        pa.field("closed_180", pa.int64(), nullable=False),
        pa.field("closed_90", pa.int64(), nullable=False),
        pa.field("closed_reflection", pa.int64(), nullable=False),
        pa.field("left_out", pa.int64(), nullable=False),
        pa.field("given_up", pa.int64(), nullable=False),
        pa.field("beginnings", pa.int64(), nullable=False),
        pa.field("shared_squares", pa.int64(), nullable=False),
        pa.field("neighbours", pa.int64(), nullable=False),
        pa.field("iterations", pa.int64(), nullable=False),
        pa.field("dead_ends", pa.int64(), nullable=False),
        pa.field("exhausted", pa.bool_(), nullable=False),
        pa.field("finished", pa.bool_(), nullable=False),
        pa.field("first_iteration", pa.int64()),
        pa.field("first_seconds", pa.float64()),
        pa.field("search_seconds", pa.float64(), nullable=False),
        pa.field("write_seconds", pa.float64(), nullable=False),
        pa.field("parts", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
    ]
)
