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
from ..ledger.records import refuse_missing
from ..ledger.storage import is_url, open_storage
from ..model.errors import BadRequest, Damaged, Locked
from ..model.jobs import have_starts
from ..search.strategy import command_of
from .reader import Run

AT_WORK, KILLED, STOPPED, COMPLETE = "at work", "killed", "stopped", "complete"
DAMAGED, OTHER_VERSION, UNREADABLE = "damaged", "other version", "unreadable"


def state_of(run: Run) -> str:
    """An epoch is open while a coordinator works. If nobody holds the run meanwhile, it was lost, or has just ended."""
    if run.manifest.epoch:
        try:
            with run.storage.lock_for_reading():
                now = Run(run.storage.output)
                return KILLED if now.manifest.epoch else state_of(now)
        except Locked:
            return AT_WORK
    return COMPLETE if run.is_complete else STOPPED


def status_of(output: str) -> dict[str, Any]:
    """What is known of a run without reading its parts; `problem` if nothing is."""
    try:
        return _status(Run(output))
    except (Damaged, BadRequest, OSError) as error:
        if not is_run(output):
            raise
        state = DAMAGED if isinstance(error, Damaged) else UNREADABLE if isinstance(error, OSError) else OTHER_VERSION
        return {"run": output, "state": state, "problem": str(error)}


def _status(run: Run) -> dict[str, Any]:
    state = state_of(run)
    if run.manifest.epoch and state in (COMPLETE, STOPPED):
        run = Run(run.storage.output)  # it has just ended
    config, totals = run.config, run.totals()
    refuse_missing(run.storage, run.progress, run.manifest.concluded)
    left = [job.job.group for job in run.progress if job.next_slice(config) is not None]
    rows = {job.job.group for job in run.progress}
    return {
        "run": run.storage.output,
        "state": state,
        "problem": None,
        "tours_on_board": config.tours_on_board,
        "strategy": config.strategy,
        "tours": totals["tours_open"] + totals["tours_closed"],
        "iterations": totals["iterations"],
        "parts": totals["parts"],
        "bytes": totals["bytes"],
        "rows_done": len(rows - set(left)),
        "rows": len(rows),
        "row": "square" if have_starts(run.plan) else "job",
        "exhausted": totals["exhausted"],
        "command": shlex.join(command_of(config)),
        "pulse": pulse_of(run) if state in (AT_WORK, KILLED) else None,
    }


def pulse_of(run: Run) -> dict[str, Any] | None:
    """What the coordinator last wrote about its work; nothing of an earlier one."""
    with suppress(Damaged, ValueError, RecursionError):
        found = json.loads(run.storage.read(PULSE), parse_constant=_refuse_constant)
        if isinstance(found, dict) and found.get("epoch") == run.manifest.epoch and _is_whole(found):
            return found
    return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"not a number: {name}")


def _is_whole(pulse: dict[str, Any]) -> bool:
    """Whether it has what is shown of it: it is not sealed, and somebody may have written anything."""
    numbers = [pulse.get(name) for name in ("share", "workers", "lost", "pid")]
    recent, left, tasks = pulse.get("recent"), pulse.get("seconds_left"), pulse.get("quarantined")
    numbers += [recent.get(name) for name in ("tours", "iterations")] if isinstance(recent, dict) else [None]
    numbers += [] if left is None else [left]
    texts = [*tasks, pulse.get("host"), pulse.get("written"), pulse.get("of")] if isinstance(tasks, list) else [None]
    return all(isinstance(number, int | float) and abs(number) < 1e18 for number in numbers) and all(
        isinstance(text, str) and text.isprintable() for text in texts
    )


def runs_in(folder: str) -> Iterator[dict[str, Any]]:
    """How each run in a folder stands."""
    if is_url(folder) or not os.path.isdir(folder):
        raise BadRequest(f"expected a folder with runs, got {folder!r}; `status` looks at one run")
    for path in sorted(Path(folder).glob(f"*/{MANIFEST}")):
        yield status_of(str(path.parents[1]))


def latest_in(folder: str) -> str | None:
    """The run in a folder that changed last."""
    found = [path.parents[1] for path in Path(folder).glob(f"*/{MANIFEST}")]
    return str(max(found, key=lambda path: (path / MANIFEST).stat().st_mtime)) if found else None


def is_run(output: str) -> bool:
    try:
        return open_storage(output).exists(MANIFEST)
    except OSError as error:
        raise BadRequest(f"cannot read {output!r} ({error.strerror or error})") from None
