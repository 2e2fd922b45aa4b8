"""The executor that a config asks for."""

from __future__ import annotations

from ..model.config import LARGEST, Config, usable_cores
from .events import Executor, Handshake
from .processes import processes
from .ray_connection import connect
from .serial import Serial


def make_executor(config: Config, handshake: Handshake) -> Executor:
    """Workers of this machine or of a cluster. Those on other machines have to pass the handshake first."""
    if config.address:
        connection = connect(config.address, config.workers or usable_cores())
        from .ray_cluster import ray_cluster  # noqa: PLC0415  # Ray is slow to import, and often not there

        return ray_cluster(connection, handshake, config.workers or LARGEST)
    if config.executor == "serial":
        return Serial()
    return processes(config.workers or usable_cores())
