"""How a worker on another machine proves that it can do the work before it is given any.

It must have the same program and see the same output: a token that the coordinator wrote is read there, and one that it
writes is read here. Work that writes nothing has no output: it is empty.
"""

from __future__ import annotations

import hashlib
import inspect
import platform
import sys
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from .. import __version__
from ..kernels.cache import search_hash
from ..ledger.layout import new_token
from ..ledger.manifest import package_versions
from ..ledger.storage import Folder, open_storage
from ..model.errors import BadRequest, EnumerateError
from ..search.strategy import is_outside, strategy_named


@dataclass(frozen=True)
class Answer:
    """What a worker says of itself."""

    facts: Mapping[str, str]
    proof: str = ""  # the name of the token it wrote
    trouble: str = ""  # why it could not


@lru_cache
def facts_of(strategy: str) -> Mapping[str, str]:
    """What must be equal on every node."""
    return {
        "program": __version__,
        "search": search_hash(),
        "strategy": _hash_of(strategy) if is_outside(strategy) else "",  # `search` covers those of this package
        # Parts are the same bytes everywhere only if the same pyarrow writes them.
        "packages": ", ".join(f"{name} {version}" for name, version in package_versions().items()),
        "python": platform.python_version(),
    }


def _hash_of(strategy: str) -> str:
    """What tells two versions of a strategy from outside apart."""
    try:
        source = inspect.getsource(sys.modules[type(strategy_named(strategy)).__module__])
    except (BadRequest, OSError):
        return "missing"
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def answer(output: str, token: str, strategy: str) -> Answer:
    """On the node: read the coordinator's token and, as proof, write one of our own."""
    facts, mine = facts_of(strategy), f"{token}-{uuid.uuid4().hex[:12]}"
    if not output:
        return Answer(facts)
    try:
        storage = open_storage(output)
        if not storage.exists(token) or storage.read(token) != token.encode():
            return Answer(facts, trouble="does not see the output, or another one under the same name")
        storage.create(mine, mine.encode())
    except (OSError, EnumerateError) as error:
        return Answer(facts, trouble=f"cannot use the output ({getattr(error, 'strerror', None) or error})")
    return Answer(facts, proof=mine)


class Handshake:
    """At the coordinator: writes the token, and reads what workers say. Each writes a proof, and one a node is read."""

    def __init__(self, output: str = "", strategy: str = "") -> None:
        self.output, self.strategy = output, strategy
        self.proved: set[str] = set()  # nodes
        self._written = False
        self._token = new_token()

    def question(self) -> Callable[[], Answer]:
        """What a new worker is asked. The token is written for the first one, when the run is ours."""
        if self.output and not self._written:
            storage = open_storage(self.output)
            storage.create(self._token, self._token.encode())
            if isinstance(storage, Folder) and not storage.has_links:
                raise BadRequest(f"a folder without hard links cannot be shared by workers: {self.output!r}")
            self._written = True
        return partial(answer, self.output, self._token, self.strategy)

    def why_unfit(self, node: str, said: Answer) -> EnumerateError | None:
        """An error that names the node and what differs, or None if all is well."""
        theirs, ours = said.facts, facts_of(self.strategy)
        differing = [f"{name} {theirs[name]} there, {ours[name]} here" for name in ours if theirs[name] != ours[name]]
        if differing:
            return BadRequest(f"node {node} has another version: {'; '.join(differing)}")
        if said.trouble:
            return BadRequest(f"node {node} {said.trouble}: {self.output!r}")
        if self.output and node not in self.proved and not open_storage(self.output).exists(said.proof):
            return BadRequest(f"node {node} writes to another output under the same name: {self.output!r}")
        self.proved.add(node)
        return None
