"""How the tours of each start square came as the search went on, as a chart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...ledger.job_progress import JobProgress
from ...ledger.layout import is_of_start
from ..chart import Axis, Line, chart_svg
from .live_run import Snapshot

POINTS = 100
LINES = 64  # more than these are a cloud
READ_TOURS = 30_000_000  # of larger runs only what the records say is shown

Counts = NDArray[np.float64]


def growth_svg(snapshot: Snapshot) -> str:
    """Tours over iterations: a line for each start square (or job, if they are split), and their mean."""
    jobs = snapshot.run.progress
    most = max((job.total.iterations for job in jobs), default=0)
    grid = np.unique(np.linspace(0, max(most, 1), POINTS + 1).astype(np.int64))
    tours = [_tours_at(snapshot, job, grid) for job in jobs]
    thing = "start square" if len({job.job.start for job in jobs}) == len(jobs) else "job"
    lines = [
        Line(f"each {thing}" if index == 0 else "", _points(grid, row), faint=True)
        for index, row in enumerate(tours[:LINES] if len(tours) <= LINES else [])
    ]
    if tours:
        lines.append(Line(f"mean of all {thing}s", _points(grid, np.mean(tours, axis=0))))
    board = snapshot.run.board
    return chart_svg(f"Tours of {board} over iterations", lines, Axis(f"iterations of a {thing}"), Axis("tours"))


def _points(grid: NDArray[np.int64], counts: Counts) -> list[tuple[float, float]]:
    return list(zip(grid.tolist(), counts.tolist(), strict=True))


def _tours_at(snapshot: Snapshot, job: JobProgress, grid: NDArray[np.int64]) -> Counts:
    """How many tours were found from a start square after so many iterations."""
    if not snapshot.run.config.write or snapshot.tours > READ_TOURS:
        return _from_records(snapshot, job, grid)
    start = snapshot.run.board.name(job.job.start)  # and not its images
    parts = (part for result in snapshot.records_of(job) for part in result.tour_parts if is_of_start(part.name, start))
    counts = [np.searchsorted(snapshot.run.iterations(part), grid, side="right") for part in parts]
    return np.sum(counts, axis=0, dtype=np.float64) if counts else np.zeros(len(grid))


def _from_records(snapshot: Snapshot, job: JobProgress, grid: NDArray[np.int64]) -> Counts:
    """The same from the sums at the end of each slice, with straight lines between."""
    totals = [result.total for result in snapshot.records_of(job)]
    squares = job.job.multiplicity if snapshot.run.config.expand else 1
    at = [0, *(total.iterations for total in totals)]
    return np.asarray(np.interp(grid, at, [0, *(total.tours / squares for total in totals)]), dtype=np.float64)
