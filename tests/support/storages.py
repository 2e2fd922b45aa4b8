"""What tests of storages write."""

from __future__ import annotations

NAME = "tours/variant=open/start=a1/part-000000-0000.parquet"


OLD, NEW = b"old" * 1000, b"new" * 1000


def names(storage, folder="."):
    return sorted(name for name, _ in storage.entries(folder))
