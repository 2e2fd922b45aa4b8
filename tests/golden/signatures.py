"""Small runs, one for each thing that decides which tours come out, and what tells two outcomes apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from enumerate.catalog.distinct import write_distinct
from enumerate.search.strategy import resolve

from ..support.runs import run_serially

FILE = Path(__file__).with_name("signatures.json")
BYTES = "bytes"  # the half that holds for one version of pyarrow only
DISTINCT = "distinct"

CONFIGS = {
    "open": {},
    "closed": {"variant": "closed"},
    "plain": {"prune": False, "start": "classes"},
    "shuffled": {"h-prob": 0.9, "seed": 1, "variant": "both", "start": "a1,c3", "max": 50_000},
    "array kernel": {"size": "10x9", "variant": "both", "start": "a1,d4", "max": 50_000},
    "array kernel, shuffled": {"size": "10x9", "h-prob": 0.5, "seed": 7, "start": "a1", "max": 50_000},
    "missing corner": {"size": 7, "missing-corner": True, "variant": "closed", "start": "a1,c1", "max": 50_000},
    "exhaustive": {"size": "5x6", "variant": "both", "max": 0},
    "split": {"variant": "closed", "split": 8, "start": "a1,d4", "max": 50_000},
    "classes expanded": {"size": 5, "variant": "both", "start": "classes", "expand": True, "max": 0},
    "once, distinct": {"size": 6, "variant": "closed", "start": "once", "max": 0, DISTINCT: True},
    "random starts": {"size": 7, "start": "random:3", "seed": 5, "max": 20_000},
    "open, distinct": {"size": 5, "start": "a1,b2", "max": 0, DISTINCT: True},
    "only structured": {"size": 6, "variant": "both", "start": "c3", "only": "structured", "max": 50_000},
    "only symmetric": {"size": 6, "variant": "closed", "start": "a1,b1", "only": "symmetric", "max": 0},
    "counted": {"size": 6, "start": "a1", "write": False},
    "short slices": {"size": 6, "start": "a1", "slice-iterations": 3_000, "slice-tours": 400, "max": 10_000},
    "backtrack": {"strategy": "backtrack", "size": 5, "variant": "both", "max": 0},
    "backtrack, pruned": {"strategy": "backtrack", "prune": True, "size": "6x5", "start": "a1", "max": 50_000},
    "backtrack, array kernel": {"strategy": "backtrack", "prune": True, "size": "6x11", "start": "a1", "max": 50_000},
    "greedy random": {"strategy": "greedy", "variant": "both", "start": "a1,e4", "tours": 50, "seed": 3},
    "greedy lowest": {"strategy": "greedy", "ties": "lowest", "variant": "both"},
    "greedy pohl": {"strategy": "greedy", "ties": "pohl", "variant": "both"},
    "greedy roth": {"strategy": "greedy", "ties": "roth", "variant": "both", "size": "9x12"},
    "greedy squirrel": {"strategy": "greedy", "ties": "squirrel", "variant": "both", "size": 9},
    "divide": {"strategy": "divide", "variant": "both", "size": "20x31"},
    "divide, missing corner": {"strategy": "divide", "variant": "closed", "size": 25, "missing-corner": True},
}  # fmt: skip


def signature_of(name: str, folder: Path) -> dict[str, object]:
    """Make the run of that name in an empty folder, and say what came out."""
    values = dict(CONFIGS[name])
    wants_distinct = values.pop(DISTINCT, False)
    config = resolve({**values, "executor": "serial", "output": str(folder)})
    run_serially(config, yes=True)
    if wants_distinct:
        write_distinct(folder)
    identity = json.loads((folder / "_run" / "run.json").read_bytes())["identity"]
    records = [_record(path) for path in sorted((folder / "_run" / "commits").iterdir())]
    parts = sorted(folder.glob("*/**/*.parquet"))
    return {
        "identity": identity,
        "tours": {kind: sum(record[kind] for record in records) for kind in ("tours_open", "tours_closed")},
        "records": _hash(json.dumps(record, sort_keys=True).encode() for record in records),
        "columns": _hash(piece for path in parts for piece in _columns(path, folder)),
        "summary": _hash(_values_of(folder / "summary.parquet")),
        BYTES: _hash(piece for path in parts if not _is_times(path, folder) for piece in _file(path, folder)),
        "pyarrow": pa.__version__,
    }


def _record(path: Path) -> dict[str, object]:
    """A commit record without what differs from call to call, or with the version of pyarrow."""
    document = json.loads(path.read_bytes())
    del document["sha256"]
    for counts in (document, document["before"]):
        for key in ("search_seconds", "write_seconds", "first_seconds"):
            del counts[key]
    del document["before"]["bytes"]
    named = [part for part in document["parts"] if part["holds"] != "times"]
    timed = [part for part in document["parts"] if part["holds"] == "times"]
    document["parts"] = [[part["holds"], part["name"], part["rows"], part["content"]] for part in named]
    document["parts"] += [[part["holds"], part["rows"]] for part in timed]
    return document


def _columns(path: Path, folder: Path) -> Iterable[bytes]:
    if not _is_times(path, folder):
        yield path.relative_to(folder).as_posix().encode()
    yield from _values_of(path)


def _values_of(path: Path) -> Iterable[bytes]:
    """The values of a file, column by column. Seconds are never the same twice, and sizes follow pyarrow."""
    table = pq.read_table(pa.BufferReader(path.read_bytes()))
    for name in table.column_names:
        if not name.endswith(("seconds", "bytes")):
            yield f"{name} {table.schema.field(name).type}".encode()
            yield _values(table[name])


def _values(column: pa.ChunkedArray) -> bytes:
    if pa.types.is_fixed_size_binary(column.type):
        return b"".join(column.to_pylist())
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count or pa.types.is_string(column.type):
        return "\n".join(map(str, column.to_pylist())).encode()
    return column.to_numpy().tobytes()


def _file(path: Path, folder: Path) -> Iterable[bytes]:
    yield path.relative_to(folder).as_posix().encode()
    yield path.read_bytes()


def _is_times(path: Path, folder: Path) -> bool:
    return path.relative_to(folder).parts[0] == "times"


def _hash(pieces: Iterable[bytes]) -> str:
    """Of the pieces and where each ends."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(hashlib.sha256(piece).digest())
    return digest.hexdigest()
