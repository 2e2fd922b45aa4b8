"""The pages in a real Chromium. Every complaint in the browser's console fails a test: the policy is never violated."""

from __future__ import annotations

import pytest

from enumerate.config import Config

from .serving import serving
from .tools import run_serially

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where a real server shows two runs."""
    folder = tmp_path_factory.mktemp("runs")
    for name, values in {
        "both-5x6": {"size": "5x6", "variant": "both", "max": 200_000},
        "closed-6x6": {"size": "6x6", "variant": "closed", "max": 50_000},
    }.items():
        run_serially(Config.from_values({**values, "output": str(folder / name), "executor": "serial"}))
    with serving("view", folder) as address:
        yield address


def test_the_mode_is_remembered(address, open_page):
    page = open_page(address)
    page.get_by_text("Appearance").click()
    page.get_by_label("Mode").select_option("dark")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.mode") == "dark"
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
