"""The commands that read a whole run: `verify` proves that it is sound, `distinct` keeps one tour of each class."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..model.errors import DONE, Damaged, Stopped
from ..model.values import parse_bytes
from .request import Flag, Json, Output
from .speech import say, tell

if TYPE_CHECKING:
    from ..catalog.distinct import Report


def verify(run: Output, *, quiet: Flag = False) -> int:
    """Read a whole run back and prove that it is sound.

    Args:
        quiet: Print damage only.
    """
    from ..catalog.reader import Run
    from ..catalog.verify import verify as verify_run
    from ..search.strategy import strategy_of

    source = Run(run)
    with shares("verifying", quiet) as advance:
        verdict = verify_run(source, advance)
    for line in verdict.damage + verdict.notes:
        say(line)
    if verdict.damage:
        return Damaged.exit_code
    if not quiet:
        can_repeat = strategy_of(source.config).picks_at_random(source.config)
        once = f"{verdict.repeats:,} repeats" if can_repeat else "only once"
        tell(
            f"sound: {verdict.tours:,} tours in {verdict.parts:,} parts ({verdict.bytes:,} bytes) of"
            f" {verdict.records:,} records; every tour legal, complete, in its place and {once}"
            if source.config.write
            else f"sound: {verdict.records:,} records; the tours were counted and not written"
        )
    if not verdict.complete:
        say(f"unfinished: some start squares have budget left; run the same command again to continue: {run!r}")
        return Stopped.exit_code
    return DONE


def distinct(run: Output, *, memory: str = "", count: Flag = False, quiet: Flag = False, json_: Json = False) -> None:
    """Write one tour for each class: tours that symmetry, reversal or another start on a cycle turn into one another.

    Args:
        memory: For the tours at hand; what does not fit goes to disk. [default: 1GiB]
        count: Print the numbers and write nothing.
        quiet: No progress and no numbers; only errors.
        json_: Print one JSON document instead.
    """
    report = distinct_report(run, memory, count, quiet)
    if json_:
        tell(json.dumps({"run": run, **report.document}, indent=2))
    elif not quiet:
        tell("\n".join(report.lines))
    if not report.complete:
        say(f"unfinished: continuing the run may find more of them: {run!r}")


def distinct_report(run: str, memory: str, count: bool, quiet: bool, check: Callable[[], None] | None = None) -> Report:
    """Make the distinct tours of a run, and show how far it is. `check` is called often and may raise."""
    size = parse_bytes(memory or "1GiB")
    from ..catalog.distinct import count_distinct, write_distinct

    with shares("distinct tours", quiet, check) as advance:
        return (count_distinct if count else write_distinct)(run, size, advance)


@contextmanager
def shares(title: str, quiet: bool, check: Callable[[], None] | None = None) -> Iterator[Callable[[float], None]]:
    """Progress on a terminal; the function that is yielded is told of each share of the whole that is done."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task(title, total=1.0)

        def advance(share: float) -> None:
            if check:
                check()
            progress.advance(task, share)

        yield advance
