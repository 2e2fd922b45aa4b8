"""Many tours as files, read back by other means and compared with what the run holds."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from enumerate.catalog.reader import Run
from enumerate.cli.app import main
from enumerate.model.errors import BadRequest
from enumerate.search.strategy import resolve
from enumerate.view import export as exporting

from ..support.commands import arguments, environment_with
from ..support.runs import run_serially


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """All tours of 3x10 from some squares, open and closed."""
    folder = tmp_path_factory.mktemp("export") / "run"
    values = {"size": "3x10", "variant": "both", "start": "a1,b1,b2", "max": 0, "output": str(folder)}
    run_serially(resolve({**values, "executor": "serial"}))
    return folder


@pytest.fixture(scope="module")
def paths(place):
    """The tours as lists of names."""
    run = Run(place)
    return [[run.board.name(square) for square in tour] for tours in run.tours() for tour in tours.tolist()]


def exported(capsys, *words):
    assert main(["export", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_csv_has_every_tour_once_and_in_order(place, paths, capsys):
    rows = list(csv.DictReader(io.StringIO(exported(capsys, place, "--format", "csv"))))
    assert [row["tour"].split() for row in rows] == paths
    assert [int(row["number"]) for row in rows] == list(range(1, len(paths) + 1))
    total = Run(place).totals()
    assert sum(row["variant"] == "closed" for row in rows) == total["tours_closed"]
    assert sum(row["structured"] == "true" for row in rows) == total["structured"]
    assert sum(row["symmetry"] == "path-180" for row in rows) == total["path_180"]
    assert all(row["start"] == row["tour"].split()[0] for row in rows)


def test_json_lines_say_the_same(place, paths, capsys):
    rows = [json.loads(line) for line in exported(capsys, place, "--format", "jsonl").splitlines()]
    assert [row["tour"] for row in rows] == paths
    assert {type(row["structured"]) for row in rows} == {bool}
    assert min(row["iteration"] for row in rows) == Run(place).totals()["first_iteration"]


def test_text_shows_each_tour_as_a_board(place, paths, capsys):
    blocks = exported(capsys, place, "--format", "txt", "--start", "b2").rstrip("\n").split("\n\n")
    expected = [path for path in paths if path[0] == "b2"]
    assert len(blocks) == len(expected)
    for block, path in zip(blocks, expected, strict=True):
        about, *rows = block.splitlines()
        assert f"from b2 to {path[-1]}" in about
        numbers = [[int(word) for word in row.split()] for row in reversed(rows)]
        places = {f"{'abcdefghij'[c]}{r + 1}": numbers[r][c] for r in range(3) for c in range(10)}
        assert [places[name] for name in path] == list(range(1, 31))


def test_start_variant_and_max_choose(place, paths, capsys):
    rows = list(csv.DictReader(io.StringIO(
        exported(capsys, place, "--format=csv", "--start", "b1", "--variant", "closed", "--limit", "5"))))  # fmt: skip
    assert len(rows) == 5
    assert {(row["start"], row["variant"]) for row in rows} == {("b1", "closed")}


def test_one_file_for_each_start_square_and_a_table_of_counts(place, paths, tmp_path, capsys):
    exported(capsys, place, "--format", "csv", "--files-by", "start", "--output", tmp_path / "out")
    files = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()}
    assert sorted(files) == ["a1.csv", "b1.csv", "b2.csv", "counts.csv"]
    counts = dict(csv.reader(io.StringIO(files["counts.csv"])))
    for start in ("a1", "b1", "b2"):
        rows = list(csv.DictReader(io.StringIO(files[f"{start}.csv"])))
        assert [row["tour"].split() for row in rows] == [path for path in paths if path[0] == start]
        assert counts[start] == str(len(rows))
    assert counts["total"] == str(len(paths))


def test_kinds_of_tours_are_kept_apart_though_they_alternate(place, paths, tmp_path):
    choice = exporting.Choice("csv", limit=400, files_by="kind")
    exporting.export(Run(place), choice, str(tmp_path / "out"), sys.stdout)
    found = []
    for path in (tmp_path / "out").glob("*-*.csv"):
        rows = list(csv.DictReader(path.open(encoding="utf-8")))
        variant, structured = path.stem.split("-")
        assert {(row["variant"], row["structured"]) for row in rows} == {
            (variant, "true" if structured == "structured" else "false")
        }
        found += [row["tour"].split() for row in rows]
    assert sorted(found) == sorted(paths[:400])


def test_a_greedy_run_has_its_times_with_total_and_average(tmp_path, capsys):
    values = {"size": "6", "strategy": "greedy", "variant": "both", "start": "a1", "tours": 30, "max": 0}
    run_serially(resolve({**values, "output": str(tmp_path / "run"), "executor": "serial"}))
    exported(capsys, tmp_path / "run", "--files-by", "kind", "--output", tmp_path / "out")
    *rows, total, average = csv.DictReader((tmp_path / "out" / "times.csv").open(encoding="utf-8"))
    times = Run(tmp_path / "run").times().to_pydict()
    assert [int(row["placements"]) for row in rows] == times["placements"]
    assert (total["tour"], average["tour"]) == ("total", "average")
    assert int(total["placements"]) == sum(times["placements"])
    assert float(average["attempts"]) == pytest.approx(sum(times["attempts"]) / len(rows))
    assert float(total["seconds"]) == pytest.approx(sum(filter(None, times["seconds"])), abs=1e-6)


def test_every_picture_is_a_file_that_shows_its_tour(place, tmp_path, capsys):
    exported(capsys, place, "--format", "svg", "--variant", "open", "--limit", "3", "--output", tmp_path / "out")
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == ["000001-a1-open.svg", "000002-a1-open.svg", "000003-a1-open.svg"]
    run = Run(place)
    tours = next(run.tours(variant="open"))[:3].tolist()
    for file, tour in zip(files, tours, strict=True):
        root = ET.parse(file).getroot()
        line = root.find("{http://www.w3.org/2000/svg}polyline")
        corners = [tuple(map(int, point.split(","))) for point in line.get("points").split()]
        names = [f"{'abcdefghij'[(x - 42) // 40]}{3 - (y - 42) // 40}" for x, y in corners]
        assert names == list(map(run.board.name, tour))


def test_a_file_stands_only_when_it_is_complete(place, tmp_path, monkeypatch):
    target = tmp_path / "tours.csv"
    target.write_text("precious", encoding="utf-8")
    form = exporting.FORMATS["csv"]

    def failing(board, tour):
        if tour.number > 3:
            raise OSError(28, "No space left on device")
        return form(board, tour)

    monkeypatch.setitem(exporting.FORMATS, "csv", failing)
    assert main(["export", str(place), "--format", "csv", "--output", str(target)]) == 2
    assert target.read_text(encoding="utf-8") == "precious"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("command", "flag", "name"),
    [("export", "--output", "tours.txt"), ("show", "--svg", "a.svg"), ("show", "--png", "a.png"),
     ("report", "--output", "run.html")],
)  # fmt: skip
def test_a_file_is_overwritten_only_if_asked(place, tmp_path, capsys, command, flag, name):
    target = tmp_path / name
    target.write_text("precious", encoding="utf-8")
    words = [command, str(place), flag, str(target)]
    assert main(words) == 2
    assert "; choose another one, or --force" in capsys.readouterr().err
    assert target.read_text(encoding="utf-8") == "precious"
    assert main([*words, "--force"]) == 0
    assert target.read_bytes()[:8] != b"precious"


def test_a_pipe_is_written_to_and_stays_one(place, paths, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        assert main(["export", str(place), "--format", "csv", "--output", str(pipe), "--quiet"]) == 0
        rows = list(csv.DictReader(reader.stdout))
    assert [row["tour"].split() for row in rows] == paths
    assert pipe.is_fifo()


@pytest.mark.parametrize("words", [("export",), ("show",)], ids=" ".join)
def test_tours_that_were_only_counted_are_not_there(tmp_path, capsys, words):
    values = {"size": 5, "start": "a1", "max": 0, "write": False, "executor": "serial"}
    run_serially(resolve({**values, "output": str(tmp_path / "run")}))
    assert main([*words, str(tmp_path / "run")]) == 2
    assert "were counted and not written" in capsys.readouterr().err


def test_what_is_beside_the_output_stays_and_a_link_stays_a_link(place, tmp_path):
    (tmp_path / "tours.csv.part").write_text("precious", encoding="utf-8")
    (tmp_path / "link").symlink_to("tours.csv")
    assert main(["export", str(place), "--limit", "2", "--output", str(tmp_path / "link")]) == 0
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "tours.csv", "tours.csv.part"]
    assert (tmp_path / "tours.csv.part").read_text(encoding="utf-8") == "precious"


def test_a_page_that_cannot_be_written_whole_leaves_the_one_that_is_there(place, tmp_path):
    page = tmp_path / "run.html"
    page.write_text("precious", encoding="utf-8")
    words = shlex.join(arguments("report", place, "--output", page, "--force"))
    done = subprocess.run(["bash", "-c", f"ulimit -f 4; trap '' XFSZ; exec {words}"], env=environment_with(),
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert page.read_text(encoding="utf-8") == "precious"
    assert list(tmp_path.iterdir()) == [page]


def test_files_of_an_export_that_failed_are_not_in_the_way_of_the_next(place, tmp_path, monkeypatch):
    form = exporting.FORMATS["csv"]

    def failing(board, tour):
        if tour.number > 300:
            raise KeyboardInterrupt
        return form(board, tour)

    words = ["export", str(place), "--format", "csv", "--files-by", "start", "--output", str(tmp_path / "out")]
    with monkeypatch.context() as patched:
        patched.setitem(exporting.FORMATS, "csv", failing)
        assert main(words) == 130
    assert main(words) == 0


def test_a_folder_with_files_is_exported_to_only_if_asked(place, tmp_path, capsys):
    (tmp_path / "a1.csv").write_text("precious", encoding="utf-8")
    words = [place, "--format", "csv", "--files-by", "start", "--output", tmp_path]
    exported(capsys, *words, "--force")
    assert (tmp_path / "a1.csv").read_text(encoding="utf-8").startswith("number,")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--format", "xml"], "format must be txt, csv, jsonl or svg, got 'xml'"),
        (["--files-by", "file", "--output", "x"], "files-by must be start or kind, got 'file'"),
        (["--output", "full"], "output must be a file, and this is a folder: 'full'"),
        (["--json"], "--json says what was written where; give --output"),
        (["--files-by", "start"], "several files need a folder; give --output"),
        (["--format", "svg"], "several files need a folder; give --output"),
        (["--format", "svg", "--files-by", "start", "--output", "x"], "--files-by does not apply to svg"),
        (["--limit", "-1"], "limit must be a whole number from 0 to 9,223,372,036,854,775,807 (0: all tours), got -1"),
        (["--start", "z1"], "no such square on the 3x10 board"),
        (["--variant", "round"], "variant must be open or closed, got 'round'"),
        (["--output", "no/such/folder.txt"], "cannot write: 'no/such/folder.txt'"),
        (["--files-by", "start", "--output", "full"], "the folder is not empty: 'full'"),
    ],
)
def test_a_bad_request_costs_one_line(place, tmp_path, monkeypatch, capsys, words, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert main(["export", str(place), *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert told in err
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_too_many_pictures_are_refused_before_any_is_made(place, tmp_path):
    choice = exporting.Choice("svg", max_pictures=10)
    with pytest.raises(BadRequest, match="at most 10 pictures"):
        exporting.export(Run(place), choice, str(tmp_path / "out"), sys.stdout)
    assert not (tmp_path / "out").exists()


def test_a_reader_that_has_enough_is_no_error(place):
    words = arguments("export", place, "--format", "jsonl")
    with subprocess.Popen(words, env=environment_with(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert (process.wait(60), process.stderr.read()) == (0, b"")
