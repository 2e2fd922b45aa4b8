"""The jobs of a plan as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ..model.board import Board
from ..model.jobs import Job


def plan_view(board: Board, plan: Sequence[Job]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, justify in (
        ("job", "right"),
        ("start", "left"),
        ("multiplicity", "right"),
        ("begins", "left"),
        ("work", "left"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]  # rich's literal type
    for job in plan:
        table.add_row(
            str(job.number),
            board.name(job.start),
            str(job.multiplicity),
            " ".join(map(board.name, job.prefix[1:])),
            job.hopeless or "search",
        )
    return table
