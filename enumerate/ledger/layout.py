"""Every file name of a run: names are made here, and parsed here, and nowhere else. docs/architecture.md lists them."""

from __future__ import annotations

import itertools
import re
import uuid
from typing import NamedTuple

from ..model.jobs import TIMES

RUN_FILES = "_run"  # what is not for readers of tours
MANIFEST = f"{RUN_FILES}/run.json"
PLAN = f"{RUN_FILES}/plan"
COMMITS = f"{RUN_FILES}/commits"
STAGING = f"{RUN_FILES}/staging"
LOCK = f"{RUN_FILES}/lock"
PULSE = f"{RUN_FILES}/pulse.json"  # of a coordinator at work
DISCARDING = f"{RUN_FILES}/discarding"  # a --fresh was begun: these files belong to no run any more
TOURS = "tours"
PART_FOLDERS = (TOURS, TIMES)
DISTINCT = "distinct"
DISTINCT_RECORD = f"{RUN_FILES}/distinct.json"
SUMMARY_PARQUET, SUMMARY_CSV, SUMMARY_JSON = "summary.parquet", "summary.csv", "summary.json"
README, TOURS_SQL = "README.md", "tours.sql"

_SEAL = 16  # digits of a checksum
_PROCESS = uuid.uuid4().hex[:12]  # processes of several machines may write to one folder
_staged = itertools.count()


class PartName(NamedTuple):
    holds: str
    start: str  # empty if its job has no start square
    job: int
    slice: int
    cut: int | None
    seal: str


def record_name(job: int, slice_: int, cut: int | None = None) -> str:
    """With where the budget cut the slice short, if it did: a larger budget finds other tours, under another name."""
    return f"{COMMITS}/{_slice_name(job, slice_, cut)}.json"


def parse_record_name(name: str) -> tuple[int, int, int | None] | None:
    """Job, slice and cut."""
    match = _RECORD.fullmatch(name)
    record = match and (int(match[1]), int(match[2]), int(match[3]) if match[3] else None)
    return record if record and record_name(*record) == name else None


def part_name(holds: str, start: str, job: int, slice_: int, cut: int | None, checksum: str) -> str:
    """Times are never the same twice: their names end with a seal, the beginning of their checksum."""
    folder, ending = (TIMES, f"-{checksum[:_SEAL]}") if holds == TIMES else (f"{TOURS}/variant={holds}", "")
    of_start = f"start={start}/" if start else ""
    return f"{folder}/{of_start}part-{_slice_name(job, slice_, cut)}{ending}.parquet"


def parse_part_name(name: str) -> PartName | None:
    match = _PART.fullmatch(name)
    if not match:
        return None
    cut = int(match[5]) if match[5] else None
    part = PartName(match[1] or TIMES, match[2] or "", int(match[3]), int(match[4]), cut, match[6] or "")
    return part if part_name(*part) == name else None


def start_of(name: str) -> str:
    """The start square that a part is named after; empty if its job has none."""
    part = parse_part_name(name)
    return part.start if part else ""


def distinct_name(variant: str, number: int) -> str:
    return f"{DISTINCT}/variant={variant}/part-{number:06d}.parquet"


def patterns(folder: str) -> dict[str, str]:
    """Where the files of a run are, for people."""
    return {
        TOURS: f"{folder}/{TOURS}/variant=…/start=…/part-*.parquet",
        TIMES: f"{folder}/{TIMES}/start=…/part-*.parquet",
        DISTINCT: f"{folder}/{DISTINCT}/variant=…/part-*.parquet",
        "summary": f"{folder}/{SUMMARY_PARQUET}, {SUMMARY_CSV} and {SUMMARY_JSON}",
    }


def staged_name(name: str) -> str:
    """A name that nobody else uses, for a file or folder that is being written."""
    return f"{STAGING}/{name.rsplit('/', 1)[-1]}.{_PROCESS}-{next(_staged)}.tmp"


def staged_pattern(name: str) -> str:
    """Matches every staged name of that file or folder."""
    return f"{STAGING}/{name.rsplit('/', 1)[-1]}.*.tmp"


def new_token() -> str:
    """A file that shows whether two machines see the same output; cleared with all other staged files."""
    return f"{STAGING}/node-{uuid.uuid4().hex[:12]}"


def _slice_name(job: int, slice_: int, cut: int | None) -> str:
    short = "" if cut is None else f"-to-{cut}"
    return f"{job:06d}-{slice_:04d}{short}"


_SLICE = r"(\d{6,})-(\d{4,})(?:-to-(\d+))?"
_RECORD = re.compile(rf"{COMMITS}/{_SLICE}\.json", re.ASCII)
_PART = re.compile(
    rf"(?:{TOURS}/variant=(open|closed)|{TIMES})(?:/start=([a-z]+[0-9]+))?/part-{_SLICE}(?:-([0-9a-f]{{{_SEAL}}}))?\.parquet",
    re.ASCII,
)
