"""docs/architecture.md is the tree: every folder is described there, and every file that it names exists."""

from __future__ import annotations

import re

import pytest

from ..support.commands import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
TREE = PAGE.split("```")[1]
PACKAGE = ROOT / "enumerate"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
NAMED = sorted(set(re.findall(r"`((?:\w+/)*(?:\w+\.py|\w+/))`", PAGE)))
TEST_ROOMS = {"golden", "house", "support"}  # of the repository itself


def test_there_are_eleven_rooms_and_nothing_beside_them():
    assert len(ROOMS) == 11
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert files == {"__init__.py", "__main__.py", "api.py", "py.typed"}


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_paragraph_and_a_line_of_the_tree(room):
    assert f"\n**`{room}/`** " in PAGE
    assert re.search(rf"\b{room}/", TREE)


@pytest.mark.parametrize("name", NAMED)
def test_every_file_and_folder_that_the_page_names_exists(name):
    assert (PACKAGE / name).exists()


def test_the_page_names_files_of_every_room():
    assert {name.split("/")[0] for name in NAMED if name.endswith(".py")} >= {*ROOMS, "api.py"}


def test_tests_mirror_the_tree():
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert folders == {*ROOMS, *TEST_ROOMS}


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.name)
def test_no_test_imports_another(path):
    imported = re.findall(r"^\s*(?:from|import) (\S+)(?: import (.*))?", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert not [words for words in imported if re.search(r"(^|[. ])test_", " ".join(words))]


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:enumerate|tests)/[\w/.]+)`", CONTRIBUTING))))
def test_every_file_that_contributing_names_exists(name):
    assert (ROOT / name).exists()
