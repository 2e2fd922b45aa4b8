"""What a person sees: on a terminal of any width, in a log, and as JSON lines."""

from __future__ import annotations

import json
import re

import pytest

from enumerate.catalog.reader import Run
from enumerate.executors.events import Finished
from enumerate.ledger.records import JobProgress
from enumerate.model.numbers import size
from enumerate.run.tally import Tally
from enumerate.view import progress
from enumerate.view.progress import figures, in_lines

from ..support.commands import called, on_a_terminal

WORDS = ("--size", "6", "--variant", "both", "--slice-iterations", "100k", "--max")

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.mark.parametrize("columns", [100, 60, 40, 30])
def test_no_number_is_cut_and_no_row_of_a_table_folded(tmp_path, columns):
    text = CONTROL.sub("", on_a_terminal(columns, *WORDS, "400k", cwd=tmp_path))
    total = Run(tmp_path / "output/both-6x6").totals()
    table = re.search(r"start +open.*?(?=\n\n)", text, re.DOTALL)[0]
    assert max(len(line) for line in table.splitlines() if "summary.csv" not in line) <= columns
    tours = [f"{total[name]:,}" for name in ("tours_open", "tours_closed")]
    assert re.search(rf"^total  +{tours[0]}  +{tours[1]}( |$)", table, re.MULTILINE)
    assert ("bytes" in table) == (columns == 100)
    assert ("Tours for each start square" in text) == (columns >= 40)
    if columns >= 40:
        heat = text.split("Tours for each start square\n")[1].split("\n\n")[0].splitlines()
        assert max(map(len, heat)) <= columns
    for number in (f"{sum(total[name] for name in ('tours_open', 'tours_closed')):,} tours in ", size(total["bytes"])):
        assert number in text


@pytest.mark.parametrize("columns", [100, 60, 40])
def test_progress_on_a_terminal_keeps_its_lines(tmp_path, columns):
    """Each picture of the live display is as high as the one before it: none of its lines is folded."""
    drawn = on_a_terminal(columns, *WORDS, "2M", "--workers", "1", cwd=tmp_path)
    lines = [CONTROL.sub("", line) for line in re.split(r"[\r\n]+", drawn)]
    assert any("open and closed tours on 6x6" in line for line in lines)
    about = [line for line in lines if "of the budget" in line]
    assert about
    assert max(len(line.rstrip()) for line in about) <= columns
    assert any("workers" in line for line in lines)
    if columns == 100:
        assert any(re.search(r"left \d+:\d\d:\d\d +\d+/36 squares", line) for line in about)


def test_a_log_has_the_time_and_the_name_of_the_run(tmp_path):
    done = called(*WORDS, "400k", "--workers", "2", cwd=tmp_path)
    assert re.search(r"^\d\d:\d\d:\d\d both-6x6: open and closed tours on 6x6, 36 start squares, 2 workers$",
                     done.stderr, re.MULTILINE)  # fmt: skip


def test_json_lines_are_one_object_a_line(tmp_path):
    done = called(*WORDS, "400k", "--log-json", cwd=tmp_path)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["event"] for line in lines if line["event"] in ("begin", "end")] == ["begin", "end"]
    assert all(line["time"].endswith("+00:00") for line in lines)
    total = Run(tmp_path / "output/both-6x6").totals()
    end = lines[-1]
    assert (end["run"], end["share"], end["tours"]) == (
        "output/both-6x6",
        1.0,
        total["tours_open"] + total["tours_closed"],
    )
    assert (end["rows_done"], end["rows"], end["row"]) == (36, 36, "square")


def test_a_continued_run_shows_the_tours_and_bytes_of_the_whole_run(tmp_path):
    for most in ("400k", "800k"):
        done = called(*WORDS, most, "--log-json", cwd=tmp_path)
    total = Run(tmp_path / "output/both-6x6").totals()
    end = json.loads(done.stderr.splitlines()[-1])
    assert (end["tours"], end["bytes"]) == (total["tours_open"] + total["tours_closed"], total["bytes"])
    assert end["mean"]["tours"] * end["seconds"] < end["tours"]  # the rates are of this call


def test_figures_say_what_they_are(tmp_path):
    run = Run(called_run(tmp_path))
    words = figures(Tally(run.config, run.progress))
    assert words[0] == "100.0% of the budget"
    assert "36/36 squares" in words
    assert [word.split()[0] for word in words if word.startswith(("left", "elapsed"))] == ["left", "elapsed"]
    assert any(word.endswith(" written") for word in words)
    assert any(word.endswith(" free") for word in words)


def test_the_current_rate_is_that_of_the_last_minute(tmp_path):
    run, now = Run(called_run(tmp_path)), [0.0]
    first, *_, last = run.progress
    tally = Tally(run.config, [JobProgress(first.job), JobProgress(last.job)], now=lambda: now[0])
    for seconds, job in ((10.0, first), (100.0, last)):
        now[0] = seconds
        result = next(run.records(job))
        tally.jobs[job.job.number].add(result)
        tally.add(Finished(0, "here", None, result))
    tours = [next(run.records(job)).tours for job in (first, last)]
    assert tally.mean.tours == sum(tours) / 100
    assert tally.recent.tours == tours[1] / 90


def called_run(folder):
    called(*WORDS, "400k", "--quiet", cwd=folder)
    return folder / "output/both-6x6"


@pytest.mark.parametrize(("command", "title"), [
    (("verify",), "verifying"), (("distinct", "--count"), "distinct tours"),
    (("export", "--start", "a1", "--output", "t.txt"), "exporting"),
])  # fmt: skip
def test_a_log_sees_how_far_long_commands_are(tmp_path, monkeypatch, command, title):
    run = called_run(tmp_path)
    monkeypatch.setattr(progress, "PLAIN_SECONDS", -1.0)
    done = called(*command, run, cwd=tmp_path)
    lines = [line for line in done.stderr.splitlines() if line.startswith(title)]
    assert lines[-1] == f"{title}: 100%"
    assert len(lines) > 1


def test_words_that_do_not_fit_are_left_out_whole():
    words = ["12.5% of the budget", "1,234,567 tours", "left 0:00:12"]
    assert in_lines(words, 40, 1) == ["12.5% of the budget   1,234,567 tours"]
    assert in_lines(words, 36, 2) == ["12.5% of the budget", "1,234,567 tours   left 0:00:12"]
    assert in_lines(words, 10, 2) == [""]
