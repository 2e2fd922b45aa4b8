"""How `status` and `list` see a run from another process: at work, killed, stopped, complete, damaged."""

from __future__ import annotations

import json
import signal

import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.status import state_of
from enumerate.ledger.manifest import seal, unseal
from enumerate.run.pulse import Pulse

from ..support.commands import called, started, wait_for
from ..support.searches import config_for

WORDS = ("--size", "8", "--start", "a1,b1,c1,d1", "--slice-iterations", "2M", "--no-prune", "--workers", "2")


def status(folder, *words):
    done = called("status", *words, "--json", cwd=folder)
    return done.returncode, json.loads(done.stdout)


def records(folder):
    return len(list((folder / "run/_run/commits").glob("*")))


def test_a_run_at_work_is_seen_and_a_killed_one_is_told_from_it(tmp_path):
    with started(*WORDS, "--max", "1e15", "--output", "run", cwd=tmp_path) as process:
        wait_for(lambda: records(tmp_path) > 3)
        _, before = status(tmp_path, "run")
        assert before["state"] == "at work"
        wait_for(lambda: (status(tmp_path, "run")[1]["pulse"] or {"tours": 0})["tours"] > 0)
        _, found = status(tmp_path, "run")
        assert (found["pulse"]["pid"], found["pulse"]["workers"], found["pulse"]["lost"]) == (process.pid, 2, 0)
        assert 0 < found["pulse"]["share"] < 1
        assert found["tours"] >= before["tours"] > 0
        shown = called("status", "run", cwd=tmp_path).stdout
        assert "tours/s and " in shown
        assert "left " in shown
        process.send_signal(signal.SIGKILL)
        process.wait()
    _, killed = status(tmp_path, "run")
    assert killed["state"] == "killed"
    assert called("list", ".", cwd=tmp_path).stdout.split("\n")[1].split()[1] == "killed"
    shown = called("status", "run", cwd=tmp_path).stdout
    assert f"continue: python -m enumerate {killed['command']}" in shown
    assert called("verify", "run", cwd=tmp_path).returncode == 3


def test_a_stopped_and_a_complete_run(tmp_path):
    with started(*WORDS, "--max", "1e15", "--output", "run", cwd=tmp_path) as process:
        wait_for((tmp_path / "run/_run/pulse.json").exists)
        process.send_signal(signal.SIGINT)
        process.wait()
    assert status(tmp_path, "run")[1]["state"] == "stopped"
    assert not (tmp_path / "run/_run/pulse.json").exists()
    called("--size", "5", "--max", "0", "--executor", "serial", cwd=tmp_path)
    code, found = status(tmp_path)  # the latest in output/
    assert (code, found["state"], found["tours"]) == (0, "complete", 1728)
    assert found["rows_done"] == found["rows"] == 25


def test_a_run_that_ends_while_it_is_looked_at_was_not_killed(tmp_path):
    called("--size", "5", "--start", "a1", "--max", "0", "--executor", "serial", "--output", "run", cwd=tmp_path)
    path = tmp_path / "run/_run/run.json"
    concluded = path.read_bytes()
    path.write_bytes(seal(unseal(concluded, "run.json") | {"epoch": "0123"}))
    looking = Run(tmp_path / "run")
    assert looking.manifest.epoch == "0123"
    assert state_of(looking) == "killed"
    path.write_bytes(concluded)
    assert state_of(looking) == "complete"


def test_a_damaged_run_is_named_with_exit_code_4(tmp_path):
    called("--size", "5", "--max", "0", "--executor", "serial", "--output", "run", cwd=tmp_path)
    next((tmp_path / "run/_run/commits").glob("*")).write_text("{}", encoding="utf-8")
    code, found = status(tmp_path, "run")
    assert (code, found["state"]) == (4, "damaged")
    listed = json.loads(called("list", ".", "--json", cwd=tmp_path).stdout)
    assert [each["state"] for each in listed] == ["damaged"]


def test_a_run_of_an_earlier_version_is_not_called_damaged(tmp_path):
    called("--size", "5", "--max", "0", "--executor", "serial", "--output", "run", cwd=tmp_path)
    path = tmp_path / "run/_run/run.json"
    document = json.loads(path.read_bytes())
    document["identity"]["format"] = 4
    path.write_bytes(seal({name: value for name, value in document.items() if name != "sha256"}))
    code, found = status(tmp_path, "run")
    assert (code, found["state"]) == (2, "other version")
    assert "made by an earlier version" in found["problem"]


@pytest.mark.parametrize("words", [("status",), ("status", "no"), ("list", "no")], ids=" ".join)
def test_where_there_is_no_run_one_line_says_so(tmp_path, words):
    done = called(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_an_empty_folder_says_how_to_make_a_run(tmp_path):
    assert "make one: python -m enumerate --variant" in called("list", ".", cwd=tmp_path).stdout


class Full:
    """A disk that takes nothing."""

    tried = 0

    def replace(self, name, data):
        self.tried += 1
        raise OSError(28, "No space left on device")

    def remove(self, names):
        raise OSError(28, "No space left on device")


def test_a_pulse_that_cannot_be_written_stops_nothing():
    disk = Full()
    beating = Pulse(disk, "epoch", seconds=0.001)
    beating.begin(config_for((5, 5)), [], 1)
    wait_for(lambda: disk.tried > 2)
    beating.end()


@pytest.mark.parametrize("pulse", [
    "", "[" * 200_000, "[]", "{}", '{"epoch": "0123"}', '{"epoch": "0123", "share": NaN}', "WHOLE, share: text",
    "WHOLE, workers: null", "WHOLE, quarantined: 5", "WHOLE, recent: {}", "WHOLE, share: 1e300", "WHOLE, host: lines",
    "WHOLE, written: never",
], ids=lambda text: text[:40])  # fmt: skip
def test_whatever_stands_in_a_pulse_a_status_is_said(tmp_path, pulse):
    called("--size", "5", "--start", "a1", "--max", "0", "--executor", "serial", "--output", "run", cwd=tmp_path)
    path = tmp_path / "run/_run/run.json"
    path.write_bytes(seal(unseal(path.read_bytes(), "run.json") | {"epoch": "0123"}))
    whole = {"epoch": "0123", "written": "2026-01-01T00:00:00+00:00", "host": "here", "pid": 1, "workers": 1, "lost": 0,
             "quarantined": [], "share": 0.5, "of": "of the budget", "seconds_left": 1.0,
             "recent": {"tours": 1.0, "iterations": 1.0}}  # fmt: skip
    bad = {"share: text": {"share": "x"}, "workers: null": {"workers": None}, "quarantined: 5": {"quarantined": 5},
           "recent: {}": {"recent": {}}, "share: 1e300": {"share": 1e300}, "host: lines": {"host": "a\nb"},
           "written: never": {"written": "never"}}  # fmt: skip
    text = json.dumps(whole | bad[pulse.removeprefix("WHOLE, ")]) if pulse.startswith("WHOLE") else pulse
    (tmp_path / "run/_run/pulse.json").write_text(text, encoding="utf-8")
    for words in (("status", "run"), ("list", ".")):
        done = called(*words, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "killed" in done.stdout
    assert status(tmp_path, "run")[1]["state"] == "killed"
