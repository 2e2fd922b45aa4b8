"""A run read back and proved: every file is there and unchanged, and every tour is what its part says it is.

The tours are judged by `tour`, which knows the definition of a tour and nothing of the search.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..ledger import layout
from ..ledger.manifest import find_distinct, fingerprint
from ..ledger.parts import COUNTED, Content, check_part, counts_of
from ..ledger.records import JobProgress, RecordList, name_of, record_lists, records, standing
from ..ledger.summary import FILES, summary_table
from ..model.batch import Batch
from ..model.config import usable_cores
from ..model.errors import Damaged
from ..model.jobs import TIMES, Cursor, Job, Part, SliceResult
from ..model.program import program
from ..model.tour import are_closed, are_complete, are_legal, are_structured, hashes, places, symmetries
from ..plan.plan import needs_estimates
from ..search.strategy import strategy_of
from .reader import Run

_BATCH_TOURS = 16_384  # small enough to stay in a core's cache


@dataclass
class Verdict:
    """What was read, and what was found wrong, each with the name of its file."""

    records: int = 0
    tours: int = 0
    repeats: int = 0  # tours found before, by a strategy that picks them at random
    complete: bool = True
    damage: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # no damage, but worth knowing
    named: dict[str, Part] = field(default_factory=dict, repr=False)  # by the records

    @property
    def parts(self) -> int:
        return len(self.named)

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.named.values())

    def add(self, other: Verdict) -> None:
        self.records += other.records
        self.tours += other.tours
        self.repeats += other.repeats
        self.damage += other.damage
        self.named |= other.named


def verify(run: Run, advance: Callable[[float], object] = lambda _: None) -> Verdict:
    """Read everything of a run; `advance` is called with the share of each step."""
    verdict = Verdict()
    with run.storage.lock_for_reading():
        config = run.config  # without a sound run.json nothing else makes sense
        try:
            found = record_lists(run.storage, run.plan)
        except Damaged as error:
            return Verdict(damage=[str(error)])
        progress = list[JobProgress]()
        for job, of_job in _jobs(run, found, advance):
            verdict.add(of_job)
            progress.append(job)
        ended = not run.manifest.epoch and not run.storage.exists(layout.DISCARDING)
        verdict.complete = ended and all(job.next_slice(config) is None for job in progress)
        concluded = run.manifest.concluded
        if not verdict.damage and (verdict.records < concluded.records or verdict.parts < concluded.parts):
            verdict.damage.append(
                f"missing, {verdict.records:,} records of {verdict.parts:,} parts are there,"
                f" and {run.storage.where(layout.MANIFEST)} counts {concluded.records:,} of {concluded.parts:,}"
            )
        if not verdict.damage:  # else parts of damaged records would be called foreign
            distinct = _distinct(run, fingerprint(verdict.named.values()), verdict)
            _foreign_files(run, found, progress, verdict.named.keys() | distinct, verdict)
        if not verdict.damage:
            _summary(run, progress, verdict)
    return verdict


def _jobs(
    run: Run, found: dict[int, RecordList], advance: Callable[[float], object]
) -> Iterator[tuple[JobProgress, Verdict]]:
    """What is known of each job, in their order; several are read at once, and Ctrl-C ends them all."""
    interrupted = Event()
    share = 1 / max(1, sum(listed.count for listed in found.values()))

    def recorded() -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        advance(share)

    with ThreadPoolExecutor(usable_cores()) as pool:
        try:
            yield from pool.map(lambda job: _job(run, job, found[job.number], recorded), run.plan)
        except BaseException:  # Ctrl-C here or in a reader, or whoever asks wants no more
            interrupted.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _distinct(run: Run, made_from: str, verdict: Verdict) -> set[str]:
    """Checks that distinct tours, if there are any, are as recorded, and made of the tours that are there now.

    Returns the names of their files.
    """
    remedy = f"make them again: {program()} distinct {shlex.quote(run.storage.output)}"
    names = {name for name, _ in run.storage.entries(layout.DISTINCT)}
    try:
        record = find_distinct(run.storage)
        if record is None:
            if names:
                verdict.notes.append(f"distinct tours without a record, left by a call that was stopped; {remedy}")
            return names
        if record.made_from != made_from:
            verdict.notes.append(f"the distinct tours are of an earlier state of this run; {remedy}")
        for part in record.parts:
            check_part(run.storage, part)
    except Damaged as error:
        verdict.damage.append(str(error))
        return {layout.DISTINCT_RECORD, *names}
    return {layout.DISTINCT_RECORD, *(part.name for part in record.parts)}


def _foreign_files(
    run: Run, found: dict[int, RecordList], progress: list[JobProgress], parts: set[str], verdict: Verdict
) -> None:
    known = {layout.MANIFEST, layout.LOCK, layout.PULSE, layout.README, layout.TOURS_SQL, *FILES}
    if needs_estimates(run.config):
        known.add(layout.PLAN)
    if verdict.complete:  # a run that was killed may have them; continuing it clears them
        verdict.damage += [
            f"left by a late worker, the command of the run removes it: {layout.record_name(job, *short)}"
            for job, listed in found.items()
            for short in listed.superseded()
        ]
    else:
        known.add(layout.DISCARDING)
    unfinished = {job.job.number: job.next_slice(run.config) for job in progress}
    for name, _ in run.storage.entries("."):
        if name in known or name in parts or name.startswith((f"{layout.COMMITS}/", f"{layout.STAGING}/")):
            continue
        part = layout.parse_part_name(name)
        following = unfinished.get(part.job) if part else None
        is_next = part and following and part.slice == following.number
        if part and not verdict.complete and (is_next or part.cut is not None or part.holds == TIMES):
            continue  # what a lost worker published without a record
        verdict.damage.append(f"not a file of this run: {name}")


def _job(run: Run, job: Job, listed: RecordList, recorded: Callable[[], None]) -> tuple[JobProgress, Verdict]:
    """All records and parts of one job, and that no tour is in them twice. `recorded` is called after each record."""
    progress, verdict, seen = JobProgress(job), Verdict(), list[np.ndarray]()
    try:
        progress = standing(run.storage, job, listed)
        for result in records(run.storage, progress):
            verdict.records += 1
            _slice(run, job, result, verdict, seen)
            recorded()
    except Damaged as error:
        verdict.damage.append(str(error))
    every = np.concatenate(seen) if seen else np.empty(0, dtype=np.uint64)
    if strategy_of(run.config).picks_at_random(run.config):
        verdict.repeats = len(every) - len(np.unique(every))
    elif not verdict.damage:
        verdict.damage += _duplicates(run, progress, np.sort(every))
    return progress, verdict


def _slice(run: Run, job: Job, result: SliceResult, verdict: Verdict, seen: list[np.ndarray]) -> None:
    counts: Counter[str] = Counter()
    iterations: list[np.ndarray] = []
    try:
        for part in result.tour_parts:
            for batch in _sound_batches(run, _prefix(run, job, part), result, part):
                seen.append(hashes(batch.tours))
                iterations.append(batch.iterations)
                counts.update(counts_of(batch))
        for part in result.parts:
            verdict.named[part.name] = part
            if part.holds == TIMES:
                _check_times(run, result, part, iterations)
    except Damaged as error:
        verdict.damage.append(str(error))
        return
    verdict.tours += counts["tours_open"] + counts["tours_closed"]
    if not run.config.write:
        return
    if any(counts[name] != getattr(result, name) for name in COUNTED):
        verdict.damage.append(f"damaged, its counts are not those of its parts: {name_of(result)}")
    if strategy_of(run.config).has_times and result.tours and result.tour_parts == result.parts:
        verdict.damage.append(f"damaged, it names no times of its tours: {name_of(result)}")


def _check_name(start: str, result: SliceResult, part: Part) -> None:
    if part.name != layout.part_name(part.holds, start, result.job, result.slice, result.cut, part.sha256):
        raise Damaged(f"damaged, not the name of a part of record {name_of(result)}: {part.name}")


def _check_times(run: Run, result: SliceResult, part: Part, of_tours: list[np.ndarray]) -> None:
    """There is a time for each tour: it is known by its iteration."""
    data = check_part(run.storage, part)
    _check_name(result.start, result, part)
    times = run.read_times(part, data)
    at, placements, attempts = (times[name].to_numpy() for name in ("iteration", "placements", "attempts"))
    if not of_tours or not np.array_equal(at, np.sort(np.concatenate(of_tours))):
        raise Damaged(f"damaged, not the times of its tours: {part.name}")
    length, known = run.board.length, times["seconds"].drop_null().to_numpy()
    begins = np.concatenate([[0], at[:-1]]) <= at - placements  # a tour begins after the one before it
    fits = (
        (attempts >= 1) & (attempts <= run.config.failures) & (length <= placements) & (placements <= attempts * length)
    )
    if not (begins & fits).all() or (known < 0).any():
        raise Damaged(f"damaged, impossible times of a tour: {part.name}")


def _prefix(run: Run, job: Job, part: Part) -> Cursor:
    """The path that the tours of a part begin with: that of its job, or its image on the square that the part names."""
    named = layout.parse_part_name(part.name)
    if run.config.expand and named:
        for image, each in run.board.images_of(job.start).items():
            if run.board.name(image) == named.start:
                return tuple(run.board.image(each, square) for square in job.prefix)
    return job.prefix


def _sound_batches(run: Run, prefix: Cursor, result: SliceResult, part: Part) -> Iterator[Batch]:
    """The tours of a part, each batch checked before it is handed on."""
    _check_name(run.board.name(prefix[0]) if prefix else "", result, part)
    if run.config.variant not in (part.holds, "both"):
        raise Damaged(f"damaged, {part.holds} tours in a run of {run.config.variant} ones: {part.name}")
    last, content = result.before.iterations, Content()
    for batch in run.checked_part(part, _BATCH_TOURS):
        wrong = _why_wrong(run, prefix, part, batch)
        if not wrong and (batch.iterations[0] <= last or (np.diff(batch.iterations) <= 0).any()):
            wrong = "its iterations do not ascend"
        if wrong:
            raise Damaged(f"damaged, {wrong}: {part.name}")
        last = int(batch.iterations[-1])
        content.add(batch)
        yield batch
    if last > result.total.iterations or content.digest != part.content:
        raise Damaged(f"damaged, its tours are not those its record counts: {part.name}")


def _why_wrong(run: Run, prefix: Cursor, part: Part, batch: Batch) -> str | None:
    board, tours = run.board, batch.tours
    if not are_complete(board, tours).all():
        return "a tour does not visit every square once"
    if not are_legal(board, tours).all():
        return "a tour has a step that is not a knight's move"
    if prefix and (tours[:, 0] != prefix[0]).any():
        return "a tour begins on another square"
    if (tours[:, : len(prefix)] != prefix).any():  # so the jobs of a start square have no tour in common
        return "a tour does not begin with the path of its job"
    if (are_closed(board, tours) != (part.holds == "closed")).any():
        return f"a tour is not {part.holds}"
    place = places(board, tours)
    if (are_structured(board, tours, place) != batch.structured).any():
        return "a tour is not as structured as its column says"
    if (symmetries(board, tours, place) != batch.symmetry).any():
        return "a tour has another symmetry than its column says"
    kept = {"structured": batch.structured, "symmetric": batch.symmetry}
    if run.config.only and not kept[run.config.only].all():
        return f"a tour is not {run.config.only}"
    return None


def _duplicates(run: Run, job: JobProgress, every: np.ndarray) -> list[str]:
    """Tours that occur twice. Equal hashes only point at them: the tours themselves are compared."""
    suspects = np.unique(every[1:][every[1:] == every[:-1]])
    if not len(suspects):
        return []
    place_of: dict[bytes, str] = {}
    damage = []
    for part in (part for result in records(run.storage, job) for part in result.tour_parts):
        for batch in run.read_part(part):
            for tour in batch.tours[np.isin(hashes(batch.tours), suspects)]:
                if tour.tobytes() in place_of:
                    damage.append(f"a tour occurs twice: {part.name} and {place_of[tour.tobytes()]}")
                place_of[tour.tobytes()] = part.name
    return damage


def _summary(run: Run, progress: list[JobProgress], verdict: Verdict) -> None:
    """The summary agrees with the records. A run that was killed may have none, or half of it, or an old one."""
    if run.manifest.epoch or (not verdict.complete and not any(run.storage.exists(name) for name in FILES)):
        return
    table = summary_table(run.config, progress)
    for name, encode in FILES.items():
        if not run.storage.exists(name):
            verdict.damage.append(f"missing: {name}")
        elif run.storage.read(name) != encode(table) and not _is_as_good(run, name, table, verdict.complete):
            verdict.damage.append(f"damaged, not the summary of the records: {name}")


def _is_as_good(run: Run, name: str, table: pa.Table, complete: bool) -> bool:
    """Whether a summary in other bytes is sound, too.

    Another version of pyarrow may write the same values in other bytes. In an unfinished run a late worker may have
    added a record to those that were summed up; then both files must still be the same, undamaged summary.
    """
    try:
        written = pq.read_table(
            pa.BufferReader(run.storage.read(layout.SUMMARY_PARQUET)), page_checksum_verification=True
        )
    except (OSError, Damaged, pa.ArrowException):
        return False
    if complete or written.schema != table.schema or written.num_rows != table.num_rows:
        other = run.manifest.versions.get("pyarrow") != pa.__version__
        return name == layout.SUMMARY_PARQUET and other and bool(written.equals(table))
    return all(run.storage.read(file) == encode(written) for file, encode in FILES.items())
