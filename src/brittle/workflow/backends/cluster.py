"""A connection to Ray: a cluster that is there, or a local one that ends with this program.

Nothing imports Ray before `connect` is called. What is shared with other users of a cluster is left
as it is: only a local cluster that was started here is stopped.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import brittle
from brittle.errors import RunStopped, UsageError, install_command, require
from brittle.safety import files

PROBE_SECONDS = 5.0
STATUS_SECONDS = 15.0
CHECK_SECONDS = 60.0
LOCAL_OBJECT_STORE_BYTES = 512 * 2**20
SAME_VERSIONS = "Results could differ. Install the same versions on every node."
REMEDY = "Start one with `ray start --head`, or leave --address out for a local one."


@dataclass(frozen=True)
class Cluster:
    """A connection to Ray; as a context manager it disconnects at the end.

    `ray` is the module. `is_ours` tells that this program has connected, and so has to disconnect.
    """

    ray: Any
    is_ours: bool

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect; Ray then ends the workers of this program, and a cluster started here."""
        if self.is_ours:
            self.ray.shutdown()

    def nodes(self) -> dict[str, str]:
        """Return the names of the nodes that are alive, by their ids."""
        return {
            node["NodeID"]: f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
            for node in self.ray.nodes()
            if node["Alive"]
        }

    def cpus(self) -> int:
        """Count the processors that the nodes offer now."""
        return int(self.ray.cluster_resources().get("CPU", 0))


def connect(address: str | None = None, cpus: int | None = None) -> Cluster:
    """Connect to Ray, and check that every node has this version of brittle.

    `address` is HOST:PORT, or "auto" for the cluster of this machine; without one, a local cluster
    with `cpus` processors is started, which listens on the loopback interface alone. A program that
    has connected already keeps its connection.
    """
    # Ray reads these when it is imported: no report to its makers, no warning about GPUs.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray = require("ray", "ray", "The backend ray")
    is_ours = not ray.is_initialized()
    if is_ours:
        quiet = {"logging_level": "ERROR", "log_to_driver": False}
        if address is None:
            _start_local(ray, cpus, quiet)
        else:
            require_answer(address)
            _join(ray, address, quiet)
        # Ray prints the deaths of nodes on stdout, where results go, and has no setting for it.
        ray._private.worker._worker_logs_enabled = False
    cluster = Cluster(ray, is_ours)
    try:
        check_nodes(cluster)
    except BaseException:
        cluster.close()
        raise
    return cluster


def _start_local(ray: Any, cpus: int | None, quiet: Mapping[str, Any]) -> None:
    """Start a cluster that only this machine can reach; one that listens elsewhere is refused."""
    from ray._private import ray_constants

    # Ray has no public setting for this on Linux: it replaces 127.0.0.1 by an address that others
    # reach. With this constant it does what it does on macOS and Windows, and all of its processes
    # listen on the loopback interface.
    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        # A cluster that RAY_ADDRESS names is used only if it is asked for.
        local = {"address": "local", "num_cpus": cpus, "include_dashboard": False}
        ray.init(**local, object_store_memory=LOCAL_OBJECT_STORE_BYTES, **quiet)
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before
    hosts = {str(node["NodeManagerAddress"]) for node in ray.nodes()}
    open_hosts = sorted(host for host in hosts if not ipaddress.ip_address(host).is_loopback)
    if open_hosts:
        ray.shutdown()
        raise RunStopped(
            f"The local Ray cluster would listen on {', '.join(open_hosts)}, where other "
            "machines can reach it; expected 127.0.0.1. Install the version of Ray that "
            f"brittle requires: {install_command('ray')}"
        )


def require_answer(address: str) -> None:
    """Raise unless a cluster answers; Ray itself would go on trying for minutes."""
    if address != "auto":
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or "/" in host:
            raise UsageError(
                f"--address {address!r} is not an address of a Ray cluster. Expected "
                "HOST:PORT, such as 10.0.0.1:6379, or auto. This machine must be one of "
                "the nodes."
            )
        try:
            socket.create_connection((host.strip("[]"), int(port)), PROBE_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise _no_answer(address, str(error)) from error
    # Something may listen that is no Ray: its own command is asked, which can be ended.
    command = [sys.executable, "-m", "ray.scripts.scripts", "status", "--address", address]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=STATUS_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise _no_answer(address, f"no answer in {STATUS_SECONDS:.0f} s") from error
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if line.strip()]
        raise _no_answer(address, lines[-1] if lines else "no reason") from error


def _no_answer(address: str, reason: str) -> UsageError:
    return UsageError(f"No Ray cluster answers at --address {address!r}: {reason}. {REMEDY}")


def _join(ray: Any, address: str, quiet: Mapping[str, Any]) -> None:
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"This machine cannot join the Ray cluster at {address!r}: {error}. It must "
            "be one of the nodes, with the same Ray and Python: ray start "
            f"--address={address}"
        ) from error


@cache
def own_versions() -> Mapping[str, str]:
    """Return the versions that have to be equal on all nodes, and a digest of brittle's code."""
    folder = Path(brittle.__file__).parent
    code = files.digest_of(sorted(folder.rglob("*.py")))[:12]
    return dict(files.versions("brittle", "torch", "numpy")) | {"brittle's code": code}


def check_nodes(cluster: Cluster) -> None:
    """Raise if a node has no brittle, or another version of it or of what it computes with."""

    # Not a function of this module: a node without brittle could not load it.
    def versions_there() -> Any:
        try:
            from brittle.workflow.backends.cluster import own_versions
        except ImportError as error:
            return f"brittle cannot be imported ({error})"
        return own_versions()

    ray, expected = cluster.ray, own_versions()
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    probe = ray.remote(versions_there)
    # Several nodes may have one name: those of one machine.
    asked = [
        (name, probe.options(num_cpus=0, scheduling_strategy=strategy(node, soft=False)).remote())
        for node, name in cluster.nodes().items()
    ]
    for name, ref in asked:
        try:
            versions = ray.get(ref, timeout=CHECK_SECONDS)
        except ray.exceptions.TaskUnschedulableError:
            continue  # it is gone since it was listed: Ray learns late of a dead node
        except ray.exceptions.RayError as error:
            raise RunStopped(f"The node {name} does not answer: {error}") from error
        if isinstance(versions, str):
            raise UsageError(f"The node {name} cannot be used: {versions}. {SAME_VERSIONS}")
        require_versions(name, versions, expected)


def require_versions(node: str, versions: Mapping[str, str], expected: Mapping[str, str]) -> None:
    """Raise if a node has other versions than the driver."""
    differences = [
        f"{name} {versions.get(name, 'missing')}, expected {expected.get(name, 'none')}"
        for name in {**expected, **versions}
        if versions.get(name) != expected.get(name)
    ]
    if differences:
        found = "; ".join(differences)
        raise UsageError(f"The node {node} has other versions: {found}. {SAME_VERSIONS}")
