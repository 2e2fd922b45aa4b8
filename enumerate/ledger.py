"""What is finished: one sealed record for each slice, and from them what each job does next.

The records are the truth. A part counts only if a record names it; a record is published after its parts, once, and
never changed - with one exception. When the budget of a job ends in the middle of a slice, the slice is committed
short, and a larger budget does it again so that parts do not depend on the budgets of the past. The longer slice then
takes the place of the short one: its parts and record are staged first, the record last, and then published. If that
is interrupted, the staged record says how to finish.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any

from .config import Config
from .errors import Damaged
from .jobs import BUDGET, EXHAUSTED, FULL, Cursor, Job, Part, Slice, SliceResult
from .sealed import seal, unseal
from .storage import STAGING, Storage, next_name

COMMITS = "_run/commits"
_RECORD = re.compile(r"(\d{6,})-(\d{4,})\.json")


def record_name(job: int, slice_: int) -> str:
    return f"{COMMITS}/{job:06d}-{slice_:04d}.json"


# ---------------------------------------------------------------------------------------------------------------------
# Records.


def commit(storage: Storage, result: SliceResult, replaces: bool) -> None:
    """Record a slice whose parts are published (or staged, if it replaces a shorter one)."""
    name = record_name(result.job, result.slice)
    data = seal(asdict(result))
    if replaces:
        _publish_staged(storage, result, storage.stage(name, data, next_name(name)))
    elif not storage.create(name, data):
        before = read_record(storage, name)
        if before.parts != result.parts or before.cursor != result.cursor:
            raise Damaged(f"a slice was committed twice with different tours: {name}")


def read_record(storage: Storage, name: str) -> SliceResult:
    document = unseal(storage.read(name), name)
    try:
        return _result(document)
    except (TypeError, KeyError):
        raise Damaged(f"damaged, not a commit record of this version: {name}") from None


def read_records(storage: Storage) -> dict[tuple[int, int], SliceResult]:
    """All records, by job and slice. A file that is not a record, or not the one its name says, is damage."""
    records = {}
    for name in storage.names(COMMITS):
        match = _RECORD.fullmatch(name.rsplit("/", 1)[-1])
        if not match:
            raise Damaged(f"not a file of this run: {name}")
        result = read_record(storage, name)
        if name != record_name(result.job, result.slice):
            raise Damaged(f"damaged, a record under the name of another: {name}")
        records[result.job, result.slice] = result
    return records


def check_parts(storage: Storage, parts: Iterable[Part]) -> None:
    """Read these parts and compare their sizes and checksums with their records."""

    def check(part: Part) -> None:
        if not storage.exists(part.name):
            raise Damaged(f"missing, though a record names it: {part.name}")
        if storage.size(part.name) != part.bytes:
            raise Damaged(f"damaged, {storage.size(part.name):,} bytes instead of {part.bytes:,}: {part.name}")
        if hashlib.sha256(storage.read(part.name)).hexdigest() != part.sha256:
            raise Damaged(f"damaged, its checksum does not match its record: {part.name}")

    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(check, parts):
            pass


def recover(storage: Storage) -> None:
    """Finish what a killed run had staged, and clear the rest of the staging folder."""
    for name in storage.names(STAGING):
        if name.endswith(".json.next"):
            try:
                result = _result(unseal(storage.read(name), name))
            except Damaged:
                continue  # the kill came while it was written: nothing has been published yet
            _publish_staged(storage, result, name)
    for name in storage.names(STAGING):
        storage.remove(name)


def _publish_staged(storage: Storage, result: SliceResult, staged_record: str) -> None:
    for part in result.parts:
        if storage.exists(next_name(part.name)):
            storage.publish(next_name(part.name), part.name)
    storage.publish(staged_record, record_name(result.job, result.slice))


def _result(document: Mapping[str, Any]) -> SliceResult:
    parts = tuple(Part(**part) for part in document["parts"])
    return SliceResult(**{**document, "cursor": tuple(document["cursor"]), "parts": parts})


# ---------------------------------------------------------------------------------------------------------------------
# What a job does next.


@dataclass
class JobProgress:
    """The records of one job, and how far they reach without a gap."""

    job: Job
    results: dict[int, SliceResult] = field(default_factory=dict)
    number: int = 0  # the next slice, after `number` full ones without a gap
    iterations: int = 0
    tours: int = 0
    cursor: Cursor = ()

    def __post_init__(self) -> None:
        self.cursor = self.cursor or self.job.prefix
        self._advance()

    def add(self, result: SliceResult) -> None:
        self.results[result.slice] = result
        self._advance()

    def next_slice(self, config: Config) -> Slice | None:
        """The slice to do now, or None if the job is exhausted, hopeless, or at the end of its budget."""
        last = self.results.get(self.number)
        if self.job.hopeless or (last and last.ended == EXHAUSTED):
            return None
        iterations = self.iterations + (last.iterations if last else 0)
        tours = self.tours + (last.tours if last else 0)
        if (config.max and iterations >= config.max) or (config.tours and tours >= config.tours):
            return None
        return Slice(
            job=self.job,
            number=self.number,
            cursor=self.cursor,
            iterations_before=self.iterations,
            tours_before=self.tours,
            max_iterations=_smaller(config.slice_iterations, config.max, self.iterations),
            max_tours=_smaller(config.tours_in_slice, config.tours, self.tours),
            full_iterations=config.slice_iterations,
            full_tours=config.tours_in_slice,
            replaces=last is not None,
        )

    @property
    def exhausted(self) -> bool:
        last = self.results.get(self.number)
        return self.job.hopeless is not None or (last is not None and last.ended == EXHAUSTED)

    def _advance(self) -> None:
        while (result := self.results.get(self.number)) and self._fits(result) and result.ended == FULL:
            self.number += 1
            self.iterations += result.iterations
            self.tours += result.tours
            self.cursor = result.cursor

    def _fits(self, result: SliceResult) -> bool:
        if (result.iterations_before, result.tours_before) != (self.iterations, self.tours):
            raise Damaged(f"damaged, does not continue the slice before it: {record_name(result.job, result.slice)}")
        if result.ended not in (FULL, EXHAUSTED, BUDGET) or (result.ended != FULL and self.number + 1 in self.results):
            raise Damaged(f"damaged, the slice after it exists: {record_name(result.job, result.slice)}")
        return True


def _smaller(slice_limit: int, budget: int, spent: int) -> int:
    """What a slice may spend: its own limit, or what is left of the budget if that is less."""
    return min(slice_limit, budget - spent) if budget else slice_limit


def progress_of(plan: Iterable[Job], records: Mapping[tuple[int, int], SliceResult]) -> list[JobProgress]:
    """Where each job of the plan stands."""
    by_job: dict[int, dict[int, SliceResult]] = {job.number: {} for job in plan}
    for (job, slice_), result in records.items():
        if job not in by_job:
            raise Damaged(f"not a job of this run: {record_name(job, slice_)}")
        by_job[job][slice_] = result
    return [JobProgress(job, by_job[job.number]) for job in plan]
