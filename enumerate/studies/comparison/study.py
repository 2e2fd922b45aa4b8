"""The study: make the runs, then the tables, the charts and one page with published figures beside them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import pyarrow as pa

from ...catalog.reader import Run
from ...executors.events import Executor, Finished, Quarantined, Started, trouble
from ...executors.make import make_executor
from ...ledger.layout import MANIFEST, STAGING
from ...ledger.storage import Storage, is_url, open_storage, stopped_by_storage
from ...ledger.summary import encode_csv, encode_parquet
from ...model.config import Config
from ...model.errors import BadRequest, EnumerateError, Stopped
from ...run.coordinator import run
from ...run.handshake import Handshake
from ...view.progress import Quiet
from ...view.terminal import cell
from .experiments import Experiment, experiments
from .published import Tables, comparison

RUNS = "runs"
SHOWN_ROWS = 40  # of each table on the page

_FOREWORD = """# How the strategies compare

Made by `python -m enumerate study` from the runs in `runs/`; `verify` checks them. Times are those of the search, from
a cursor to the tour, on the machine that made it. The published figures come from descriptions of five programs, A to
E."""

NAMES = tuple(experiment.name for experiment in experiments(8))


def chosen(names: str, largest: int) -> list[Experiment]:
    words = [word.strip() for word in names.split(",") if word.strip()]
    for word in words:
        if word not in NAMES:
            raise BadRequest(f"experiments must be among {', '.join(NAMES)}, got {word!r}")
    return [experiment for experiment in experiments(largest) if not words or experiment.name in words]


def study(
    folder: str,
    experiments_: list[Experiment],
    config: Config,
    advance: Callable[[str], object],
    notice: Callable[[str], object] = lambda _: None,
    stopping: Callable[[], bool] = lambda: False,
    fresh: bool = False,
) -> tuple[pa.Table, int]:
    """Make the missing runs, then rewrite all tables, charts and the page. Returns the comparison and how many files.

    `advance` is called after each run, `notice` when a worker is lost. Timed experiments come first, one run at a time:
    they have the machine, or the cluster, to themselves. `config` says who works.
    """
    if is_url(folder):
        raise BadRequest(f"the output of a study must be a folder, got {folder!r}")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"cannot write to the output: {folder!r} ({error.strerror})") from None
    storage, shared = open_storage(folder), os.path.abspath(folder)  # other machines have other current folders
    if storage.exists(MANIFEST):
        raise BadRequest(f"output must be a folder of its own, and this is a run: {folder!r}")
    with storage.lock():
        with closing(make_executor(config, Handshake(shared))) as executor:
            for timed in (True, False):
                group = [each for each in experiments_ if each.timed == timed]
                tasks = [_task(shared, each, name) for each in group for name in each.trials]
                _make_runs(executor, tasks, 1 if timed else len(tasks), advance, notice, stopping, fresh)
        storage.remove([name for name, _ in storage.entries(STAGING)])  # of the handshake
        with stopped_by_storage(folder):
            return _write_findings(storage, experiments_)


@dataclass(frozen=True)
class RunTask:
    """One whole run, in a folder of its own where the same call finds it again."""

    key: str  # the folder
    label: str
    config: Config


def make_run(fresh: bool, task: RunTask) -> None:
    """On a worker. A run that is complete already is left alone."""
    try:
        run(task.config, Quiet(), fresh=fresh)
    except EnumerateError as error:
        raise type(error)(f"{error} (in the run {task.config.output!r})") from None


def _make_runs(
    executor: Executor,
    tasks: Sequence[RunTask],
    at_once: int,
    advance: Callable[[str], object],
    notice: Callable[[str], object],
    stopping: Callable[[], bool],
    fresh: bool,
) -> None:
    waiting = iter(tasks)
    queue = deque(islice(waiting, at_once))
    with closing(executor.run(partial(make_run, fresh), queue, stopping)) as events:
        for event in events:
            if isinstance(event, Finished):
                queue.extend(islice(waiting, 1))
                advance(event.task.label)
            elif isinstance(event, Quarantined):
                reason = event.reason.splitlines()[0]
                raise EnumerateError(f"the run {event.task.label} failed again and again: {reason}")
            elif not isinstance(event, Started):
                notice(trouble(event))
    if stopping():
        raise Stopped("stopped; every finished run is kept, and the same command continues")


def _task(folder: str, experiment: Experiment, name: str) -> RunTask:
    output = os.path.join(folder, RUNS, experiment.name, name)
    return RunTask(output, f"{experiment.name}/{name}", replace(experiment.trials[name], output=output))


def _write_findings(storage: Storage, experiments_: list[Experiment]) -> tuple[pa.Table, int]:
    found, files = Tables(), dict[str, bytes]()
    for experiment in experiments_:
        runs = {name: Run(os.path.join(storage.output, RUNS, experiment.name, name)) for name in experiment.trials}
        found |= experiment.tables(runs)
        files[f"{experiment.name}.svg"] = experiment.draw(found[experiment.name]).encode()
    compared = comparison(found)
    tables = {name: pa.Table.from_pylist(rows) for name, rows in found.items()} | {"comparison": compared}
    files["study.md"] = _page(experiments_, tables).encode()
    for name, table in tables.items():
        files |= {f"{name}.csv": encode_csv(table), f"{name}.parquet": encode_parquet(table)}
    for name, data in files.items():
        storage.replace(name, data)
    return compared, len(files)


def _page(experiments_: list[Experiment], tables: dict[str, pa.Table]) -> str:
    """Markdown: each experiment with its chart and its tables."""
    sections = [_FOREWORD, "## Beside published figures", _table_text(tables["comparison"])]
    for experiment in experiments_:
        sections += [f"## {experiment.title}", f"![{experiment.title}]({experiment.name}.svg)"]
        for name, table in tables.items():
            if name in (experiment.name, f"{experiment.name}-totals"):
                sections += [f"`{name}.csv`, `{name}.parquet`", _table_text(table)]
    return "\n\n".join(sections) + "\n"


def _table_text(table: pa.Table) -> str:
    lines = ["| " + " | ".join(name.replace("_", " ") for name in table.column_names) + " |"]
    lines.append("|" + "---|" * table.num_columns)
    rows = table.slice(0, SHOWN_ROWS).to_pylist()
    lines += ["| " + " | ".join(map(cell, row.values())) + " |" for row in rows]
    left_out = table.num_rows - len(rows)
    return "\n".join(lines) + (f"\n\n{left_out:,} more rows in the files." if left_out else "")
