"""What a run says of itself: its README.md, and the macros and the view for DuckDB.

Both are written when the run begins, and again when a coordinator ends. Nothing depends on them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from string import Template, ascii_lowercase
from typing import Any

from ..model.board import Board, column_name
from ..model.config import Config
from ..model.jobs import TIMES
from ..model.literature import published_tours
from ..model.numbers import counted
from ..model.program import program
from ..model.tour import square_dtype
from ..search.strategy import command_of, strategy_of
from . import layout
from .parts import tours_schema
from .storage import Storage, is_url

_TEXTS = Path(__file__).parent / "texts"
_ELSEWHERE = "-- From another folder, first: set file_search_path = '{}';\n"
_MORE = "a larger `--max` or `--tours` finds more."


def write_guide(storage: Storage, config: Config, totals: dict[str, Any] | None = None) -> None:
    """`totals` are those of a run that ended; a run that begins has none."""
    words = _words(storage.output, config, totals)
    words["reading"] = _filled("reading.md", words) if config.write else ""
    for name in (layout.README, layout.TOURS_SQL) if config.write else (layout.README,):
        text = _filled(name, words).encode()
        if not storage.exists(name) or storage.read(name) != text:
            storage.replace(name, text)


def _filled(name: str, words: dict[str, str]) -> str:
    return Template((_TEXTS / name).read_text(encoding="utf-8")).substitute(words)


def _words(output: str, config: Config, totals: dict[str, Any] | None) -> dict[str, str]:
    board, width = config.board, square_dtype(config.board).itemsize
    variants = [name for name in config.variants if totals is None or totals[f"tours_{name}"]]
    missing = "" if board.missing is None else f" without {board.name(board.missing)}"
    kinds = f"{config.only} {' and '.join(config.variants)}".strip()
    return {
        "Title": f"{kinds} knight's tours of the {board} board{missing}".capitalize(),
        "configs": _configs(variants) if config.write else "",
        "state": _state(totals),
        "program": program(),
        "command": f"{program()} {shlex.join(command_of(config))}",
        "counts": "\n".join(_counts(config, totals)) if totals else "",
        "columns": "\n".join(_columns(config)),
        "files": "\n".join(f"| `{name}` | {content} |" for name, content in _files(config).items()),
        "place": shlex.quote(output),
        "where": "anywhere, with the credentials of the store" if is_url(output) else "in this folder",
        "elsewhere": "" if is_url(output) else _ELSEWHERE.format(output),
        "tours": f"{output}/{layout.TOURS}" if is_url(output) else layout.TOURS,
        "length": str(board.length),
        "cols": str(board.cols),
        "width": f"{width} byte{'s' * (width > 1)} each{', little endian' * (width > 1)}",
        "dtype": square_dtype(board).str.replace("|", ""),
        "names": _names_code(board),
        "examples": ", ".join(f"{square} is {board.name(square)}" for square in _examples(board)),
        "digits": "." * (2 * width),
        "hex": " || ".join(f"h[{2 * byte + 1}:{2 * byte + 2}]" for byte in reversed(range(width))),
        "letters": _letters(board.cols),
    }


def _configs(variants: list[str]) -> str:
    """What Hugging Face's reader finds at the head of the page."""
    splits = [f"  - split: {name}\n    path: {layout.TOURS}/variant={name}/**/*.parquet\n" for name in variants]
    return "configs:\n- config_name: default\n  data_files:\n" + "".join(splits) if splits else ""


def _state(totals: dict[str, Any] | None) -> str:
    if totals is None:
        return "The search has begun: its counts follow here when it ends. Stopped, the same command continues it."
    if totals["exhausted"]:
        return "The search is exhausted: it has found every tour that it was asked for."
    if totals["finished"]:
        return f"The search has spent its budget: {_MORE}"
    return f"The search was stopped before its end: the same command continues it, and {_MORE}"


def _counts(config: Config, totals: dict[str, Any]) -> Iterator[str]:
    yield "| | |\n|---|---:|"
    for variant in config.variants:
        yield f"| {variant} tours | {totals[f'tours_{variant}']:,} |"
    known = published_tours(config.board, config.variant)
    if known and not config.only:
        yield f"| all there are, directed ({known.source}) | {known.count:,} |"
    rows = "start squares" if not strategy_of(config).count_jobs(config) else "jobs"
    yield f"| {rows} | {totals['rows']:,} |"
    yield f"| iterations (placements of the knight) | {totals['iterations']:,} |"
    if config.write:
        yield f"| files | {counted(totals['parts'], 'part')} of {totals['bytes']:,} bytes |"


def _columns(config: Config) -> Iterator[str]:
    schema = tours_schema(config, config.variants[0])
    for each in schema:
        yield f"| `{each.name}` | {each.type} | {each.metadata[b'description'].decode()} |"
    yield "| `variant` | in the path of the file | Whether the tour is open or closed. |"
    if not strategy_of(config).count_jobs(config):
        yield "| `start` | in the path of the file | Start square. |"


def _files(config: Config) -> dict[str, str]:
    """The files of the run, each with what it holds."""
    where = layout.patterns(".")
    files = {where[layout.TOURS].removeprefix("./"): "the tours"} if config.write else {}
    if strategy_of(config).has_times and config.write:
        files[where[TIMES].removeprefix("./")] = "what each tour took"
    return files | {
        f"{layout.SUMMARY_PARQUET}`, `{layout.SUMMARY_CSV}": "a row for each start square, or for each job without one",
        layout.SUMMARY_JSON: "the totals",
        **({layout.TOURS_SQL: "macros and a view for DuckDB"} if config.write else {}),
        f"{layout.RUN_FILES}/": "settings, records and checksums, from which the run is continued and checked",
    }


def _examples(board: Board) -> list[int]:
    chosen = {0: None, 1: None, board.cols: None, board.squares - 1: None}
    return [square for square in chosen if square < board.squares and square != board.missing]


def _names_code(board: Board) -> str:
    """Python that makes an array of the names of all squares."""
    lines, letters = ["import numpy as np", ""], f'"{ascii_lowercase[: board.cols]}"'
    if board.cols > len(ascii_lowercase):
        lengths, letters = range(1, len(column_name(board.cols - 1)) + 1), "letters"
        lines[:0] = ["from itertools import product", "from string import ascii_lowercase", ""]
        words = f"for n in {tuple(lengths)} for word in product(ascii_lowercase, repeat=n)"
        lines.append(f'letters = ["".join(word) {words}][:{board.cols}]')
    rows = f"for row in range(1, {board.rows + 1}) for letter in {letters}"
    return "\n".join([*lines, f'names = np.array([f"{{letter}}{{row}}" {rows}])'])


def _letters(cols: int) -> str:
    """DuckDB's expression for the letters of a column: a to z, then aa to zz, and so on."""
    cases, first, column = "", 0, f"square % {cols}"
    for length in range(1, 5):
        digits = [f"chr((97 + ({column} - {first}) // {26**power} % 26)::integer)" for power in range(length)]
        text = " || ".join(reversed(digits)) if first else f"chr((97 + {column})::integer)"
        first += 26**length
        if cols <= first:
            break
        cases += f"when {column} < {first} then {text} "
    return f"case {cases}else {text} end" if cases else text
