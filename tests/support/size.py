"""How large the package is, and what it should be at most."""

from __future__ import annotations

import ast
from functools import cache
from statistics import median, quantiles

from .commands import ROOT

TARGETS = {
    "lines": 13_800,
    "modules": 100,
    "lines in the median function": 6,
    "lines at the 90th percentile of functions": 16,
}


@cache
def sizes() -> dict[str, float]:
    """By the names of the targets."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "enumerate").rglob("*.py")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    lengths = [node.end_lineno - node.lineno + 1 for node in nodes if isinstance(node, ast.FunctionDef)]
    lines = sum(len(source.splitlines()) for source in sources)
    return dict(zip(TARGETS, (lines, len(sources), median(lengths), quantiles(lengths, n=10)[-1]), strict=True))
