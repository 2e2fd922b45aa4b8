"""The same run on a Ray cluster: real Ray hosts, each in namespaces of its own, and what can go wrong with them.

Every test ends with a run that `verify` calls sound and whose parts are, byte for byte, those of an undisturbed run of
worker processes on one machine.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from ..support.commands import arguments, command
from ..support.hosts import Hosts, title, why_not
from ..support.runs import part_sums

pytestmark = pytest.mark.cluster

# The plain search finds few tours: long work, small files. 48 slices of about a third of a second.
SEARCH = ("--size", 8, "--variant", "closed", "--no-prune", "--start", "a1,b1,c1,d1,a2,b2,c2,d2")
MANY = (*SEARCH, "--slice-iterations", 20_000_000, "--max", 120_000_000)
FEW = (*SEARCH, "--slice-iterations", 20_000_000, "--max", 40_000_000)  # where nothing is cut off
MORE = (*SEARCH, "--slice-iterations", 20_000_000, "--max", 400_000_000)  # half a minute on two cores
# Two slices of some ten seconds each: long enough to be cut off, given up, tried again and written by both.
LONG = ("--size", 8, "--variant", "closed", "--no-prune", "--start", "a1,b1",
        "--slice-iterations", 600_000_000, "--max", 600_000_000)  # fmt: skip

NOTICED = 60  # seconds; it takes five or six, and without our settings more than a hundred

# Takes the only CPU for as long as it lives.
HOG = "hog = ray.remote(num_cpus=1)(type('Hog', (), {'here': lambda self: 1})).remote(); ray.get(hog.here.remote()); "
HOG += "print('taken', flush=True); time.sleep(1000)"


@pytest.fixture
def hosts(tmp_path_factory):
    """A head without CPUs and two nodes with one each."""
    with some_hosts(tmp_path_factory, 2) as hosts:
        yield hosts


@pytest.fixture
def head_and_one(tmp_path_factory):
    with some_hosts(tmp_path_factory, 1) as hosts:
        yield hosts


@pytest.fixture
def head(tmp_path_factory):
    with some_hosts(tmp_path_factory, 0) as hosts:
        yield hosts


def some_hosts(tmp_path_factory, nodes, jobs=False):
    if reason := why_not():
        pytest.skip(f"no hosts of our own here: {reason}")
    return Hosts(tmp_path_factory.mktemp("hosts"), cpus=[1] * nodes, jobs=jobs)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The parts of a run by worker processes, for each set of words."""
    known = {}

    def parts(words):
        if words not in known:
            folder = tmp_path_factory.mktemp("undisturbed")
            done = command(*words, "--output", folder / "run", "--quiet", cwd=folder, timeout=300)
            assert done.returncode == 0, done.stderr
            known[words] = part_sums(folder / "run")
        return known[words]

    return parts


def assert_sound(folder, expected):
    verified = command("verify", folder, cwd=folder.parent)
    assert verified.returncode == 0, verified.stderr
    assert part_sums(folder) == expected


def wait_for(happened, seconds, driver):
    deadline = time.monotonic() + seconds
    while not happened():
        assert driver.poll() is None, driver.err
        assert time.monotonic() < deadline, driver.err
        time.sleep(0.05)


def records(folder) -> int:
    return len(list((folder / "_run" / "commits").glob("*.json")))


def finished(driver) -> dict:
    """The report of a run that went well."""
    done = driver.finish(200)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def start(hosts, words, folder, *more):
    return hosts.start(*words, "--address", "auto", "--output", folder, "--json", *more, cwd=folder.parent)


def test_two_nodes_give_the_bytes_that_processes_give(hosts, tmp_path, undisturbed):
    folder = tmp_path / "run"
    report = finished(start(hosts, FEW, folder))
    assert [name.split()[0] for name in report["this_call"]["nodes"]] == [node.ip for node in hosts.nodes]
    assert report["this_call"]["slots"] >= 2
    assert_sound(folder, undisturbed(FEW))


def test_the_printed_summary_says_who_worked_and_workers_caps_the_slots(hosts, tmp_path):
    words = ("--size", 6, "--max", 100_000, "--address", hosts.address, "--workers", 1)
    done = hosts.run(*words, "--output", tmp_path / "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^1 slot on 1 node worked, \d+ slices? retried$", done.stdout, re.MULTILINE)
    again = hosts.run(*words, "--output", tmp_path / "run", cwd=tmp_path)
    assert "already complete" in again.stdout


def test_a_killed_worker_is_replaced(hosts, tmp_path, undisturbed):
    folder = tmp_path / "run"
    driver = start(hosts, MANY, folder)
    wait_for(lambda: records(folder) > 3, 60, driver)
    hosts.nodes[0].kill_worker()
    report = finished(driver)
    assert report["this_call"]["retried"] >= 1
    assert "is lost (its process ended)" in driver.err
    assert_sound(folder, undisturbed(MANY))


def test_the_loss_of_a_raylet_is_survived(hosts, tmp_path, undisturbed):
    folder = tmp_path / "run"
    driver = start(hosts, MANY, folder)
    wait_for(lambda: records(folder) > 3, 60, driver)
    hosts.nodes[0].kill_raylet()
    report = finished(driver)
    assert report["this_call"]["retried"] >= 1
    assert_sound(folder, undisturbed(MANY))


def test_a_cut_off_node_is_noticed_while_the_others_go_on(hosts, tmp_path, undisturbed):
    folder = tmp_path / "run"
    driver = start(hosts, MANY, folder)
    wait_for(lambda: records(folder) > 3, 60, driver)
    hosts.nodes[0].cut()
    before = records(folder)
    wait_for(lambda: "is lost (out of reach)" in driver.err, NOTICED, driver)
    assert records(folder) > before + 2  # besides the one that the lost worker may have written
    hosts.nodes[0].heal()
    finished(driver)
    assert_sound(folder, undisturbed(MANY))


def test_a_worker_that_was_cut_off_goes_on_writing_and_does_no_harm(hosts, tmp_path, undisturbed):
    folder = tmp_path / "run"
    driver = start(hosts, LONG, folder)
    wait_for(lambda: driver.poll() is not None or all(host.workers() for host in hosts.nodes), 60, driver)
    time.sleep(4)  # the workers are at their slices now: these take ten seconds
    assert records(folder) == 0
    lost = hosts.nodes[0].workers()
    hosts.nodes[0].cut()
    wait_for(lambda: "is lost (out of reach)" in driver.err, NOTICED, driver)
    assert hosts.nodes[0].workers() == lost  # given up, but at work
    wait_for(lambda: records(folder) > 0, 60, driver)
    hosts.nodes[0].heal()
    report = finished(driver)
    assert report["this_call"]["retried"] >= 1, driver.err
    assert_sound(folder, undisturbed(LONG))


def test_a_run_whose_driver_was_killed_is_continued_while_an_old_worker_may_still_write(hosts, tmp_path, undisturbed):
    folder = tmp_path / "run"
    driver = start(hosts, MANY, folder)
    wait_for(lambda: records(folder) > 3, 60, driver)
    hosts.nodes[0].cut()  # so that its worker does not hear of the driver's end
    old = hosts.nodes[0].workers()
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait(10)
    assert hosts.nodes[0].workers() == old
    again = start(hosts, MANY, folder)
    wait_for(lambda: "tours on 8x8" in again.err, 30, again)
    hosts.nodes[0].heal()
    finished(again)
    assert_sound(folder, undisturbed(MANY))


def test_a_node_that_joins_late_is_used(head_and_one, tmp_path, undisturbed):
    hosts, node = head_and_one, head_and_one.nodes[0]
    folder = tmp_path / "run"
    driver = start(hosts, MANY, folder)
    wait_for(lambda: records(folder) > 0, 60, driver)
    late = hosts.add(1)
    report = finished(driver)
    assert {name.split()[0] for name in report["this_call"]["nodes"]} == {node.ip, late.ip}
    assert_sound(folder, undisturbed(MANY))


def test_a_node_that_does_not_share_the_output_is_named_and_left_out(head_and_one, tmp_path, undisturbed):
    hosts, node = head_and_one, head_and_one.nodes[0]
    (tmp_path / "shared").mkdir()
    folder = tmp_path / "shared" / "run"
    apart = hosts.add(1, mounts=[("size=50m", tmp_path / "shared")])
    driver = start(hosts, FEW, folder)
    report = finished(driver)
    assert [name.split()[0] for name in report["this_call"]["nodes"]] == [node.ip]
    assert f"going on without a node: node {apart.ip} (" in driver.err
    assert "does not see the output" in driver.err
    assert_sound(folder, undisturbed(FEW))


def test_without_a_node_that_shares_the_output_the_run_is_refused(head, tmp_path):
    (tmp_path / "shared").mkdir()
    apart = head.add(1, mounts=[("size=50m", tmp_path / "shared")])
    done = head.run("--size", 6, "--address", "auto", "--output", tmp_path / "shared" / "run", cwd=tmp_path)
    assert done.returncode == 2
    assert f"error: node {apart.ip} (" in done.stderr
    assert "does not see the output" in done.stderr


def test_a_node_whose_disk_is_full_is_left_out(head_and_one, tmp_path, undisturbed):
    hosts, node = head_and_one, head_and_one.nodes[0]
    folder = tmp_path / "run"
    begun = (*MANY[:-1], 1_000_000)
    assert command(*begun, "--output", folder, "--quiet", cwd=tmp_path).returncode == 0
    full = hosts.add(1, mounts=[("size=4k,nr_inodes=1", folder / "tours")])
    driver = start(hosts, MANY, folder)
    report = finished(driver)
    (left_out,) = report["this_call"]["left_out"]  # it may have done slices without tours, which need no new folder
    assert left_out["node"].startswith(full.ip)
    assert "No space left on device" in left_out["reason"]
    assert "No space left on device" in driver.err
    assert any(name.startswith(node.ip) for name in report["this_call"]["nodes"])
    assert_sound(folder, undisturbed(MANY))


def test_the_package_is_shipped_to_a_node_that_lacks_it(head, tmp_path, undisturbed):
    bare = tmp_path / "bare"
    venv.create(bare, with_pip=False)
    packages = next(path for path in map(Path, sys.path) if (path / "ray").is_dir())
    site = next((bare / "lib").glob("python*/site-packages"))
    (site / "ours.pth").write_text(f"{packages}\n")
    (bare / "bin" / "ray").write_text(f"#!{bare}/bin/python\nfrom ray.scripts.scripts import main\nmain()\n")
    (bare / "bin" / "ray").chmod(0o755)
    lacking = subprocess.run([bare / "bin" / "python", "-c", "import enumerate"], cwd=tmp_path, check=False,
                             capture_output=True, env={})  # fmt: skip
    assert b"No module named 'enumerate'" in lacking.stderr
    head.add(1, python=bare / "bin" / "python")
    driver = start(head, FEW, tmp_path / "run")
    finished(driver)
    assert_sound(tmp_path / "run", undisturbed(FEW))


def test_a_node_with_another_version_is_named_with_what_differs(head_and_one, tmp_path):
    hosts, node = head_and_one, head_and_one.nodes[0]
    fake = tmp_path / "fake" / "pyarrow-1.2.3.dist-info"
    fake.mkdir(parents=True)
    (fake / "METADATA").write_text("Metadata-Version: 2.1\nName: pyarrow\nVersion: 1.2.3\n")
    other = hosts.add(1, environment={"PYTHONPATH": str(fake.parent)})
    driver = start(hosts, FEW, tmp_path / "run")
    report = finished(driver)
    assert [name.split()[0] for name in report["this_call"]["nodes"]] == [node.ip]
    assert f"node {other.ip} (" in driver.err
    assert "has another version" in driver.err
    assert "pyarrow 1.2.3 there" in driver.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 3)])
def test_a_run_on_a_cluster_stops_when_asked_and_can_be_continued(hosts, tmp_path, undisturbed, number, code):
    folder = tmp_path / "run"
    driver = start(hosts, MANY, folder)
    wait_for(lambda: records(folder) > 3, 60, driver)
    os.kill(driver.pid, number)
    done = driver.finish(60)
    assert done.returncode == code, done.stderr
    assert json.loads(done.stdout)["interrupted"]
    assert "continue: python -m enumerate --variant" in done.stderr
    finished(start(hosts, MANY, folder))
    assert_sound(folder, undisturbed(MANY))


def test_the_end_of_the_head_stops_the_run_with_a_line_and_it_can_be_continued(hosts, tmp_path, undisturbed):
    folder = tmp_path / "run"
    driver = start(hosts, MORE, folder)
    wait_for(lambda: records(folder) > 3, 60, driver)
    (server,) = (pid for pid in hosts.head.processes() if title(pid).split("\0")[0].endswith("gcs_server"))
    os.kill(server, signal.SIGKILL)
    done = driver.finish(120)
    assert done.returncode == 3, done.stderr
    assert "error: the head of the Ray cluster is gone" in done.stderr
    assert command(*MORE, "--output", folder, "--quiet", cwd=tmp_path).returncode == 0  # on this machine, why not
    assert_sound(folder, undisturbed(MORE))


def test_a_cluster_without_a_free_cpu_is_waited_for_and_that_is_said(head_and_one, tmp_path, undisturbed):
    hosts = head_and_one
    busy = hosts.launch_python(f"import ray, time; ray.init('{hosts.address}'); {HOG}")
    wait_for(lambda: "taken" in busy.out, 30, busy)
    driver = start(hosts, FEW, tmp_path / "run")
    wait_for(lambda: "waiting for a node with a free CPU" in driver.err, 60, driver)
    os.kill(busy.pid, signal.SIGKILL)
    finished(driver)
    assert_sound(tmp_path / "run", undisturbed(FEW))


def test_a_killed_worker_costs_an_estimate_one_batch(hosts, tmp_path):
    words = ("estimate", "--size", 8, "--descents", 1_000_000, "--json")
    driver = hosts.start(*words, "--address", "auto", cwd=tmp_path)
    wait_for(lambda: is_at_work(hosts.nodes[0]), 60, driver)
    hosts.nodes[0].kill_worker()
    there, here = finished(driver), json.loads(command(*words, cwd=tmp_path).stdout)
    assert driver.err.count("will be tried again") == 1
    assert re.search(r"^batch \d+ will be tried again: worker on .* is lost \(its process ended\)$", driver.err, re.M)
    assert {**there, "seconds": None} == {**here, "seconds": None}


def test_a_killed_worker_costs_a_study_one_run_and_a_node_that_does_not_share_the_folder_is_left_out(hosts, tmp_path):
    (tmp_path / "shared").mkdir()
    apart = hosts.add(1, mounts=[("size=50m", tmp_path / "shared")])
    words = ("study", "--experiments", "first-tours,corners", "--largest", 40, "--output")
    folder = tmp_path / "shared" / "study"
    driver = hosts.start(*words, folder, "--address", "auto", cwd=tmp_path)
    wait_for(lambda: any(map(is_at_work, hosts.nodes)), 60, driver)
    next(node for node in hosts.nodes if is_at_work(node)).kill_worker()
    done = driver.finish(200)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^[\w-]+/\w+-\d+ will be tried again: .*its process ended", done.stderr, re.M)) == 1
    assert f"going on without a node: node {apart.ip} (" in done.stderr
    assert command(*words, tmp_path / "here", "--quiet", cwd=tmp_path).returncode == 0
    assert (folder / "corners.csv").read_bytes() == (tmp_path / "here" / "corners.csv").read_bytes()
    assert not any((folder / "_run" / "staging").iterdir())


def is_at_work(node):
    return any(title(pid).startswith("ray::Actor.work") for pid in node.workers())


def test_a_submitted_job_is_followed_stopped_submitted_again_and_gives_the_same_bytes(
    tmp_path_factory, tmp_path, undisturbed
):
    folder = tmp_path / "run"
    words = ("--", *arguments(*MORE, "--address", "auto", "--output", folder))
    with some_hosts(tmp_path_factory, 2, jobs=True) as hosts:
        first = hosts.ray_job("submit", "--submission-id", "first", *words)
        wait_for(lambda: "% of the budget, " in first.out, 120, first)
        stop = hosts.ray_job("stop", "first").finish(60)
        assert "Job 'first' was stopped" in stop.stdout + stop.stderr
        first.finish(60)
        begun = records(folder)
        again = hosts.ray_job("submit", "--submission-id", "again", *words).finish(300)
        assert again.returncode == 0, again.stdout
        assert re.search(r"^2 slots on 2 nodes worked", again.stdout, re.MULTILINE)
    assert 0 < begun < records(folder)
    assert_sound(folder, undisturbed(MORE))
