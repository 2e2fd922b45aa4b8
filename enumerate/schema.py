"""The Arrow schemas of what is written: parts of tours, and the summary."""

from __future__ import annotations

import pyarrow as pa

from .board import Board
from .tour import square_dtype


def part_schema(board: Board) -> pa.Schema:
    """A part: `tour` holds the squares in the order of the visit, `iteration` counts placements until it was found."""
    width = square_dtype(board).itemsize
    return pa.schema(
        [
            pa.field("tour", pa.binary(board.squares * width), nullable=False),
            pa.field("iteration", pa.int64(), nullable=False),
        ],
        metadata={"rows": str(board.rows), "cols": str(board.cols), "bytes_per_square": str(width)},
    )


SUMMARY_SCHEMA = pa.schema(
    [
        pa.field("start", pa.string(), nullable=False),
        pa.field("row", pa.int32()),
        pa.field("column", pa.int32()),
        pa.field("multiplicity", pa.int64(), nullable=False),
        pa.field("tours_open", pa.int64(), nullable=False),
        pa.field("tours_closed", pa.int64(), nullable=False),
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
