"""`_run/run.json`: what a run is, so that another call can continue it and a reader can understand it.

It is sealed, as all JSON files of a run are: a document carries the checksum of itself, so that damage is noticed, and
only its exact bytes are accepted.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import uuid
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from .. import __version__
from ..model.config import FORMAT_VERSION, SEARCH_VERSION, Config
from ..model.errors import BadRequest, Damaged, Stopped
from ..search.strategy import identity_of, resolve
from .layout import MANIFEST
from .storage import Storage

DISTRIBUTION = "knights-tour-enumerator"
CONCLUDING = "concluding"  # the epoch of a coordinator that tidies up at its end
_VERSIONS = {"format": FORMAT_VERSION, "search": SEARCH_VERSION}
_SEAL = "sha256"


@dataclass(frozen=True)
class Manifest:
    """The content of run.json."""

    id: str  # another one after --fresh
    identity: dict[str, str | int | float | bool]
    max: int
    tours: int
    created: str
    versions: dict[str, str]
    epoch: str  # whose workers may write now; empty after a coordinator has ended in order

    def config(self, output: str) -> Config:
        """The config of the last call that had work to do."""
        values = {key: value for key, value in self.identity.items() if key not in _VERSIONS}
        return resolve({**values, "max": self.max, "tours": self.tours, "output": output})

    def refuse_other_version(self, output: str) -> None:
        """What another version has written is not read as if it were ours."""
        if any(self.identity.get(key) != ours for key, ours in _VERSIONS.items()):
            raise BadRequest(
                f"the run in {output!r} was made by another version of this program,"
                f" {self.versions.get(DISTRIBUTION)}; choose another --output, or --fresh"
            )

    def refuse_other(self, config: Config) -> None:
        """A run is continued only by a config of the same identity."""
        other = identity_of(config)
        keys = [key for key in other if self.identity.get(key) != other[key]]
        if keys:
            differing = ", ".join(f"{key} {self.identity.get(key)} there, {other[key]} asked for" for key in keys)
            raise BadRequest(f"another run is in {config.output!r}: {differing}; choose another --output, or --fresh")

    def of_call(self, config: Config, epoch: str) -> Manifest:
        """The same run with the budget, the epoch and the versions of another call."""
        return replace(self, max=config.max, tours=config.tours, versions=_versions(), epoch=epoch)

    def new_epoch(self) -> str:
        """A token for the workers of one coordinator, which also tells whose run they work on."""
        return f"{self.id}-{uuid.uuid4().hex}"


def create_manifest(storage: Storage, config: Config) -> Manifest:
    """Begin a run, with the epoch of the coordinator that begins it."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    manifest = Manifest(uuid.uuid4().hex, identity_of(config), config.max, config.tours, created, _versions(), "")
    manifest = replace(manifest, epoch=manifest.new_epoch())
    storage.create(MANIFEST, _sealed(manifest))
    return manifest


def replace_manifest(storage: Storage, manifest: Manifest) -> None:
    storage.replace(MANIFEST, _sealed(manifest))


def _sealed(manifest: Manifest) -> bytes:
    document = asdict(manifest)
    document["shift"] = document.pop("epoch")  # the key of format 4
    document["budget"] = {name: document.pop(name) for name in ("max", "tours")}
    return seal(document)


def read_manifest(storage: Storage) -> Manifest:
    document = unseal(storage.read(MANIFEST), storage.where(MANIFEST))
    try:
        budget = document["budget"]
        return Manifest(
            id=document.get("id", ""),
            identity=document["identity"],
            max=budget["max"],
            tours=budget["tours"],
            created=document["created"],
            versions=document["versions"],
            epoch=document.get("shift", ""),  # like the id: runs of earlier versions can be read to be refused
        )
    except (KeyError, TypeError):
        raise Damaged(f"damaged, not a run.json of this version: {storage.where(MANIFEST)}") from None


def is_of_run(epoch: str, manifest: Manifest) -> bool:
    return epoch.startswith(f"{manifest.id}-")


def refuse_other_epoch(storage: Storage, epoch: str) -> None:
    """A worker that lost touch with its coordinator must not write into what another one has gone on with."""
    now = find_manifest(storage)
    if now is None:
        raise Stopped(f"this run was taken away: {storage.output!r}")
    if now.epoch != epoch:
        raise Stopped(f"this run was stopped or continued by another coordinator: {storage.output!r}")


def find_manifest(storage: Storage) -> Manifest | None:
    """run.json, or None if it is not there any more."""
    try:
        return read_manifest(storage)
    except Damaged:
        return None


def _versions() -> dict[str, str]:
    return {DISTRIBUTION: __version__, "python": platform.python_version(), **package_versions()}


def package_versions() -> dict[str, str]:
    """Of what decides which tours are found, and in which bytes they are written."""
    return {name: importlib.metadata.version(name) for name in ("numba", "numpy", "pyarrow")}


def seal(document: dict[str, Any]) -> bytes:
    """The document as JSON with its checksum in it."""
    return _text({**document, _SEAL: hashlib.sha256(_text(document)).hexdigest()})


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


def _text(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n").encode()
