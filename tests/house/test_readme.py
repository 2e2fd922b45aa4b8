"""What README shows is what happens: its examples are run, and their output compared."""

from __future__ import annotations

import re
from importlib.util import find_spec

import duckdb
import pyarrow
import pytest

from ..support.commands import ROOT, called

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


def test_every_config_file_and_subcommand_of_readme_exists(tmp_path):
    for path in re.findall(r"configs/[\w.-]+\.toml", README):
        assert (ROOT / path).exists()
    words = called("--help", cwd=tmp_path).stdout
    for name in re.findall(r"`\./run\.sh (plan|verify|show|study|view|report|export)", README):
        assert name in words
