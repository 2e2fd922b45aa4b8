"""A census as lines and a table, or as a document for machines."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .census import Census, Figure, Start


def census_view(census: Census, quiet: bool = False) -> RenderableType:
    parts: list[RenderableType] = []
    if census.starts:
        parts.append(starts_view(census))
    parts += map(Text, figure_lines(census))
    if census.why_none:
        parts.append(Text(census.why_none))
    elif not quiet:
        parts.append(Text(effort_line(census)))
    return Group(*parts)


def figure_lines(census: Census) -> list[str]:
    figures = census.figures
    names = [f"{figure.what} of {board_name(census)}" for figure in figures]
    counts = [f"{figure.count:,}" for figure in figures]
    name_width, count_width = max(map(len, names), default=0), max(map(len, counts), default=0)
    return [
        f"{name:{name_width}}  {count:>{count_width}}  {figure.unit}{agreeing(figure)}"
        for name, count, figure in zip(names, counts, figures, strict=True)
    ]


def starts_view(census: Census) -> Table:
    """One row for each start square: the directed tours that begin there."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("start")
    variants = ["open", "closed"] if census.variant == "both" else [census.variant]
    for name in ["squares", *variants, *(["both"] if census.variant == "both" else [])]:
        table.add_column(name, justify="right")
    table.add_column("")
    for start in census.starts:
        counts = start_counts(census, start)
        row = [counts[name] for name in variants] + ([start.paths] if census.variant == "both" else [])
        table.add_row(
            census.board.name(start.square), f"{start.squares:,}", *(f"{count:,}" for count in row), agreeing(start)
        )
    return table


def start_counts(census: Census, start: Start) -> dict[str, int]:
    closed = 2 * (census.cycles or 0) if start.paths else 0
    return {"open": start.paths - closed, "closed": closed}


def agreeing(what: Figure | Start) -> str:
    return f" = {what.source}" if what.source else ""


def board_name(census: Census) -> str:
    return f"{census.board}{' without its last corner' if census.board.missing is not None else ''}"


def effort_line(census: Census) -> str:
    effort = census.effort
    return (
        f"{census.seconds:.2f} s, {effort.states:,} states in all, {effort.peak_states:,} at a time, in"
        f" {effort.peak_bytes / 2**20:,.1f} MiB"
    )


def census_json(census: Census) -> dict[str, Any]:
    """All numbers; `paths` are directed, `cycles` undirected. None: not counted."""
    board, effort = census.board, census.effort
    return {
        "size": str(board),
        "missing": None if board.missing is None else board.name(board.missing),
        "variant": census.variant,
        "none_because": census.why_none,
        "figures": [
            {"what": figure.what, "unit": figure.unit, "count": figure.count, "published": figure.source or None}
            for figure in census.figures
        ],
        "starts": [
            {"start": board.name(start.square), "squares": start.squares, **start_counts(census, start),
             "published": start.source or None}
            for start in census.starts
        ],
        "seconds": census.seconds,
        "states": effort.states,
        "peak_states": effort.peak_states,
        "peak_bytes": effort.peak_bytes,
    }  # fmt: skip
