"""How the tours of each start square came as the search went on, as a chart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...ledger.job_progress import JobProgress
from ...ledger.layout import is_of_start
from ..chart import Axis, family_svg
from .live_run import Snapshot

POINTS = 100
READ_TOURS = 30_000_000  # of larger runs only what the records say is shown


def growth_svg(snapshot: Snapshot) -> str:
    """Tours over iterations: a line for each start square (or job, if they are split), and their mean."""
    jobs = snapshot.jobs
    most = max((job.total.iterations for job in jobs), default=0)
    grid = np.unique(np.linspace(0, max(most, 1), POINTS + 1).astype(np.int64))
    tours_at = _from_parts if snapshot.run.config.write and snapshot.tours <= READ_TOURS else _from_records
    tours = [tours_at(snapshot, job, grid).tolist() for job in jobs]
    thing = "start square" if len({job.job.start for job in jobs}) == len(jobs) else "job"
    title, x, y = f"Tours of {snapshot.run.board} over iterations", Axis(f"iterations of a {thing}"), Axis("tours")
    return family_svg(title, grid.tolist(), tours, f"each {thing}", f"mean of all {thing}s", x, y)


def _from_parts(snapshot: Snapshot, job: JobProgress, grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many tours were found from a start square after so many iterations."""
    start = snapshot.run.board.name(job.job.start)  # and not its images
    parts = (part for result in snapshot.run.records(job) for part in result.tour_parts)
    iterations = (snapshot.run.iterations(part) for part in parts if is_of_start(part.name, start))
    counts = [np.searchsorted(at, grid, side="right") for at in iterations]
    return np.sum(counts, axis=0, dtype=np.float64) if counts else np.zeros(len(grid))


def _from_records(snapshot: Snapshot, job: JobProgress, grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """The same from the sums at the end of each slice, with straight lines between."""
    totals = [result.total for result in snapshot.run.records(job)]
    squares = job.job.multiplicity if snapshot.run.config.expand else 1
    at = [0, *(total.iterations for total in totals)]
    return np.asarray(np.interp(grid, at, [0, *(total.tours / squares for total in totals)]), dtype=np.float64)
