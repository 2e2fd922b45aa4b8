"""What is finished: one sealed record for each slice, and how each job stands by its records.

The records are the truth. A part counts only if a record names it; a record is published after its parts, once, and
never changed. When the budget of a job ends in the middle of a slice, the slice is committed short, under a name that
gives its cut. A larger budget searches it again as a whole, so that parts do not depend on earlier budgets, and
its record supersedes the short one. So a late worker, whatever its budget, cannot change what is there.

Each record carries the sums of those before it: the last one of each job shows how the run stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from ..model.config import Config
from ..model.errors import Damaged
from ..model.jobs import BUDGET, EXHAUSTED, FULL, Job, Part, Slice, SliceResult, Totals
from .layout import COMMITS, parse_record_name, record_name
from .manifest import Extent, seal, unseal
from .storage import Storage

READERS = 32  # of records or parts at a time: on an object store they mostly wait


def name_of(result: SliceResult) -> str:
    return record_name(result.job, result.slice, result.cut)


def commit(storage: Storage, result: SliceResult) -> SliceResult:
    """Record a slice whose parts are published; returns what is on record."""
    name = name_of(result)
    if storage.create(name, seal(asdict(result))):
        return result
    before = read_record(storage, name)
    if before.content != result.content or before.cursor != result.cursor:
        raise Damaged(f"a slice was committed twice with different tours: {name}")
    return before  # of a worker that was lost right after it


def remove_slice(storage: Storage, result: SliceResult) -> None:
    """Remove a slice, the record first: one without its parts would be damage."""
    storage.remove([name_of(result)])
    storage.remove(part.name for part in result.parts)


def read_record(storage: Storage, name: str) -> SliceResult:
    """A record that is sound and under its own name."""
    document = unseal(storage.read(name), name)
    try:
        result = _result(document)
    except (TypeError, KeyError):
        raise Damaged(f"damaged, not a commit record of this version: {name}") from None
    if name != name_of(result):
        raise Damaged(f"damaged, a record under the name of another: {name}")
    return result


_FIELDS = {field.name for field in fields(SliceResult)}
_SUM_FIELDS = {field.name for field in fields(Totals)}


def _result(document: Mapping[str, Any]) -> SliceResult:
    if set(document) != _FIELDS or set(document["before"]) != _SUM_FIELDS:
        raise KeyError
    before, parts = Totals(**document["before"]), tuple(Part(**part) for part in document["parts"])
    began, cursor = tuple(document["began"]), tuple(document["cursor"])
    return SliceResult(**{**document, "before": before, "began": began, "cursor": cursor, "parts": parts})


@dataclass
class RecordList:
    """The record list of one job, from a listing: how many whole slices, and which short ones."""

    whole: int = 0
    last_whole: int = -1
    short: list[tuple[int, int]] = field(default_factory=list)  # slice, cut

    def last(self) -> tuple[int, int | None] | None:
        """Slice and cut of the record that counts most."""
        beyond = [(slice_, cut) for slice_, cut in self.short if slice_ > self.last_whole]
        if beyond:
            return max(beyond)
        return (self.last_whole, None) if self.whole else None

    @property
    def count(self) -> int:
        return self.whole + len(self.short)

    def superseded(self) -> list[tuple[int, int]]:
        last = self.last()
        return [short for short in self.short if short != last]


def record_lists(storage: Storage, plan: Iterable[Job]) -> dict[int, RecordList]:
    """The records of each job of the plan, from a listing. A file that is not a record, or a gap, is damage."""
    found = {job.number: RecordList() for job in plan}
    for name, _ in storage.entries(COMMITS):
        record = parse_record_name(name)
        if record is None:
            raise Damaged(f"damaged, not a commit record: {name}")
        job, slice_, cut = record
        if job not in found:
            raise Damaged(f"not a job of this run: {name}")
        listed = found[job]
        if cut is None:
            listed.whole, listed.last_whole = listed.whole + 1, max(listed.last_whole, slice_)
        else:
            listed.short.append((slice_, cut))
    for job, listed in found.items():
        _refuse_gap(storage, job, listed)
    return found


def _refuse_gap(storage: Storage, job: int, listed: RecordList) -> None:
    last = listed.last()
    needed = last[0] + (last[1] is None) if last else 0  # whole slices up to the last record
    if listed.whole < needed:
        missing = next(n for n in range(needed) if not storage.exists(record_name(job, n)))
        raise _missing(job, missing)


def _missing(job: int, number: int) -> Damaged:
    return Damaged(f"missing, though a later slice of its job has a record: {record_name(job, number)}")


ReadRecord = Callable[[Storage, str], SliceResult]


@dataclass
class JobProgress:
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
        """The next slice, or the last one again, searched with a larger budget; anything else is damage."""
        number, cursor, before = self._next()
        if result.slice != number:
            raise _missing(result.job, number)
        goes_on = self.last is None or self.last.ended in (FULL, BUDGET)
        if not goes_on or (result.began, result.before) != (cursor, before):
            raise Damaged(f"damaged, does not continue the slice before it: {name_of(result)}")
        self.last = result

    def next_slice(self, config: Config) -> Slice | None:
        """The slice to search now, or None if the job is exhausted, infeasible, or at the end of its budget."""
        spent, most, tours = self.total, self.job.share_of(config.max), self.job.share_of(config.tours)
        at_end = (config.max and spent.iterations >= most) or (config.tours and spent.attempts >= tours)
        if self.exhausted or at_end:
            return None
        number, cursor, before = self._next()
        return Slice(
            job=self.job,
            number=number,
            start=self.job.start_name(config.board),
            cursor=cursor,
            before=before,
            max_iterations=_smaller(config.slice_iterations, most, before.iterations),
            max_tours=_smaller(config.tours_in_slice, tours, before.attempts),
            full_iterations=config.slice_iterations,
            full_tours=config.tours_in_slice,
            supersedes=self.last if number < self.slices else None,  # the last one again: it was cut short
        )

    def _next(self) -> tuple[int, tuple[int, ...], Totals]:
        """Number, cursor and sums before the slice that follows."""
        if self.last is None:
            return 0, self.job.prefix, Totals()
        if self.last.ended == BUDGET:
            return self.last.slice, self.last.began, self.last.before
        return self.last.slice + 1, self.last.cursor, self.last.total


def _smaller(slice_limit: int, budget: int, spent: int) -> int:
    """What a slice may spend: its own limit, or what the budget has left if that is less."""
    return min(slice_limit, budget - spent) if budget else slice_limit


def standing(storage: Storage, job: Job, listed: RecordList, read: ReadRecord = read_record) -> JobProgress:
    """Where a job stands: its last record is read, the others only counted."""
    last = listed.last()
    return JobProgress(job, read(storage, record_name(job.number, *last)) if last else None)


def progress_of(
    storage: Storage, plan: Sequence[Job], found: Mapping[int, RecordList], read: ReadRecord = read_record
) -> list[JobProgress]:
    with ThreadPoolExecutor(READERS) as pool:
        return list(pool.map(lambda job: standing(storage, job, found[job.number], read), plan))


def records(storage: Storage, progress: JobProgress, read: ReadRecord = read_record) -> Iterator[SliceResult]:
    """All records of a job, in order, each checked to continue the one before it."""
    job, last = JobProgress(progress.job), progress.last
    for number in range(progress.slices):
        cut = last.cut if last and number == last.slice else None
        result = read(storage, record_name(progress.job.number, number, cut))
        job.add(result)
        yield result


def extent_of(progress: Sequence[JobProgress]) -> Extent:
    """What the records of these jobs count."""
    totals = [job.total for job in progress]
    slices = sum(job.slices for job in progress)
    return Extent(slices, sum(total.parts for total in totals), sum(total.bytes for total in totals))


def refuse_missing(storage: Storage, progress: Sequence[JobProgress], least: Extent) -> None:
    """A listing may be empty or old: then nothing of it is true, and nothing may be removed."""
    there = extent_of(progress)
    if there.records < least.records or there.parts < least.parts:
        raise Damaged(
            f"missing, found {there.records:,} records and {there.parts:,} parts, expected at least {least.records:,}"
            f" and {least.parts:,}: {storage.where(COMMITS)}; --repair searches the missing slices again"
        )
