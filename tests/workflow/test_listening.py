"""The local Ray cluster listens on the loopback interface alone, whatever process of it listens."""

from __future__ import annotations

import ipaddress
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

SECONDS = 240.0
LISTENING = "0A"  # the state of a socket in /proc/net/tcp
TARGET = """
import time

def slow(texts):
    time.sleep(0.3)
    return [[0.9, 0.1] for _ in texts]

slow.labels = ["negative", "positive"]
"""
ATTACK = ("attack", "python:listening_target:slow", "random-swap", "--data", "films.csv", "--quiet")
EXPECTED = ("gcs_server", "raylet", "RuntimeEnvAgent", "WorkerActor", "brittle.cli")
"""Parts of the command lines of processes that listen: those of Ray, a worker and the driver."""


def listening_sockets() -> dict[str, str]:
    """Return the addresses on which sockets of this machine listen, by inode."""
    return {
        inode: address
        for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6))
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        for inode, address in listening(line, family)
    }


def listening(line: str, family: socket.AddressFamily) -> Iterator[tuple[str, str]]:
    """Yield inode and address of a line of /proc/net/tcp, if the socket listens."""
    fields = line.split()
    if fields[3] == LISTENING:
        written = fields[1].split(":")[0]
        # The kernel writes an address as words of four bytes in the machine's order.
        words = [bytes.fromhex(written[i : i + 8]) for i in range(0, len(written), 8)]
        ordered = [word[::-1] if sys.byteorder == "little" else word for word in words]
        yield fields[9], socket.inet_ntop(family, b"".join(ordered))


def descendants(root: int) -> list[int]:
    """Return a process, its children, and theirs."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue  # it has ended
        children.setdefault(parent, []).append(int(entry.name))
    waiting, found = [root], []
    while waiting:
        process = waiting.pop()
        found.append(process)
        waiting += children.get(process, [])
    return found


def listeners(processes: Iterable[int]) -> Iterator[tuple[str, str]]:
    """Yield the command lines of processes that listen, each with an address."""
    addresses = listening_sockets()
    for process in processes:
        folder = Path(f"/proc/{process}")
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            links = list((folder / "fd").iterdir())
        except OSError:
            continue  # it has ended
        for link in links:
            with suppress(OSError):  # it is closed by now
                inode = os.readlink(link).removeprefix("socket:[").removesuffix("]")
                if inode in addresses:
                    yield command, addresses[inode]


def is_loopback(address: str) -> bool:
    found = ipaddress.ip_address(address)
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc")
def test_listening_sockets_are_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)):
        assert "127.0.0.1" in {address for _, address in listeners([os.getpid()])}
    state = "0A 00000000:00000000 00:00000000 00000000 0 0 77"
    everywhere = f"0: {'0' * 32}:A83F {'0' * 32}:0000 {state}"
    assert list(listening(everywhere, socket.AF_INET6)) == [("77", "::")]
    assert is_loopback("::ffff:127.0.0.1") and is_loopback("::1")
    assert not any(map(is_loopback, ("::", "0.0.0.0", "::ffff:192.0.2.1", "192.0.2.1")))


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc")
@pytest.mark.slow
def test_a_local_cluster_listens_on_loopback_alone(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    (tmp_path / "listening_target.py").write_text(TARGET)
    texts = [f"a good film of {number} scenes,negative" for number in range(60)]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *texts]) + "\n")
    command = [sys.executable, "-m", "brittle.cli", *ATTACK, "--backend", "ray", "--workers", "2"]
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": paths, "BRITTLE_CACHE": str(tmp_path / "cache")}
    heard: dict[str, set[str]] = {}
    with (tmp_path / "errors").open("wb") as errors:
        started = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=errors)
        end = time.monotonic() + SECONDS
        while started.poll() is None:
            assert time.monotonic() < end
            for process, address in listeners(descendants(started.pid)):
                heard.setdefault(process, set()).add(address)
            time.sleep(0.1)
    assert started.returncode == 0, (tmp_path / "errors").read_text()
    for name in EXPECTED:
        assert any(name in process for process in heard), (name, list(heard))
    reachable = {
        process[:80]: addresses
        for process, addresses in heard.items()
        if not all(map(is_loopback, addresses))
    }
    assert not reachable
