"""The pages without a browser: what is served, what is refused, and what every answer carries."""

from __future__ import annotations

import itertools
import re
import shutil
import signal
import socket
import subprocess
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from enumerate.catalog.reader import Run
from enumerate.cli.app import main
from enumerate.ledger.manifest import replace_manifest
from enumerate.ledger.storage import Folder
from enumerate.model import config
from enumerate.model.errors import BadRequest
from enumerate.model.tour import SYMMETRIES, are_closed, are_structured, as_text, symmetries
from enumerate.search.strategy import resolve
from enumerate.view.picture import tour_svg
from enumerate.view.web.filters import Selection
from enumerate.view.web.live_run import LiveRun
from enumerate.view.web.pages import Query
from enumerate.view.web.server import make_app

from ...support.commands import arguments, environment_with, serving
from ...support.runs import run_serially

BOTH = {"size": "3x10", "variant": "both", "start": "a1,b1,b2,c3,j1", "max": 60_000, "slice-iterations": 1_500}
CLOSED = {"size": "6x6", "variant": "closed", "max": 30_000}


def make_run(folder, **values):
    return run_serially(resolve({**values, "output": str(folder), "executor": "serial"}))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with two runs. Their parts have many row groups, as those of large runs have."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "BATCH_BYTES", 36 * 40)
        make_run(folder / "both-3x10", **BOTH)
        make_run(folder / "closed-6x6", **CLOSED)
    return folder


@pytest.fixture(scope="module")
def site(runs):
    return client(runs)


def client(place, **options):
    app = make_app(str(place), **options)
    return TestClient(app, base_url="http://127.0.0.1:8642", raise_server_exceptions=False)


def fresh_client(place):
    """Every request looks at the records anew."""
    return client(place, fresh_seconds=0.0)


@pytest.fixture(scope="module")
def address(runs):
    """Where a real server shows them."""
    with serving("view", runs) as address:
        yield address


# The server.


def test_a_folder_of_runs_is_listed(site):
    text = site.get("/").text
    assert "/runs/both-3x10" in text
    assert "/runs/closed-6x6" in text


def test_one_run_is_shown_at_once(runs):
    site = TestClient(make_app(str(runs / "closed-6x6")), base_url="http://localhost")
    answer = site.get("/")
    assert answer.status_code == 200
    assert answer.url.path == "/runs/closed-6x6"


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/nowhere", "/runs/none", "/runs/both-3x10?page=0"])
def test_every_answer_carries_the_policy(site, path):
    headers = site.get(path).headers
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_an_internal_error_is_a_page_that_carries_the_policy_and_tells_no_secrets(runs, monkeypatch):
    monkeypatch.setattr(LiveRun, "look", lambda *_: 1 / 0)
    answer = client(runs).get("/runs/closed-6x6")
    assert answer.status_code == 500
    assert "content-security-policy" in answer.headers
    assert "internal error" in answer.text
    assert "division" not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8642", ""])
def test_another_host_name_is_refused(site, host):
    assert site.get("/", headers={"host": host}).status_code == 403


def test_a_post_from_another_page_is_refused(site):
    refused = site.post("/", headers={"origin": "http://evil.example"})
    assert refused.status_code == 403
    assert site.post("/").status_code == 403
    assert site.post("/", headers={"origin": "http://127.0.0.1:8642"}).status_code == 405


@pytest.mark.parametrize(
    "path",
    ["/runs/..", "/runs/%2e%2e", "/runs/..%2f..%2fetc", "/runs/%2e%2e%2fclosed-6x6", "/runs//etc", "/runs/.",
     "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/runs/closed-6x6%00",
     "/runs/closed-6x6/../both-3x10/_run/run.json", "/runs/closed-6x6/_run/run.json"],
)  # fmt: skip
def test_nothing_beside_the_runs_and_the_files_can_be_reached(address, path):
    with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as raw:
        # A client would tidy up the path before it sends it.
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: {address[7:]}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(65_536), b""))
    assert answer.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 ")), answer[:200]


def test_only_this_machine_can_reach_the_server(address):
    port = int(address.rpartition(":")[2])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing: only the address of this machine is wanted
        outside = probe.getsockname()[0]
    if outside.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((outside, port), timeout=5)


def test_a_port_in_use_costs_one_line(runs, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["view", str(runs), "--port", str(port), "--no-open"]) == 2
    told = f"error: port {port} is in use; choose another --port, or 0 for any free port\n"
    assert capsys.readouterr().err == told


def test_ctrl_c_ends_the_server_in_order(runs):
    words = arguments("view", runs, "--port", "0", "--no-open")
    with subprocess.Popen(words, env=environment_with(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        port = int(re.search(rb":(\d+)/", process.stdout.readline())[1])
        with socket.create_connection(("127.0.0.1", port)) as browser:  # which keeps its connection
            browser.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            assert browser.recv(12) == b"HTTP/1.1 200"
            process.send_signal(signal.SIGINT)
            assert (process.wait(20), process.stderr.read()) == (0, b"")


@pytest.mark.parametrize("port", ["-1", "65536", "many"])
def test_a_port_that_is_none_is_refused(runs, capsys, port):
    assert main(["view", str(runs), "--port", port, "--no-open"]) == 2
    assert port in capsys.readouterr().err


def test_a_folder_without_runs_is_refused(tmp_path, capsys):
    for place in (tmp_path, tmp_path / "nowhere"):
        assert main(["view", str(place), "--no-open"]) == 2
        assert "not a folder of runs" in capsys.readouterr().err


# Bad requests and bad runs.


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("tours?page=0", "page must be a whole number from 1, got &#39;0&#39;"),
        ("tours?page=-1", "page must be a whole number from 1, got"),
        ("tours?page=²", "page must be a whole number from 1, got"),
        ("tours?page=99999999999999999999999", "page must be a whole number from 1, got"),
        ("tours?page=1000000", "page must be a whole number from 1 to"),
        ("tours?start=z9", "no such square on the 3x10 board"),
        ("tours?start=<script>", "expected a square such as a1 or d4, got &#39;&lt;script&gt;&#39;"),
        ("tours?variant=opne", "did you mean &#39;open&#39;?"),
        ("tours?structured=maybe", "structured must be yes or no, got"),
        ("tours?symmetry=round", "symmetry must be symmetric, none, path-180"),
        ("tours?sort=random", "sort must be first or last, got"),
        ("tours?strat=a1", "unknown parameter: &#39;strat&#39;; did you mean &#39;start&#39;?"),
        ("tours?start=a1&start=b2", "parameter given twice: &#39;start&#39;"),
        ("tour?number=0", "number must be a whole number from 1, got"),
        ("tour?number=123456789", "number must be a whole number from 1 to"),
        ("tour?start=a2", "the run has no such tours"),
        ("tour.png?number=x", "number must be a whole number from 1, got"),
        ("?by=colour", "by must be tours, iterations or first, got"),
    ],
)
def test_bad_parameters_get_400_and_a_message(site, query, told):
    separator = "" if query.startswith("?") else "/"
    answer = site.get(f"/runs/both-3x10{separator}{query}")
    assert answer.status_code == 400
    assert told in answer.text


def test_an_unknown_run_is_not_found(site):
    page = site.get("/runs/none")
    assert page.status_code == 404
    assert "no such run: &#39;none&#39;" in page.text


def test_whoever_asks_for_json_gets_errors_as_json(site):
    answer = site.get("/runs/none", headers={"accept": "application/json"})
    assert (answer.status_code, answer.json()) == (404, {"error": "no such run: 'none'"})
    assert site.get("/runs/both-3x10/tours.json?page=0").json() == {
        "error": "page must be a whole number from 1, got '0'"
    }


@pytest.fixture
def damaged(runs, tmp_path):
    """Copies of the runs, to be harmed."""
    shutil.copytree(runs, tmp_path / "runs")
    return tmp_path / "runs"


def test_a_damaged_part_costs_one_line_and_the_server_goes_on(damaged):
    site = fresh_client(damaged)
    part = next((damaged / "closed-6x6").rglob("start=a1/part-*.parquet"))
    data = bytearray(part.read_bytes())
    data[100] ^= 1  # in the first row group
    part.write_bytes(bytes(data))
    broken = site.get("/runs/closed-6x6/tours?start=a1")
    assert broken.status_code == 409
    assert "damaged, cannot be read" in broken.text
    assert site.get("/runs/closed-6x6/tours?start=b2").status_code == 200
    assert site.get("/runs/both-3x10").status_code == 200


@pytest.mark.parametrize("name", ["_run/run.json", "_run/commits/000000-0000-to-30000.json"])
def test_a_damaged_run_is_listed_with_what_is_wrong(damaged, name):
    site = fresh_client(damaged)
    (damaged / "closed-6x6" / name).write_text("{", encoding="utf-8")
    listed = site.get("/")
    assert listed.status_code == 200
    assert "damaged" in listed.text
    assert "both-3x10" in listed.text
    answer = site.get("/runs/closed-6x6")
    assert answer.status_code == 409
    assert "damaged" in answer.text


def test_a_run_that_goes_away_is_not_found_and_one_that_comes_is(damaged):
    site = fresh_client(damaged)
    assert site.get("/runs/closed-6x6").status_code == 200
    (damaged / "closed-6x6").rename(damaged / "renamed")
    assert site.get("/runs/closed-6x6").status_code == 404
    assert site.get("/runs/renamed").status_code == 200
    alone = fresh_client(damaged / "renamed")
    shutil.rmtree(damaged / "renamed")
    answer = alone.get("/runs/renamed")
    assert answer.status_code == 404
    assert "there is no such folder" in answer.text


def test_a_run_that_grows_is_seen_to_grow_and_one_that_is_started_over_too(tmp_path):
    place = tmp_path / "run"
    make_run(place, **{**BOTH, "max": 5_000})
    site = fresh_client(place)
    before = site.get("/runs/run/status.json").json()
    assert site.get("/runs/run/status.json").json() == before
    make_run(place, **{**BOTH, "max": 8_000})
    after = site.get("/runs/run/status.json").json()
    assert after["stamp"] != before["stamp"]
    assert after["tours"] > before["tours"]
    assert f"{after['tours']:,}" in site.get("/runs/run/overview").text
    run_serially(resolve({**BOTH, "max": 5_000, "output": str(place), "executor": "serial"}), fresh=True)
    again = site.get("/runs/run/status.json").json()
    assert again["tours"] == before["tours"]
    assert again["stamp"] != before["stamp"]


def test_a_record_that_comes_is_seen_though_nothing_else_changes(damaged):
    """So it is while a search is at work."""
    site = fresh_client(damaged)
    record = damaged / "closed-6x6" / "_run" / "commits" / "000007-0000-to-30000.json"
    data = record.read_bytes()
    record.unlink()
    before = site.get("/runs/closed-6x6/status.json").json()
    record.write_bytes(data)
    after = site.get("/runs/closed-6x6/status.json").json()
    assert (before["state"], after["state"]) == ("stopped", "complete")
    assert after["tours"] - before["tours"] == Run(damaged / "closed-6x6").summary().to_pylist()[7]["tours_closed"]


def test_a_larger_budget_is_seen_before_the_first_record_under_it(damaged):
    site = fresh_client(damaged)
    assert site.get("/runs/closed-6x6/status.json").json()["state"] == "complete"
    run = Run(damaged / "closed-6x6")
    larger = resolve({**CLOSED, "max": 90_000, "output": str(damaged / "closed-6x6")})
    replace_manifest(run.storage, run.manifest.of_call(larger))
    assert site.get("/runs/closed-6x6/status.json").json()["state"] == "killed"  # nobody holds it
    with run.storage.lock():
        assert site.get("/runs/closed-6x6/status.json").json()["state"] == "at work"


# What is shown.


def test_the_overview_tells_config_and_totals(site, runs):
    text = site.get("/runs/closed-6x6").text
    total = Run(runs / "closed-6x6").totals()
    for fact in (f"{total['tours_closed']:,}", f"{total['iterations']:,}", f"{total['structured']:,}", "warnsdorff"):
        assert fact in text


@pytest.mark.parametrize("by", ["tours", "iterations", "first"])
def test_the_map_links_every_start_square_to_its_tours(site, runs, by):
    text = site.get(f"/runs/both-3x10?by={by}").text
    more = "" if by == "tours" else f"&amp;by={by}"
    assert text.count("<a href=") - text.count('<a href="/') == 0
    for row in Run(runs / "both-3x10").summary().to_pylist():
        count = row["tours_open"] + row["tours_closed"]
        link = f'href="/runs/both-3x10/tours?start={row["start"]}{more}"'
        assert f'{link} aria-label="{row["start"]}: {count:,} tours' in text


@pytest.fixture(scope="module")
def every(runs):
    """All tours of each run, read and classified one by one, with their positions among a start and variant."""
    return {name: list(every_tour(Run(runs / name))) for name in ("both-3x10", "closed-6x6")}


@pytest.fixture(scope="module")
def snapshots(runs):
    """Each run as it is, its records read once."""
    return {name: LiveRun(str(runs / name)).look(lambda now: now) for name in ("both-3x10", "closed-6x6")}


def every_tour(run):
    for job in run.plan:
        start = run.board.name(job.start)
        counts = {"open": 0, "closed": 0}
        for tours in run.tours(start):
            judged = (are_closed(run.board, tours), are_structured(run.board, tours), symmetries(run.board, tours))
            for tour, closed, structured, symmetry in zip(tours.tolist(), *judged, strict=True):
                variant = "closed" if closed else "open"
                counts[variant] += 1
                yield (start, variant, counts[variant], tour), "yes" if structured else "no", SYMMETRIES[symmetry]


def fits(wanted, tour, structured, symmetry):
    start, variant, *_ = tour
    return (
        wanted.start in ("", start)
        and wanted.variant in ("", variant)
        and wanted.structured in ("", structured)
        and (wanted.symmetry in ("", symmetry) or (wanted.symmetry == "symmetric" and symmetry != "none"))
    )


@pytest.mark.parametrize(
    ("name", "start", "variant", "structured", "symmetry"),
    [
        *itertools.product(["both-3x10"], ["", "c3"], ["", "open", "closed"], ["", "yes", "no"], [""]),
        *itertools.product(["both-3x10"], [""], ["", "open"], ["", "yes", "no"], ["symmetric", "none", "path-180"]),
        *itertools.product(["closed-6x6"], ["", "b2"], [""], ["", "yes", "no"], ["", "symmetric", "none", "closed-90"]),
    ],
)
def test_a_selection_holds_exactly_the_tours_that_are_wanted(
    snapshots, every, name, start, variant, structured, symmetry
):
    wanted = Query(start, variant, structured, symmetry)
    selections = {sort: Selection(snapshots[name], replace(wanted, sort=sort)) for sort in ("first", "last")}
    expected = [tour for tour, *kind in every[name] if fits(wanted, tour, *kind)]
    assert [len(selection) for selection in selections.values()] == [len(expected)] * 2
    for first in {0, len(expected) // 2, max(0, len(expected) - 3)}:
        for sort, in_order in (("first", expected), ("last", expected[::-1])):
            page = selections[sort].page(first, 5)
            assert [(f.start, f.variant, f.position, f.squares) for f in page] == in_order[first : first + 5]
            assert [f.number for f in page] == list(range(first + 1, first + 1 + len(page)))


def test_the_runs_have_tours_of_every_kind_that_is_tested(runs):
    both, closed = Run(runs / "both-3x10").totals(), Run(runs / "closed-6x6").totals()
    assert all(both[name] for name in ("tours_open", "tours_closed", "structured", "path_180", "closed_180"))
    assert all(closed[name] for name in ("structured", "closed_180", "closed_90"))
    assert both["parts"] > 12
    part = next((runs / "closed-6x6").rglob("start=b2/part-*.parquet"))
    assert pq.ParquetFile(part).num_row_groups > 5


def test_the_place_of_a_tour_leads_to_the_same_tour(site):
    tours = site.get("/runs/both-3x10/tours.json?structured=no&sort=last&page=2").json()["tours"]
    for tour in tours:
        query = f"start={tour['start']}&variant={tour['variant']}&number={tour['position']}"
        again = site.get(f"/runs/both-3x10/tour.json?{query}").json()
        assert again["squares"] == tour["squares"]


def test_pages_are_disjoint_and_hold_every_tour(site):
    first = site.get("/runs/closed-6x6/tours.json?symmetry=symmetric").json()
    assert first["pages"] > 1
    pages = [
        site.get(f"/runs/closed-6x6/tours.json?symmetry=symmetric&page={number}").json()["tours"]
        for number in range(1, first["pages"] + 1)
    ]
    tours = [tuple(tour["squares"]) for page in pages for tour in page]
    assert len(tours) == len(set(tours)) == first["count"]


def test_a_tour_can_be_kept_as_svg_text_and_json(site, runs):
    run = Run(runs / "closed-6x6")
    tour = run.squares(3, "b2", "closed")
    files = {ending: site.get(f"/runs/closed-6x6/tour.{ending}?start=b2&number=3") for ending in ("svg", "txt", "json")}
    assert files["svg"].text == tour_svg(run.board, tour.tolist(), True)
    assert files["txt"].text == as_text(run.board, tour) + "\n"
    assert files["json"].json()["squares"] == tour.tolist()
    assert files["svg"].headers["content-disposition"] == 'attachment; filename="closed-6x6-b2-closed-3.svg"'
    assert files["svg"].headers["content-type"] == "image/svg+xml"


def test_the_filters_of_a_page_keep_the_rest_of_the_view(site):
    text = site.get("/runs/both-3x10/tours?start=a1&structured=yes&sort=last").text
    assert "/runs/both-3x10/tours?start=a1&amp;variant=open&amp;structured=yes&amp;sort=last" in text
    assert "/runs/both-3x10/tours?start=a1&amp;sort=last" in text
    assert "/runs/both-3x10/tour?start=a1&amp;structured=yes&amp;sort=last&amp;number=2" in text


def test_a_name_with_strange_characters_is_shown_and_does_no_harm(tmp_path):
    name = 'a "b" <i>&#?'
    make_run(tmp_path / name, size="5", start="a1", max=20_000)
    site = client(tmp_path)
    listed = site.get("/").text
    assert "<i>" not in listed
    assert "/runs/a%20%22b%22%20%3Ci%3E%26%23%3F" in listed
    page = site.get("/runs/a%20%22b%22%20%3Ci%3E%26%23%3F/tours")
    assert page.status_code == 200
    assert "<i>" not in page.text
    kept = site.get("/runs/a%20%22b%22%20%3Ci%3E%26%23%3F/tour.txt").headers["content-disposition"]
    assert kept == 'attachment; filename="a-b-i-a1-open-1.txt"'


def test_a_run_that_only_counted_says_so(tmp_path):
    make_run(tmp_path / "counted", size="5", start="a1", max=20_000, write=False)
    page = client(tmp_path).get("/runs/counted/tours")
    assert page.status_code == 200
    assert "counted its tours and did not write them" in page.text


def test_a_board_too_large_for_pictures_is_still_told_about(tmp_path):
    make_run(tmp_path / "large", size="200x202", strategy="divide", variant="closed")
    site = client(tmp_path)
    assert "too large for a map" in site.get("/runs/large").text
    assert "too large for a picture" in site.get("/runs/large/tours").text
    assert "too large for a picture" in site.get("/runs/large/tour").text
    assert site.get("/runs/large/tour.svg").status_code == 400
    assert site.get("/runs/large/tour.png").status_code == 400
    assert len(site.get("/runs/large/tour.txt").text.split()) == 200 * 202


@pytest.mark.cluster
def test_a_run_on_an_object_store_is_explored_too(s3_place):
    make_run(s3_place, **BOTH)
    site = client(s3_place)
    path = site.get("/").url.path
    assert path == f"/runs/{s3_place.rpartition('/')[2]}"
    tours = site.get(f"{path}/tours.json?start=a1&structured=yes").json()["tours"]
    assert len(tours) == 12
    assert site.get(f"{path}/tour.svg?start=a1").status_code == 200
    with pytest.raises(BadRequest, match=r"not a run .* and not a folder of runs"):
        make_app(s3_place + "-none")


@pytest.fixture(scope="module")
def many_parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many") / "run"
    values = {"size": 8, "variant": "both", "start": "a1,d4,g2", "max": 40_000, "slice-iterations": 500}
    make_run(folder, **values)
    assert len(list(folder.rglob("tours/*/*/*.parquet"))) > 200
    return folder


@pytest.mark.parametrize(
    "query", ["start=d4&page=70", "structured=no&page=99", "variant=closed&sort=last", "variant=open&structured=no"]
)
def test_a_page_reads_the_few_parts_that_its_tours_are_in(many_parts, monkeypatch, query):
    """So it answers at once, however many tours a run has."""
    read, names = Folder.read, []
    monkeypatch.setattr(Folder, "read", lambda folder, name: names.append(name) or read(folder, name))
    site = client(many_parts)
    site.get(f"/runs/run/tours?{query}")  # kinds that no record tells are counted once
    names.clear()
    assert site.get(f"/runs/run/tours?{query}").status_code == 200
    assert 1 <= len([name for name in names if name.startswith("tours/")]) <= 10


# Runs whose start squares have several jobs, or whose jobs have several start squares.


@pytest.mark.parametrize("values", [
    {"size": "5x6", "variant": "both", "start": "all", "split": 4, "max": 0},
    {"size": "5x6", "variant": "both", "start": "classes", "expand": True, "split": 3, "max": 0},
], ids=["split", "expanded"])  # fmt: skip
def test_every_tour_of_a_start_square_is_shown_whatever_jobs_it_has(values, tmp_path):
    make_run(tmp_path / "run", **values)
    run = Run(tmp_path / "run")
    snapshot = LiveRun(str(tmp_path / "run")).look(lambda snapshot: snapshot)
    for start in ("a1", "f5", "c3"):
        wanted = {
            variant: [tour for tours in run.tours(start, variant) for tour in tours.tolist()]
            for variant in ("open", "closed")
        }
        found = Selection(snapshot, Query(start=start)).page(0, 10**6)
        assert sorted(each.squares for each in found) == sorted(wanted["open"] + wanted["closed"])
        assert {each.start for each in found} == {start}
        for variant in ("open", "closed"):
            positions = [each.position for each in found if each.variant == variant]
            assert sorted(positions) == list(range(1, len(positions) + 1))
            assert all(wanted[variant][each.position - 1] == each.squares for each in found if each.variant == variant)
    assert len(Selection(snapshot, Query())) == 37_568
    pages = client(tmp_path / "run")
    assert pages.get("/", follow_redirects=True).status_code == 200
    assert main(["report", str(tmp_path / "run"), "--output", str(tmp_path / "report.html")]) == 0
