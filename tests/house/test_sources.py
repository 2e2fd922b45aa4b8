"""The package is named after a builtin. Harmless with from-imports; `import enumerate` would hide the builtin."""

import ast

import pytest

from ..support.commands import ROOT

SOURCES = sorted([*ROOT.glob("enumerate/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")])


def harmful_imports(source):
    """The lines that bind the name `enumerate` to a module."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            bound = [alias.asname or alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            bound = [alias.asname or alias.name for alias in node.names]
        else:
            continue
        if "enumerate" in bound:
            found.append(node.lineno)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_source_hides_the_builtin_enumerate(path):
    assert harmful_imports(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    ["import enumerate", "import os, enumerate", "import enumerate.board", "def f():\n    import enumerate.board",
     "from x import enumerate", "import board as enumerate", "if True:\n    import enumerate"],
)  # fmt: skip
def test_a_harmful_import_would_be_found(line):
    assert len(harmful_imports(line)) == 1


@pytest.mark.parametrize(
    "line",
    ["from enumerate.board import Board", "from enumerate import board", "import enumerate.board as board",
     "list(enumerate('ab'))", "'import enumerate'", "# import enumerate"],
)  # fmt: skip
def test_a_harmless_line_is_let_through(line):
    assert harmful_imports(line) == []


def test_the_sources_were_found():
    names = {path.name for path in SOURCES}
    assert {"__init__.py", "board.py", "processes.py", "test_sources.py"} <= names


def test_the_package_itself_imports_nothing():
    tree = ast.parse((ROOT / "enumerate" / "__init__.py").read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)]
