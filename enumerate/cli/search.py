"""The commands that search: the one without a name, which runs, and `plan`, which only shows what would be run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..model.errors import DONE, BadRequest, Damaged, Stopped
from .check import distinct_report
from .request import NO_FLAGS, Flag, Json, Request, config_of
from .speech import StopSignals, say, tell

if TYPE_CHECKING:
    from ..run.report import Report


def search(
    *,
    request: Request = NO_FLAGS,
    fresh: Flag = False,
    check: str = "",
    yes: Flag = False,
    distinct: Flag = False,
    quiet: Flag = False,
    json_: Json = False,
) -> int:
    """Search, write the tours, and print a summary; or continue the run in its folder.

    Args:
        fresh: Delete what the run has and start over.
        check: How a run that is continued is checked first: sums reads every part, sizes only lists them.
            [default: sums in a folder, sizes on an object store]
        yes: Start a search for all tours even if, by estimate, it takes longer than a day or more disk than is free.
        distinct:
            When the run is complete, write one tour for each class of tours that are alike, as the command distinct does.
        quiet: No progress and no summary; only errors.
        json_: Print one JSON document instead of the summary.
    """  # noqa: E501
    config = config_of(request)
    if distinct and not config.write:
        raise BadRequest("--distinct and --no-write exclude each other: there would be no tours to compare")
    from ..run.coordinator import run
    from ..view.progress import observer
    from ..view.terminal import report_json, report_view

    stop = StopSignals(at_once=config.executor == "serial")
    report = run(config, observer(quiet), stop.heard, fresh, check, yes)
    classes = distinct_report(config.output, "", False, quiet, stop.check) if distinct and report.complete else None
    if json_:
        tell(json.dumps(report_json(report) | ({"distinct": classes.document} if classes else {}), indent=2))
    elif not quiet:
        tell(report_view(report))
        if classes:
            tell("\n" + "\n".join(classes.lines))
    return closing_words(report, stop)


def closing_words(report: Report, stop: StopSignals) -> int:
    """Say what is left to do, if anything, and return the exit code."""
    if report.interrupted:
        say(f"stopped ({stop.name}): everything finished is kept in {report.config.output!r}")
        say("run the same command again to continue")
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
        say("all other tours are written; run the same command again to try the rest once more")
    else:  # a late worker may have taken a slice back
        say("unfinished; run the same command again to continue")
    return Stopped.exit_code


def plan(*, request: Request = NO_FLAGS) -> None:
    """Show the jobs of a run and start nothing."""
    from ..plan.plan import make_plan
    from ..search.depth_first import kernel_for
    from ..search.strategy import can_split, settled
    from ..view.terminal import plan_view

    config = settled(config_of(request))
    jobs = make_plan(config)
    tell(plan_view(config.board, jobs))
    searched = sum(job.infeasible is None for job in jobs)
    limits = [f"at most {config.max:,} iterations" if config.max else "no limit of iterations"]
    limits += [f"{config.tours:,} tours"] if config.tours else []
    whose = "each" if len(jobs) == len({job.start for job in jobs}) else "for each start square"
    tell(f"\n{searched:,} jobs, {' or '.join(limits)} {whose}")
    names = {"bits": " (bitboard kernel)", "array": " (array kernel)"}
    kernel = names[kernel_for(config.board)] if can_split(config) else ""
    tell(f"search   {config.variant} tours on {config.board}, {config.strategy}{kernel}")
    tell(f"output   {config.output}")
