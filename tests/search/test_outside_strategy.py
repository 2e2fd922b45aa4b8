"""A strategy from a user's file, with a setting of its own: searched by worker processes, killed, resumed, verified."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ..support.commands import children, command, environment_with, started, wait_for
from ..support.runs import part_sums, rows_of

ROTATED = ("--strategy", "rotated:ROTATED", "--variant", "both", "--max", "0")


@pytest.fixture
def folder(tmp_path):
    """Where the user is, with the file of the strategy."""
    shutil.copy(Path(__file__).with_name("rotated.py"), tmp_path)
    return tmp_path


def test_a_strategy_from_outside_is_killed_continued_and_verified(folder):
    words = (*ROTATED, "--size", "4x5", "--start", "classes", "--first-move", "3")
    words = (*words, "--slice-iterations", "2000", "--workers", "2", "--output")
    with started(*words, "killed", cwd=folder) as process:
        wait_for(lambda: len(list((folder / "killed/_run/commits").glob("*"))) > 3)
        os.kill(min(children(process.pid)), signal.SIGKILL)
        wait_for(lambda: len(list((folder / "killed/_run/commits").glob("*"))) > 10)
        process.kill()
        process.wait()
    assert "epoch" in json.loads((folder / "killed/_run/run.json").read_text())
    done = command(*words, "killed", "--executor", "serial", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "164 directed tours = OEIS A079137" in done.stdout
    assert command("verify", "killed", cwd=folder).stdout.startswith("sound: ")
    assert command(*words, "whole", "--executor", "serial", "--quiet", cwd=folder).returncode == 0
    assert part_sums(folder / "killed") == part_sums(folder / "whole")


def test_its_setting_is_part_of_the_identity_and_the_order_and_not_of_the_tours(folder):
    found, words = {}, (*ROTATED, "--size", "3x4", "--start", "a1,b1", "--executor", "serial", "--quiet")
    for first in ("0", "5"):
        done = command(*words, "--first-move", first, cwd=folder)
        assert done.returncode == 0, done.stderr
        place = folder / f"output/both-3x4-a1+b1-rotated-ROTATED-first-move{first}"
        assert json.loads((place / "_run/run.json").read_text())["identity"]["first-move"] == int(first)
        found[first] = part_sums(place), rows_of(place)
    assert found["0"][0] != found["5"][0]
    assert found["0"][1] == found["5"][1]
    other = command(*words, "--first-move", "1", "--output", place, cwd=folder)
    assert other.returncode == 2
    assert other.stderr.splitlines()[1:] == ["setting     there  asked for", "first-move  5      1"]


def test_a_config_file_names_it_and_its_setting(folder):
    (folder / "some.toml").write_text(
        'strategy = "rotated:ROTATED"\nsize = "3x4"\nmax = 0\nfirst-move = 7\nexecutor = "serial"\n'
    )
    done = command("--config", "some.toml", "--json", cwd=folder)
    assert json.loads(done.stdout)["config"]["first-move"] == 7
    assert json.loads(done.stdout)["total"]["tours_open"] == 16
    assert "--first-move INT" in command("--config", "some.toml", "--help", cwd=folder).stdout


def test_a_worker_with_another_version_of_it_or_none_is_refused(folder):
    """What a node of a cluster is asked, and what it answers, in two processes here."""
    begin = (
        "import pickle, sys; from enumerate.run.handshake import Handshake; ours = Handshake('', 'rotated:ROTATED'); "
    )
    question = python(begin + "sys.stdout.buffer.write(pickle.dumps(ours.question()))", folder)
    say = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)()))"
    judge = begin + "sys.stdout.write(str(ours.why_unfit('n', pickle.load(sys.stdin.buffer))))"
    other = shutil.copytree(folder, folder / "other")
    (other / "rotated.py").write_text((other / "rotated.py").read_text() + "# changed\n")
    (folder / "none").mkdir()
    verdicts = [python(judge, folder, python(say, place, question)) for place in (folder, other, folder / "none")]
    assert verdicts[0] == b"None"
    assert verdicts[1].startswith(b"node n has another version: strategy ")
    assert verdicts[2].startswith(b"node n has another version: strategy missing there, ")


def python(script, folder, fed=b""):
    words = [sys.executable, "-c", script]
    return subprocess.run(words, cwd=folder, env=environment_with(), input=fed, capture_output=True, check=True).stdout


def test_what_is_no_strategy_or_not_its_setting_is_refused_in_one_line(folder):
    (folder / "broken.py").write_text("1 / 0")
    refusals = {
        ("--strategy", "rotated:NONE"): "cannot load the strategy 'rotated:NONE'",
        ("--strategy", "broken:X"): "cannot load the strategy 'broken:X' (division by zero)",
        ("--strategy", "rotated:MOVES"): "not a strategy but a tuple: 'rotated:MOVES'",
        (*ROTATED, "--first-move", "9"): "first-move must be a whole number from 0 to 7, got 9",
        (
            *ROTATED,
            "--split",
            "3",
        ): "--split does not apply to --strategy rotated:ROTATED, only to warns",
        ("--first-move", "3"): "unknown option: --first-move",
    }
    for words, said in refusals.items():
        done = command(*words, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert not (folder / "output").exists()
