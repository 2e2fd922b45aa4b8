"""What README shows is what happens: its examples are run, and their output compared."""

from __future__ import annotations

import re
import shlex
import subprocess
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pyarrow
import pytest

from enumerate.cli.app import make_app

from ..support.commands import ROOT, called
from ..support.hosts import Host, why_not

README = (ROOT / "README.md").read_text(encoding="utf-8")
READING = README.split("## Reading the tours")[1].split("\n## More\n")[0]


@pytest.fixture(scope="module")
def headline(tmp_path_factory):
    """The main command of README, run in an empty folder."""
    folder = tmp_path_factory.mktemp("readme")
    words = re.search(r"^\./run\.sh (--variant .*)$", README, re.MULTILINE)[1].split()
    done = called(*words, cwd=folder, environment={"KNIGHTS_TOURS_CALLED": "./run.sh"})
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def blocks(text, language):
    return re.findall(rf"```{language}\n([^`]*)```", text)


def test_each_reader_prints_what_readme_says(headline, monkeypatch, capfd):
    monkeypatch.chdir(headline[0] / "output/closed-8x8")
    names, *readers, shown, _ = blocks(READING, "python")
    assert len(readers) == 5
    if not find_spec("datasets"):
        readers.pop()
    known = {}
    exec(names, known)
    for code in readers:
        exec(code, known)
        exec(shown, known)
        assert capfd.readouterr().out == blocks(READING, "text")[1]


def test_the_library_prints_what_readme_says(headline, monkeypatch, capfd):
    monkeypatch.chdir(headline[0])
    exec(blocks(READING, "python")[-1], {})
    assert capfd.readouterr().out == blocks(READING, "text")[2]


def test_duckdb_prints_what_readme_says(headline):
    duck = duckdb.connect()
    duck.execute(f"set file_search_path = '{headline[0] / 'output/closed-8x8'}'")
    duck.execute((headline[0] / "output/closed-8x8/tours.sql").read_text(encoding="utf-8"))
    (statements,) = blocks(READING, "sql")
    first, second, _ = statements.split(";")
    assert str(duck.sql(first)).split() == blocks(READING, "text")[0].split("…")[0].split()
    assert duck.sql(second).fetchall()[0][3][:3] == ["a1", "c2", "e1"]


def test_readme_shows_the_lines_of_the_readme_of_its_run(headline):
    of_run = (headline[0] / "output/closed-8x8/README.md").read_text(encoding="utf-8")
    assert blocks(READING, "python")[:-2] == blocks(of_run, "python")
    assert blocks(READING, "sql") == blocks(of_run, "sql")


@pytest.mark.skipif(
    f"\npyarrow=={pyarrow.__version__} " not in (ROOT / "requirements-test.lock").read_text(encoding="utf-8"),
    reason="another pyarrow than the pinned one writes parts of other sizes",
)
def test_the_main_command_prints_the_heat_map_and_the_table_of_readme(headline):
    shown = re.search(r"```text\n(Tours for each start square.*?)```", README, re.DOTALL)[1]
    without_times = [re.sub(r"\d+\.\d\d ", "", line).split() for line in shown.splitlines() if "/s" not in line]
    printed = [re.sub(r"\d+\.\d\d ", "", line).split() for line in headline[1].splitlines() if "/s" not in line]
    assert without_times == printed


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_every_link_of_readme_leads_somewhere(link):
    assert (ROOT / link).exists()


def test_the_folder_of_the_run_is_what_readme_says(headline):
    (tree,) = [block for block in blocks(README, "text") if block.startswith("output/closed-8x8/README.md")]
    for line in tree.splitlines():
        first, *more = re.split(r"  +", line)[0].split(", ")
        for name in [first, *(Path(first).with_name(word) for word in more)]:
            assert (headline[0] / name).exists(), name


COMMANDS = sorted(set(re.findall(r"(?:^|`)\./run\.sh ([^`#\n]+)", README, re.MULTILINE)))
OTHERS = ("test", "ray", "bench", "…")  # of run.sh itself


@pytest.mark.parametrize("words", [words for words in COMMANDS if not words.startswith(OTHERS)])
def test_every_command_of_readme_is_understood(words):
    make_app(shlex.split(words)).parse_args(shlex.split(words), exit_on_error=False, print_error=False)


def test_every_config_file_of_readme_exists():
    for path in re.findall(r"configs/[\w.-]+\.toml", README):
        assert (ROOT / path).exists()


@pytest.mark.cluster
@pytest.mark.skipif(bool(why_not()), reason=f"no host of its own here: {why_not()}")
def test_two_nodes_by_hand_are_started_and_used_as_readme_says(tmp_path):
    """On one machine, to try it; one that has the address of README."""
    here = Host("try", "192.0.2.2", tmp_path)
    try:
        here.do("ip", "address", "add", "192.0.2.2/24", "dev", "lo")
        here.do("ip", "route", "add", "default", "dev", "lo")
        (block,) = [block for block in blocks(README, "sh") if block.startswith("./run.sh ray start --head")]
        for line in block.replace("/shared", str(tmp_path)).splitlines():
            words = [*here.enter, "bash", "-c", f"cd {ROOT} && exec {line}"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == 0, done.stderr
        assert "2 slots on 2 nodes worked, 0 slices retried" in done.stdout
        assert "1,747,155 tours in" in done.stdout
    finally:
        here.end()
