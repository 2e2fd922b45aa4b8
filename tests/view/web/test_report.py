"""The report: one file that holds everything and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from enumerate.catalog.reader import Run
from enumerate.cli.app import main
from enumerate.search.strategy import resolve
from enumerate.view.web.live_run import LiveRun
from enumerate.view.web.report import growth_svg, report_of, spread

from ...support.runs import run_serially

RUNS = {
    "small": {"size": "3x10", "variant": "both", "max": 0},
    "usual": {"size": "8", "variant": "closed", "max": 20_000},
    "large": {"size": "50", "variant": "open", "start": "random:12", "tours": 1},
    "huge": {
        "size": "100",
        "variant": "open",
        "strategy": "greedy",
        "ties": "roth",
        "start": "a1",
        "tours": 2,
        "max": 0,
    },
    "counted": {"size": "5", "max": 20_000, "write": False},
    "none": {"size": "8", "variant": "open", "start": "b2", "max": 60},
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """For each run its folder and its report."""
    folder = tmp_path_factory.mktemp("reports")
    for name, values in RUNS.items():
        run_serially(resolve({**values, "output": str(folder / name), "executor": "serial"}))
    return {name: (folder / name, report_of(str(folder / name))[1]) for name in RUNS}


@pytest.mark.parametrize("name", RUNS)
def test_a_report_is_small_and_speaks_of_no_other_host(reports, name):
    _, page = reports[name]
    assert len(page.encode()) < 2_000_000
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of SVG, which nobody loads
    assert not re.search(r"<(link|img|iframe|object|embed)\b", page)
    assert not re.search(r"\b(src|srcset)=", page)
    assert "@import" not in page
    assert "import {" not in page


@pytest.mark.parametrize("name", RUNS)
def test_its_policy_allows_its_own_style_and_script_and_nothing_else(reports, name):
    _, page = reports[name]
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"<{tag}(?: type=\"module\")?>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    assert not re.search(r"\s(style|onclick|onload)=", page.split("<body>")[1].split("<script")[0])


def test_it_tells_the_totals_of_the_run(reports):
    folder, page = reports["usual"]
    total = Run(folder).totals()
    for fact in (f"{total['tours_closed']:,}", f"{total['iterations']:,}", f"{total['structured']:,}"):
        assert fact in page
    assert page.count("data-load") - page.count("[data-load]") == 12
    assert page.count('class="board heat"') == 2


def test_large_boards_get_fewer_pictures_and_no_tours_none(reports):
    assert reports["huge"][1].count("data-squares=") == 2  # the player and one picture
    assert "data-player data-board" not in reports["none"][1]
    assert "data-player data-board" not in reports["counted"][1]


def test_the_chart_ends_at_the_mean_number_of_tours(reports):
    folder, _ = reports["usual"]
    chart = LiveRun(str(folder)).look(growth_svg)
    ends = [float(points.split()[-1].split(",")[1]) for points in re.findall(r'<polyline points="([^"]*)"', chart)]
    assert len(ends) == 65  # of 64 start squares, and their mean
    assert ends[-1] == pytest.approx(sum(ends[:-1]) / 64, abs=0.06)
    counts = [row["tours_closed"] for row in Run(folder).summary().to_pylist()]
    order = sorted(range(64), key=lambda index: counts[index])
    assert [ends[index] for index in order] == sorted(ends[:-1], reverse=True)


@pytest.mark.parametrize(
    ("items", "count", "expected"),
    [("abcdef", 3, "ace"), ("abc", 5, "abc"), ("", 3, ""), ("abc", 0, ""), ("abcdefgh", 1, "a")],
)
def test_few_of_many_are_spread_evenly(items, count, expected):
    assert "".join(spread(items, count)) == expected


def test_the_command_writes_the_file_under_the_name_of_the_run(reports, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder, _ = reports["small"]
    assert main(["report", str(folder)]) == 0
    assert capsys.readouterr().out == "wrote small.html\n"
    assert (tmp_path / "small.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert main(["report", str(folder), "--output", "other.html"]) == 0
    assert (tmp_path / "other.html").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [(["nowhere"], "there is no such folder"), (["RUN", "--output", "no/such/folder"], "cannot write the file")],
)
def test_a_bad_request_costs_one_line(reports, tmp_path, monkeypatch, capsys, words, told):
    monkeypatch.chdir(tmp_path)
    assert main(["report", *(str(reports["small"][0]) if word == "RUN" else word for word in words)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert told in err
    assert list(tmp_path.iterdir()) == []
