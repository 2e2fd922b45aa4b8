"""`_run/run.json`: what a run is, so that another call can continue it and a reader can understand it."""

from __future__ import annotations

import importlib.metadata
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from . import __version__
from .config import Config
from .errors import BadRequest, Damaged
from .sealed import seal, unseal
from .storage import Storage

NAME = "_run/run.json"
DISTRIBUTION = "knights-tour-enumerator"
_VERSION_KEYS = ("format", "search")


@dataclass(frozen=True)
class Manifest:
    """The content of run.json."""

    identity: dict[str, str | int | float | bool]
    max: int
    tours: int
    created: str
    versions: dict[str, str]

    def config(self, folder: Path) -> Config:
        """The config of the last call that had work to do."""
        values = {key: value for key, value in self.identity.items() if key not in _VERSION_KEYS}
        return Config.from_values({**values, "max": self.max, "tours": self.tours, "output": str(folder)})

    def refuse_other(self, config: Config) -> None:
        """A run is continued only by a config of the same identity."""
        other = config.identity
        if any(self.identity.get(key) != other[key] for key in _VERSION_KEYS):
            raise BadRequest(
                f"the run in {str(config.folder)!r} was made by another version of this program,"
                f" {self.versions.get(DISTRIBUTION)}; choose another --output, or --fresh"
            )
        keys = [key for key in other if self.identity.get(key) != other[key]]
        if keys:
            differing = ", ".join(f"{key} {self.identity.get(key)} there, {other[key]} asked for" for key in keys)
            raise BadRequest(
                f"another run is in {str(config.folder)!r}: {differing}; choose another --output, or --fresh"
            )


def write_manifest(storage: Storage, config: Config, before: Manifest | None) -> None:
    """Make run.json, create-only, or put a new budget and the versions at work into the one that was there before."""
    data = seal(
        {
            "identity": config.identity,
            "budget": {"max": config.max, "tours": config.tours},
            "created": before.created if before else datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": _versions(),
        }
    )
    if before:
        storage.replace(NAME, data)
    else:
        storage.create(NAME, data)


def read_manifest(storage: Storage) -> Manifest:
    document = unseal(storage.read(NAME), str(storage.path(NAME)))
    try:
        budget = document["budget"]
        return Manifest(
            document["identity"], budget["max"], budget["tours"], document["created"], document["versions"]
        )  # fmt: skip
    except (KeyError, TypeError):
        raise Damaged(f"damaged, not a run.json of this version: {storage.path(NAME)}") from None


def _versions() -> dict[str, str]:
    packages = {name: importlib.metadata.version(name) for name in ("numba", "numpy", "pyarrow")}
    return {DISTRIBUTION: __version__, "python": platform.python_version(), **packages}
