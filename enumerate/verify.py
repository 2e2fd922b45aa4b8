"""A run read back and proved: every file is there and unchanged, and every tour is what its place says it is.

The tours are judged by `tour`, which knows the definition of a tour and nothing of the search.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from .catalog import Run
from .errors import Damaged, EnumerateError
from .executors.processes import usable_cores
from .jobs import Part, SliceResult
from .ledger import COMMITS, JobProgress, progress_of, read_record, record_name
from .manifest import NAME
from .schema import part_schema
from .storage import LOCK, STAGING
from .summary import CSV, PARQUET, encode_csv, encode_parquet, summary_table
from .tour import Tours, are_closed, are_complete, are_legal, hashes


@dataclass
class Verdict:
    """What was read, and everything found wrong, each with the name of its file."""

    records: int = 0
    parts: int = 0
    tours: int = 0
    bytes: int = 0
    complete: bool = True
    damage: list[str] = field(default_factory=list)


def verify(run: Run, advance: Callable[[float], object] = float) -> Verdict:
    """Read everything of a run; `advance` is told the share that each step was of the whole."""
    verdict = Verdict()
    with run.storage.lock_for_reading():
        config = run.config  # a run.json that cannot be read ends it here: nothing else would make sense
        records = _records(run, verdict)
        _foreign_files(run, records, verdict)
        try:
            progress = progress_of(run.plan, records)
        except Damaged as error:
            verdict.damage.append(str(error))
            return verdict
        with ThreadPoolExecutor(usable_cores()) as pool:
            for found in pool.map(lambda job: _job(run, job), progress):
                verdict.tours += found.tours
                verdict.damage += found.damage
                advance(1 / len(progress))
        parts = [part for result in records.values() for part in result.parts]
        verdict.records, verdict.parts, verdict.bytes = len(records), len(parts), sum(part.bytes for part in parts)
        verdict.complete = all(job.next_slice(config) is None for job in progress)
        _summary(run, progress, verdict)
    return verdict


def _records(run: Run, verdict: Verdict) -> dict[tuple[int, int], SliceResult]:
    """The sound records; the others are damage."""
    records = {}
    for name in run.storage.names(COMMITS):
        try:
            result = read_record(run.storage, name)
        except Damaged as error:
            verdict.damage.append(str(error))
            continue
        if name != record_name(result.job, result.slice):
            verdict.damage.append(f"damaged, a record under the name of another: {name}")
        else:
            records[result.job, result.slice] = result
    return records


def _foreign_files(run: Run, records: dict[tuple[int, int], SliceResult], verdict: Verdict) -> None:
    known = {NAME, LOCK, PARQUET, CSV, *(part.name for result in records.values() for part in result.parts)}
    own = (f"{COMMITS}/", f"{STAGING}/")  # read above / what a killed run may leave
    verdict.damage += [
        f"not a file of this run: {name}"
        for name in run.storage.names(".")
        if name not in known and not name.startswith(own)
    ]


def _job(run: Run, job: JobProgress) -> Verdict:
    """All parts of one start square, and that no tour is in them twice."""
    found = Verdict()
    seen: list[np.ndarray] = []
    for number in sorted(job.results):
        result = job.results[number]
        counts = {"open": result.tours_open, "closed": result.tours_closed}
        for part in result.parts:
            try:
                for tours in _sound_batches(run, result, part):
                    seen.append(hashes(tours))
                    found.tours += len(tours)
            except EnumerateError as error:
                found.damage.append(str(error))
            counts[part.variant] -= part.tours
        if any(counts.values()):
            found.damage.append(f"damaged, its counts are not those of its parts: {record_name(result.job, number)}")
    if not found.damage:
        found.damage += _duplicates(run, job, seen)
    return found


def _sound_batches(run: Run, result: SliceResult, part: Part) -> Iterator[Tours]:
    """The tours of a part, each batch checked before it is handed on."""
    path = run.storage.path(part.name)
    if not path.exists():
        raise Damaged(f"missing, though a record names it: {part.name}")
    if hashlib.sha256(path.read_bytes()).hexdigest() != part.sha256 or path.stat().st_size != part.bytes:
        raise Damaged(f"damaged, its checksum does not match its record: {part.name}")
    if not pq.read_schema(path).equals(part_schema(run.board), check_metadata=True):
        raise Damaged(f"damaged, its columns are not those of a part: {part.name}")
    count, last = 0, result.iterations_before
    for tours, iterations in run.read_part(part):
        wrong = _why_wrong(run, result, part, tours)
        if not wrong and (iterations[0] <= last or (np.diff(iterations) <= 0).any()):
            wrong = "its iterations do not ascend"
        if wrong:
            raise Damaged(f"damaged, {wrong}: {part.name}")
        count, last = count + len(tours), int(iterations[-1])
        yield tours
    if count != part.tours or last > result.iterations_before + result.iterations:
        raise Damaged(f"damaged, its tours are not those its record counts: {part.name}")


def _why_wrong(run: Run, result: SliceResult, part: Part, tours: Tours) -> str | None:
    board = run.board
    if int(tours.max()) >= board.squares or not are_complete(board, tours).all():
        return "a tour does not visit every square once"
    if not are_legal(board, tours).all():
        return "a tour has a step that is not a knight's move"
    if (tours[:, 0] != board.square(result.start)).any() or f"/start={result.start}/" not in part.name:
        return "a tour begins on another square"
    if (are_closed(board, tours) != (part.variant == "closed")).any():
        return f"a tour is not {part.variant}"
    return None


def _duplicates(run: Run, job: JobProgress, seen: list[np.ndarray]) -> list[str]:
    """Tours that occur twice. Equal hashes only point at them: the tours themselves are compared."""
    every = np.sort(np.concatenate(seen)) if seen else np.empty(0, dtype=np.uint64)
    suspects = np.unique(every[1:][every[1:] == every[:-1]])
    if not len(suspects):
        return []
    place_of: dict[bytes, str] = {}
    damage = []
    for number in sorted(job.results):
        for part in job.results[number].parts:
            for tours, _ in run.read_part(part):
                for tour in tours[np.isin(hashes(tours), suspects)]:
                    if tour.tobytes() in place_of:
                        damage.append(f"a tour occurs twice: {part.name} and {place_of[tour.tobytes()]}")
                    place_of[tour.tobytes()] = part.name
    return damage


def _summary(run: Run, progress: list[JobProgress], verdict: Verdict) -> None:
    """The summary says what the records say. A run that was killed has none until it is continued."""
    storage = run.storage
    if not storage.exists(PARQUET) and not storage.exists(CSV) and not verdict.complete:
        return
    table = summary_table(run.board, progress)
    same_writer = run.manifest.versions.get("pyarrow") == pa.__version__
    for name, encode, read in (
        (PARQUET, encode_parquet, lambda data: pq.read_table(data, page_checksum_verification=True)),
        (CSV, encode_csv, pyarrow.csv.read_csv),
    ):
        if not storage.exists(name):
            verdict.damage.append(f"missing: {name}")
            continue
        data = storage.read(name)
        if data == encode(table):
            continue
        try:
            expected, actual = read(pa.BufferReader(encode(table))), read(pa.BufferReader(data))
            same = not same_writer and actual.equals(expected)
        except (OSError, pa.ArrowException):
            same = False
        if not same:
            verdict.damage.append(f"damaged, not the summary of the records: {name}")
