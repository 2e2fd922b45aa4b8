"""A run opened by a coordinator: locked, so that nobody else can change it, then checked to be the requested run.

What is asked of `run.json` is answered here, from one look at it. Nothing but the lock is written before that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from ..ledger import layout
from ..ledger.guide import write_guide
from ..ledger.manifest import Manifest, create_manifest, read_manifest, refuse_other_epoch, replace_manifest, write_plan
from ..ledger.records import JobProgress, extent_of
from ..ledger.storage import Folder, Storage, open_storage
from ..ledger.summary import FILES
from ..model.config import Config
from ..model.errors import BadRequest, Damaged, Locked
from ..model.jobs import Job
from ..model.settings import SPLIT_AUTO
from ..plan.plan import needs_estimates
from ..search.strategy import can_split, settled
from .tidying import check_parts, tidied

CONCLUDING = "concluding"  # the epoch of a coordinator that tidies up at its end


@dataclass
class Held:
    """A run that nobody else can change now. Nothing but its lock is written yet."""

    storage: Storage
    config: Config  # as this call asks for it
    manifest: Manifest | None = None  # None of a run that begins
    before: Config | None = None  # as the run was asked for before


@dataclass
class Opened:
    """A run opened by its coordinator, and the progress of its jobs."""

    storage: Storage
    manifest: Manifest
    before: Config  # as the run was asked for before this call, or by it if it began the run
    progress: list[JobProgress]

    def begin_epoch(self, config: Config) -> str:
        """From now on the workers of this call may write. A new run begins with that."""
        if self.manifest.epoch in ("", CONCLUDING):
            self._replace(self.manifest.of_call(config))
        return self.manifest.epoch

    def begin_conclusion(self) -> None:
        """From now on no worker may write, also none out of reach."""
        self.storage.check_lock()
        # A coordinator that was suspended must not end the epoch of another.
        refuse_other_epoch(self.storage, self.manifest.epoch)
        self._replace(replace(self.manifest, epoch=CONCLUDING))

    def conclude(self, progress: Sequence[JobProgress]) -> None:
        self._replace(replace(self.manifest, epoch="", concluded=extent_of(progress)))

    def _replace(self, manifest: Manifest) -> None:
        self.manifest = manifest
        replace_manifest(self.storage, manifest)


@contextmanager
def held(config: Config, fresh: bool) -> Iterator[Held]:
    """Hold the run of a config, and know it: what it was asked for before decides what the config leaves open."""
    storage = open_storage(config.output)
    with ExitStack() as stack:
        with _refused_by_storage(storage.output):
            _refuse_foreign(storage, fresh)
            try:
                stack.enter_context(storage.lock())
            except Locked:
                with suppress(Damaged):  # it may be starting over just now
                    _recognise(storage, config, fresh)  # another run is another run, at work or not
                raise
            held_ = _recognise(storage, config, fresh)
        yield held_


def _recognise(storage: Storage, config: Config, fresh: bool) -> Held:
    """What is asked for, what is there, and what that was asked for before. Another run is refused."""
    if fresh or not storage.exists(layout.MANIFEST):
        return Held(storage, settled(config))
    manifest = read_manifest(storage)
    manifest.refuse_other_search(config.output)
    before = manifest.config(config.output)
    if config.split == SPLIT_AUTO and can_split(config) and can_split(before):
        config = replace(config, split=before.split)
    manifest.refuse_other(settled(config))
    return Held(storage, settled(config), manifest, before)


def opened(
    run_: Held, plan: Sequence[Job], fresh: bool, check: str, notice: Callable[[str], None], repair: bool = False
) -> Opened:
    """Begin a new run, or tidy up and check the one that is there. `repair`: slices without a record are made again."""
    storage, config = run_.storage, run_.config
    with _refused_by_storage(storage.output):
        manifest, before = run_.manifest, run_.before
        if fresh or storage.exists(layout.DISCARDING):
            manifest, before = _start_over(storage, config, plan), config
        elif manifest is None or before is None:
            manifest, before = _begin(storage, config, plan), config
        elif manifest.epoch:  # its coordinator was lost: a worker it left must not record what is tidied away now
            manifest = replace(manifest, epoch=CONCLUDING)
            replace_manifest(storage, manifest)
        _keep_plan(storage, config, plan)
        progress = tidied(storage, plan, None if repair else manifest.concluded, notice)
        check_parts(storage, progress, check, notice)
    return Opened(storage, manifest, before, progress)


@contextmanager
def _refused_by_storage(output: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadRequest(f"cannot write to the output: {output!r} ({reason}); choose another --output") from None


def _refuse_foreign(storage: Storage, fresh: bool) -> None:
    """What is there and not a run stays as it is: not even a lock is put beside it."""
    if isinstance(storage, Folder) and storage.root.exists() and not storage.root.is_dir():
        raise BadRequest(f"the output folder is a file: {storage.output!r}; choose another --output")
    if storage.exists(layout.MANIFEST) or storage.exists(layout.DISCARDING):  # or what a --fresh has yet to remove
        return
    if any(True for _ in storage.entries(layout.COMMITS)) and not fresh:
        raise Damaged(f"missing, though there are commit records: {storage.where(layout.MANIFEST)}")
    if _has_other_files(storage):
        raise BadRequest(f"the output folder is not empty and not a run: {storage.output!r}; choose another --output")


def _has_other_files(storage: Storage) -> bool:
    if isinstance(storage, Folder):  # empty folders count too, and nothing needs to be walked through
        return storage.root.exists() and any(entry.name != layout.RUN_FILES for entry in storage.root.iterdir())
    return any(not name.startswith(f"{layout.RUN_FILES}/") for name, _ in storage.entries("."))


def _begin(storage: Storage, config: Config, plan: Sequence[Job]) -> Manifest:
    """The plan first, for run.json begins a run. One that is there already is of a call that came no further."""
    storage.remove([layout.PLAN])
    _keep_plan(storage, config, plan)
    manifest = create_manifest(storage, config)
    write_guide(storage, config)
    return manifest


def _keep_plan(storage: Storage, config: Config, plan: Sequence[Job]) -> None:
    """Write down a plan that took estimates, so that nobody makes them again; also if it was removed."""
    if needs_estimates(config) and not storage.exists(layout.PLAN):
        write_plan(storage, plan)


def _start_over(storage: Storage, config: Config, plan: Sequence[Job]) -> Manifest:
    """Make a new run. A mark is set first and removed last: if this is interrupted, the next call does it again.

    run.json goes before all else: without it no worker of the old run can write.
    """
    storage.replace(layout.DISCARDING, b"")
    storage.remove([layout.MANIFEST, layout.DISTINCT_RECORD])
    for folder in (layout.COMMITS, *layout.PART_FOLDERS, layout.DISTINCT, layout.STAGING):
        storage.remove([name for name, _ in storage.entries(folder)])
    storage.remove([*FILES, layout.README, layout.TOURS_SQL, layout.PULSE])
    manifest = _begin(storage, config, plan)
    storage.remove([layout.DISCARDING])
    return manifest
