"""What tests of several folders share: the cache of a test run, and one Ray cluster.

`make test` runs several workers, each of which imports this file. A test may share files with
others of its own file only; what all of them share is the cache of the run.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import brittle
import costs
import forking
from brittle import redaction
from brittle.targets import registry
from brittle.targets.registry import Opener, TargetKind

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before torch is imported: each core has a worker
os.environ.setdefault("BRITTLE_MEASURES", "fluency")
"""Similarity is measured only where a test asks for it: MiniLM takes seconds to load."""
STORE_BYTES = 150 * 2**20
# How long one invented example takes says more about what else the machine does than about us.
settings.register_profile("brittle", deadline=None)
settings.load_profile("brittle")
HEALTH_CHECKS = {
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "3",
}
"""A killed node is noticed in 2 seconds; with Ray's own settings it takes a quarter of a minute.

A check of a node that lives, but is slow to answer, fails only after 10 seconds.
"""
FULL_COLLECTION_AFTER = 200
"""So many collections of younger objects; Python's own number is 10."""
SHARED_CACHE = "BRITTLE_TESTS_CACHE"
"""Names the cache of the test run also to tests that have a cache of their own."""


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "write what commands print now as tests/cli/golden (make golden)"
    parser.addoption("--update-golden", action="store_true", help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    """Give the test run one empty cache, never the user's: workers inherit the variable."""
    config.pluginmanager.register(costs)
    config.add_cleanup(forking.stop)
    if not hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="brittle-tests-")
        os.environ["BRITTLE_CACHE"] = os.environ[SHARED_CACHE] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage while the test files are imported: they make 800,000 objects that stay.

    Afterwards all these are searched less often than by default, for it takes half a second.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.set_threshold(*gc.get_threshold()[:2], FULL_COLLECTION_AFTER)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that no worker is left with one at the end.

    Those are the files with slow tests, however few; of the others, the ones with many.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    sizes = Counter(item.path for item in items if item.path not in slow)
    items.sort(key=lambda item: (item.path not in slow, -sizes[item.path]))


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the secrets of other tests, which would be hidden in the messages of this one."""
    monkeypatch.setattr(redaction, "_patterns", {})


@pytest.fixture
def add_target_kind(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Opener], None]:
    """Return a function that adds a kind of target, by its prefix and opener, for one test."""

    def add(key: str, opener: Opener) -> None:
        class TestKind(TargetKind):
            def load(self) -> Opener:
                return opener

        monkeypatch.setattr(registry, "OWN", (*registry.OWN, TestKind(key, "", "of a test")))

    return add


@dataclass
class RayNodes:
    """A cluster of Ray on this machine: a head that computes nothing, and nodes of one worker.

    The cache of a node is the folder of its name in `folder`.
    """

    cluster: Any
    folder: Path
    nodes: dict[str, Any] = field(default_factory=dict)
    started: int = 0

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def add(self, name: str, cpus: int = 1, path: str = "") -> None:
        """Start a node; `path` comes first where it looks for modules."""
        sources = [path, str(Path(brittle.__file__).parents[1]), str(Path(__file__).parent)]
        variables = {
            "BRITTLE_CACHE": str(self.folder / name),
            "PYTHONPATH": os.pathsep.join(filter(None, sources)),
        }
        self.nodes[name] = self.cluster.add_node(
            num_cpus=cpus,
            env_vars=variables | HEALTH_CHECKS,
            include_dashboard=False,
            object_store_memory=STORE_BYTES,
        )

    def require(self, count: int) -> None:
        """Start nodes until so many compute; tests before this one may have killed some."""
        while len(self.nodes) - 1 < count:
            self.started += 1
            self.add(f"node-{self.started}")

    def kill(self, name: str) -> None:
        self.cluster.remove_node(self.nodes.pop(name), allow_graceful=False)

    def having(self, pattern: str) -> str | None:
        """Return the node in whose cache there is a file of this name."""
        found = (name for name in self.nodes if next((self.folder / name).rglob(pattern), None))
        return next(found, None)


@pytest.fixture(scope="module")
def ray_nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayNodes]:
    """Yield the cluster, with two nodes that compute; this process is connected to it.

    A process has one connection: it ends with the module, for others have clusters of their own.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    from brittle.workflow.backends.cluster import connect

    nodes = RayNodes(Cluster(shutdown_at_exit=True), tmp_path_factory.mktemp("caches"))
    nodes.add("head", cpus=0)
    try:
        nodes.require(2)
        with connect(nodes.address):
            yield nodes
    finally:
        nodes.cluster.shutdown()
