"""The study as one page of Markdown: each experiment with its chart and its table, cut short where it is long."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ...view.terminal import cell
from .experiment import Experiment, Tables

SHOWN_ROWS = 40

_FOREWORD = """# How the strategies compare

Made by `python -m enumerate study` from the runs in `runs/`, which `verify` can check. Times are those of the search
itself, from a cursor to the tour, on this machine. Published figures are those of five descriptions of programs, A to
E."""


def page(experiments: Sequence[Experiment], tables: Tables) -> str:
    sections = [_FOREWORD, "## Beside published figures\n\n" + table_text(tables["comparison"])]
    for experiment in experiments:
        names = [name for name in tables if name == experiment.name or name.startswith(f"{experiment.name}-")]
        texts = [f"`{name}.csv`, `{name}.parquet`\n\n{table_text(tables[name])}" for name in names]
        sections.append(
            "\n\n".join([f"## {experiment.title}", f"![{experiment.title}]({experiment.name}.svg)", *texts])
        )
    return "\n\n".join(sections) + "\n"


def table_text(table: pa.Table) -> str:
    """A table in Markdown."""
    rows = table.slice(0, SHOWN_ROWS).to_pylist()
    lines = ["| " + " | ".join(name.replace("_", " ") for name in table.column_names) + " |"]
    lines.append("|" + "---|" * table.num_columns)
    lines += ["| " + " | ".join(cell(value) for value in row.values()) + " |" for row in rows]
    left_out = table.num_rows - len(rows)
    return "\n".join(lines) + (f"\n\n{left_out:,} more rows in the files." if left_out else "")
