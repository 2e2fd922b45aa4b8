"""The commands of a run: the one without a name searches, `plan` shows the jobs, `verify` checks what was written, and
`distinct` writes one tour of each class.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..model.errors import DONE, BadRequest, Damaged, Stopped
from ..model.numbers import counted, size
from ..model.program import program
from ..model.values import parse_bytes
from ..search.strategy import command_of
from .request import BOARD, MUCH, NO_FLAGS, PRINTED, WHERE, Flag, Json, Output, Quiet, Request, Text, config_of
from .speech import StopSignals, say, tell, terminal_width

if TYPE_CHECKING:
    from ..catalog.distinct import Report as DistinctReport
    from ..model.config import Config
    from ..run.report import Report


SHOWN_JOBS = 100  # of a plan, unless all are asked for


def search(
    *,
    request: Request = NO_FLAGS,
    fresh: Annotated[Flag, Parameter(group=WHERE)] = False,
    check: Annotated[Text, Parameter(group=WHERE)] = "",
    yes: Annotated[Flag, Parameter(group=MUCH)] = False,
    repair: Annotated[Flag, Parameter(group=WHERE)] = False,
    distinct: Annotated[Flag, Parameter(group=BOARD)] = False,
    quiet: Quiet = False,
    json_: Annotated[Json, Parameter(help="Print one JSON document instead of the summary.")] = False,
    log_json: Annotated[Flag, Parameter(group=PRINTED)] = False,
) -> int:
    """Search, write the tours, and print a summary; or continue the run in its folder.

    Args:
        fresh: Delete the run and start over.
        check: How to check a run before continuing it: sums reads every part, sizes only lists them.
            [default: sums in a folder, sizes on an object store]
        yes: Start a search for all tours even if, by estimate, it takes longer than a day or more disk than is free.
        repair: Search slices again whose records are missing, because they or their parts were damaged and moved away.
        distinct: When the run is complete, write one tour for each class of tours, as the command distinct does.
        quiet: No progress and no summary; only errors.
        log_json: Progress as JSON, one object a line, every ten seconds.
    """
    config = config_of(request)
    if distinct and not config.write:
        raise BadRequest("--distinct and --no-write exclude each other: there would be no tours to compare")
    from ..run.coordinator import run
    from ..view.progress import observer
    from ..view.terminal import report_json, report_view

    stop = StopSignals(at_once=config.executor == "serial")
    report = run(config, observer(quiet, log_json), stop.heard, fresh, check, yes, repair)
    classes = (
        distinct_report(config.output, "", False, quiet or log_json, stop.check)
        if distinct and report.complete
        else None
    )
    if json_:
        tell(json.dumps(report_json(report) | ({"distinct": classes.document} if classes else {}), indent=2))
    elif not quiet:
        tell(report_view(report, terminal_width()))
        if classes:
            tell("\n" + "\n".join(classes.lines))
    return closing_words(report, stop)


def closing_words(report: Report, stop: StopSignals) -> int:
    """Say what is left to do, if anything, and return the exit code."""
    if report.interrupted:
        say(f"stopped ({stop.name}): everything finished is kept in {report.config.output!r}")
        say(_continuing(report.config))
        return stop.exit_code
    wrong = [comparison for comparison in report.comparisons if not comparison.agrees]
    for comparison in wrong:
        say(f"error: does not agree with the literature: {comparison.line}; please report this")
    if wrong:
        return Damaged.exit_code
    if report.complete:  # also if workers that were thought lost have finished what was quarantined
        return DONE
    for event in report.quarantined:
        say(f"quarantined after repeated failures: {event.task.label} ({event.reason.splitlines()[0]})")
    if report.quarantined:
        say(f"all other tours are written; to retry the rest, {_continuing(report.config)}")
    else:  # a late worker may have taken a slice back
        say(f"unfinished; {_continuing(report.config)}")
    return Stopped.exit_code


def _continuing(config: Config) -> str:
    """What to type to continue a run."""
    return f"continue: {program()} {shlex.join(command_of(config, workers_too=True))}"


def plan(
    *, request: Request = NO_FLAGS, jobs: Annotated[Flag, Parameter(group=PRINTED)] = False, json_: Json = False
) -> None:
    """Show what a run would do and start nothing.

    Args:
        jobs: List every job, also if there are thousands.
    """
    from ..ledger.storage import free_bytes
    from ..model.config import usable_cores
    from ..plan.plan import forecast_of, make_plan, refuse_endless
    from ..search.strategy import settled
    from ..view.terminal import plan_json, plan_lines, plan_view

    config = settled(config_of(request))
    planned = make_plan(config, say)
    workers, refusal = config.workers or usable_cores(), None
    forecast = forecast_of(config, planned, workers)
    try:
        if forecast:
            refuse_endless(forecast, workers, free_bytes(config.output))
    except BadRequest as error:
        refusal = str(error)
    if json_:
        tell(json.dumps(plan_json(config, planned, forecast, refusal), indent=2))
        return
    if jobs or len(planned) <= SHOWN_JOBS:
        tell(plan_view(config.board, planned))
        tell("")
    tell("\n".join(plan_lines(config, planned)))
    if forecast:
        tell(f"forecast {forecast.text}")
    if refusal:
        tell(f"a run would be refused: {refusal}")


def verify(run: Output, *, quiet: Quiet = False, json_: Json = False) -> int:
    """Check a whole run: every file, record and tour.

    Args:
        quiet: Print damage only.
    """
    from ..catalog.reader import Run
    from ..catalog.verify import verify as verify_run
    from ..search.strategy import strategy_of
    from ..view.progress import shares

    source = Run(run)
    with shares("verifying", quiet) as advance:
        verdict = verify_run(source, advance)
    found = {name: getattr(verdict, name) for name in ("tours", "parts", "bytes", "records", "repeats", "complete")}
    if json_:
        tell(json.dumps({"run": run, **found, "damage": verdict.damage, "notes": verdict.notes}, indent=2))
    for line in verdict.damage + verdict.notes:
        say(line)
    if verdict.damage:
        return Damaged.exit_code
    if not quiet and not json_:
        can_repeat = strategy_of(source.config).picks_at_random(source.config)
        once = counted(verdict.repeats, "repeat") if can_repeat else "only once"
        tell(
            f"sound: {counted(verdict.tours, 'tour')} in {counted(verdict.parts, 'part')} ({size(verdict.bytes)}) of"
            f" {counted(verdict.records, 'record')}; every tour legal, complete, in the right part and {once}"
            if source.config.write
            else f"sound: {counted(verdict.records, 'record')}; the tours were counted and not written"
        )
    if not verdict.complete:
        say(f"unfinished: there is budget left; {_continuing(source.config)}")
        return Stopped.exit_code
    return DONE


def distinct(run: Output, *, memory: Text = "", count: Flag = False, quiet: Quiet = False, json_: Json = False) -> None:
    """Write one tour for each class: tours that symmetry, reversal or (closed ones) another start make alike.

    Args:
        memory: Memory for sorting tours; what does not fit goes to disk. [default: 1GiB]
        count: Print the numbers and write nothing.
        quiet: No progress and no numbers; only errors.
    """
    report = distinct_report(run, memory, count, quiet)
    if json_:
        tell(json.dumps({"run": run, **report.document}, indent=2))
    elif not quiet:
        tell("\n".join(report.lines))
    if not report.complete:
        say(f"unfinished: continuing the run may find more of them: {run!r}")


def distinct_report(
    run: str, memory: str, count: bool, quiet: bool, check: Callable[[], None] = lambda: None
) -> DistinctReport:
    """Make the distinct tours of a run, and show the progress. `check` is called often and may raise."""
    limit = parse_bytes(memory or "1GiB")
    from ..catalog.distinct import count_distinct, write_distinct
    from ..view.progress import shares

    with shares("distinct tours", quiet, check) as advance:
        return (count_distinct if count else write_distinct)(run, limit, advance)
