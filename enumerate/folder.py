"""The folder of a run, opened by a coordinator: locked, known to be this run, mended after a kill, and checked."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from .config import Config, usable_cores
from .errors import BadRequest, Damaged
from .jobs import Job
from .ledger import COMMITS, JobProgress, check_part, committed_jobs, recover
from .manifest import NAME, Manifest, read_manifest, write_manifest
from .storage import STAGING, Storage
from .summary import remove_summary

_DISCARDED = "_run/discarded"


@contextmanager
def opened(
    config: Config, plan: Sequence[Job], fresh: bool, notice: Callable[[str], None]
) -> Iterator[tuple[Storage, Manifest, list[JobProgress]]]:
    """The files of a run, its manifest, and where its jobs stand. Nothing is written if the request is refused."""
    storage = Storage(config.folder)
    with ExitStack() as stack:
        try:
            _refuse_unsuitable(storage, config, fresh)
            stack.enter_context(storage.lock())
            _refuse_unsuitable(storage, config, fresh)  # once more: now nobody else can change it
            shutil.rmtree(storage.path(_DISCARDED), ignore_errors=True)  # a --fresh that was killed
            if fresh:
                _discard(storage)
            if not storage.exists(NAME):
                write_manifest(storage, config, None)
            manifest, progress = read_manifest(storage), standing(storage, plan, notice)
        except OSError as error:
            reason = error.strerror or str(error)
            raise BadRequest(
                f"cannot write to the output folder: {str(storage.root)!r} ({reason}); choose another --output"
            ) from None
        yield storage, manifest, progress


def standing(storage: Storage, plan: Sequence[Job], notice: Callable[[str], None]) -> list[JobProgress]:
    """Where the jobs of a run stand, after everything it has on disk was checked."""
    progress = committed(storage, plan)
    parts = [part for job in progress for result in job.results for part in result.parts]
    removed = remove_unrecorded(storage, progress)
    if removed:
        notice(f"removed {removed:,} unrecorded parts of a killed run; their slices are searched again")
    if parts:
        notice(f"checking {len(parts):,} parts of the run so far")
        with ThreadPoolExecutor(usable_cores()) as pool:
            for _ in pool.map(lambda part: check_part(storage, part), parts):
                pass
    return progress


def committed(storage: Storage, plan: Sequence[Job]) -> list[JobProgress]:
    """Where the jobs of a run stand by its records, after what a killed worker had staged is finished."""
    recover(storage)
    return committed_jobs(plan, storage)


def _refuse_unsuitable(storage: Storage, config: Config, fresh: bool) -> None:
    root = storage.root
    if root.exists() and not root.is_dir():
        raise BadRequest(f"the output folder is a file: {str(root)!r}; choose another --output")
    if storage.exists(NAME):
        if not fresh:
            read_manifest(storage).refuse_other(config)
    elif storage.exists(COMMITS) and not fresh:
        raise Damaged(f"missing, though the folder has commit records: {storage.path(NAME)}")
    elif root.exists() and any(entry.name != "_run" for entry in root.iterdir()):
        raise BadRequest(f"the output folder is not empty and not a run: {str(root)!r}; choose another --output")


def _discard(storage: Storage) -> None:
    """Start over. The records go first, at once: what is left without them is not part of any run."""
    if storage.exists(COMMITS):
        storage.path(COMMITS).rename(storage.path(_DISCARDED))
    for name in (_DISCARDED, "tours", STAGING):
        shutil.rmtree(storage.path(name), ignore_errors=True)
    remove_summary(storage)
    storage.remove(NAME)


def remove_unrecorded(storage: Storage, progress: Sequence[JobProgress]) -> int:
    """Remove parts that a worker published and was ended before it could record them; their slices are done again."""
    recorded = {part.name for job in progress for result in job.results for part in result.parts}
    left = [name for name in storage.names("tours") if name.endswith(".parquet") and name not in recorded]
    for name in left:
        storage.remove(name)
    return len(left)
