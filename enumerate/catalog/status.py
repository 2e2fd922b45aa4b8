"""How a run stands, seen from outside: whether a coordinator is at work on it, was lost, or has ended."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..ledger.layout import MANIFEST, PULSE
from ..ledger.storage import is_url, open_storage
from ..model.errors import BadRequest, Damaged, EnumerateError, Locked
from ..search.strategy import command_of
from .reader import Run

AT_WORK, KILLED, STOPPED, COMPLETE = "at work", "killed", "stopped", "complete"


def state_of(run: Run) -> str:
    """An epoch is open while a coordinator works. If nobody holds the run meanwhile, it was lost."""
    if run.manifest.epoch:
        try:
            with run.storage.lock_for_reading():
                return KILLED
        except Locked:
            return AT_WORK
    return COMPLETE if run.is_complete else STOPPED


def status_of(output: str) -> dict[str, Any]:
    """What is known of a run without reading its parts; `damage` if its records are not sound."""
    run = Run(output)
    config = run.config
    about = {"run": output, "variant": config.variant, "size": str(config.board), "strategy": config.strategy}
    try:
        state, totals = state_of(run), run.totals()
    except Damaged as error:
        return {**about, "state": "damaged", "damage": str(error)}
    left = [job.job.group for job in run.progress if job.next_slice(config) is not None]
    squares = {job.job.group for job in run.progress}
    return {
        **about,
        "state": state,
        "tours": totals["tours_open"] + totals["tours_closed"],
        "iterations": totals["iterations"],
        "parts": totals["parts"],
        "bytes": totals["bytes"],
        "squares_done": len(squares - set(left)),
        "squares": len(squares),
        "exhausted": totals["exhausted"],
        "command": shlex.join(command_of(config)),
        "damage": None,
        "pulse": pulse_of(run) if state in (AT_WORK, KILLED) else None,
    }


def pulse_of(run: Run) -> dict[str, Any] | None:
    """What the coordinator last wrote about its work; nothing of an earlier one."""
    with suppress(Damaged, ValueError):
        found = json.loads(run.storage.read(PULSE))
        if isinstance(found, dict) and found.get("epoch") == run.manifest.epoch:
            return found
    return None


def runs_in(folder: str) -> Iterator[dict[str, Any]]:
    """How each run in a folder stands."""
    if is_url(folder) or not os.path.isdir(folder):
        raise BadRequest(f"expected a folder with runs, got {folder!r}; `status` looks at one run")
    for path in sorted(Path(folder).glob(f"*/{MANIFEST}")):
        output = str(path.parents[1])
        try:
            yield status_of(output)
        except EnumerateError as error:
            yield {"run": output, "state": "damaged", "damage": str(error)}


def is_run(output: str) -> bool:
    try:
        return open_storage(output).exists(MANIFEST)
    except OSError as error:
        raise BadRequest(f"cannot read {output!r} ({error.strerror or error})") from None
