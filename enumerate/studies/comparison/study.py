"""The whole study: make the runs, then the tables, the charts and one page that shows them beside published figures."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ...catalog.reader import Run
from ...ledger.storage import is_url, open_storage
from ...ledger.summary import encode_csv, encode_parquet
from ...model.errors import BadRequest, Stopped
from . import corners, first_tours, growth, one_by_one, scaling, success
from .compare import comparison
from .experiment import Experiment, Tables
from .page import page
from .perform import perform, place_of

COMPARISON = "comparison"


def experiments(largest: int) -> list[Experiment]:
    """All of them, with boards of up to `largest` x `largest`. Those whose times matter come first."""
    return [
        first_tours.experiment(),
        one_by_one.experiment(),
        scaling.experiment(largest),
        growth.experiment(),
        success.experiment(largest),
        corners.experiment(largest),
    ]


NAMES = tuple(experiment.name for experiment in experiments(8))


def chosen(names: str, largest: int) -> list[Experiment]:
    """The experiments of a list of names, or all of them."""
    words = [word.strip() for word in names.split(",") if word.strip()]
    for word in words:
        if word not in NAMES:
            raise BadRequest(f"experiments are {', '.join(NAMES)}: {word!r}")
    return [experiment for experiment in experiments(largest) if not words or experiment.name in words]


@dataclass
class Findings:
    """What came out, by the names of the tables; and which files were written."""

    tables: Tables = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


def study(
    folder: str,
    experiments_: list[Experiment],
    workers: int,
    advance: Callable[[str], object],
    stopping: Callable[[], bool] = lambda: False,
    fresh: bool = False,
) -> Findings:
    """Make the runs that are not there yet, and write everything anew that is made of them."""
    if is_url(folder):
        raise BadRequest(f"a study is made in a folder: {folder!r}")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"cannot write to the output: {folder!r} ({error.strerror})") from None
    with open_storage(folder).lock():
        perform(folder, experiments_, workers, advance, stopping, fresh)
        return _write_findings(folder, experiments_)


def _write_findings(folder: str, experiments_: list[Experiment]) -> Findings:
    findings = Findings()
    for experiment in experiments_:
        tables = experiment.tabulate(_runs(folder, experiment))
        findings.tables |= tables
        for name, table in tables.items():
            _write_table(folder, name, table, findings)
        _write(folder, f"{experiment.name}.svg", experiment.draw(tables).encode(), findings)
    findings.tables[COMPARISON] = comparison(findings.tables)
    _write_table(folder, COMPARISON, findings.tables[COMPARISON], findings)
    _write(folder, "study.md", page(experiments_, findings.tables).encode(), findings)
    return findings


def _runs(folder: str, experiment: Experiment) -> dict[str, Run]:
    return {trial.name: Run(place_of(folder, experiment, trial.name)) for trial in experiment.trials}


def _write_table(folder: str, name: str, table: pa.Table, findings: Findings) -> None:
    _write(folder, f"{name}.csv", encode_csv(table), findings)
    _write(folder, f"{name}.parquet", encode_parquet(table), findings)


def _write(folder: str, name: str, data: bytes, findings: Findings) -> None:
    path = Path(folder, name)
    staged = path.with_name(f".{name}.new")
    try:
        staged.write_bytes(data)
        os.replace(staged, path)
    except OSError as error:
        staged.unlink(missing_ok=True)
        raise Stopped(
            f"cannot write {str(path)!r} ({error.strerror}); the runs are kept, the same command continues"
        ) from None
    findings.files.append(str(path))
