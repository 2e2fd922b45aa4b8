"""Where each job stands by its records, and what it does next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ..model.config import Config
from ..model.errors import Damaged
from ..model.jobs import BUDGET, EXHAUSTED, FULL, Job, Slice, SliceResult, Totals
from .layout import record_name
from .records import READERS, RecordList, name_of, read_record
from .storage import Storage

ReadRecord = Callable[[Storage, str], SliceResult]


@dataclass
class JobProgress:
    """Where one job stands: its last record says it all."""

    job: Job
    last: SliceResult | None = None
    weight: float = 1.0  # its share of the whole: estimated iterations, or all alike

    @property
    def total(self) -> Totals:
        return self.last.total if self.last else Totals()

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to find, whatever the budget."""
        return self.job.infeasible is not None or (self.last is not None and self.last.ended == EXHAUSTED)

    @property
    def slices(self) -> int:
        return self.last.slice + 1 if self.last else 0

    def add(self, result: SliceResult) -> None:
        """The next slice, or the last one again, done under a larger budget; anything else is damage."""
        number, cursor, before = self._next()
        if result.slice != number:
            raise Damaged(f"missing, though a later slice of its job has a record: {record_name(result.job, number)}")
        goes_on = self.last is None or self.last.ended in (FULL, BUDGET)
        if not goes_on or (result.began, result.before) != (cursor, before):
            raise Damaged(f"damaged, does not continue the slice before it: {name_of(result)}")
        self.last = result

    def next_slice(self, config: Config) -> Slice | None:
        """The slice to do now, or None if the job is exhausted, infeasible, or at the end of its budget."""
        spent, most, tours = self.total, self.job.share_of(config.max), self.job.share_of(config.tours)
        at_end = (config.max and spent.iterations >= most) or (config.tours and spent.attempts >= tours)
        if self.exhausted or at_end:
            return None
        number, cursor, before = self._next()
        return Slice(
            job=self.job,
            number=number,
            start=config.board.name(self.job.start),
            cursor=cursor,
            before=before,
            max_iterations=_smaller(config.slice_iterations, most, before.iterations),
            max_tours=_smaller(config.tours_in_slice, tours, before.attempts),
            full_iterations=config.slice_iterations,
            full_tours=config.tours_in_slice,
            supersedes=self.last if self._is_short else None,
        )

    @property
    def _is_short(self) -> bool:
        return self.last is not None and self.last.ended == BUDGET

    def _next(self) -> tuple[int, tuple[int, ...], Totals]:
        """Number, cursor and sums before the slice that follows."""
        if self.last is None:
            return 0, self.job.prefix, Totals()
        if self._is_short:
            return self.last.slice, self.last.began, self.last.before
        return self.last.slice + 1, self.last.cursor, self.last.total


def _smaller(slice_limit: int, budget: int, spent: int) -> int:
    """What a slice may spend: its own limit, or what is left of the budget if that is less."""
    return min(slice_limit, budget - spent) if budget else slice_limit


def progress_of(
    storage: Storage, plan: Sequence[Job], found: Mapping[int, RecordList], read: ReadRecord = read_record
) -> list[JobProgress]:
    """Where each job stands: its last record is read, the others only counted."""

    def progress(job: Job) -> JobProgress:
        last = found[job.number].last()
        return JobProgress(job, read(storage, record_name(job.number, *last)) if last else None)

    with ThreadPoolExecutor(READERS) as pool:
        return list(pool.map(progress, plan))


def records(storage: Storage, progress: JobProgress, read: ReadRecord = read_record) -> Iterator[SliceResult]:
    """All records of a job, in order, each checked to continue the one before it."""
    job, last = JobProgress(progress.job), progress.last
    for number in range(progress.slices):
        cut = last.cut if last and number == last.slice else None
        result = read(storage, record_name(progress.job.number, number, cut))
        job.add(result)
        yield result
