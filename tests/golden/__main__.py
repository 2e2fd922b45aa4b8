"""Rewrite the signatures on purpose, and print what changed."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from .signatures import CONFIGS, FILE, signature_of


def main() -> None:
    before = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    after = {}
    for name in CONFIGS:
        with tempfile.TemporaryDirectory() as folder:
            after[name] = signature_of(name, Path(folder) / "run")
        _report(name, before.get(name, {}), after[name])
    for name in before.keys() - after.keys():
        print(f"{name}: gone")
    FILE.write_text(json.dumps(after, indent=1) + "\n", encoding="utf-8")


def _report(name: str, before: dict[str, object], after: dict[str, object]) -> None:
    changed = [key for key in after if before.get(key) != after[key]]
    if not changed:
        print(f"{name}: unchanged")
    for key in changed:
        print(f"{name}: {key} was {before.get(key)}\n{' ' * len(name)}  {' ' * len(key)}  is {after[key]}")


if __name__ == "__main__":
    main()
