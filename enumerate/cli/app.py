"""Words to config to exit code. Errors are caught once, here, and printed as one line.

Heavy imports (numba, pyarrow) wait until a command needs them, so that `--help` answers at once.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, CycloptsError, Parameter, Token
from cyclopts.exceptions import UnusedCliTokensError

from .. import __version__
from ..model.config import MAX_WORKERS, Config, hint, parse_bytes, read_toml, usable_cores
from ..model.errors import DONE, INTERRUPTED, BadRequest, Damaged, EnumerateError, Stopped

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..catalog.distinct import Report as DistinctReport
    from ..run.coordinator import Report

HELP = """Enumerate knight's tours: one job for each start square, many workers, tours into Parquet.

A run lives in one folder. The same command continues it, a larger --max extends it, and it may be killed at any time.

Exit codes: 0 done, 1 internal error, 2 bad request, 3 stopped and can be continued, 4 damage found,
5 locked by another run, 130 interrupted."""

app = App(
    name="python -m enumerate",
    help=HELP,
    version=__version__,
    help_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)


def whole(_type: object, tokens: Sequence[Token]) -> int:
    """A whole number; cyclopts alone would round 0.4 to 0, which means no limit."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"expected a whole number, not {tokens[0].value!r}") from None


Whole = Annotated[int | None, Parameter(converter=whole)]


@Parameter(name="*", negative_bool=())
@dataclass(frozen=True)
class Request:
    """The flags that make a config. None means not given: the config file decides, then the default."""

    variant: str | None = None
    "Which tours: open, closed or both. [default: open]"
    size: str | None = None
    "The board: 8 is 8x8, 5x6 has 5 rows and 6 columns. [default: 8]"
    strategy: str | None = None
    "How to search: warnsdorff (backtracking, fewest onward moves first), backtrack (in a fixed order of moves), greedy (Warnsdorff's rule, never back) or divide (joins small tours to a large one). [default: warnsdorff]"  # noqa: E501
    max: Whole = None
    "Iterations (placements of the knight) for each start square; 0 means no limit. [default: 500000; divide: 0]"
    tours: Whole = None
    "Tours for each start square; 0 means no limit. --max still holds. [default: 0]"
    only: str | None = None
    "Keep only tours of this kind: structured (with the two moves next to each corner) or symmetric. [default: all]"
    write: Annotated[bool | None, Parameter(negative="--no-write")] = None
    "Write the tours, or only count them. [default: --write]"
    start: str | None = None
    "Start squares: all, classes (one per symmetry class), once (closed tours: from one corner in one direction, each tour once), random:N, or names such as a1,d4. [default: all; divide: a1]"  # noqa: E501
    missing_corner: bool | None = None
    "The board lacks its last corner: odd boards have closed tours then."
    prune: Annotated[bool | None, Parameter(negative="--no-prune")] = None
    "Skip paths that cannot become a tour: more tours in the same iterations, and none lost. [default: --prune; backtrack: --no-prune]"  # noqa: E501
    h_prob: float | None = None
    "Probability of the strategy's order at each square; otherwise the order is shuffled. [default: 1]"
    move_order: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    "backtrack: the eight moves as row,column. [default: '2,1 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1']"
    ties: str | None = None
    "greedy: who is taken of squares with as few onward moves: random, index (lowest square), pohl (second-level degree), roth (farthest from the centre) or squirrel (Squirrel's and Cull's orderings). [default: random]"  # noqa: E501
    failures: Whole = None
    "greedy: dead ends before a tour is given up; it counts as one of --tours. [default: 5]"
    split: str | None = None
    "Jobs for each start square, each with another beginning: a number, or auto, as many as it takes that none is too large if there is no limit, else one. A budget is divided among them, and finds tours that differ more. [default: auto]"  # noqa: E501
    expand: bool | None = None
    "With --start classes: write the images of each tour under the symmetries of the board too, so that none is missing."  # noqa: E501
    seed: Whole = None
    "Seed of shuffled orders, random ties and random start squares. [default: 0]"
    output: str | None = None
    "Folder of the run, or an address: s3://bucket/run. [default: output/ and a name that follows from the search]"
    address: str | None = None
    "Work on a Ray cluster: auto (the one this machine is part of), host:port, or local (one of its own, here)."
    workers: Whole = None
    "Workers; 0 means one for each core of the machine or the cluster. [default: 0]"
    executor: str | None = None
    "processes, or serial: everything in this process, for debugging. [default: processes]"
    slice_iterations: Whole = None
    "Iterations in a slice, the unit of work that is written and recorded. [default: 10000000]"
    slice_tours: Whole = None
    "Tours in a slice. [default: 524288, fewer on large boards]"
    config: str | None = None
    "A TOML file with any of these keys; flags beat it."

    def resolve(self) -> Config:
        """File and flags as one checked config."""
        given = {key.replace("_", "-"): value for key, value in asdict(self).items() if value is not None}
        path = given.pop("config", None)
        return Config.from_values({**(read_toml(path) if path else {}), **given})


@app.default
def run_command(
    *,
    request: Request | None = None,
    fresh: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    check: str = "",
    yes: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    distinct: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    json_: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
) -> int:
    """Search, write the tours, and print a summary; or continue the run in its folder.

    Parameters
    ----------
    fresh
        Delete what the run has and start over.
    check
        How a run that is continued is checked first: sums reads every part, sizes only lists them.
        [default: sums in a folder, sizes on an object store]
    yes
        Begin a search for all tours even if, by estimate, it takes longer than a day or more than the disk has.
    distinct
        When the run is complete, write one tour for each class of tours that are alike, as the command distinct does.
    quiet
        No progress and no summary; only errors.
    json_
        Print one JSON document instead of the summary.
    """
    config = (request or Request()).resolve()
    if distinct and not config.write:
        raise BadRequest("--distinct and --no-write exclude each other: there would be no tours to compare")
    from ..run.coordinator import run
    from ..view.progress import observer
    from ..view.terminal import report_json, report_view

    stop = StopSignals(at_once=config.executor == "serial")
    report = run(config, observer(quiet), stop.heard, fresh, check, yes)
    classes = distinct_report(config.place, "", False, quiet, stop.check) if distinct and report.complete else None
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
        say(f"stopped ({stop.name}): everything finished is kept in {report.config.place!r}")
        say("run the same command again to continue")
        return INTERRUPTED if stop.name == "Ctrl-C" else Stopped.exit_code
    wrong = [comparison for comparison in report.comparisons if not comparison.agrees]
    for comparison in wrong:
        say(f"error: does not agree with the literature: {comparison.line}; please report this")
    if wrong:
        return Damaged.exit_code
    if report.complete:  # also if workers that were thought lost have finished what was set aside
        return DONE
    for event in report.set_aside:
        start, reason = report.config.board.name(event.slice.job.start), event.reason.splitlines()[0]
        say(f"set aside after repeated failures: slice {event.slice.number} of {start} ({reason})")
    if report.set_aside:
        say("all other tours are written; run the same command again to try the rest once more")
    else:  # a late worker may have taken a slice back
        say("unfinished; run the same command again to continue")
    return Stopped.exit_code


@app.command
def plan(*, request: Request | None = None) -> int:
    """Show the jobs of a run and start nothing."""
    from ..plan.plan import make_plan
    from ..view.plan import plan_view

    config = (request or Request()).resolve().settled
    jobs = make_plan(config)
    tell(plan_view(config.board, jobs))
    searched = sum(job.hopeless is None for job in jobs)
    limits = [f"at most {config.max:,} iterations" if config.max else "no limit of iterations"]
    limits += [f"{config.tours:,} tours"] if config.tours else []
    whose = "each" if len(jobs) == len({job.start for job in jobs}) else "for each start square"
    tell(f"\n{searched:,} jobs, {' or '.join(limits)} {whose}")
    kernel = {"bits": " (bitboard kernel)", "array": " (array kernel)"}[config.kernel] if config.is_depth_first else ""
    tell(f"search   {config.variant} tours on {config.board}, {config.strategy}{kernel}")
    tell(f"output   {config.place}")
    return DONE


@app.command
def verify(run: str, *, quiet: Annotated[bool, Parameter(negative=(), show_default=False)] = False) -> int:
    """Read a whole run back and prove that it is sound.

    Parameters
    ----------
    run
        The folder of the run, or its address.
    quiet
        Print damage only.
    """
    from rich.console import Console
    from rich.progress import Progress

    from ..catalog.reader import Run
    from ..catalog.verify import verify as verify_run

    source, console = Run(run), Console(stderr=True)
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("verifying", total=1.0)
        verdict = verify_run(source, lambda share: progress.advance(task, share))
    for line in verdict.damage + verdict.notes:
        say(line)
    if verdict.damage:
        return Damaged.exit_code
    if not quiet:
        once = f"{verdict.repeats:,} drawn again" if source.config.draws else "only once"
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


@app.command
def distinct(
    run: str,
    *,
    memory: str = "",
    count: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    json_: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
) -> int:
    """Write one tour for each class: tours that symmetry, reversal or another start on a cycle turn into one another.

    Parameters
    ----------
    run
        The folder of the run, or its address.
    memory
        For the tours at hand; what does not fit goes to disk. [default: 1GiB]
    count
        Print the numbers and write nothing.
    quiet
        No progress and no numbers; only errors.
    json_
        Print one JSON document instead.
    """
    report = distinct_report(run, memory, count, quiet)
    if json_:
        tell(json.dumps({"run": run, **report.document}, indent=2))
    elif not quiet:
        tell("\n".join(report.lines))
    if not report.complete:
        say(f"unfinished: continuing the run may find more of them: {run!r}")
    return DONE


def distinct_report(
    place: str, memory: str, count: bool, quiet: bool, check: Callable[[], None] = lambda: None
) -> DistinctReport:
    """Make the distinct tours of a run, and show how far it is. `check` is called often and may raise."""
    size = parse_bytes(memory or "1GiB")
    from rich.console import Console
    from rich.progress import Progress

    from ..catalog.distinct import count_distinct, write_distinct

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("distinct tours", total=1.0)

        def advance(share: float) -> None:
            check()
            progress.advance(task, share)

        return (count_distinct if count else write_distinct)(place, size, advance)


@app.command
def show(
    run: str,
    *,
    start: str | None = None,
    variant: str | None = None,
    number: Annotated[int, Parameter(converter=whole)] = 1,
    svg: str | None = None,
    png: str | None = None,
) -> int:
    """Print one tour of a run as a board, or draw it.

    Parameters
    ----------
    run
        The folder of the run, or its address.
    start
        Only tours from this square. [default: any]
    variant
        Only open or closed tours. [default: any]
    number
        Which of them, counted from 1.
    svg
        Write a picture to this file instead.
    png
        Write a picture made of points to this file instead.
    """
    from ..catalog.reader import Run
    from ..model.tour import are_closed, as_text
    from ..view.png import PNG_SQUARES, tour_png
    from ..view.svg import SVG_SQUARES, tour_svg

    source = Run(run)
    for flag, path, most in (("--svg", svg, SVG_SQUARES), ("--png", png, PNG_SQUARES)):
        if path is not None and source.board.squares > most:
            raise BadRequest(f"a picture has at most {most:,} squares: {source.board}; without {flag} it is printed")
    tour = source.tour(number, start, variant)
    closed = bool(are_closed(source.board, tour[None, :])[0])
    if svg is not None:
        save(svg, tour_svg(source.board, tour.tolist(), closed).encode())
    if png is not None:
        save(png, tour_png(source.board, tour.tolist(), closed))
    if svg is None and png is None:
        tell(as_text(source.board, tour))
    return DONE


def save(path: str, content: bytes) -> None:
    """Write a file and say so."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise BadRequest(f"cannot write the file: {path!r} ({error.strerror})") from None
    tell(f"wrote {path}")


@app.command
def export(
    run: str,
    *,
    format_: Annotated[str, Parameter(name="--format")] = "txt",
    output: str | None = None,
    start: str | None = None,
    variant: str | None = None,
    max_: Annotated[int, Parameter(name="--max", converter=whole)] = 0,
    split: str = "",
) -> int:
    """Write many tours of a run as text, CSV, JSON lines or pictures.

    Parameters
    ----------
    run
        The folder of the run, or its address.
    format_
        txt (boards with numbers), csv or jsonl (a line for each tour), or svg (a picture for each tour).
    output
        A file; for svg and with --split a new folder. [default: standard output]
    start
        Only tours from this square. [default: any]
    variant
        Only open or closed tours. [default: any]
    max_
        At most so many tours; 0 means all.
    split
        start: a file for each start square, and counts.csv; kind: open and closed, structured and unstructured tours
        apart, with counts.csv and, of a greedy run, times.csv. [default: one file]
    """
    from ..catalog.reader import Run
    from ..view.export import Choice
    from ..view.export import export as export_tours

    choice = Choice(format_, start, variant, max_, split)
    try:
        count, files = export_tours(Run(run), choice, output, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read it has enough
        return DONE
    except OSError as error:
        if output is None:
            raise
        raise BadRequest(f"cannot write: {output!r} ({error.strerror or error})") from None
    if files:
        tell(f"wrote {count:,} tours to {output}" + (f" ({len(files):,} files)" if len(files) > 1 else ""))
    return DONE


@app.command
def report(run: str, *, output: str | None = None) -> int:
    """Write a run as one page to send to someone: summary, heat map, tours over iterations, a gallery, a player.

    Parameters
    ----------
    run
        The folder of the run, or its address.
    output
        The file. It needs no network, and opens from disk. [default: the name of the run and .html]
    """
    from ..view.web.report import report_of

    name, page = report_of(run)
    save(output or f"{name}.html", page.encode())
    return DONE


Port = Annotated[int, Parameter(converter=whole)]
Browser = Annotated[bool, Parameter(name="--open", negative="--no-open", show_default=False)]


@app.command
def view(run: str = "output", *, port: Port = 8642, open_: Browser = True) -> int:
    """Explore a run in the browser: a heat map, all its tours, a player. It may still be going.

    Parameters
    ----------
    run
        The folder of the run, its address, or a folder with several runs.
    port
        Where the pages are, on this machine alone; 0 takes any port that is free.
    open_
        Open the page in the browser. --no-open only says where it is.
    """
    from ..view.web.app import make_app
    from ..view.web.server import serve

    serve(make_app(run), port, "/", open_, tell)
    return DONE


@app.command
def play(*, size: str | None = None, port: Port = 8642, open_: Browser = True) -> int:
    """Try to make a tour yourself, in the browser: with hints, undo and a search that finishes it for you.

    Parameters
    ----------
    size
        The board, of 3 to 20 rows and columns: 8 is 8x8, 5x6 has 5 rows and 6 columns. Without it the board of the last
        game, or 8x8.
    port
        Where the pages are, on this machine alone; 0 takes any port that is free.
    open_
        Open the page in the browser. --no-open only says where it is.
    """
    from ..view.web.app import make_app
    from ..view.web.asked import board_of
    from ..view.web.server import serve

    path = f"/play?size={board_of(size)}" if size else "/play"
    serve(make_app(), port, path, open_, tell)
    return DONE


@app.command
def study(
    *,
    output: str = "output/study",
    experiments: str = "",
    largest: Annotated[int, Parameter(converter=whole)] = 400,
    workers: Annotated[int, Parameter(converter=whole)] = 0,
    fresh: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> int:
    """Compare the strategies: real runs, made into tables and charts, with published figures beside them.

    Parameters
    ----------
    output
        The folder for runs, tables (CSV, Parquet), charts (SVG) and one page, study.md. The same call continues it.
    experiments
        Only these, separated by commas: first-tours, tours, scaling, growth, success, corners. [default: all]
    largest
        The largest board is so many squares wide, from 8 to 512. (divide goes up to 4000x4000 in any case.)
    workers
        Runs at a time; 0 means one for each core.
    fresh
        Make every run anew.
    quiet
        No progress and no tables; only errors.
    """
    if not 8 <= largest <= 512:
        raise BadRequest(f"largest is a whole number from 8 to 512: {largest}")
    if not 0 <= workers <= MAX_WORKERS:
        raise BadRequest(f"workers is a whole number from 0 to {MAX_WORKERS:,}: {workers}")
    from ..studies.comparison.study import chosen
    from ..studies.comparison.study import study as make_study
    from ..view.progress import steps
    from ..view.terminal import table_view

    picked = chosen(experiments, largest)
    stop = StopSignals(at_once=False)
    with steps(sum(len(experiment.trials) for experiment in picked), "runs", quiet) as advance:
        try:
            findings = make_study(output, picked, workers or usable_cores(), advance, stop.heard, fresh)
        except Stopped as error:
            if stop.name != "Ctrl-C":
                raise
            say(str(error))
            return INTERRUPTED
    if not quiet:
        tell(table_view(findings.tables["comparison"]))
        tell(f"\n{len(findings.files)} files in {output}: study.md shows them all")
    return DONE


@app.command(name="estimate")
def estimate_command(
    *,
    size: str = "8",
    variant: str = "open",
    seconds: float | None = None,
    error: str | None = None,
    descents: Whole = None,
    start: str = "all",
    seed: Annotated[int, Parameter(converter=whole)] = 0,
    workers: Annotated[int, Parameter(converter=whole)] = 0,
    address: str | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> int:
    """Estimate how many tours there are, by random descents, with an interval that narrows while it runs.

    It ends with whichever comes first of --seconds, --error and --descents. [default: 30 seconds or 1%]

    Parameters
    ----------
    size
        The board: 8 is 8x8, 5x6 has 5 rows and 6 columns; at most 400 squares.
    variant
        Which tours: open, closed or both.
    seconds
        End after so many seconds.
    error
        End when half of the interval is at most this share of the estimate, such as 1%.
    descents
        End after at least so many descents, in whole batches. The same number gives the same estimate everywhere.
    start
        Only tours from these squares: names such as a1,d4, or random:N.
    seed
        Another seed gives another estimate.
    workers
        Workers; 0 means one for each core of the machine or the cluster.
    address
        Work on a Ray cluster: auto (the one this machine is part of), host:port, or local (one of its own, here).
    json_
        Print one JSON document instead.
    quiet
        No progress.
    """
    given = {"size": size, "variant": variant, "start": start, "seed": seed, "workers": workers}
    config = Config.from_values(given if address is None else {**given, "address": address})
    from ..studies.estimate.estimate import Goal, as_share, estimate
    from ..studies.estimate.text import estimate_json, estimate_lines, progress_line
    from ..view.progress import changing_line

    goal = Goal(seconds, None if error is None else as_share(error), descents)
    stop = StopSignals(at_once=False)
    with changing_line(quiet) as (show, notice):
        found = estimate(config, goal, lambda so_far: show(progress_line(so_far)), notice, stop.heard)
    tell(json.dumps(estimate_json(found), indent=2) if json_ else "\n".join(estimate_lines(found)))
    if found.interrupted:
        return INTERRUPTED if stop.name == "Ctrl-C" else Stopped.exit_code
    return DONE


@app.command
def count(
    *,
    size: str = "8",
    variant: str = "closed",
    start: str | None = None,
    missing_corner: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    memory: float | None = None,
    quiet: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    json_: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
) -> int:
    """Count all tours of a board exactly, without listing them.

    Parameters
    ----------
    size
        The board: 8 is 8x8, 5x6 has 5 rows and 6 columns.
    variant
        Which tours: open, closed or both. Closed ones take the least memory and time.
    start
        Count the tours from these squares: all, classes (one per symmetry class), or names such as a1,d4.
        [default: those of the whole board]
    missing_corner
        The board lacks its last corner: odd boards have closed tours then.
    memory
        GiB that may be used; a board that needs more is refused. [default: half of what is free]
    quiet
        No progress and no times; only the numbers and errors.
    json_
        Print one JSON document instead.
    """
    from ..model.board import parse_size
    from ..studies.count.census import census_json, census_view, chosen_starts, problems, take_census
    from ..studies.count.counting import PARTS, Effort
    from ..studies.count.reach import memory_limit
    from ..view.progress import steps

    config = Config.checked(board=parse_size(size), variant=variant, missing_corner=missing_corner)
    starts = chosen_starts(config.board, start or "")
    total = len(problems(config.board, variant, starts)) * config.board.length * PARTS
    try:
        with steps(total, "parts", quiet) as advance:
            census = take_census(config.board, variant, starts, Effort(memory_limit(memory or 0.0), advance))
    except KeyboardInterrupt:
        say("stopped: a count has to be begun again")
        return INTERRUPTED
    tell(json.dumps(census_json(census), indent=2) if json_ else census_view(census, quiet))
    return DONE


class StopSignals:
    """The first Ctrl-C or SIGTERM asks the run to stop, the second ends it at once. Nothing finished is lost.

    With `at_once` the first one does: work in this very process cannot be asked.
    """

    def __init__(self, at_once: bool) -> None:
        self.name = ""
        self.at_once = at_once
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hear)

    def heard(self) -> bool:
        return bool(self.name)

    def check(self) -> None:
        """For work that cannot be continued: end it."""
        if self.name == "Ctrl-C":
            raise KeyboardInterrupt
        if self.name:
            raise Stopped(f"stopped ({self.name}): everything finished is kept")

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self.name or self.at_once:
            raise KeyboardInterrupt
        self.name = "Ctrl-C" if number == signal.SIGINT else "SIGTERM"


def tell(what: RenderableType) -> None:
    """Print to standard output. If nobody reads it, or it cannot be written, the work and its exit code still stand."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    try:
        with console.capture() as captured:  # rich itself would end the program on a broken pipe
            console.print(what)
        print(captured.get(), end="", flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would complain once more at its end
        if not isinstance(error, BrokenPipeError):
            say(f"cannot print ({error.strerror})")


def say(line: str) -> None:
    """Print a line to standard error, if there is one."""
    if sys.stderr:
        with suppress(OSError):
            print(line, file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an ASCII terminal gets question marks, not an error
    try:
        return int(app(arguments or ["--help"], exit_on_error=False, print_error=False) or DONE)
    except CycloptsError as error:
        say(f"error: {_one_line(error)}")
        return BadRequest.exit_code
    except EnumerateError as error:
        say(f"error: {error}")
        return error.exit_code
    except OSError as error:
        say(f"error: {error if error.errno else error.strerror}")
        return BadRequest.exit_code
    except KeyboardInterrupt:
        say("stopped at once: nothing finished is lost; a run is continued by the same command")
        return INTERRUPTED


def _one_line(error: CycloptsError) -> str:
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        word = error.unused_tokens[0]
        commands = tuple(name for name in app if not name.startswith("-"))
        if word in commands:
            return f"a command is the first word: {word!r}"
        known = hint(word, commands) or f"; commands are {', '.join(sorted(commands))}"
        return f"unexpected word: {word!r}{known}"
    text = " ".join(str(error).split())
    return text[0].lower() + text[1:]
