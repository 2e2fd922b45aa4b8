"""Jobs without a start square, and a column of a strategy's own: written, read, killed, continued and verified."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shutil
import signal
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from enumerate.api import Run
from enumerate.catalog.distinct import count_distinct
from enumerate.catalog.verify import verify
from enumerate.ledger.layout import parse_part_name, part_name
from enumerate.ledger.manifest import seal, unseal
from enumerate.model.errors import BadRequest
from enumerate.search.strategy import identity_of, resolve
from enumerate.view.web.report import report_of
from enumerate.view.web.server import make_app

from ..support.commands import called, children, command, started, wait_for
from ..support.runs import damage, part_sums, run_serially

DEALT = {"strategy": "dealt:DEALT", "size": "4x5", "max": 0}
WORDS = ("--strategy", "dealt:DEALT", "--size", "4x5", "--max", "0")
ALL = 164  # OEIS A079137; 4x5 has no closed tours


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the user is, with the file of the strategy."""
    folder = tmp_path_factory.mktemp("mixed")
    shutil.copy(Path(__file__).with_name("dealt.py"), folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        yield folder


@pytest.fixture(scope="module")
def made(folder):
    run_serially(resolve({**DEALT, "executor": "serial", "slice-tours": 20, "output": str(folder / "run")}), yes=True)
    return folder / "run"


def test_its_parts_lie_under_their_variant_and_its_records_verify(made):
    names = sorted(path.relative_to(made).as_posix() for path in (made / "tours").rglob("*.parquet"))
    assert names[0] == "tours/variant=open/part-000000-0000.parquet"
    assert len(names) == 9
    for name in names:
        assert parse_part_name(name).start == ""
        assert part_name(*parse_part_name(name)) == name
    verdict = verify(Run(made))
    assert (verdict.damage, verdict.tours, verdict.complete) == ([], ALL, True)


def test_each_tour_has_its_start_and_its_number_in_every_reader(made):
    tours = f"{made}/tours/**/*.parquet"
    rows = duckdb.sql(f"select variant, start, number, tour from '{tours}' order by number").fetchall()
    assert [number for _, _, number, _ in rows] == list(range(ALL))
    board = Run(made).board
    assert all((variant, start) == ("open", board.name(tour[0])) for variant, start, _, tour in rows)
    by_start = pl.scan_parquet(made / "tours").group_by("start").len().collect()
    assert sum(by_start["len"]) == ALL
    description = pq.read_schema(next((made / "tours").rglob("*.parquet"))).field("number").metadata[b"description"]
    assert description == b"Number of the tour among all open ones."


def test_the_library_reads_the_column_too_and_refuses_to_choose_start_squares(made):
    run = Run(made)
    numbers = [batch.more[0] for part in run.parts() for batch in run.read_part(part)]
    assert sorted(np.concatenate(numbers).tolist()) == list(range(ALL))
    assert len(run.tour(ALL)) == 20
    with pytest.raises(BadRequest, match="the parts of this run mix start squares"):
        next(run.tours(start="a1"))
    assert count_distinct(made).tours == ALL


def test_the_summary_has_a_row_for_each_job_and_they_add_up(made):
    rows = pq.read_table(made / "summary.parquet").to_pylist()
    assert [(row["job"], row["start"]) for row in rows] == [(0, None), (1, None), (2, None)]
    assert [row["tours_open"] for row in rows] == [55, 55, 54]
    assert json.loads((made / "summary.json").read_bytes())["tours_open"] == ALL


def test_the_terminal_the_exports_and_the_pages_show_it(made, folder):
    shown = called(*WORDS, "--slice-tours", "20", "--executor", "serial", "--output", str(made), cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert "Exhausted: these are all open tours from 3 jobs." in shown.stdout
    assert "164 tours" not in shown.stdout  # this call found none
    assert re.search(r"^total +164 +164 ", shown.stdout, re.MULTILINE)
    assert "Tours for each start square" not in shown.stdout
    assert [line.split()[0] for line in shown.stdout.splitlines()[:5]] == ["job", "0", "1", "2", "total"]
    planned = called("plan", *WORDS, cwd=folder)
    assert "3 jobs, to their ends" in planned.stdout
    exported = called("export", str(made), "--format", "csv", cwd=folder).stdout
    rows = list(csv.DictReader(exported.splitlines()))
    assert [int(row["number"]) for row in rows] == list(range(1, ALL + 1))
    lines = called("export", str(made), "--format", "jsonl", "--limit", "1", cwd=folder).stdout
    assert json.loads(lines)["columns"] == {"number": 0}
    client = TestClient(make_app(str(made)), base_url="http://127.0.0.1:8642")
    page = client.get("/runs/run").text
    assert "The jobs of this run have no start squares." in page
    found = client.get("/runs/run/tours.json").json()
    assert found["count"] == ALL
    assert found["tours"][0]["columns"] == {"number": 0}
    assert client.get("/runs/run/tour?number=7").status_code == 200
    assert "164" in report_of(str(made))[1]
    readme = (made / "README.md").read_text(encoding="utf-8")
    assert "| `number` | int64 | Number of the tour among all open ones. |" in readme
    assert "| `start` | in the path of the file |" not in readme


def test_what_does_not_apply_to_it_is_refused(folder):
    done = called(*WORDS, "--start", "a1", "--output", "no", cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "the jobs of --strategy dealt:DEALT have no start squares" in done.stderr
    assert not (folder / "no").exists()


def test_a_changed_start_or_number_is_found(made, tmp_path):
    for column in ("start", "number"):
        copy = Path(shutil.copytree(made, tmp_path / column))
        path = copy / "tours/variant=open/part-000000-0000.parquet"
        table = pq.read_table(pa.BufferReader(path.read_bytes()))
        at = table.schema.get_field_index(column)
        values = table[column].to_pylist()
        values[3] = values[4] if column == "number" else "e4"
        harmed = table.set_column(at, table.schema.field(at), pa.array(values, type=table.schema.field(at).type))
        pq.write_table(harmed, path, write_page_checksum=True)
        refit(copy, path)
        assert len(damage(copy)) == 1


def refit(folder, path):
    """Make the records fit the bytes of a part, so that only its content can tell."""
    data = path.read_bytes()
    for record in sorted((folder / "_run" / "commits").glob("000000-*.json")):
        document = unseal(record.read_bytes(), "record")
        for part in document["parts"]:
            if part["name"].endswith(path.name):
                grown = len(data) - part["bytes"]
                part.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
        if document["slice"]:
            document["before"]["bytes"] += grown
        record.write_bytes(seal(document))


def test_a_recent_setting_changes_the_identity_and_the_bytes_only_where_it_differs(folder, made):
    values = {**DEALT, "slice-tours": 20}
    assert identity_of(resolve(values)) == identity_of(resolve({**values, "tint": 0}))
    assert "tint" not in identity_of(resolve(values))
    assert identity_of(resolve({**values, "tint": 3}))["tint"] == 3
    assert Run(made).config.own == (("jobs", 3), ("tint", 0))
    run_serially(resolve({**values, "tint": 3, "executor": "serial", "output": str(folder / "tinted")}), yes=True)
    assert Run(folder / "tinted").config.own == (("jobs", 3), ("tint", 3))
    assert part_sums(folder / "tinted").keys() == part_sums(made).keys()
    assert part_sums(folder / "tinted") != part_sums(made)
    other = called(*WORDS, "--slice-tours", "20", "--output", str(folder / "tinted"), cwd=folder)
    assert other.stderr.splitlines()[1:] == ["setting  there  asked for", "tint     3      its default"]


def test_it_is_killed_continued_and_verified(folder, made):
    words = (*WORDS, "--jobs", "3", "--slice-tours", "2", "--workers", "2", "--output")
    with started(*words, "killed", cwd=folder) as process:
        wait_for(lambda: len(list((folder / "killed/_run/commits").glob("*"))) > 3)
        os.kill(min(children(process.pid)), signal.SIGKILL)
        wait_for(lambda: len(list((folder / "killed/_run/commits").glob("*"))) > 10)
        process.kill()
        process.wait()
    done = command(*words, "killed", "--executor", "serial", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert called("verify", "killed", cwd=folder).stdout.startswith("sound: 164 tours")
    found = duckdb.sql(f"select number, tour from '{folder}/killed/tours/**/*.parquet' order by 1").fetchall()
    assert found == duckdb.sql(f"select number, tour from '{made}/tours/**/*.parquet' order by 1").fetchall()
