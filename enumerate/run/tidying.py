"""An opened run keeps what its records name: what lost workers left is removed, and the parts are compared with the
records.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from ..ledger.layout import PART_FOLDERS, STAGING, PartName, parse_part_name, record_name
from ..ledger.manifest import Extent
from ..ledger.parts import check_part
from ..ledger.records import (
    READERS,
    JobProgress,
    RecordList,
    name_of,
    progress_of,
    read_record,
    record_lists,
    records,
    refuse_missing,
)
from ..ledger.storage import Storage, is_url
from ..model.config import usable_cores
from ..model.errors import Damaged
from ..model.jobs import TIMES, Job
from ..model.numbers import counted

SIZES, SUMS = "sizes", "sums"  # how parts are compared with their records


def tidied(
    storage: Storage, plan: Sequence[Job], least: Extent | None, notice: Callable[[str], None] = lambda _: None
) -> list[JobProgress]:
    """The progress of the jobs by their records, after removing everything that no record names.

    `least` is what must be there; None if records were moved away so that their slices are searched again.
    """
    found, progress = _standing(storage, plan)
    by_number = {job.job.number: job for job in progress}
    parts = {name: part for name, part, _ in _parts(storage, by_number)}
    unrecorded = {name: part for name, part in parts.items() if not _is_recorded(name, part, found, by_number)}
    if least is not None:
        refuse_missing(storage, progress, least)
        _refuse_orphans(unrecorded, by_number)
    storage.remove([name for name, _ in storage.entries(STAGING)])
    storage.remove(unrecorded)
    # A late worker may have recorded such a part since the records were listed. A record that is written only now is
    # followed by its parts: its worker sees that its epoch is over and looks back.
    late = {record_name(part.job, part.slice, part.cut) for part in unrecorded.values()}
    storage.remove(late - {name_of(job.last) for job in progress if job.last})
    storage.remove(_times_of_others(storage, parts, found))
    storage.remove([record_name(job, *short) for job, listed in found.items() for short in listed.superseded()])
    if unrecorded:
        notice(f"removed {len(unrecorded):,} unrecorded parts of lost workers; their slices are searched again")
    return progress


def _refuse_orphans(unrecorded: Mapping[str, PartName], progress: Mapping[int, JobProgress]) -> None:
    """A whole slice is followed by another only after its record: a part beyond the next one has lost its record."""
    for name, part in unrecorded.items():
        if part.cut is None and part.slice > progress[part.job].slices:
            raise Damaged(f"missing, the record of a slice whose part is there: {name}; --repair searches it again")


def _standing(storage: Storage, plan: Sequence[Job]) -> tuple[dict[int, RecordList], list[JobProgress]]:
    """The records, and the progress of the jobs. A late worker may supersede a record meanwhile: then once more."""
    try:
        found = record_lists(storage, plan)
        return found, progress_of(storage, plan, found)
    except Damaged:
        found = record_lists(storage, plan)
        return found, progress_of(storage, plan, found)


def _parts(storage: Storage, jobs: Container[int]) -> Iterator[tuple[str, PartName, int]]:
    """Names of parts of these jobs, what they say, and sizes. Foreign files are left alone: `verify` reports them."""
    for folder in PART_FOLDERS:
        for name, size in storage.entries(folder):
            part = parse_part_name(name)
            if part and part.job in jobs:
                yield name, part, size


def _is_recorded(
    name: str, part: PartName, found: Mapping[int, RecordList], progress: Mapping[int, JobProgress]
) -> bool:
    """Whether a record names this part."""
    last = progress[part.job].last
    if last is not None and (part.slice, part.cut) == (last.slice, last.cut):
        return name in {recorded.name for recorded in last.parts}
    return part.cut is None and part.slice < found[part.job].whole


def _times_of_others(storage: Storage, parts: Mapping[str, PartName], found: Mapping[int, RecordList]) -> Iterator[str]:
    """Times that a lost worker published, beside those that count, of slices that are followed by others."""
    by_slice: dict[tuple[int, int], list[str]] = {}
    for name, part in parts.items():
        if part.holds == TIMES and part.cut is None:
            by_slice.setdefault((part.job, part.slice), []).append(name)
    for (job, slice_), times in by_slice.items():
        if len(times) > 1 and slice_ < found[job].last_whole:
            counting = {part.name for part in read_record(storage, record_name(job, slice_)).parts}
            yield from (name for name in times if name not in counting)


def check_parts(storage: Storage, progress: Sequence[JobProgress], check: str, notice: Callable[[str], None]) -> None:
    """Compare the parts with the records: by number and sizes, or each one's checksum too."""
    parts = sum(job.total.parts for job in progress)
    if not parts:
        return
    if check == SUMS:
        notice(f"checking {counted(parts, 'part')} of the run so far")
    else:
        progress = _of_other_size(storage, progress)
    with ThreadPoolExecutor(READERS if is_url(storage.output) else usable_cores()) as pool:
        for _ in pool.map(lambda job: _check_sums(storage, job), progress):
            pass


def _check_sums(storage: Storage, job: JobProgress) -> None:
    for result in records(storage, job):
        for part in result.parts:
            check_part(storage, part)


def _of_other_size(storage: Storage, progress: Sequence[JobProgress]) -> list[JobProgress]:
    """The jobs whose parts differ from their records in number or total size."""
    counts = {job.job.number: [0, 0] for job in progress}
    for _, part, size in _parts(storage, counts):
        counts[part.job][0] += 1
        counts[part.job][1] += size
    return [job for job in progress if counts[job.job.number] != [job.total.parts, job.total.bytes]]
