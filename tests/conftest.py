"""Where the runs of tests are: what holds for every storage is tested on each of them; and a browser to drive."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess

import pytest
from hypothesis import settings

from .support.s3 import S3Server
from .support.size import TARGETS, sizes

# The same examples every time, however long a busy machine takes for one.
settings.register_profile("alike", derandomize=True, deadline=None)
settings.load_profile("alike")

_numbers = itertools.count()


def pytest_terminal_summary(terminalreporter):
    """How large the package is, at the end of every call."""
    numbers = (f"{size:,g} {what} (at most {TARGETS[what]:,})" for what, size in sizes().items())
    terminalreporter.write_line(f"enumerate/ has {', '.join(numbers)}")


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


# As root, Chromium runs only without its sandbox; the rest keeps it from calling home.
CHROMIUM_FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync")  # fmt: skip


@pytest.fixture(scope="module")
def chromium():
    """A headless Chromium; the tests that want it are skipped where there is none."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Opens a page in a profile of its own. What it complains about in its console, a violation of the policy among
    it, fails the test, unless the test takes it from `complaints`.
    """
    complaints, contexts = [], []

    def failures(request):
        # What a page still waits for when it is left, and a file that is kept instead of shown, count as aborted.
        return [] if "ERR_ABORTED" in request.failure else [f"{request.failure}: {request.url}"]

    def opened(url, **settings):
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.extend(failures(request)))
        page.goto(url)
        return page

    opened.complaints = complaints
    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 3 MB, as root; elsewhere there is none to be had, and the test says so."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small file system can be mounted by root only")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)
