"""The commands that say how runs stand: `status` of one, `list` of all in a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from ..model.errors import BadRequest, Damaged
from ..model.numbers import clock, counted, ends_at, short, size
from ..model.program import program
from .request import Json
from .speech import say, tell, terminal_width


def status(run: str = "output", *, json_: Json = False) -> int:
    """Say how a run stands: what is done and left, how fast it goes, who works, what was lost or damaged.

    Args:
        run: The folder of the run, or its address. Of a folder with several runs, the one that changed last.
    """
    from ..catalog.status import status_of

    found = status_of(_latest(run))
    tell(json.dumps(found, indent=2) if json_ else "\n".join(status_lines(found)))
    if found["damage"]:
        say(found["damage"])
        return Damaged.exit_code
    return 0


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
        tell(f"no runs in {folder!r}; make one: {program()} --variant closed --size 8 --max 500000")
        return
    names = ["run", "state", "tours", "done", "size"]
    rows = [_row(each) for each in found]
    kept = fitting(names, rows, names, terminal_width())
    table = text_table({names[i]: names[i] in ("tours", "done", "size") for i in kept}, no_wrap=True)
    for row in rows:
        table.add_row(*(row[i] for i in kept))
    tell(table)


def _row(run: dict[str, Any]) -> list[str]:
    if run["damage"]:
        return [run["run"], run["state"], "", "", ""]
    return [
        run["run"],
        run["state"],
        f"{run['tours']:,}",
        f"{run['squares_done']}/{run['squares']}",
        size(run["bytes"]),
    ]


def _latest(output: str) -> str:
    from ..catalog.status import is_run
    from ..ledger.layout import MANIFEST

    if "://" in output or is_run(output) or not os.path.isdir(output):
        return output
    found = [entry.path for entry in os.scandir(output) if is_run(entry.path)]
    if not found:
        raise BadRequest(f"no runs in {output!r}; make one: {program()} --variant closed --size 8 --max 500000")
    return max(found, key=lambda path: os.stat(os.path.join(path, MANIFEST)).st_mtime)


def status_lines(found: dict[str, Any]) -> Iterator[str]:
    variant = "open and closed" if found["variant"] == "both" else found["variant"]
    yield f"{found['run']}: {variant} tours on {found['size']}, {found['state']}"
    if found["damage"]:
        return
    yield (
        f"{counted(found['tours'], 'tour')}, {found['squares_done']}/{counted(found['squares'], 'square')} done,"
        f" {size(found['bytes'])} in {counted(found['parts'], 'part')}"
    )
    if found["pulse"]:
        yield from _pulse_lines(found["pulse"], found["state"])
    if found["state"] in ("killed", "stopped"):
        yield f"continue it: {program()} {found['command']}"


def _pulse_lines(pulse: dict[str, Any], state: str) -> Iterator[str]:
    recent, left = pulse["recent"], pulse["seconds_left"]
    yield f"{pulse['share']:.1%} {pulse['of']} at {pulse['written']}, on {pulse['host']} (process {pulse['pid']})"
    if state == "at work":
        rate = f"{short(recent['tours'])} tours/s and {short(recent['iterations'])} iterations/s in the last minute"
        yield rate + (f", left {clock(left)}, ends at {ends_at(left)}" if left is not None else "")
    losses = f"{counted(pulse['workers'], 'worker')}, {pulse['lost']} lost"
    yield losses + (f"; quarantined: {', '.join(pulse['quarantined'])}" if pulse["quarantined"] else "")
