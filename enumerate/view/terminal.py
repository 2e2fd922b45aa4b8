"""A report as text for people (a heat map, a table, rates, paths) and as one JSON document for programs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

import pyarrow as pa
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from ..ledger.layout import SUMMARY_CSV, patterns
from ..model.board import Board, column_name
from ..model.config import Config
from ..model.jobs import Job
from ..model.literature import published_tours
from ..model.numbers import counted, plain, short, size
from ..model.program import program
from ..model.tour import SYMMETRIES
from ..plan.plan import Forecast
from ..run.report import Report
from ..search.depth_first import kernel_for
from ..search.strategy import can_split, identity_of, strategy_of
from .picture import shade_of

TABLE_ROWS = 12  # with more start squares the table is cut short; the summary has them all
MAP_COLUMNS = 20
MAP_ROWS = 40
MAP_CELL, MAP_MARGIN = 6, 4  # characters of a square, and of the numbers beside them


def report_view(report: Report, width: int = 120) -> RenderableType:
    """What is printed at the end of a run, on a terminal of so many columns."""
    rows, total = report.summary.to_pylist(), report.totals
    views: list[RenderableType] = []
    board = report.config.board
    fits = board.cols <= min(MAP_COLUMNS, (width - MAP_MARGIN) // MAP_CELL) and board.rows <= MAP_ROWS
    if fits and all(row["start"] for row in rows):
        views += [Text("Tours for each start square", style="bold"), heat_map(board, rows), Text()]
    views += [summary_view(report, rows, total, width), Text()]
    views += [Text(line) for line in closing_lines(report, total)]
    return Group(*views)


def heat_map(board: Board, rows: Sequence[dict[str, Any]]) -> Text:
    """The board with the number of tours found from each square; more is darker."""
    counts = {row["row"] * board.cols + row["column"]: row["tours_open"] + row["tours_closed"] for row in rows}
    found = [count for count in counts.values() if count]
    least, most = min(found, default=0), max(found, default=0)
    text = Text()
    for row in reversed(range(board.rows)):
        cells = [_cell(counts.get(row * board.cols + col), least, most) for col in range(board.cols)]
        text.append_text(Text.assemble(f"{row + 1:{MAP_MARGIN - 1}d} ", *cells, "\n"))
    text.append(" " * MAP_MARGIN + "".join(f"{column_name(col):>5} " for col in range(board.cols)))
    return text


def _cell(count: int | None, least: int, most: int) -> Text:
    if count is None:
        return Text("    · ", style="dim")
    return Text(f"{short(count):>5} ", style=f"black on {shade_of(count, most, least)}" if count else "dim")


def summary_view(report: Report, rows: Sequence[dict[str, Any]], total: dict[str, Any], width: int) -> Group:
    """The summary as a table, cut short if there are many start squares; the files have every row and column."""
    variants = report.config.variants
    what = "start" if all(row["start"] for row in rows) else "job"
    names = [what, *variants, "iterations", "first at", "seconds", "bytes", "ended"]
    shown = rows if len(rows) <= TABLE_ROWS else rows[: TABLE_ROWS - 2]
    left_out = len(rows) - len(shown)
    texts = [_values(row, variants) for row in shown]
    texts += [["…", *[""] * (len(names) - 1)]] if left_out else []
    texts.append(_values({**total, "start": "total"}, variants))
    wanted = [what, *variants, "ended", "iterations", "first at", "bytes", "seconds"]  # as far as they fit
    kept = fitting(names, texts, wanted, width)
    table = text_table({names[i]: names[i] not in (what, "ended") for i in kept}, no_wrap=True)
    for values in texts:
        table.add_row(*(values[i] for i in kept), style="bold" if values is texts[-1] else None)
    rest = counted(left_out, "more start square" if what == "start" else "more job")
    more = [Text(f"{rest} in {SUMMARY_CSV}", style="dim")] if left_out else []
    return Group(table, *more)


def fitting(names: Sequence[str], rows: Sequence[Sequence[str]], wanted: Sequence[str], width: int) -> list[int]:
    """The columns that a terminal has room for, by their numbers: the wanted ones first. No value is ever cut."""
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    kept: list[int] = []
    for name in wanted:
        chosen = [*kept, names.index(name)]
        if sum(widths[i] for i in chosen) + 2 * (len(chosen) - 1) <= width:
            kept = chosen
    return sorted(kept) or [0]


def _values(row: dict[str, Any], variants: Sequence[str]) -> list[str]:
    first = row["first_iteration"]
    return [
        row["start"] or str(row["job"]),
        *(f"{row['tours_' + variant]:,}" for variant in variants),
        f"{row['iterations']:,}",
        "-" if first is None else f"{first:,}",
        f"{row['search_seconds'] + row['write_seconds']:.2f}",
        f"{row['bytes']:,}",
        "exhausted" if row["exhausted"] else "budget" if row["finished"] else "unfinished",
    ]


def closing_lines(report: Report, total: dict[str, Any]) -> list[str]:
    tours = total["tours_open"] + total["tours_closed"]
    lines = exhausted_lines(report) if total["exhausted"] else []
    lines += [comparison.line for comparison in report.comparisons]
    lines += share_lines(report, tours)
    if report.worked:
        rates = f"{report.tours / report.seconds:,.0f} tours/s, {report.iterations / report.seconds:,.0f} iterations/s"
        lines.append(f"{counted(report.tours, 'tour')} in {report.seconds:.2f} s: {rates}")
    if report.config.address or report.retried:
        workers = f"{counted(len(report.slots), 'slot')} on {counted(len(report.nodes), 'node')}"
        lines.append(f"{workers} worked, {counted(len(report.retried), 'slice')} retried")
    lines += kind_lines(total)
    if tours and report.config.write:
        each = total["bytes"] / tours
        one = f"{each:.2f} bytes" if each < 1000 else size(each)
        lines.append(f"{one} a tour, {size(total['bytes'])} in {counted(total['parts'], 'part')}")
    if not report.worked:
        lines.append(
            "already complete: the run has at least what was asked for; a larger --max or --tours continues it"
        )
    tables = ["tours", "times"] if strategy_of(report.config).has_times else ["tours"]
    where = patterns(report.config.output)
    if not tours and not total["exhausted"]:
        lines.append("no tours so far; a larger --max searches on")
    lines += [f"{name:<9}{where[name]}" for name in [*(tables if report.config.write and tours else []), "summary"]]
    return lines + next_lines(report, tours)


def next_lines(report: Report, tours: int) -> list[str]:
    """What to do next, ready to paste."""
    run = shlex.quote(report.config.output)
    if not report.complete or not (report.config.write and tours):
        return []
    return [f"{word:<9}{program()} {command} {run}" for word, command in (("look", "view"), ("check", "verify"))]


def exhausted_lines(report: Report) -> list[str]:
    config = report.config
    if not strategy_of(config).is_complete:
        return [f"Finished: {config.strategy} makes no other tours from {_squares(report)}."]
    variant = "directed" if config.variant == "both" else config.variant
    kind = f"{config.only} {variant}".strip()
    lines = [f"Exhausted: these are all {kind} tours from {_squares(report)}."]
    if config.start == "classes" and not config.expand:
        rows = report.summary.to_pylist()
        tours = sum(row["multiplicity"] * (row["tours_open"] + row["tours_closed"]) for row in rows)
        lines.append(f"With multiplicity, {tours:,} {kind} tours from all squares of the board.")
    return lines


def kind_lines(total: dict[str, Any]) -> list[str]:
    """How many tours there are of each kind, if there are any."""
    symmetric = [f"{count:,} {name}" for name in SYMMETRIES[1:] if (count := total[name.replace("-", "_")])]
    kinds = [f"{total['structured']:,} structured"] if total["structured"] else []
    kinds += [f"symmetric: {', '.join(symmetric)}"] if symmetric else []
    names = {"left_out": "found and left out", "given_up": "given up"}
    kinds += [f"{total[name]:,} {text}" for name, text in names.items() if total[name]]
    return ["; ".join(kinds)] if kinds else []


def share_lines(report: Report, tours: int) -> list[str]:
    """The share of all tours that a run with a budget has found, if their number is published."""
    config = report.config
    known = published_tours(config.board, config.variant)
    is_some = tours and config.start == "all" and not config.only and not strategy_of(config).picks_at_random(config)
    if not known or not is_some or report.totals["exhausted"]:
        return []
    kind = "" if config.variant == "both" else f" {config.variant}"
    return [f"one in {known.count / tours:,.0f} of all {known.count:,} directed{kind} tours ({known.source})"]


def plan_view(board: Board, plan: Sequence[Job]) -> Table:
    table = text_table({"job": True, "start": False, "multiplicity": True, "then": False, "work": False})
    for job in plan:
        then = " ".join(map(board.name, job.prefix[1:]))
        table.add_row(str(job.number), job.start_name(board), str(job.multiplicity), then, job.infeasible or "search")
    return table


def plan_lines(config: Config, plan: Sequence[Job]) -> list[str]:
    """What a run would do, in a few lines."""
    searched = sum(job.infeasible is None for job in plan)
    groups = len({job.group for job in plan})
    limits = [f"at most {config.max:,} iterations"] if config.max else []
    limits += [f"at most {counted(config.tours, 'tour')}"] if config.tours else []
    whose = " each" if len(plan) == groups else " for each start square, shared by its jobs"
    budget = f"{' or '.join(limits)}{whose}" if limits else "to their ends"
    others = f" and {len(plan) - searched:,} without a tour" if searched < len(plan) else ""
    names = {"bits": " (bitboard kernel)", "array": " (array kernel)"}
    kernel = names[kernel_for(config.board)] if can_split(config) else ""
    return [
        f"{counted(searched, 'job')}{others}, {budget}",
        f"search   {config.tours_on_board}, {config.strategy}{kernel}",
        f"output   {config.output}",
    ]


def plan_json(config: Config, plan: Sequence[Job], forecast: Forecast | None, refusal: str | None) -> dict[str, Any]:
    """The same, with every job, as one JSON document. What is beyond the range of doubles is null."""
    name = config.board.name
    return {
        "config": {**identity_of(config), "max": config.max, "tours": config.tours},
        "output": config.output,
        "forecast": forecast and {
            name: value if isfinite(value) else None
            for name, value in (("tours", forecast.tours), ("seconds", forecast.seconds), ("bytes", forecast.bytes))
        },
        "refused": refusal,
        "jobs": [
            {"job": job.number, "prefix": list(map(name, job.prefix)), "multiplicity": job.multiplicity,
             "infeasible": job.infeasible, "max": job.share_of(config.max), "tours": job.share_of(config.tours)}
            for job in plan
        ],
    }  # fmt: skip


def table_view(table: pa.Table) -> Table:
    numbers = [pa.types.is_integer(field.type) or pa.types.is_floating(field.type) for field in table.schema]
    view = text_table(dict(zip((name.replace("_", " ") for name in table.schema.names), numbers, strict=True)))
    for row in table.to_pylist():
        view.add_row(*map(cell, row.values()))
    return view


def text_table(columns: Mapping[str, bool], no_wrap: bool = False) -> Table:
    """A table without lines; for each column whether it has numbers."""
    headers = (Column(name, justify="right" if number else "left", no_wrap=no_wrap) for name, number in columns.items())
    return Table(*headers, box=None, pad_edge=False, header_style="bold")


def cell(value: Any) -> str:
    """A value as text for people."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return plain(value)


def _squares(report: Report) -> str:
    count = report.summary.num_rows
    if strategy_of(report.config).count_jobs(report.config):
        return counted(count, "job")
    if report.config.start == "once":
        return "one corner, each once"
    if report.config.start == "all" or report.config.expand:
        return f"all {counted(count, 'start square')}"
    return f"the {counted(count, 'chosen start square')}" if count > 1 else "the chosen start square"


def report_json(report: Report) -> dict[str, Any]:
    """The same as one JSON document."""
    rows, total = report.summary.to_pylist(), report.totals
    config = report.config
    tours = total["tours_open"] + total["tours_closed"]
    return {
        "run": config.output,
        "config": {**identity_of(config), "max": config.max, "tours": config.tours},
        "complete": report.complete,
        "interrupted": report.interrupted,
        "already_complete": not report.worked,
        "this_call": {
            "seconds": report.seconds,
            "tours": report.tours,
            "iterations": report.iterations,
            "tours_per_second": report.tours / report.seconds if report.seconds else None,
            "iterations_per_second": report.iterations / report.seconds if report.seconds else None,
            "nodes": sorted(report.nodes),
            "slots": len(report.slots),
            "retried": len(report.retried),
            "left_out": [{"node": event.node, "reason": event.reason} for event in report.left_out],
        },
        "bytes_per_tour": total["bytes"] / tours if tours else None,
        "published": [asdict(comparison) | {"agrees": comparison.agrees} for comparison in report.comparisons],
        "total": total,
        "starts": rows,
        "quarantined": [
            {"start": event.task.start or None, "job": event.task.job.number, "slice": event.task.number,
             "reason": event.reason}
            for event in report.quarantined
        ],
    }  # fmt: skip
