"""The command line as a user meets it: a bad request costs one line, exit code 2, and nothing on disk."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from enumerate import __version__
from enumerate.cli.app import _INTERRUPTED

from ..support.commands import arguments, called, command, environment_with, seconds_of, started, wait_for

# What a user may type wrong, and what the one line must say.
BAD = {
    ("--size", "0"): "a board needs at least one row and one column, got '0'",
    ("--size", "-1"): "expected a size such as 8 or 5x6, got '-1'",
    ("--size", "8x"): "expected a size such as 8 or 5x6, got '8x'",
    ("--size", "abc"): "expected a size such as 8 or 5x6, got 'abc'",
    ("--size", "9000"): "a board may have at most 67,108,864 squares (8192x8192) and 65,536 rows, got '9000'",
    (
        "--size",
        "1000",
    ): "warnsdorff takes boards of at most 262,144 squares (512x512), got 1000x1000; use --strategy divide",
    (
        "--strategy",
        "divide",
        "--size",
        "4x6",
    ): "divide needs both sides to be at least 5, got 4x6; use --strategy warnsdorff",
    ("--strategy", "divide", "--ties", "roth"): "--ties does not apply to --strategy divide, only to greedy",
    ("--strategy", "gredy"): "or module:object, got 'gredy'; did you mean 'greedy'?",
    ("--start", "z9"): "no such square on the 8x8 board (a1 to h8): 'z9'",
    ("--start", "a1,a1"): "a start square is named twice: 'a1'",
    ("--max", "-1"): "(iterations for each start square; 0 means no limit), got -1",
    ("--max", str(10**30)): f"(iterations for each start square; 0 means no limit), got {10**30}",
    ("--h-prob", "2"): "h-prob must be a number from 0 to 1, got 2",
    ("--variant", "opne"): "variant must be open, closed or both, got 'opne'; did you mean 'open'?",
    ("--varaint", "open"): "--varaint. Did you mean --variant?",
    ("--config", "unknown-key.toml"): "unknown key: 'sizee'; did you mean 'size'?",
    ("--config", "impossible-output.toml", "--executor", "serial"): "output",
    ("--output", "file"): "the output folder is a file: 'file'; choose another --output",
    ("--output", "two\nlines"): r"the output folder is a file: 'two\nlines'; choose another --output",
    ("--variant", "closed", "--size", "5"): "visits an odd number of squares: 5x5; use --variant open or an even board",
    ("plan", "--size", "8x"): "expected a size such as 8 or 5x6, got '8x'",
    ("plan", "--size", "8\n9"): r"expected a size such as 8 or 5x6, got '8\n9'",
    (
        "plan",
        "--size",
        "4",
    ): "has a tour only if the other side is 3 or at least 5: 4x4; use a larger board, such as 5x5",
    ("plan", "--start", "random:65"): "only 64 squares",
    ("plan", "--max", "many\nmore"): "many",
    ("plan", "--max", "0x" + "f" * 5_000): "max",
    ("plan", "--max", "0.4"): "0.4",  # rounded, it would mean no limit at all
    ("plan", "--seed", "1.5"): "1.5",
    ("plan", "--workers", "1.5"): "1.5",
    ("plan", "--h-prob", "nan"): "h-prob must be a number from 0 to 1, got nan",
    ("plan", "--config", "none.toml"): "cannot read the config file: 'none.toml' (No such file or directory)",
    ("plan", "--sise", "8"): "--sise. Did you mean --size?",
    ("pln",): "unexpected word: 'pln'; did you mean 'plan'?",
    ("plan", "more"): "unexpected word: 'more'",
    ("show", "nowhere"): "'nowhere'",
    ("--config", ""): "cannot read the config file: ''",
    ("--config", "of-a-call.toml"): "fresh is not a setting of a run, but of one call: give --fresh with the command",
    ("--config", "wrong-type.toml", "--max", "5"): "max must be a whole number such as 500000, 500k or 1e6, got 'many'",
    ("--config", "wrong-choice.toml", "--variant", "open"): "variant must be open, closed or both, got 'none'",
    ("--output", "a\udcffb"): "expected text in UTF-8 without zero bytes, got 'a\\udcffb'",
    ("show", "\udcff"): "expected text in UTF-8 without zero bytes, got '\\udcff'",
    ("--output", "/proc/x"): "cannot write to the output: '/proc/x' (No such file or directory)",
    ("--size", "9" * 5_000): f"such as 8 or 5x6, got '{'9' * 59}…'",
    ("--variant", "x" * 5_000): f"got '{'x' * 59}…'",
    ("x" * 5_000,): f"unexpected word: '{'x' * 59}…'",
    ("--output", "x" * 5_000): f"'{'x' * 59}…' (File name too long)",
    ("view", "nowhere", "--no-open"): "'nowhere'",
    ("view", "--prot", "1"): "--prot. Did you mean --port?",
    ("report", "nowhere"): "'nowhere'",
    ("export", "nowhere"): "'nowhere'",
    ("verify", "nowhere"): "'nowhere'",
}

# Of these, some that a process of its own refuses too: the words, the config, and the folder of the run are bad.
BAD_THERE = [("--varaint", "open"), ("--size", "0"), ("--output", "two\nlines")]


def words_id(words):
    return " ".join(words)[:40]


def fill(folder):
    """What stands in the folder of a user before the bad request, and must stand there afterwards."""
    for name in ("file", "two\nlines"):
        (folder / name).write_text("precious", encoding="utf-8")
    (folder / "unknown-key.toml").write_text("sizee = 6", encoding="utf-8")
    (folder / "of-a-call.toml").write_text("fresh = true", encoding="utf-8")
    (folder / "wrong-type.toml").write_text('max = "many"', encoding="utf-8")
    (folder / "wrong-choice.toml").write_text('variant = "none"', encoding="utf-8")
    (folder / "impossible-output.toml").write_text(r'output = "a\u0000b"', encoding="utf-8")


def tree(folder):
    """Everything below a folder, with the content of files."""
    return {path: path.read_bytes() if path.is_file() else None for path in Path(folder).rglob("*")}


@pytest.mark.parametrize("words", BAD, ids=words_id)
def test_a_bad_request_gets_one_line_and_writes_nothing(tmp_path, words):
    fill(tmp_path)
    before = tree(tmp_path)
    done = called(*words, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("\n")
    assert BAD[words] in done.stderr
    assert tree(tmp_path) == before


@pytest.mark.parametrize("words", BAD_THERE, ids=words_id)
def test_a_process_of_its_own_says_the_same(tmp_path, words):
    fill(tmp_path)
    before = tree(tmp_path)
    here, there = called(*words, cwd=tmp_path), command(*words, cwd=tmp_path)
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)
    assert tree(tmp_path) == before


# Help and version


def test_no_words_show_the_help(tmp_path):
    nothing, asked = command(cwd=tmp_path), called("--help", cwd=tmp_path)
    assert nothing.returncode == asked.returncode == 0
    assert nothing.stdout == asked.stdout
    assert nothing.stderr == asked.stderr == ""
    assert tree(tmp_path) == {}


def test_the_version_is_that_of_the_package(tmp_path):
    done = called("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"knights-tours {__version__}\n", "")


def test_help_and_version_answer_without_the_heavy_packages(tmp_path):
    script = """
import sys
from enumerate.cli.app import main, make_app
for words in (["--help"], ["--version"], [], *([name, "--help"] for name in make_app([]) if name[0] != "-")):
    assert main(words) == 0, words
    heavy = {"numba", "llvmlite", "pyarrow", "ray", "starlette", "uvicorn", "jinja2"} & set(sys.modules)
    assert not heavy, (words, heavy)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment_with(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# Plans


def test_plan_shows_the_jobs_and_writes_nothing(tmp_path):
    done = called("plan", "--size", "6", "--start", "classes", "--variant", "closed", "--max", "1000", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["job", "start", "multiplicity", "then", "work"]
    assert rows[1:7] == [
        ["0", "a1", "4", "search"], ["1", "b1", "8", "search"], ["2", "c1", "8", "search"],
        ["3", "b2", "4", "search"], ["4", "c2", "8", "search"], ["5", "c3", "4", "search"],
    ]  # fmt: skip
    assert "6 jobs, at most 1,000 iterations each" in done.stdout
    assert "closed-6x6-classes" in done.stdout
    assert tree(tmp_path) == {}


def test_plan_tells_which_jobs_are_infeasible_and_counts_the_others(tmp_path):
    done = called("plan", "--size", "5", "--max", "0", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.count("starts on the colour of its corners") == 12
    assert "13 jobs and 12 without a tour, to their ends" in done.stdout
    assert tree(tmp_path) == {}


def test_flags_beat_the_config_file(tmp_path):
    (tmp_path / "some.toml").write_text('size = 6\nstart = "a1,b1"\nmax = 7\n', encoding="utf-8")
    done = called("plan", "--config", "some.toml", "--size", "5x6", "--max", "9", cwd=tmp_path)
    assert done.returncode == 0
    assert "2 jobs, at most 9 iterations each" in done.stdout
    assert "open-5x6-a1+b1" in done.stdout


def test_a_config_file_may_be_a_pipe(tmp_path):
    words = arguments("plan", "--config", "/dev/stdin")
    done = subprocess.run(words, input='size = 5\nstart = "a1"\n', cwd=tmp_path, env=environment_with(), text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert done.stderr == ""
    assert "open tours on 5x5" in done.stdout


def test_nobody_need_listen(tmp_path):
    words = shlex.join(arguments("plan", "--size", "5"))
    done = subprocess.run(["bash", "-c", f"exec {words} >&-"], cwd=tmp_path, env=environment_with(), check=False,
                          capture_output=True, text=True)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_sigterm_ends_a_command_with_its_own_words(tmp_path):
    called("--size", "5", "--start", "a1", "--max", "0", "--executor", "serial", "--output", "run", cwd=tmp_path)
    os.mkfifo(tmp_path / "pipe")  # nobody reads it: export waits
    with started("export", "run", "--output", "pipe", cwd=tmp_path) as process:
        wait_for(lambda: is_asleep(process.pid))
        process.terminate()
        assert process.wait(30) == 143
        assert process.stderr.read() == f"{_INTERRUPTED['export']}\n"


def is_asleep(pid):
    """For a second, after it has worked a little."""
    if seconds_of(pid) < 0.2:
        return False
    before = seconds_of(pid)
    time.sleep(1.0)
    return seconds_of(pid) == before


def test_with_log_json_errors_are_json_too(tmp_path):
    done = called("--size", "nine", "--log-json", cwd=tmp_path)
    assert done.returncode == 2
    assert json.loads(done.stderr)["text"].startswith("error: ")
    assert called("--size", "nine", cwd=tmp_path).stderr.startswith("error: ")
