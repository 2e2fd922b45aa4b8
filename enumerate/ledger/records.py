"""What is finished: one sealed record for each slice, what a listing of them tells, and the record of distinct tours.

The records are the truth. A part counts only if a record names it; a record is published after its parts, once, and
never changed. When the budget of a job ends in the middle of a slice, the slice is committed short, under a name that
says where it was cut; a larger budget does it again as a whole, so that parts do not depend on the budgets of the past,
and its record supersedes the short one. So whoever writes late, for whatever budget, cannot change what is there.

Each record carries the sums of those before it: the last one of each job tells how the run stands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from ..model.errors import Damaged
from ..model.jobs import TIMES, Job, Part, SliceResult, Totals
from .layout import COMMITS, DISTINCT_RECORD, parse_record_name, record_name
from .manifest import seal, unseal
from .storage import Storage

READERS = 32  # records or parts that are read at a time: on an object store that is waiting, not work


def name_of(result: SliceResult) -> str:
    return record_name(result.job, result.slice, result.cut)


def commit(storage: Storage, result: SliceResult) -> SliceResult:
    """Record a slice whose parts are published; returns what is on record."""
    name = name_of(result)
    if storage.create(name, seal(asdict(result))):
        return result
    before = read_record(storage, name)
    if before.tour_parts != result.tour_parts or before.cursor != result.cursor:
        raise Damaged(f"a slice was committed twice with different tours: {name}")
    return before  # of a worker that was lost right after it


def remove_slice(storage: Storage, result: SliceResult) -> None:
    """Take a slice back, the record first: one without its parts would be damage."""
    storage.remove([name_of(result)])
    storage.remove(part.name for part in result.parts)


def read_record(storage: Storage, name: str) -> SliceResult:
    """A record, if it is sound and the one that its name says."""
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
    return SliceResult(
        **{
            **document,
            "before": Totals(**{**document["before"], "last_beginning": tuple(document["before"]["last_beginning"])}),
            "last_beginning": tuple(document["last_beginning"]),
            "began": tuple(document["began"]),
            "cursor": tuple(document["cursor"]),
            "parts": tuple(Part(**part) for part in document["parts"]),
        }
    )


def check_part(storage: Storage, part: Part) -> bytes:
    """Read a part and compare its size and checksum with its record; returns what it holds."""
    try:
        data = storage.read(part.name)
    except Damaged:
        if storage.exists(part.name):
            raise
        raise Damaged(f"missing, though a record names it: {part.name}") from None
    if len(data) != part.bytes:
        raise Damaged(f"damaged, {len(data):,} bytes instead of {part.bytes:,}: {part.name}")
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise Damaged(f"damaged, its checksum does not match its record: {part.name}")
    return data


@dataclass
class RecordList:
    """The records of one job, by their names: so many whole slices, and short ones."""

    whole: int = 0
    last_whole: int = -1
    short: list[tuple[int, int]] = field(default_factory=list)  # slice, cut

    def last(self) -> tuple[int, int | None] | None:
        """Slice and cut of the record that counts most."""
        beyond = [(slice_, cut) for slice_, cut in self.short if slice_ > self.last_whole]
        if beyond:
            return max(beyond)
        return (self.last_whole, None) if self.whole else None

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
        raise Damaged(f"missing, though a later slice of its job has a record: {record_name(job, missing)}")


@dataclass(frozen=True)
class Classes:
    """The classes of open or of closed tours that a run has found."""

    variant: str
    classes: int = 0
    multiplicity: int = 0  # undirected tours in them, found or not
    found: int = 0  # tours of the run in them
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Distinct:
    """The content of distinct.json: what the distinct tours of a run are, and of which tours they were made.

    They count only while this record names them. It is removed before they are replaced, and written after.
    """

    made_from: str
    variants: tuple[Classes, ...]

    @property
    def parts(self) -> list[Part]:
        return [part for classes in self.variants for part in classes.parts]


def fingerprint(parts: Iterable[Part]) -> str:
    """What tells two states of a run apart: the names and checksums of its tours."""
    lines = sorted(f"{part.name} {part.sha256}\n" for part in parts if part.kind != TIMES)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def record_distinct(storage: Storage, distinct: Distinct) -> None:
    storage.replace(DISTINCT_RECORD, seal(asdict(distinct)))


def find_distinct(storage: Storage) -> Distinct | None:
    """The record, or None if there are no distinct tours."""
    if not storage.exists(DISTINCT_RECORD):
        return None
    document = unseal(storage.read(DISTINCT_RECORD), storage.where(DISTINCT_RECORD))
    try:
        variants = tuple(
            Classes(**{**each, "parts": tuple(Part(**part) for part in each["parts"])})
            for each in document.pop("variants")
        )
        return Distinct(**document, variants=variants)
    except (KeyError, TypeError):
        raise Damaged(
            f"damaged, not a record of distinct tours of this version: {storage.where(DISTINCT_RECORD)}"
        ) from None
