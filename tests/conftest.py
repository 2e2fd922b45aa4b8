"""Where the runs of tests are: what holds for every storage is tested on each of them."""

from __future__ import annotations

import itertools
import os

import pytest

from .cluster.s3 import S3Server

_numbers = itertools.count()


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory):
    """A real S3 server, started once, with a bucket named runs."""
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        server.make_bucket("runs")
        yield server


@pytest.fixture
def s3_place(s3_server, monkeypatch):
    """An address below which nothing is yet; this process and its children have the keys to it, and no others."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://runs/{next(_numbers)}"


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.cluster)])
def place(request, tmp_path):
    """Where a new run may be: a path or an address, to which more may be added."""
    return request.getfixturevalue("s3_place") if request.param == "s3" else str(tmp_path / "place")
