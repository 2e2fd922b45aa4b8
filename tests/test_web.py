"""The pages without a browser: what is served, what is refused, and what every answer carries."""

from __future__ import annotations

import socket

import pytest
from starlette.testclient import TestClient

from enumerate.cli import main
from enumerate.config import Config
from enumerate.web.app import make_app

from .serving import serving
from .tools import run_serially


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with two runs."""
    folder = tmp_path_factory.mktemp("runs")
    for name, values in {
        "both-5x6": {"size": "5x6", "variant": "both", "max": 200_000},
        "closed-6x6": {"size": "6x6", "variant": "closed", "max": 50_000},
    }.items():
        run_serially(Config.from_values({**values, "output": str(folder / name), "executor": "serial"}))
    return folder


@pytest.fixture(scope="module")
def site(runs):
    return TestClient(make_app(str(runs)), base_url="http://127.0.0.1:8642", raise_server_exceptions=False)


@pytest.fixture(scope="module")
def address(runs):
    """Where a real server shows them."""
    with serving("view", runs) as address:
        yield address


def test_a_folder_of_runs_is_listed(site):
    text = site.get("/").text
    assert "/runs/both-5x6" in text
    assert "/runs/closed-6x6" in text


def test_one_run_is_shown_at_once(runs):
    site = TestClient(make_app(str(runs / "closed-6x6")), base_url="http://localhost")
    answer = site.get("/")
    assert answer.status_code == 200
    assert answer.url.path == "/runs/closed-6x6"


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/nowhere", "/runs/none"])
def test_every_answer_carries_the_policy(site, path):
    headers = site.get(path).headers
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8642", ""])
def test_another_host_name_is_refused(site, host):
    assert site.get("/", headers={"host": host}).status_code == 403


def test_a_post_from_another_page_is_refused(site):
    refused = site.post("/", headers={"origin": "http://evil.example"})
    assert refused.status_code == 403
    assert site.post("/", headers={"origin": "http://127.0.0.1:8642"}).status_code == 405


@pytest.mark.parametrize(
    "path",
    ["/runs/..", "/runs/%2e%2e", "/runs/..%2f..%2fetc", "/runs/%2e%2e%2fclosed-6x6", "/runs//etc",
     "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/runs/closed-6x6%00"],
)  # fmt: skip
def test_nothing_beside_the_runs_and_the_files_can_be_reached(address, path):
    with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as raw:
        # A client would tidy up the path before it sends it.
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: {address[7:]}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(65_536), b""))
    assert answer.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 ")), answer[:200]


def test_an_unknown_run_is_not_found(site):
    page = site.get("/runs/none")
    assert page.status_code == 404
    assert "there is no such run: &#39;none&#39;" in page.text


def test_whoever_asks_for_json_gets_errors_as_json(site):
    answer = site.get("/runs/none", headers={"accept": "application/json"})
    assert answer.status_code == 404
    assert answer.json() == {"error": "there is no such run: 'none'"}


def test_a_port_in_use_costs_one_line(runs, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["view", str(runs), "--port", str(port), "--no-open"]) == 2
    assert (
        capsys.readouterr().err
        == f"error: the port is in use: {port}; choose another --port, or 0 for any that is free\n"
    )


@pytest.mark.parametrize("port", ["-1", "65536", "many"])
def test_a_port_that_is_none_is_refused(runs, capsys, port):
    assert main(["view", str(runs), "--port", port, "--no-open"]) == 2
    assert port in capsys.readouterr().err


def test_a_folder_without_runs_is_refused(tmp_path, capsys):
    assert main(["view", str(tmp_path), "--no-open"]) == 2
    assert "nor a folder of such folders" in capsys.readouterr().err
