"""The sealed documents of a run, except its records: run.json, the plan, and the record of distinct tours.

`_run/run.json` says what a run is, so that another call can continue it and a reader can understand it. All JSON files
of a run are sealed: a document contains its own checksum, and only its exact bytes are accepted.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from .. import __version__
from ..model.config import FORMAT_VERSION, SEARCH_VERSION, Config
from ..model.errors import BadRequest, Damaged, Stopped
from ..model.jobs import TIMES, Job, Part
from ..search.strategy import identity_of, resolve
from .layout import DISTINCT_RECORD, MANIFEST, PLAN
from .storage import Storage

DISTRIBUTION = "knights-tour-enumerator"
_SEAL = "sha256"


@dataclass(frozen=True)
class Extent:
    """How much a run has."""

    records: int = 0
    parts: int = 0
    bytes: int = 0  # of the parts


@dataclass(frozen=True)
class Manifest:
    id: str  # another one after --fresh
    identity: dict[str, str | int | float | bool]
    created: str
    budget: dict[str, int]  # --max and --tours
    versions: dict[str, str]
    epoch: str = ""  # whose workers may write now; empty after a coordinator has ended in order
    concluded: Extent = Extent()  # what there was when a coordinator ended in order: less is damage

    def config(self, output: str) -> Config:
        """The config of the last call that had work to do."""
        values = {key: value for key, value in self.identity.items() if key not in ("format", "search")}
        return resolve({**values, **self.budget, "output": output})

    def refuse_other_search(self, output: str) -> None:
        """What another search has begun can be read, and not continued."""
        if self.identity["search"] != SEARCH_VERSION:
            raise BadRequest(
                f"the run in {output!r} was made by another version of this program,"
                f" {self.versions.get(DISTRIBUTION)}; choose another --output, or --fresh"
            )

    def refuse_other(self, config: Config) -> None:
        """A run is continued only by a config of the same identity."""
        other = identity_of(config)
        keys = [key for key in {**other, **self.identity} if self.identity.get(key) != other.get(key)]
        if keys:
            rows: list[tuple[str, ...]] = [("setting", "there", "asked for")]
            rows += [(key, *(_shown(each.get(key, "its default")) for each in (self.identity, other))) for key in keys]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
            head = f"another run is in {config.output!r}; choose another --output, or --fresh"
            raise BadRequest("\n".join([head, *lines]))

    def of_call(self, config: Config) -> Manifest:
        """The same run with the budget and the versions of another call, and an epoch of its own.

        An epoch is a token for the workers of one coordinator, which also shows whose run they work on.
        """
        budget, epoch = {"max": config.max, "tours": config.tours}, f"{self.id}-{uuid.uuid4().hex}"
        versions = {DISTRIBUTION: __version__, "python": platform.python_version(), **package_versions()}
        return replace(self, budget=budget, versions=versions, epoch=epoch)

    def has_begun(self, epoch: str) -> bool:
        """Whether an epoch is or was one of this run."""
        return epoch.startswith(f"{self.id}-")


def _shown(value: object) -> str:
    """A setting in a table: an empty one is said, too."""
    return str(value).lower() if isinstance(value, bool) else str(value) or "-"


def create_manifest(storage: Storage, config: Config) -> Manifest:
    created = datetime.now(UTC).isoformat(timespec="seconds")
    manifest = Manifest(uuid.uuid4().hex, identity_of(config), created, budget={}, versions={}).of_call(config)
    storage.create(MANIFEST, seal(asdict(manifest)))
    return manifest


def replace_manifest(storage: Storage, manifest: Manifest) -> None:
    storage.replace(MANIFEST, seal(asdict(manifest)))


def read_manifest(storage: Storage) -> Manifest:
    document = unseal(storage.read(MANIFEST), storage.where(MANIFEST))
    try:
        made_by = document["identity"]["format"]
        if made_by != FORMAT_VERSION:
            when = "an earlier version; search again" if made_by < FORMAT_VERSION else "a later version of this program"
            raise BadRequest(f"the run in {storage.output!r} was made by {when}")
        return Manifest(**{**document, "concluded": Extent(**document["concluded"])})
    except (KeyError, TypeError):
        raise Damaged(f"damaged, not a run.json of this version: {storage.where(MANIFEST)}") from None


def refuse_other_epoch(storage: Storage, epoch: str) -> None:
    """A worker that lost touch with its coordinator must not write into a run that another one continues."""
    now = find_manifest(storage)
    if now is None:
        raise Stopped(f"this run was removed: {storage.output!r}")
    if now.epoch != epoch:
        raise Stopped(f"this run was stopped or continued by another coordinator: {storage.output!r}")


def find_manifest(storage: Storage) -> Manifest | None:
    """run.json, or None if it is not there any more."""
    try:
        return read_manifest(storage)
    except Damaged:
        return None


def package_versions() -> dict[str, str]:
    """The packages that decide which tours are found, and in which bytes they are written."""
    return {name: importlib.metadata.version(name) for name in ("numba", "numpy", "pyarrow")}


def seal(document: dict[str, Any]) -> bytes:
    return _line({**document, _SEAL: hashlib.sha256(_line(document)).hexdigest()})


def unseal(data: bytes, name: str) -> dict[str, Any]:
    """The document of a sealed file; `name` is for the error."""
    try:
        document = json.loads(data)
        document.pop(_SEAL)
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise Damaged(f"damaged, not a sealed JSON document: {name}") from None
    if seal(document) != data:
        raise Damaged(f"damaged, its checksum does not match: {name}")
    return dict(document)


def _line(value: Any) -> bytes:
    return (json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n").encode()


# ---------------------------------------------------------------------------------------------------------------------
# The plan: the jobs of a run whose plan took estimates, so that nobody needs to make these again. There may be millions
# of jobs, so it is a JSON document for each line: their number, then each in its order, then the checksum of all that.


def write_plan(storage: Storage, plan: Sequence[Job]) -> None:
    jobs = ([job.prefix, job.multiplicity, job.infeasible, job.nth, job.of] for job in plan)
    body = b"".join(map(_line, [{"jobs": len(plan)}, *jobs]))
    storage.replace(PLAN, body + _last_line(body))


def read_plan(storage: Storage) -> tuple[Job, ...]:
    data = storage.read(PLAN)
    *lines, last = data.splitlines(keepends=True) or [b""]
    if _last_line(memoryview(data)[: len(data) - len(last)]) != last:
        raise _damaged(storage, "its checksum does not match")
    try:
        first, *jobs = lines
        count = json.loads(first)["jobs"]
        plan = tuple(Job(n, tuple(prefix), *values) for n, (prefix, *values) in enumerate(map(json.loads, jobs)))
    except (ValueError, TypeError, KeyError):
        raise _damaged(storage, "not a plan of this version") from None
    if len(plan) != count:
        raise _damaged(storage, f"{len(plan):,} jobs instead of {count:,}")
    return plan


def _damaged(storage: Storage, why: str) -> Damaged:
    return Damaged(f"damaged, {why}: {storage.where(PLAN)}; remove it, and the command of the run makes it again")


def _last_line(body: bytes | memoryview) -> bytes:
    return _line({_SEAL: hashlib.sha256(body).hexdigest()})


# ---------------------------------------------------------------------------------------------------------------------
# The record of distinct tours.


@dataclass
class Classes:
    """The classes of open or of closed tours that a run has found; filled in as they are found."""

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
    """Differs between two states of a run: made of the names and checksums of its tours."""
    lines = sorted(f"{part.name} {part.sha256}\n" for part in parts if part.holds != TIMES)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def record_distinct(storage: Storage, distinct: Distinct) -> None:
    storage.replace(DISTINCT_RECORD, seal(asdict(distinct)))


def find_distinct(storage: Storage) -> Distinct | None:
    if not storage.exists(DISTINCT_RECORD):
        return None
    where = storage.where(DISTINCT_RECORD)
    document = unseal(storage.read(DISTINCT_RECORD), where)
    try:
        found = [{**each, "parts": tuple(Part(**part) for part in each["parts"])} for each in document["variants"]]
        return Distinct(document["made_from"], tuple(Classes(**each) for each in found))
    except (KeyError, TypeError):
        raise Damaged(f"damaged, not a record of distinct tours of this version: {where}") from None
