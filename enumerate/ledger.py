"""What is finished: one sealed record for each slice, and from them what each job does next.

The records are the truth. A part counts only if a record names it; a record is published after its parts, once, and
never changed - with one exception. When the budget of a job ends in the middle of a slice, the slice is committed
short, and a larger budget does it again so that parts do not depend on the budgets of the past. The longer slice then
takes the place of the short one: its parts and record are staged first, the record last, and then published. If that
is interrupted, the staged record says how to finish.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .config import Config
from .errors import Damaged
from .jobs import BUDGET, EXHAUSTED, FULL, Job, Part, Slice, SliceResult
from .sealed import seal, unseal
from .storage import STAGING, Storage, next_name

COMMITS = "_run/commits"


def record_name(job: int, slice_: int) -> str:
    return f"{COMMITS}/{job:06d}-{slice_:04d}.json"


# ---------------------------------------------------------------------------------------------------------------------
# Records.


def commit(storage: Storage, result: SliceResult, replaces: bool) -> SliceResult:
    """Record a slice whose parts are published (or staged, if it replaces a shorter one); returns what is on record."""
    name = record_name(result.job, result.slice)
    data = seal(asdict(result))
    if replaces:
        storage.replace(next_name(name), data)
        _publish_staged(storage, result)
    elif not storage.create(name, data):
        before = read_record(storage, name)
        if before.parts != result.parts or before.cursor != result.cursor:
            raise Damaged(f"a slice was committed twice with different tours: {name}")
        return before  # of a worker that was killed right after it
    return result


def read_record(storage: Storage, name: str) -> SliceResult:
    """A record, if it is sound and the one that its name says."""
    document = unseal(storage.read(name), name)
    try:
        result = _result(document)
    except (TypeError, KeyError):
        raise Damaged(f"damaged, not a commit record of this version: {name}") from None
    if name not in (record_name(result.job, result.slice), next_name(record_name(result.job, result.slice))):
        raise Damaged(f"damaged, a record under the name of another: {name}")
    return result


def read_records(storage: Storage) -> Iterator[SliceResult | Damaged]:
    """All records in order; what is not one comes as the error that says so."""
    for name in storage.names(COMMITS):
        try:
            yield read_record(storage, name)
        except Damaged as error:
            yield error


def check_part(storage: Storage, part: Part) -> None:
    """Read a part and compare its size and checksum with its record."""
    if not storage.exists(part.name):
        raise Damaged(f"missing, though a record names it: {part.name}")
    data = storage.read(part.name)
    if len(data) != part.bytes:
        raise Damaged(f"damaged, {len(data):,} bytes instead of {part.bytes:,}: {part.name}")
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise Damaged(f"damaged, its checksum does not match its record: {part.name}")


def recover(storage: Storage) -> None:
    """Finish what a killed run had staged, and clear the rest of the staging folder."""
    for name in storage.names(STAGING):
        if name.endswith(".json.next"):
            _publish_staged(storage, read_record(storage, name))
    for name in storage.names(STAGING):
        storage.remove(name)


def _publish_staged(storage: Storage, result: SliceResult) -> None:
    """Put a staged slice into the place of the shorter one. Staged files are complete, and the record is the last."""
    for part in result.parts:
        if storage.exists(next_name(part.name)):
            storage.publish(next_name(part.name), part.name)
    name = record_name(result.job, result.slice)
    storage.publish(next_name(name), name)


def _result(document: Mapping[str, Any]) -> SliceResult:
    parts = tuple(Part(**part) for part in document["parts"])
    return SliceResult(**{**document, "cursor": tuple(document["cursor"]), "parts": parts})


# ---------------------------------------------------------------------------------------------------------------------
# What a job does next.


@dataclass
class JobProgress:
    """The records of one job, one after the other, and what it does next."""

    job: Job
    results: list[SliceResult] = field(default_factory=list)  # by slice number
    iterations: int = 0  # of the full slices; a slice cut short by the budget does not count, it is done again
    tours: int = 0

    def add(self, result: SliceResult) -> None:
        """The next slice, or the last one again, done under a larger budget."""
        if self._cut_short and result.slice == len(self.results) - 1:
            self.results.pop()
        self._check(result)
        self.results.append(result)
        if result.ended == FULL:
            self.iterations += result.iterations
            self.tours += result.tours

    def next_slice(self, config: Config) -> Slice | None:
        """The slice to do now, or None if the job is exhausted, hopeless, or at the end of its budget."""
        short = self.results[-1] if self._cut_short else None
        iterations = self.iterations + (short.iterations if short else 0)
        tours = self.tours + (short.tours if short else 0)
        spent = (config.max and iterations >= config.max) or (config.tours and tours >= config.tours)
        if self.exhausted or spent:
            return None
        number = len(self.results) - (short is not None)
        return Slice(
            job=self.job,
            number=number,
            cursor=self.results[number - 1].cursor if number else self.job.prefix,
            iterations_before=self.iterations,
            tours_before=self.tours,
            max_iterations=_smaller(config.slice_iterations, config.max, self.iterations),
            max_tours=_smaller(config.tours_in_slice, config.tours, self.tours),
            full_iterations=config.slice_iterations,
            full_tours=config.tours_in_slice,
            replaces=short is not None,
        )

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to find, whatever the budget."""
        return self.job.hopeless is not None or self._ended == EXHAUSTED

    @property
    def _cut_short(self) -> bool:
        return self._ended == BUDGET

    @property
    def _ended(self) -> str | None:
        return self.results[-1].ended if self.results else None

    def _check(self, result: SliceResult) -> None:
        """A record continues the one before it, or it is damage."""
        number = len(self.results)
        if result.slice != number:
            missing = record_name(self.job.number, number)
            raise Damaged(f"missing, though a later slice of its job has a record: {missing}")
        before = (self.iterations, self.tours)
        if self._ended not in (None, FULL) or (result.iterations_before, result.tours_before) != before:
            raise Damaged(f"damaged, does not continue the slice before it: {record_name(result.job, result.slice)}")


def _smaller(slice_limit: int, budget: int, spent: int) -> int:
    """What a slice may spend: its own limit, or what is left of the budget if that is less."""
    return min(slice_limit, budget - spent) if budget else slice_limit


def committed_jobs(plan: Iterable[Job], storage: Storage) -> list[JobProgress]:
    """Where each job of the plan stands by the records; the first damage is raised."""
    results = []
    for result in read_records(storage):
        if isinstance(result, Damaged):
            raise result
        results.append(result)
    return progress_of(plan, results)


def progress_of(plan: Iterable[Job], results: Iterable[SliceResult]) -> list[JobProgress]:
    """Where each job of the plan stands."""
    by_job = {job.number: JobProgress(job) for job in plan}
    for result in sorted(results, key=lambda result: (result.job, result.slice)):
        if result.job not in by_job:
            raise Damaged(f"not a job of this run: {record_name(result.job, result.slice)}")
        by_job[result.job].add(result)
    return list(by_job.values())
