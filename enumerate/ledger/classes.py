"""`_run/distinct.json`: what the distinct tours of a run are, in which parts, and of which tours they were made.

They count only while this record names them. It is removed before they are replaced, and written after.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from ..model.errors import Damaged
from ..model.jobs import TIMES, Part
from .layout import DISTINCT_RECORD
from .sealed import seal, unseal
from .storage import Storage


@dataclass(frozen=True)
class Classes:
    """The classes of open or of closed tours that a run has found."""

    variant: str
    classes: int = 0
    multiplicity: int = 0  # undirected tours in them, found or not
    found: int = 0  # tours of the run in them
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Distinct:
    """The content of distinct.json."""

    made_from: str
    variants: tuple[Classes, ...]

    @property
    def parts(self) -> list[Part]:
        return [part for classes in self.variants for part in classes.parts]


def fingerprint(parts: Iterable[Part]) -> str:
    """What tells two states of a run apart: the names and checksums of its tours."""
    lines = sorted(f"{part.name} {part.sha256}\n" for part in parts if part.kind != TIMES)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def write_record(storage: Storage, distinct: Distinct) -> None:
    storage.replace(DISTINCT_RECORD, seal(asdict(distinct)))


def find_record(storage: Storage) -> Distinct | None:
    """The record, or None if there are no distinct tours."""
    if not storage.exists(DISTINCT_RECORD):
        return None
    document = unseal(storage.read(DISTINCT_RECORD), storage.where(DISTINCT_RECORD))
    try:
        variants = tuple(
            Classes(**{**each, "parts": tuple(Part(**part) for part in each["parts"])})
            for each in document.pop("variants")
        )
        return Distinct(**document, variants=variants)
    except (KeyError, TypeError):
        raise Damaged(
            f"damaged, not a record of distinct tours of this version: {storage.where(DISTINCT_RECORD)}"
        ) from None
