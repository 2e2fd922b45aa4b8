"""What README shows is what happens: its examples are run, and their output compared."""

from __future__ import annotations

import re

import pyarrow
import pytest

from ..support.commands import ROOT, called

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def headline(tmp_path_factory):
    """The main command of README, run in an empty folder."""
    folder = tmp_path_factory.mktemp("readme")
    words = re.search(r"^\./run\.sh (--variant .*)$", README, re.MULTILINE)[1].split()
    done = called(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.parametrize(("code", "output"), EXAMPLES, ids=["duckdb", "polars", "pyarrow", "library"])
def test_an_example_prints_what_readme_says(headline, monkeypatch, capfd, code, output):
    monkeypatch.chdir(headline[0])
    exec(code, {"__name__": "__main__"})
    assert capfd.readouterr().out.split() == output.split()


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
