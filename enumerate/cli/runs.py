"""The commands that say how runs stand: `status` of one, `list` of all in a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ..model.errors import DONE, BadRequest, Damaged
from ..model.numbers import clock, counted, ends_at, short, size
from ..model.program import program
from .request import Json
from .speech import say, tell, terminal_width


def status(run: str = "output", *, json_: Json = False) -> int:
    """Say how a run stands: what is done and left, how fast it goes, who works, what was lost or damaged.

    Args:
        run: The folder of the run, or its address. Of a folder with several runs, the one that changed last.
    """
    from ..catalog.status import DAMAGED, is_run, latest_in, status_of
    from ..ledger.storage import is_url

    if not is_url(run) and os.path.isdir(run) and not is_run(run):
        latest = latest_in(run)
        if latest is None:
            raise BadRequest(_no_runs(run))
        run = latest
    found = status_of(run)
    tell(json.dumps(found, indent=2) if json_ else "\n".join(status_lines(found)))
    if found["problem"]:
        say(found["problem"])
        return Damaged.exit_code if found["state"] == DAMAGED else BadRequest.exit_code
    return DONE


def list_(folder: str = "output", *, json_: Json = False) -> None:
    """List the runs in a folder: what each has found, and whether a search is at work on it.

    Args:
        folder: A folder with runs.
    """
    from ..catalog.status import runs_in
    from ..view.terminal import fitting, text_table

    found = list(runs_in(folder))
    if json_:
        tell(json.dumps(found, indent=2))
        return
    if not found:
        tell(_no_runs(folder))
        return
    names = ["run", "state", "tours", "done", "size"]
    rows = [_row(each) for each in found]
    kept = fitting(names, rows, names, terminal_width())
    table = text_table({names[i]: names[i] in ("tours", "done", "size") for i in kept}, no_wrap=True)
    for row in rows:
        table.add_row(*(row[i] for i in kept))
    tell(table)
    for run in found:
        if run["problem"]:
            say(f"{run['run']}: {run['problem']}")


def _no_runs(folder: str) -> str:
    return f"no runs in {folder!r}; make one: {program()} --variant closed --size 8 --max 500000"


def _row(run: dict[str, Any]) -> list[str]:
    about = [run["run"], run["state"]]
    if run["problem"]:
        return [*about, "", "", ""]
    return [*about, f"{run['tours']:,}", f"{run['rows_done']:,}/{run['rows']:,}", size(run["bytes"])]


def status_lines(found: dict[str, Any]) -> Iterator[str]:
    from ..catalog.status import KILLED, STOPPED

    if found["problem"]:
        yield f"{found['run']}: {found['state']}"
        return
    yield f"{found['run']}: {found['tours_on_board']}, {found['state']}"
    yield (
        f"{counted(found['tours'], 'tour')}, {found['rows_done']:,}/{counted(found['rows'], found['row'])} done,"
        f" {size(found['bytes'])} in {counted(found['parts'], 'part')}"
    )
    if found["pulse"]:
        yield from _pulse_lines(found["pulse"], found["state"])
    if found["state"] in (KILLED, STOPPED):
        yield f"continue: {program()} {found['command']}"


def _pulse_lines(pulse: dict[str, Any], state: str) -> Iterator[str]:
    from ..catalog.status import AT_WORK

    recent, left = pulse["recent"], pulse["seconds_left"]
    where = f"on {pulse['host']} (process {pulse['pid']})"
    yield f"{pulse['share']:.1%} {pulse['of']} at {_time_of_day(pulse['written'])}, {where}"
    if state == AT_WORK:
        rate = f"{short(recent['tours'])} tours/s and {short(recent['iterations'])} iterations/s in the last minute"
        yield rate + (f", left {clock(left)}, ends at {ends_at(left)}" if left is not None else "")
    losses = f"{counted(pulse['workers'], 'worker')}, {pulse['lost']} lost"
    yield losses + (f"; quarantined: {', '.join(pulse['quarantined'])}" if pulse["quarantined"] else "")


def _time_of_day(written: str) -> str:
    try:
        return f"{datetime.fromisoformat(written).astimezone():%H:%M:%S}"
    except ValueError:
        return "an unknown time"
