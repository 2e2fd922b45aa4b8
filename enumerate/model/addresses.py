"""Addresses of clusters and object stores: what cannot be one is refused before anything is tried."""

from __future__ import annotations

import re

from .errors import BadRequest

LOCAL, AUTO = "local", "auto"  # addresses of a Ray cluster, beside host:port
OBJECT_STORES = ("s3", "gs", "az", "abfs", "abfss")


def refuse_strange_address(address: str) -> None:
    """An address that cannot be one, before anything is tried."""
    if address.startswith("ray://"):
        raise BadRequest(
            f"Ray's client protocol is not supported: {address!r};"
            " run this on a machine of the cluster with --address auto, or give host:port of its head"
        )
    host, _, port = address.rpartition(":")
    if address not in (LOCAL, AUTO) and not (host and "/" not in host and _is_port(port)):
        raise BadRequest(f"address is auto, local or host:port: {address!r}")


def _is_port(word: str) -> bool:
    return word.isascii() and word.isdigit() and 0 < int(word) < 65_536


def refuse_strange_url(place: str) -> None:
    """An address that cannot be one, before anything is tried. Credentials in it are not repeated in the error."""
    scheme, _, rest = place.partition("://")
    if scheme not in OBJECT_STORES:
        raise BadRequest(
            f"output is a folder, or an address that begins with {', '.join(OBJECT_STORES)}://: {scheme + '://'!r}"
        )
    if "@" in rest or "?" in rest:
        raise BadRequest(f"output is {scheme}://bucket/run and nothing more: credentials belong into the environment")
    if not rest.split("/")[0]:
        raise BadRequest(f"output names no bucket: {place!r}")
    bucket, *names = rest.rstrip("/").split("/")
    plain = all(
        name not in ("", ".", "..") and re.fullmatch(r"(?!\s)[^\x00-\x1f\x7f\\#%]+(?<!\s)", name) for name in names
    )
    if not re.fullmatch(r"[\w.-]+", bucket) or not plain:  # else two addresses could mean one place
        raise BadRequest(f"output is {scheme}://bucket/run, with plain names between the slashes: {place!r}")
