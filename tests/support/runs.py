"""Whole runs in this process, and what they have written as plain data."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.ledger.layout import LOCK
from enumerate.ledger.storage import is_url, open_storage
from enumerate.run.coordinator import run

from .searches import config_for


class Silent:
    """An observer that keeps what it was told."""

    def __init__(self):
        self.notices, self.events = [], []

    def notice(self, text):
        self.notices.append(text)

    def begin(self, config, progress, slots):
        pass

    def event(self, event):
        self.events.append(event)

    def end(self):
        pass


def run_serially(config, **options):
    """A whole run in this process."""
    return run(config, Silent(), **options)


def small(folder, **values):
    """A run of 8x8 with several slices for each start square, and some of both variants."""
    defaults = {"variant": "both", "start": "a1,c2,d4", "max": 3_000, "slice_iterations": 1_000, "slice_tours": 150}
    return config_for((8, 8), output=str(folder), **{**defaults, **values})


def part_sums(place) -> dict[str, str]:
    """Every file below tours/, by name, with its checksum."""
    if is_url(str(place)):
        return {
            name.removeprefix("tours/"): hashlib.sha256(data).hexdigest()
            for name, data in sorted(run_files(place).items())
            if name.startswith("tours/")
        }
    tours = Path(place) / "tours"
    return {
        str(path.relative_to(tours)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(tours.rglob("*"))
        if path.is_file()
    }


def run_files(place) -> dict[str, bytes]:
    """Every file of a run, by name, with its content; the lock aside."""
    storage = open_storage(str(place))
    return {name: storage.read(name) for name, _ in storage.entries(".") if name != LOCK}


def rows_of(place):
    """Every tour of a run, as another program reads it."""
    return duckdb.sql(
        f"select variant, start, tour from '{place}/tours/**/*.parquet' order by variant, start, tour"
    ).fetchall()


def commits(folder):
    return list((folder / "_run" / "commits").glob("*.json")) if (folder / "_run" / "commits").exists() else []


def damage(folder):
    return verify(Run(folder)).damage
