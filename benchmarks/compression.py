"""How parts are best compressed: speed of writing, bytes a tour, and what other readers make of it.

    ./run.sh bench compression                 about a minute on two cores

Real tours of 8x8, as the search finds them, are written to memory by pyarrow with the columns of a part, on one core.
Then DuckDB and Polars look for a narrow range of iterations, and count tours of one kind. Rates are compared with the
first row, in turns, best of several; nothing else should run on the machine.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402
import numpy as np  # noqa: E402
import polars as pl  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from enumerate.ledger.parts import symmetry_column, tour_column, tours_schema  # noqa: E402
from enumerate.model.batch import batch_arrays  # noqa: E402
from enumerate.model.config import Config  # noqa: E402
from enumerate.model.jobs import Job  # noqa: E402
from enumerate.search.strategy import make_search  # noqa: E402

GROUP = 131_072  # rows
USUAL: dict[str, Any] = {
    "compression": "zstd", "compression_level": 1, "statistics": ["iteration"], "page_index": False, "group": GROUP,
    "page": 2**20,
}  # fmt: skip
KINDS = ["iteration", "structured", "symmetry"]
VARIANTS: dict[str, dict[str, Any]] = {
    "zstd 1, as in parts": {},
    "zstd 2": {"compression_level": 2},
    "zstd 3": {"compression_level": 3},
    "zstd 5": {"compression_level": 5},
    "snappy": {"compression": "snappy", "compression_level": None},
    "lz4": {"compression": "lz4", "compression_level": None},
    "statistics of symmetry, too": {"statistics": ["iteration", "symmetry"]},
    "statistics of kinds, too": {"statistics": KINDS},
    "statistics of tours, too": {"statistics": [*KINDS, "tour"]},
    "no statistics": {"statistics": False},
    "page index": {"page_index": True},
    "page index, pages of 64 KiB": {"page_index": True, "page": 2**16},
    "pages of 8 MiB": {"page": 2**23},
    "row groups of 32,768": {"group": 32_768},
    "row groups of 524,288": {"group": 524_288},
}


def tours_of(variant: str, count: int) -> pa.Table:
    """The first tours of a1, as the columns of a part."""
    config = Config.checked(variant=variant, max=0)
    batch, search = batch_arrays(count, config.board), make_search(config, Job(0, (0,)))
    search.resume((0,), 0)
    assert search.fill(batch, 0, 10**12) == count
    schema = tours_schema(config, variant)
    tours = tour_column(batch.tours, schema.field("tour").type)
    columns = [tours, pa.array(batch.iterations), pa.array(batch.structured), symmetry_column(batch.symmetry)]
    return pa.table(columns, schema=schema)


def written(table: pa.Table, target: Any, variant: dict[str, Any]) -> None:
    if isinstance(target, io.BytesIO):
        target.seek(0)
    values = USUAL | variant
    with pq.ParquetWriter(
        target, table.schema, compression=values["compression"], compression_level=values["compression_level"],
        use_dictionary=["symmetry"], column_encoding={"tour": "PLAIN", "iteration": "DELTA_BINARY_PACKED",
        "structured": "PLAIN"}, write_page_checksum=True, write_page_index=values["page_index"],
        write_statistics=values["statistics"], data_page_size=values["page"],
    ) as writer:  # fmt: skip
        for first in range(0, len(table), values["group"]):
            writer.write_table(table.slice(first, values["group"]))


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def best(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """In turns, so that a busy moment hits all of them."""
    found = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            found[name] = min(found[name], seconds(work))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tours", type=int, default=1_048_576)
    parser.add_argument("--rounds", type=int, default=5)
    words = parser.parse_args()
    pa.set_cpu_count(1)
    duckdb.sql("set threads = 1")
    for variant in ("open", "closed"):
        show(variant, tours_of(variant, words.tours), words.rounds)


def asked(question: str) -> object:
    """What DuckDB answers."""
    return duckdb.execute(question).fetchall()


def questions(path: str, middle: int) -> dict[str, Callable[[], object]]:
    """What readers look for: tours found around the middle, symmetric ones, and all."""
    between = pl.col("iteration").is_between(middle, middle + 999)
    texts = {
        "DuckDB, range": f"select min(tour) from '{path}' where iteration between {middle} and {middle + 999}",
        "DuckDB, symmetric": f"select tour from '{path}' where symmetry <> 'none'",
        "DuckDB, all": f"select max(tour) from '{path}'",
    }
    works: dict[str, Callable[[], object]] = {name: partial(asked, text) for name, text in texts.items()}
    return works | {"Polars, range": lambda: pl.scan_parquet(path).filter(between).collect()}


def show(variant: str, table: pa.Table, rounds: int) -> None:
    middle = int(np.median(table["iteration"]))
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.parquet" for name in VARIANTS}
        for name, path in paths.items():
            written(table, str(path), VARIANTS[name])
        sizes = {name: path.stat().st_size for name, path in paths.items()}
        write = best({name: partial(written, table, io.BytesIO(), VARIANTS[name]) for name in VARIANTS}, rounds)
        works = {name: questions(str(path), middle) for name, path in paths.items()}
        read = {
            question: best({name: works[name][question] for name in VARIANTS}, rounds)
            for question in next(iter(works.values()))
        }
    view = Table("written as", "bytes a tour", "M tours/s", "of the first", *(f"{name}, ms" for name in read), box=None)
    first = write[next(iter(VARIANTS))]
    for name in VARIANTS:
        cells = [f"{times[name] * 1e3:.1f}" for times in read.values()]
        rate = len(table) / write[name] / 1e6
        view.add_row(name, f"{sizes[name] / len(table):.2f}", f"{rate:.1f}", f"{first / write[name]:.2f} x", *cells)
    console = Console(width=150)
    console.print(f"\n{len(table):,} {variant} tours of 8x8 from a1")
    console.print(view)


if __name__ == "__main__":
    main()
