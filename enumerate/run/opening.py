"""A run, opened by a coordinator: held, known to be this run, tidied up after a kill, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from ..ledger.job_progress import JobProgress, progress_of, records
from ..ledger.layout import (
    COMMITS,
    DISCARDING,
    DISTINCT,
    DISTINCT_RECORD,
    MANIFEST,
    PART_FOLDERS,
    RUN_FILES,
    STAGING,
    parse_part_name,
    record_name,
)
from ..ledger.manifest import CONCLUDING, Manifest, read_manifest, write_manifest
from ..ledger.records import READERS, Shelf, check_part, read_record, shelves
from ..ledger.sink import part_entries
from ..ledger.storage import Folder, Hold, Storage, is_url, open_storage
from ..ledger.summary import FILES
from ..model.config import Config, usable_cores
from ..model.errors import BadRequest, Damaged
from ..model.jobs import TIMES, Job

SIZES, SUMS = "sizes", "sums"


@dataclass
class Opened:
    """A run in the hands of its coordinator."""

    storage: Storage
    hold: Hold
    manifest: Manifest
    progress: list[JobProgress]


@contextmanager
def opened(
    config: Config, plan: Sequence[Job], fresh: bool, check: str, notice: Callable[[str], None]
) -> Iterator[Opened]:
    """The run of a config. Nothing is written if the request is refused."""
    if check not in (SIZES, SUMS):
        raise BadRequest(f"check is {SUMS} or {SIZES}: {check!r}")
    storage = open_storage(config.place)
    with ExitStack() as stack:
        try:
            _refuse_unsuitable(storage, config, fresh)
            hold = stack.enter_context(storage.lock())
            _refuse_unsuitable(storage, config, fresh)  # once more: now nobody else can change it
            if fresh or storage.exists(DISCARDING):
                _start_over(storage, config)
            elif not storage.exists(MANIFEST):
                write_manifest(storage, config, None)
            manifest = read_manifest(storage)
            if manifest.shift:  # its coordinator was lost: a worker it left must not record what is tidied away now
                write_manifest(storage, manifest.config(config.place), manifest, CONCLUDING)
            progress = tidied(storage, plan, notice)
            check_parts(storage, progress, check, notice)
        except OSError as error:
            reason = error.strerror or str(error)
            raise BadRequest(
                f"cannot write to the output: {storage.place!r} ({reason}); choose another --output"
            ) from None
        yield Opened(storage, hold, manifest, progress)


def _refuse_unsuitable(storage: Storage, config: Config, fresh: bool) -> None:
    if isinstance(storage, Folder) and storage.root.exists() and not storage.root.is_dir():
        raise BadRequest(f"the output folder is a file: {storage.place!r}; choose another --output")
    if storage.exists(MANIFEST):
        if not fresh:
            read_manifest(storage).refuse_other(config)
    elif storage.exists(DISCARDING):
        return  # all that is here is what a --fresh has yet to remove
    elif any(True for _ in storage.entries(COMMITS)) and not fresh:
        raise Damaged(f"missing, though there are commit records: {storage.where(MANIFEST)}")
    elif _has_other_files(storage):
        raise BadRequest(f"the output folder is not empty and not a run: {storage.place!r}; choose another --output")


def _has_other_files(storage: Storage) -> bool:
    if isinstance(storage, Folder):  # empty folders count too, and nothing needs to be walked through
        return storage.root.exists() and any(entry.name != RUN_FILES for entry in storage.root.iterdir())
    return any(not name.startswith(f"{RUN_FILES}/") for name, _ in storage.entries("."))


def _start_over(storage: Storage, config: Config) -> None:
    """Make a new run. A mark is set first and removed last: if this is interrupted, the next call does it again.

    run.json goes before all else: without it no worker of the old run can write.
    """
    storage.replace(DISCARDING, b"")
    storage.remove([MANIFEST, DISTINCT_RECORD])
    for folder in (COMMITS, *PART_FOLDERS, DISTINCT, STAGING):
        storage.remove([name for name, _ in storage.entries(folder)])
    storage.remove(FILES)
    write_manifest(storage, config, None)
    storage.remove([DISCARDING])


# ---------------------------------------------------------------------------------------------------------------------
# What a lost worker leaves behind.


def tidied(storage: Storage, plan: Sequence[Job], notice: Callable[[str], None] = lambda _: None) -> list[JobProgress]:
    """Where the jobs stand by the records, after everything that no record names is gone."""
    storage.remove([name for name, _ in storage.entries(STAGING)])
    found, progress = _standing(storage, plan)
    by_number = {job.job.number: job for job in progress}
    names = [name for name, _ in part_entries(storage)]
    unrecorded = [name for name in names if not _is_recorded(name, found, by_number)]
    storage.remove(unrecorded)
    storage.remove(_late_records(unrecorded, by_number))
    storage.remove(_times_of_others(storage, names, found))
    storage.remove([record_name(job, *short) for job, shelf in found.items() for short in shelf.superseded()])
    if unrecorded:
        notice(f"removed {len(unrecorded):,} unrecorded parts of lost workers; their slices are searched again")
    return progress


def _standing(storage: Storage, plan: Sequence[Job]) -> tuple[dict[int, Shelf], list[JobProgress]]:
    """The records, and where the jobs stand by them. A late worker may supersede one while we look: then once more."""
    try:
        found = shelves(storage, plan)
        return found, progress_of(storage, plan, found)
    except Damaged:
        found = shelves(storage, plan)
        return found, progress_of(storage, plan, found)


def _late_records(unrecorded: Sequence[str], progress: dict[int, JobProgress]) -> Iterator[str]:
    """Records of parts just removed: a late worker may have written one since the records were listed.

    One that is written only now is followed by its parts: its worker sees that its shift is over and looks back.
    """
    for part in filter(None, map(parse_part_name, unrecorded)):
        last = progress[part.job].last
        if last is None or (part.slice, part.cut) != (last.slice, last.cut):
            yield record_name(part.job, part.slice, part.cut)


def _is_recorded(name: str, found: dict[int, Shelf], progress: dict[int, JobProgress]) -> bool:
    """Whether a record names this part. Foreign files are left alone: `verify` tells about them."""
    part = parse_part_name(name)
    if part is None or part.job not in found:
        return True
    last = progress[part.job].last
    if last is not None and (part.slice, part.cut) == (last.slice, last.cut):
        return name in {recorded.name for recorded in last.parts}
    return part.cut is None and part.slice < found[part.job].whole


def _times_of_others(storage: Storage, names: Sequence[str], found: dict[int, Shelf]) -> Iterator[str]:
    """Times that a lost worker published, beside those that count, of slices that are followed by others."""
    by_slice: dict[tuple[int, int], list[str]] = {}
    for name in names:
        part = parse_part_name(name)
        if part and part.kind == TIMES and part.cut is None and part.job in found:
            by_slice.setdefault((part.job, part.slice), []).append(name)
    for (job, slice_), times in by_slice.items():
        if len(times) > 1 and slice_ < found[job].last_whole:
            counting = {part.name for part in read_record(storage, record_name(job, slice_)).parts}
            yield from (name for name in times if name not in counting)


# ---------------------------------------------------------------------------------------------------------------------
# What may have been damaged since.


def check_parts(storage: Storage, progress: Sequence[JobProgress], check: str, notice: Callable[[str], None]) -> None:
    """Compare the parts with the records: by number and sizes, or each one's checksum too."""
    parts = sum(job.total.parts for job in progress)
    if not parts:
        return
    if check == SUMS:
        notice(f"checking {parts:,} parts of the run so far")
        jobs: Sequence[JobProgress] = progress
    else:
        jobs = _of_other_size(storage, progress)
    with ThreadPoolExecutor(READERS if is_url(storage.place) else usable_cores()) as pool:
        for _ in pool.map(lambda job: _check_sums(storage, job), jobs):
            pass


def _check_sums(storage: Storage, job: JobProgress) -> None:
    for result in records(storage, job):
        for part in result.parts:
            check_part(storage, part)


def _of_other_size(storage: Storage, progress: Sequence[JobProgress]) -> list[JobProgress]:
    """The jobs whose parts are not as many, or not as large in all, as their records say."""
    counts = {job.job.number: [0, 0] for job in progress}
    for name, size in part_entries(storage):
        part = parse_part_name(name)
        if part is not None and part.job in counts:
            counts[part.job][0] += 1
            counts[part.job][1] += size
    return [job for job in progress if counts[job.job.number] != [job.total.parts, job.total.bytes]]
