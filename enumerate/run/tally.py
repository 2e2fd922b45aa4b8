"""How far a run is, and how fast it goes: what people see, and what `status` reads in another process."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..executors.events import Finished
from ..ledger.records import JobProgress
from ..model.config import Config
from ..model.jobs import Cursor, Slice, SliceResult, have_starts
from ..search.strategy import is_exhaustive

RECENT_SECONDS = 60.0


@dataclass(frozen=True)
class Rate:
    """Per second."""

    tours: float = 0.0
    iterations: float = 0.0


class Tally:
    """The progress of a run: by its budget if it has one, else by the estimated share of the search space.

    Its clock begins with the first slice, so that nothing else is taken for slow work.
    """

    def __init__(
        self, config: Config, progress: Sequence[JobProgress], now: Callable[[], float] = time.monotonic
    ) -> None:
        self.config, self.now = config, now
        self.jobs = {job.job.number: job for job in progress}
        self.weight = sum(job.weight for job in progress) or 1.0
        self.shares = {number: self._share(job) * job.weight for number, job in self.jobs.items()}
        self.sum = sum(self.shares.values())
        self.share_at_start = self.share
        self.began = now()
        self.tours = self.iterations = 0  # of this call
        self.totals = {job.job.number: job.total for job in progress}
        self.run_tours = sum(total.tours for total in self.totals.values())
        self.run_bytes = sum(total.bytes for total in self.totals.values())
        self.left: dict[Cursor, int] = {}  # unfinished jobs of each start square
        for job in progress:
            self.left[job.job.group] = self.left.get(job.job.group, 0) + (self.shares[job.job.number] < job.weight)
        self.row = "square" if have_starts(job.job for job in progress) else "job"
        self.done = sum(not left for left in self.left.values())
        self._recent: deque[tuple[float, int, int]] = deque([(self.began, 0, 0)])

    def add(self, event: Finished[Slice, SliceResult]) -> None:
        """A slice that its job has been told of."""
        job = self.jobs[event.result.job]
        number, before = job.job.number, self.totals[event.result.job]
        tours, self.totals[number] = job.total.tours - before.tours, job.total
        self.tours += tours
        self.run_tours += tours
        self.iterations += job.total.iterations - before.iterations
        self.run_bytes += job.total.bytes - before.bytes
        was, is_now = self.shares[number], self._share(job) * job.weight
        self.shares[number] = is_now
        self.sum += is_now - was
        if was < job.weight <= is_now:
            self.left[job.job.group] -= 1
            self.done += not self.left[job.job.group]
        self._recent.append((self.now(), self.tours, self.iterations))
        while self._recent[1][0] < self.now() - RECENT_SECONDS:
            self._recent.popleft()

    @property
    def share(self) -> float:
        """The share of the work done, from 0 to 1."""
        return min(1.0, self.sum / self.weight)

    @property
    def of(self) -> str:
        return "of the search space" if is_exhaustive(self.config) else "of the budget"

    @property
    def document(self) -> dict[str, Any]:
        """The same for programs."""
        done, rows, row = self.rows
        return {
            "share": self.share,
            "of": self.of,
            "tours": self.run_tours,
            "bytes": self.run_bytes,
            "rows_done": done,
            "rows": rows,
            "row": row,
            "seconds": self.seconds,
            "seconds_left": self.seconds_left,
            "recent": asdict(self.recent),
            "mean": asdict(self.mean),
        }

    @property
    def rows(self) -> tuple[int, int, str]:
        """How many rows of the summary are done, how many there are, and what each stands for."""
        return self.done, len(self.left), self.row

    @property
    def seconds(self) -> float:
        return max(self.now() - self.began, 1e-6)

    @property
    def seconds_left(self) -> float | None:
        done = self.share - self.share_at_start
        return (1 - self.share) * self.seconds / done if done > 0 else None

    @property
    def mean(self) -> Rate:
        return Rate(self.tours / self.seconds, self.iterations / self.seconds)

    @property
    def recent(self) -> Rate:
        """Of the last minute, or of the call so far."""
        began, tours, iterations = self._recent[0]
        seconds = max(self.now() - began, 1e-6)
        return Rate((self.tours - tours) / seconds, (self.iterations - iterations) / seconds)

    def _share(self, job: JobProgress) -> float:
        if job.next_slice(self.config) is None:
            return 1.0
        spent, most, tours = job.total, job.job.share_of(self.config.max), job.job.share_of(self.config.tours)
        by_iterations = spent.iterations / most if most else 0.0
        by_tours = spent.attempts / tours if tours else 0.0
        by_weight = min(0.99, spent.iterations / job.weight) if is_exhaustive(self.config) and job.weight > 1 else 0.0
        return max(by_iterations, by_tours, by_weight)
