"""What a run says of itself is true, and what it shows works: its README.md and its tours.sql, with real readers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import duckdb
import numpy as np
import pytest

from enumerate.api import Run
from enumerate.ledger.guide import _letters, _names_code
from enumerate.model.board import Board, column_name
from enumerate.search.strategy import resolve

from ..support.commands import called
from ..support.runs import run_serially

BOARDS = {
    "one byte a square": {"size": "8", "variant": "both", "start": "a1,c3", "max": 20_000},
    "two bytes, columns beyond z": {"size": "10x30", "start": "aa1,b2", "max": 20_000},
    "no corner": {"size": 7, "missing-corner": True, "variant": "closed", "start": "a1,c1", "max": 50_000},
    "no start squares": {"size": "4x5", "strategy": "tests.search.dealt:DEALT", "jobs": 3, "max": 0},
    "four bytes": {"size": "257x257", "strategy": "divide", "variant": "open"},
}


@pytest.fixture(scope="module", params=BOARDS)
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("guide") / "run"
    run_serially(resolve({**BOARDS[request.param], "executor": "serial", "output": str(folder)}))
    return Run(folder)


@pytest.fixture
def duck(run):
    """DuckDB with what tours.sql makes, from another folder."""
    duck = duckdb.connect()
    duck.execute(f"set file_search_path = '{run.storage.output}'")
    duck.execute(Path(run.storage.output, "tours.sql").read_text(encoding="utf-8"))
    return duck


def test_the_macros_of_duckdb_read_the_tours_as_we_do(run, duck):
    ours = {tuple(tour) for tours in run.tours() for tour in tours.tolist()}
    rows = duck.sql("select squares(tour), algebraic(tour), start, variant from tours").fetchall()
    assert {tuple(squares) for squares, *_ in rows} == ours
    for squares, names, start, _ in rows[:50]:
        assert names == [run.board.name(square) for square in squares]
        assert names[0] == start


@pytest.mark.parametrize("cols", [1, 26, 27, 702, 703, 18_278, 18_279, 65_536])
def test_the_letters_of_duckdb_are_those_of_the_board(cols):
    text = f"select square, {_letters(cols)} from range(0, {cols}, {max(1, cols // 997)}) t(square)"
    for square, letters in duckdb.sql(text).fetchall():
        assert letters == column_name(square)


def examples(run):
    text = Path(run.storage.output, "README.md").read_text(encoding="utf-8")
    return text, re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)


# What the examples leave in `tours`, `squares` and `names`.
REPORT = """
starts, variants = ([str(name) for name in tours[column]] for column in ("start", "variant"))
assert names[squares[:50, 0]].tolist() == starts[:50]
digest = sha256(b"".join(sorted(row.tobytes() for row in squares))).hexdigest()
print(json.dumps([squares.shape, digest, Counter(zip(variants, starts)).most_common()]))
"""


def test_each_reader_gives_the_squares_the_names_and_the_columns_of_the_path_by_the_lines_of_the_readme(run, tmp_path):
    _, blocks = examples(run)
    first, *readers = [code for language, code in blocks if language == "python"]
    assert len(readers) == 5
    if not find_spec("datasets"):
        readers.pop()
    script = [
        "import json\nfrom collections import Counter\nfrom hashlib import sha256\n",
        first,
        *(code + REPORT for code in readers),
    ]
    done = subprocess.run(
        [sys.executable, "-c", "".join(script)],
        cwd=run.storage.output,
        env={"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ours = np.concatenate(list(run.tours()))
    firsts = (
        (variant, square)
        for variant in ("open", "closed")
        for tours in run.tours(None, variant)
        for square in tours[:, 0]
    )
    counts = Counter((variant, run.board.name(square)) for variant, square in firsts)
    for line in done.stdout.splitlines():
        shape, digest, found = json.loads(line)
        assert shape == list(ours.shape)
        assert digest == sha256(b"".join(sorted(row.tobytes() for row in ours))).hexdigest()
        assert {tuple(key): count for key, count in found} == counts
    assert len(done.stdout.splitlines()) == len(readers)


def test_no_reader_needs_more_than_two_lines_beside_its_import(run):
    _, blocks = examples(run)
    for code in [code for language, code in blocks if language == "python"]:
        assert len([line for line in code.splitlines() if line and not line.startswith(("import", "from"))]) <= 2


def test_the_statements_of_the_readme_run_in_duckdb(run, duck):
    _, blocks = examples(run)
    (sql,) = [text for language, text in blocks if language == "sql"]
    for statement in filter(str.strip, sql.split(";")):
        assert duck.sql(statement).fetchall()


@pytest.mark.parametrize("cols", [8, 26, 27, 702, 703, 18_279])
def test_the_names_of_the_readme_are_those_of_the_board(cols):
    board, made = Board(3, cols), {}
    exec(_names_code(board), made)
    assert made["names"].tolist() == [board.name(square) for square in range(board.squares)]


def test_hugging_faces_reader_finds_the_variants_as_splits(run, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    datasets = pytest.importorskip("datasets")
    found = datasets.load_dataset(run.storage.output, cache_dir=str(tmp_path / "cache"))
    counts = {variant: run.totals()[f"tours_{variant}"] for variant in ("open", "closed")}
    assert {split: len(rows) for split, rows in found.items()} == {name: n for name, n in counts.items() if n}


def test_the_command_of_the_readme_makes_the_same_run(run):
    text, blocks = examples(run)
    command = blocks[0][1].split()
    assert command[:3] == ["python", "-m", "enumerate"]
    done = called(*command[3:], "--executor", "serial", "--json", cwd=run.storage.output)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["already_complete"]
    assert f"{run.totals()['iterations']:,}" in text


def test_a_run_that_only_counts_says_nothing_of_columns(tmp_path):
    run_serially(resolve({"size": 5, "write": False, "executor": "serial", "output": str(tmp_path / "run")}))
    text = (tmp_path / "run" / "README.md").read_text(encoding="utf-8")
    assert "## Columns" not in text
    assert "--no-write" in text
    assert not (tmp_path / "run" / "tours.sql").exists()
