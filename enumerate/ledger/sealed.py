"""JSON files that notice damage: a document carries the checksum of itself, and only its exact bytes are accepted."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..model.errors import Damaged

SEAL = "sha256"


def seal(document: dict[str, Any]) -> bytes:
    """The document as JSON with its checksum in it."""
    return _text({**document, SEAL: hashlib.sha256(_text(document)).hexdigest()})


def unseal(data: bytes, name: str) -> dict[str, Any]:
    """The document of a sealed file; `name` is for the error."""
    try:
        document = json.loads(data)
        document.pop(SEAL)
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise Damaged(f"damaged, not a sealed JSON document: {name}") from None
    if seal(document) != data:
        raise Damaged(f"damaged, its checksum does not match: {name}")
    return dict(document)


def _text(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n").encode()
