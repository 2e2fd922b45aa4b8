"""The commands that ask how many tours there are, and how fast they are found: `count`, `estimate` and `study`."""

from __future__ import annotations

import json
from typing import Annotated

from cyclopts import Parameter

from ..model.config import Config
from ..model.errors import DONE, INTERRUPTED, Stopped
from ..model.values import in_range, parse_bytes
from ..search.strategy import resolve
from .request import (
    BOARD,
    MUCH,
    WHERE,
    Address,
    Flag,
    Json,
    MaybeWhole,
    Quiet,
    Size,
    Text,
    Variant,
    Whole,
    Workers,
)
from .speech import StopSignals, say, tell


def study(
    *,
    output: Annotated[str, Parameter(group=WHERE)] = "output/study",
    experiments: Annotated[Text, Parameter(group=BOARD)] = "",
    largest: Annotated[Whole, Parameter(group=BOARD)] = 400,
    workers: Workers = 0,
    address: Address = None,
    fresh: Annotated[Flag, Parameter(group=WHERE)] = False,
    quiet: Quiet = False,
) -> int:
    """Compare the strategies by real runs: tables and charts, beside published figures.

    Args:
        output:
            The folder for runs, tables (CSV, Parquet), charts (SVG) and one page, study.md. The same call continues it.
        experiments:
            Only these, separated by commas: first-tours, tours, scaling, growth, success, corners. [default: all]
        largest: The largest board is so many squares wide, from 8 to 512. (divide goes up to 4000x4000 in any case.)
        fresh: Repeat every run.
        quiet: No progress and no tables; only errors.
    """
    in_range("largest", largest, 8, 512)
    config = _config(address, workers=workers)
    from ..studies.comparison import study as studying
    from ..view.progress import steps
    from ..view.terminal import table_view

    picked = studying.chosen(experiments, largest)
    stop = StopSignals(at_once=False)
    with steps(sum(len(experiment.trials) for experiment in picked), "runs", quiet) as (advance, notice):
        try:
            comparison, count = studying.study(output, picked, config, advance, notice, stop.heard, fresh)
        except Stopped as error:
            if stop.name != "Ctrl-C":
                raise
            say(str(error))
            return INTERRUPTED
    if not quiet:
        tell(table_view(comparison))
        tell(f"\n{count} files in {output}: study.md shows them all")
    return DONE


def estimate(
    *,
    size: Size = "8",
    variant: Variant = "open",
    start: Annotated[str, Parameter(group=BOARD)] = "all",
    seconds: Annotated[float | None, Parameter(group=MUCH)] = None,
    error: Annotated[str | None, Parameter(group=MUCH)] = None,
    descents: Annotated[MaybeWhole, Parameter(group=MUCH)] = None,
    seed: Annotated[Whole, Parameter(group=MUCH)] = 0,
    workers: Workers = 0,
    address: Address = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> int:
    """Estimate how many tours there are, by random descents, with an interval that narrows while it runs.

    It ends with whichever comes first of --seconds, --error and --descents. [default: 30 seconds or 1%]

    Args:
        size: The board, of at most 400 squares: 8 is 8x8, 5x6 has 5 rows and 6 columns.
        variant: Which tours.
        seconds: End after so many seconds.
        error: End when half of the interval is at most this share of the estimate, such as 1%.
        descents:
            End after at least so many descents, in whole batches. The same number gives the same estimate everywhere.
        start: Only tours from these squares: names such as a1,d4, or random:N.
        seed: Seed of the random descents.
        quiet: No progress.
    """
    config = _config(address, size=size, variant=variant, start=start, seed=seed, workers=workers)
    from ..studies.estimate import Goal, as_share, estimate_json, estimate_lines, progress_line
    from ..studies.estimate import estimate as make_estimate
    from ..view.progress import changing_line

    goal = Goal(seconds, None if error is None else as_share(error), descents)
    stop = StopSignals(at_once=False)
    with changing_line(quiet) as (show, notice):
        found = make_estimate(config, goal, lambda so_far: show(progress_line(so_far)), notice, stop.heard)
    tell(json.dumps(estimate_json(found), indent=2) if json_ else "\n".join(estimate_lines(found)))
    return stop.exit_code if found.interrupted else DONE


def count(
    *,
    size: Size = "8",
    variant: Variant = "closed",
    start: Annotated[str | None, Parameter(group=BOARD)] = None,
    missing_corner: Annotated[Flag, Parameter(group=BOARD)] = False,
    memory: Annotated[Text, Parameter(group=MUCH)] = "",
    quiet: Quiet = False,
    json_: Json = False,
) -> int:
    """Count the tours of a board exactly, without listing them: the closed ones, unless --variant says otherwise.

    Args:
        size: The board: 8 is 8x8, 5x6 has 5 rows and 6 columns.
        variant: Which tours; closed ones take the least memory and time.
        start: Count the tours from these squares: all, classes (one per symmetry class), or names such as a1,d4.
            [default: those of the whole board]
        missing_corner: The board lacks its last corner: odd boards have closed tours then.
        memory: Memory that may be used, such as 2GiB; a board that needs more is refused.
            [default: half of what is free]
        quiet: No progress and no times; only the numbers and errors.
    """
    from ..model.board import parse_size
    from ..studies.count.census import census_json, census_view, chosen_starts, problems, take_census
    from ..studies.count.counting import PARTS, Effort, memory_limit
    from ..view.progress import steps

    config = Config.checked(board=parse_size(size), variant=variant, missing_corner=missing_corner)
    starts = chosen_starts(config.board, start or "")
    total = len(problems(config.board, variant, starts)) * config.board.length * PARTS
    limit = memory_limit(parse_bytes(memory) if memory else None)
    stop = StopSignals(at_once=True)
    with steps(total, "steps", quiet) as (advance, _):

        def advance_or_stop(name: str) -> None:
            if stop.heard():
                raise KeyboardInterrupt
            advance(name)

        census = take_census(config.board, variant, starts, Effort(limit, advance_or_stop))
    tell(json.dumps(census_json(census), indent=2) if json_ else census_view(census, quiet))
    return DONE


def _config(address: str | None, **values: object) -> Config:
    return resolve(values if address is None else {**values, "address": address})
