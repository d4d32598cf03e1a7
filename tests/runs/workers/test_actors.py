"""Workers on a Ray cluster whose processes have a cache of their own, shared with nobody."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.errors import UsageError
from brittle.testing import FakeTarget
from runs.test_natural import SHAPE, Slanted, attack, samples
from zoo.generators.folders import random_folder

pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

FILMS = [
    (f"a good film of {i} great scenes{' and a wonderful story' * (i % 4)}", "positive")
    for i in range(30)
]
MODEL = """
import os, pathlib, signal
from brittle.testing import FakeTarget

class Mortal(FakeTarget):
    def scores(self, items):
        flag = pathlib.Path(os.environ["FLAG"])
        if len(self.calls) > 5 and str(os.getpid()) != os.environ["DRIVER"]:
            try:
                flag.unlink()
            except FileNotFoundError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().scores(items)

model = Mortal({"good": 2.0, "great": 2.0, "bad": -2.0}, name="mortal")
"""


@dataclass(frozen=True)
class Place:
    """A folder with a module of targets, and the cache of the cluster's processes."""

    folder: Path
    far_cache: Path

    @property
    def flag(self) -> Path:
        """While this file is there, the next worker that computes dies."""
        return self.folder / "flag"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One cluster for all tests: to start one takes seconds."""
    from brittle.workflow.backends.cluster import connect

    folder = tmp_path_factory.mktemp("ray")
    place = Place(folder, folder / "far")
    (folder / "mortal_model.py").write_text(MODEL)
    tests = str(Path(__file__).parents[2])  # of which some classes are sent
    paths = [str(folder), tests, *filter(None, [os.environ.get("PYTHONPATH")])]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        patch.setenv("FLAG", str(place.flag))
        patch.setenv("DRIVER", str(os.getpid()))
        own_cache = os.environ.get("BRITTLE_CACHE")
        patch.setenv("BRITTLE_CACHE", str(place.far_cache))
        with connect(None, cpus=2):
            if own_cache is None:
                patch.delenv("BRITTLE_CACHE")
            else:
                patch.setenv("BRITTLE_CACHE", own_cache)
            yield place


def rows(run: brittle.Run) -> list[Any]:
    return [astuple(r) for r in run.results()] + [astuple(s) for s in run.steps()]


def test_a_model_travels_to_the_actors_and_200_cases_have_the_same_rows(
    place: Place, tmp_path: Path
) -> None:
    options: Any = {"limit": 200, "folder": tmp_path}
    alone = brittle.attack("zoo:naive-bayes@mr", "mr", name="alone", **options, candidates="paper")
    options |= {"workers": 2, "backend": "ray"}
    far = brittle.attack("zoo:naive-bayes@mr", "mr", name="far", **options, candidates="paper")
    assert rows(far) == rows(alone) and len(far.results()) == 200
    assert far.totals["asked"] == alone.totals["asked"]
    (folder,) = (place.far_cache / "models").iterdir()
    assert folder.name.startswith("naive-bayes@mr") and (folder / "model.json").is_file()


def test_a_generator_travels_to_the_actors(place: Place, tmp_path: Path) -> None:
    natural = attack(random_folder(tmp_path / "generator", shape=SHAPE))
    shutil.rmtree(tmp_path / "generator")  # an actor has nothing but what it was sent
    pictures = samples(natural)
    options: Any = {"folder": tmp_path}
    alone = brittle.attack(Slanted(), pictures, natural, name="alone", **options)
    options |= {"workers": 2, "backend": "ray"}
    far = brittle.attack(Slanted(), pictures, natural, name="far", **options)
    assert rows(far) == rows(alone) and any(row.status == "broken" for row in far.results())


def test_a_killed_actor_costs_nothing_but_time(place: Place, tmp_path: Path) -> None:
    warnings: list[str] = []
    options: Any = {"folder": tmp_path, "warn": warnings.append}
    alone = brittle.attack(
        "python:mortal_model:model", FILMS, name="alone", **options, candidates="paper"
    )
    place.flag.touch()
    options |= {"workers": 2, "backend": "ray"}
    far = brittle.attack(
        "python:mortal_model:model", FILMS, name="far", **options, candidates="paper"
    )
    assert rows(far) == rows(alone) and far.complete and not place.flag.exists()
    deaths = [warning for warning in warnings if "died (" in warning]
    assert len(deaths) == 1 and deaths[0].startswith("Worker ")


def test_a_live_object_is_sent_with_one_worker_too(place: Place, tmp_path: Path) -> None:
    target = FakeTarget({"good": 2.0, "great": 2.0})
    run = brittle.attack(target, FILMS[:3], folder=tmp_path, backend="ray", candidates="paper")
    assert run.complete and len(target.calls) < 10  # the diagnosis alone is the driver's


def test_an_address_nobody_answers_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    # The cluster of the other tests counts as a connection that is there already.
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    options: Any = {"workers": 2, "backend": "ray", "address": "127.0.0.1:9"}
    with pytest.raises(UsageError, match="No Ray cluster answers at --address"):
        brittle.attack(
            FakeTarget({"good": 2.0}), FILMS[:3], folder=tmp_path, **options, candidates="paper"
        )
