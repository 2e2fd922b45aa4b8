"""Numbers that others have published."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

PUBLISHED = Path(__file__).with_name("counts")


with open(PUBLISHED / "counts.csv", encoding="utf-8") as file:
    ROWS = [(int(row["rows"]), int(row["cols"]), row["what"], int(row["count"]), row["source"])
            for row in csv.DictReader(file)]  # fmt: skip


def published(what):
    """The published counts of one kind, by board."""
    return {(rows, cols): count for rows, cols, kind, count, _ in ROWS if kind == what}


def per_square(name) -> np.ndarray:
    """A published table with one number a square, row by row."""
    return np.loadtxt(PUBLISHED / name, delimiter=",", dtype=np.int64)
