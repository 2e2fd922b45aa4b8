"""Whole runs on a real S3 server that refuses, hangs, dies and loses connections, and that no key is ever shown.

Each ends with a run that `verify` calls sound and whose parts are those of an undisturbed run in a folder.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import polars
import pytest

from enumerate.catalog.reader import Run
from enumerate.ledger.storage import Bucket

from ..support.commands import ROOT, arguments, command, environment_with
from ..support.hosts import Hosts, why_not
from ..support.runs import part_sums
from ..support.s3 import CuttingProxy, S3Server

pytestmark = pytest.mark.cluster

WORDS = ("--size", 8, "--variant", "both", "--start", "a1,c2,d4,e5", "--slice-iterations", 2_000_000)
FINISHED = (*WORDS, "--max", 30_000_000)  # 60 slices and some seconds of work

# The plain search finds few tours: long work, small files. Some twenty seconds on one core.
LONG = ("--size", 8, "--variant", "closed", "--no-prune", "--start", "a1,b1", "--slice-iterations", 20_000_000,
        "--max", 600_000_000)  # fmt: skip


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folder")
    assert command(*FINISHED, "--output", "run", "--quiet", cwd=folder).returncode == 0
    return part_sums(folder / "run")


@pytest.fixture
def server(tmp_path):
    """A server of its own: it will not live long."""
    with S3Server(tmp_path / "s3") as server:
        server.make_bucket("runs")
        yield server


def begin(words, place, environment, cwd):
    return subprocess.Popen(
        arguments(*words, "--output", place), cwd=cwd, env=environment_with(environment), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def records(place) -> int:
    return sum(1 for _ in Bucket(place).entries("_run/commits"))


def wait_for_records(place, count, process):
    deadline = time.monotonic() + 60
    while records(place) < count:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.1)


def use(server, monkeypatch) -> str:
    """Have the server's keys; an address there that no other test uses, for clients are kept by address."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://runs/{secrets.token_hex(4)}"


def assert_sound(place, environment, cwd, expected):
    verified = command("verify", place, cwd=cwd, environment=environment)
    assert verified.returncode == 0, verified.stderr
    assert part_sums(place) == expected


def status(place, cwd):
    found = json.loads(command("status", place, "--json", cwd=cwd).stdout)
    return found["run"], found["state"]


def assert_no_keys(server, *texts):
    for text in texts:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            assert server.environment[name] not in text


def test_a_run_on_s3_has_the_parts_of_one_in_a_folder_and_can_be_extended_read_and_started_over(
    s3_place, tmp_path, expected
):
    begun = (*WORDS, "--max", 3_500_000)
    assert command(*begun, "--output", s3_place, "--quiet", cwd=tmp_path).returncode == 0
    done = command(*FINISHED, "--output", s3_place, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_sound(s3_place, {}, tmp_path, expected)
    assert "already complete" in command(*FINISHED, "--output", s3_place, cwd=tmp_path).stdout

    total = json.loads(done.stdout)["total"]
    run = Run(s3_place)
    assert run.totals()["tours_open"] == total["tours_open"]
    assert sum(len(tours) for tours in run.tours(start="d4", variant="closed")) > 0
    summary = polars.read_csv(Bucket(s3_place).read("summary.csv"))  # another reader
    assert sum(summary["tours_open"]) == total["tours_open"]
    assert json.loads(Bucket(s3_place).read("summary.json"))["tours_open"] == total["tours_open"]
    assert f'read_parquet("{s3_place}/tours/**/*.parquet"' in Bucket(s3_place).read("README.md").decode()
    assert f"read_parquet('{s3_place}/tours/" in Bucket(s3_place).read("tours.sql").decode()
    assert command("show", s3_place, "--start", "c2", cwd=tmp_path).stdout.count("\n") == 8

    other = command("--size", 6, "--output", s3_place, cwd=tmp_path)
    assert other.returncode == 2
    assert "another run is in" in other.stderr
    fresh = command("--size", 5, "--max", 0, "--output", s3_place, "--fresh", cwd=tmp_path)
    assert fresh.returncode == 0, fresh.stderr
    assert command("verify", s3_place, cwd=tmp_path).returncode == 0


def test_ray_writes_the_same_to_s3(s3_place, tmp_path, expected):
    done = command(*FINISHED, "--output", s3_place, "--quiet", "--address", "local", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_sound(s3_place, {}, tmp_path, expected)


def test_two_hosts_write_to_a_store_on_the_head_with_credentials_from_their_own_environment(tmp_path):
    """The driver's credentials do not travel: the nodes have theirs, and one without them is left out."""
    if reason := why_not():
        pytest.skip(f"no hosts of our own here: {reason}")
    with ExitStack() as stack:
        hosts = stack.enter_context(Hosts(tmp_path / "hosts", cpus=()))
        server = stack.enter_context(S3Server(tmp_path / "s3", hosts.head.ip, hosts.head.enter))
        server.make_bucket("runs")
        hosts.add(1, environment=server.environment)
        without = hosts.add(1, environment={"AWS_ENDPOINT_URL": server.endpoint, "AWS_REGION": "us-east-1"})
        words = (*FINISHED, "--output", "s3://runs/run")
        driver = hosts.start(*words, "--address", "auto", "--json", cwd=tmp_path, environment=server.environment)
        done = driver.finish(120)
        assert done.returncode == 0, done.stderr
        (left_out,) = json.loads(done.stdout)["this_call"]["left_out"]
        assert left_out["node"].startswith(without.ip)
        assert "cannot use the output" in left_out["reason"]
        verified = hosts.run("verify", "s3://runs/run", cwd=tmp_path, environment=server.environment)
        assert verified.returncode == 0, verified.stderr
        assert_no_keys(server, done.stdout, done.stderr, verified.stderr)


def test_a_server_that_is_killed_and_comes_back_is_waited_for(server, tmp_path, monkeypatch, expected):
    place = use(server, monkeypatch)
    process = begin(FINISHED, place, {}, tmp_path)
    wait_for_records(place, 5, process)
    server.kill()
    time.sleep(5)
    server.restart()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert_sound(place, {}, tmp_path, expected)


def test_a_server_that_does_not_answer_for_a_while_is_waited_for(server, tmp_path, monkeypatch, expected):
    place = use(server, monkeypatch)
    process = begin(FINISHED, place, {}, tmp_path)
    wait_for_records(place, 5, process)
    server.pause()
    time.sleep(12)
    assert process.poll() is None
    server.resume()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert_sound(place, {}, tmp_path, expected)


def test_a_server_that_stays_away_stops_the_run_which_can_be_continued(server, tmp_path, monkeypatch, expected):
    place = use(server, monkeypatch)
    process = begin(FINISHED, place, {}, tmp_path)
    wait_for_records(place, 5, process)
    server.kill()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 3, err
    assert "nobody answers at the store's address" in err
    assert "the same command continues" in err
    assert_no_keys(server, out, err)
    server.restart()
    done = command(*FINISHED, "--output", place, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_sound(place, {}, tmp_path, expected)


@pytest.mark.parametrize("matching", ["tours/", "_run/commits/", "run.json", "summary.parquet"])
def test_puts_that_break_in_the_middle_are_repeated(server, tmp_path, monkeypatch, expected, matching):
    place = use(server, monkeypatch)
    with CuttingProxy((server.host, server.ports["s3"])) as proxy:
        proxy.cut_puts(matching, after_bytes=100, times=4)
        through = {"AWS_ENDPOINT_URL": proxy.endpoint}
        done = command(*FINISHED, "--output", place, cwd=tmp_path, environment=through)
        assert done.returncode == 0, done.stderr
        assert proxy.cuts == 4 if matching != "summary.parquet" else proxy.cuts >= 1
    assert_sound(place, {}, tmp_path, expected)


def test_a_second_coordinator_is_refused_and_a_killed_one_is_followed(s3_place, tmp_path):
    longer = (*LONG[:-1], 1_200_000_000)
    assert command(*longer, "--output", "run", "--quiet", cwd=tmp_path).returncode == 0
    process = begin((*longer, "--workers", 1), s3_place, {}, tmp_path)
    wait_for_records(s3_place, 1, process)
    for words in ((*longer, "--output", s3_place), ("verify", s3_place)):
        second = command(*words, cwd=tmp_path)
        assert second.returncode == 5, second.stderr
        assert "another process is working on this run" in second.stderr
    assert status(s3_place, tmp_path) == (s3_place, "at work")
    process.kill()
    process.communicate()
    assert status(s3_place, tmp_path) == (s3_place, "killed")
    done = command(*longer, "--output", s3_place, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_sound(s3_place, {}, tmp_path, part_sums(tmp_path / "run"))


def test_no_key_is_written_anywhere(s3_server, s3_place, tmp_path):
    done = command("--size", 5, "--max", 0, "--variant", "both", "--output", s3_place, cwd=tmp_path)
    wrong = {"AWS_SECRET_ACCESS_KEY": "not-the-secret-of-anybody", "AWS_ACCESS_KEY_ID": "KEYOFNOBODY"}
    refused = command("--size", 5, "--output", f"{s3_place}-2", cwd=tmp_path, environment=wrong)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "not-the-secret-of-anybody" not in refused.stderr
    assert "KEYOFNOBODY" not in refused.stderr
    assert_no_keys(s3_server, done.stdout, done.stderr, refused.stderr)
    storage = Bucket(s3_place)
    for name, _ in storage.entries("."):
        assert_no_keys(s3_server, storage.read(name).decode("latin-1"))


class Sts(BaseHTTPRequestHandler):
    """Gives whoever may assume a role the keys of the S3 server."""

    def do_POST(self):
        key, secret = (self.server.keys[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(
            f"""<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>{key}</AccessKeyId>
            <SecretAccessKey>{secret}</SecretAccessKey><SessionToken/><Expiration>{in_an_hour()}</Expiration>
            </Credentials></AssumeRoleResult></AssumeRoleResponse>""".encode()
        )

    def log_message(self, *_): ...


def in_an_hour() -> str:
    return (datetime.now(UTC) + timedelta(hours=1)).isoformat()


@pytest.fixture
def profiles(s3_server, s3_place, tmp_path, monkeypatch):
    """The environment of somebody who has profiles and no keys: keys in a file, from a program, of a role."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    key, secret = s3_server.environment["AWS_ACCESS_KEY_ID"], s3_server.environment["AWS_SECRET_ACCESS_KEY"]
    (tmp_path / "credentials").write_text(f"[file]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n")
    answer = {"Version": 1, "AccessKeyId": key, "SecretAccessKey": secret, "Expiration": in_an_hour()}
    (tmp_path / "answer").write_text(json.dumps(answer))
    with ThreadingHTTPServer(("127.0.0.1", 0), Sts) as sts:
        sts.keys = s3_server.environment
        threading.Thread(target=sts.serve_forever, daemon=True).start()
        where = f"region = us-east-1\nendpoint_url = {s3_server.endpoint}\n"
        (tmp_path / "config").write_text(
            f"[profile file]\n{where}[profile program]\n{where}credential_process = cat {tmp_path / 'answer'}\n"
            f"[profile role]\n{where}role_arn = arn:aws:iam::123456789012:role/tours\nsource_profile = program\n"
            f"[profile broken]\n{where}credential_process = sh -c 'cat {tmp_path / 'answer'} >&2; exit 1'\n"
            f"[profile empty]\n{where}"
        )
        yield {
            "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
            "AWS_CONFIG_FILE": str(tmp_path / "config"),
            "AWS_ENDPOINT_URL_STS": f"http://127.0.0.1:{sts.server_port}",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        sts.shutdown()


@pytest.mark.parametrize("profile", ["file", "program", "role"])
def test_keys_come_from_a_profile_too(s3_server, s3_place, tmp_path, profiles, profile):
    done = command("--size", 5, "--output", s3_place, cwd=tmp_path, environment={**profiles, "AWS_PROFILE": profile})
    assert done.returncode == 0, done.stderr
    assert_no_keys(s3_server, done.stdout, done.stderr)


@pytest.mark.parametrize("profile", ["broken", "empty", "unknown"])
def test_a_profile_without_keys_is_refused_in_a_line(s3_server, s3_place, tmp_path, profiles, profile):
    done = command("--size", 5, "--output", s3_place, cwd=tmp_path, environment={**profiles, "AWS_PROFILE": profile})
    assert done.returncode == 2
    assert f"error: no credentials from the AWS profile: '{profile}'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert_no_keys(s3_server, done.stderr)


def test_a_profile_without_boto3_is_refused_and_keys_of_the_environment_do_without_it(
    s3_server, s3_place, tmp_path, profiles
):
    (tmp_path / "botocore.py").write_text("raise ModuleNotFoundError")
    without = {**profiles, "AWS_PROFILE": "file", "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    words = ("--size", 5, "--output", s3_place)
    refused = command(*words, cwd=tmp_path, environment=without)
    assert refused.returncode == 2
    assert "AWS_PROFILE='file' needs boto3: pip install 'knights-tour-enumerator[s3]'" in refused.stderr
    assert refused.stderr.count("\n") == 1
    done = command(*words, cwd=tmp_path, environment={**without, **s3_server.environment})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("s3://key:secret@bucket/run", "put credentials into the environment"),
        ("s3:///run", "names no bucket"),
        ("s3://bucket//run", "plain names between the slashes"),
        ("s3://bucket/run#2", "plain names between the slashes"),
        ("s3://bucket/run%202", "plain names between the slashes"),
        ("s3://bucket/run\\2", "plain names between the slashes"),
        ("s3://bucket/run ", "plain names between the slashes"),
        ("s3://bucket/r\tun", "plain names between the slashes"),
        ("s3://bucket:80/run", "plain names between the slashes"),
        ("s3:/bucket/run", "two slashes after its colon"),
        ("hdfs://host/run", "output must be a folder or an address that begins with s3, gs"),
    ],
)
def test_a_strange_address_of_the_output_is_refused(tmp_path, output, words):
    done = command("--size", 5, "--output", output, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr
    assert list(tmp_path.iterdir()) == []
