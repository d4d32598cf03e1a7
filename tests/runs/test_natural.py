"""Runs of natural from end to end on a tiny generator of pictures: workers, kills, what is kept."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.attacks.natural import Hybrid, Natural
from brittle.engine.engine import Engine
from brittle.errors import MissingPackage, UsageError
from brittle.generators import CheckedGenerator, open_generator
from brittle.latent import LatentPoint
from brittle.picture import Picture
from brittle.testing import FakeTarget
from zoo.generators.folders import random_folder

pytest.importorskip("torch")
SHAPE = (8, 8, 1)
THRESHOLD = -7.7  # the sums of samples lie around it, those of all reconstructions are above it
KILLS = (11, 9)  # rounds before a kill; the second one is that of the run which the first one left
MODULE = """
import os, signal
from pathlib import Path
import brittle
from brittle.engine.engine import Engine
from runs.test_natural import Slanted, attack, samples

def killed(folder, path, rounds):
    natural = attack(Path(path))
    whole = Engine._round
    count = 0
    def counting(self, *args):
        nonlocal count
        if count == rounds:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1
        whole(self, *args)
    Engine._round = counting
    brittle.attack(Slanted(), samples(natural), natural, folder=folder, name="run")
"""


@dataclass(frozen=True)
class Slanted:
    """Two classes on either side of a plane that goes through the generator's pictures."""

    name: str = "slanted"
    fingerprint: str = "slanted"
    labels: tuple[str, ...] = ("below", "above")
    item_kind: str = "picture"

    def scores(self, items: Sequence[Picture]) -> Any:
        weight = np.random.default_rng(5).normal(size=SHAPE)
        logit = np.array([float((item.pixels * weight).sum()) for item in items])
        above = 1 / (1 + np.exp(THRESHOLD - logit))
        return np.stack([1 - above, above], axis=1)


def attack(folder: Path) -> Natural:
    return Natural(open_generator(str(folder)), Hybrid(0.1, 3.0, 2), samples=24)


def samples(natural: Natural) -> list[Picture]:
    """Decode some points: pictures that the generator can make."""
    numbers = np.random.default_rng(0).normal(0, 1.5, (14, natural.generator.size))
    pictures: list[Picture] = natural.generator.decode(LatentPoint.rows(numbers))
    return pictures


@pytest.fixture
def generator(tmp_path: Path) -> Path:
    return random_folder(tmp_path / "generator", shape=SHAPE)


def rows(run: brittle.Run) -> list[Any]:
    return [*run.results(), *run.steps()]


def test_reconstruction_and_adversary_are_decoded_by_the_generator(
    generator: Path, tmp_path: Path
) -> None:
    natural = attack(generator)
    run = brittle.attack(Slanted(), samples(natural), natural, folder=tmp_path, name="run")
    opened = natural.generator
    statuses = {row.status for row in run.results()}
    assert {"broken", "skipped"} <= statuses and run.manifest["cost_name"] == "Δz"
    for row in run.results():
        [kept] = row.kept
        original = Picture.decode(row.original)
        [rebuilt] = opened.decode(opened.encode([original]))
        assert kept.name == "reconstruction" and Picture.decode(kept.item) == rebuilt
        assert kept.label is not None and kept.confidence is not None
        assert (kept.label == row.predicted) == (row.status != "skipped")
    costs = [step.cost for step in run.steps() if step.cost is not None]
    assert costs and max(costs) <= 3.0


def test_weights_travel_by_content(generator: Path, tmp_path: Path) -> None:
    natural = attack(generator)
    refined = replace(natural, generator=natural.generator.refined(3))
    shutil.rmtree(generator)
    pictures = samples(natural)
    for sent in (natural, refined):
        there: Natural = pickle.loads(pickle.dumps(sent))
        assert there.generator.fingerprint == sent.generator.fingerprint
        points = sent.generator.encode(pictures)
        assert there.generator.encode(pictures) == points
        assert there.generator.decode(points) == sent.generator.decode(points)
        there.generator.close()


@pytest.mark.slow
def test_workers_have_the_rows_of_one_process(generator: Path, tmp_path: Path) -> None:
    natural = attack(generator)
    shutil.rmtree(generator)  # a worker has what it was sent
    pictures = samples(natural)
    alone = brittle.attack(Slanted(), pictures, natural, folder=tmp_path, name="alone")
    options: Any = {"folder": tmp_path, "name": "two", "workers": 2}
    two = brittle.attack(Slanted(), pictures, natural, **options)
    assert rows(two) == rows(alone) and any(row.status == "broken" for row in alone.results())


def test_other_data_are_warned_of_before_anything_is_asked(tmp_path: Path) -> None:
    measures = {"reconstruction error": {"mean": 0.0001, "99 of 100": 0.0002}}
    natural = attack(random_folder(tmp_path / "generator", shape=SHAPE, measures=measures))
    events: list[str] = []

    class Asked(Slanted):
        def scores(self, items: Sequence[Picture]) -> Any:
            events.append("asked")
            return super().scores(items)

    options: Any = {"folder": tmp_path, "warn": events.append}
    run = brittle.attack(Asked(), samples(natural), natural, **options)
    assert "seems to come from other data" in events[0] and "asked" in events
    assert events[0] in run.manifest["warnings"]


def test_data_that_do_not_fit_are_refused_before_anything_is_asked(
    generator: Path, tmp_path: Path
) -> None:
    natural = attack(generator)
    words = FakeTarget({"good": 2.0})
    with pytest.raises(UsageError, match=r"contains texts, but attack .* edits pictures"):
        brittle.attack(words, ["a good film"], natural, folder=tmp_path)
    wide = [Picture(np.full((8, 9, 1), 0.5))]
    with pytest.raises(UsageError, match=r"reads pictures of 8 × 8 × 1 .* got one of 8 × 9 × 1"):
        brittle.attack(Slanted(), wide, natural, folder=tmp_path)
    assert not words.calls and not list(tmp_path.glob("*.sqlite"))


def test_a_latent_point_that_is_no_number_ends_its_case_alone(
    generator: Path, tmp_path: Path
) -> None:
    natural = attack(generator)
    pictures = samples(natural)
    lost = pictures[3]

    class Torn:
        size, item_kind = natural.generator.size, "picture"

        def encode(self, items: Sequence[Picture]) -> Any:
            points = np.stack([point.vector for point in natural.generator.encode(items)])
            points[[item == lost for item in items]] = np.nan
            return points

        def decode(self, rows: Any) -> Any:
            return natural.generator.decode(LatentPoint.rows(rows))

    torn = replace(natural, generator=CheckedGenerator(Torn(), "torn"))
    whole = brittle.attack(Slanted(), pictures, natural, folder=tmp_path, name="whole").results()
    rows = brittle.attack(Slanted(), pictures, torn, folder=tmp_path, name="torn").results()
    [failed] = [row for row in rows if row.status == "error"]
    assert "numbers that are not finite" in failed.reason and failed.original == lost.encode()
    others = [row for row in whole if row.case != failed.case]
    assert [row for row in rows if row.case != failed.case] == others


def test_a_generator_without_torch_names_the_command(
    generator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackage, match=r"pip install 'torch>="):
        open_generator(str(generator))


class Killed(BaseException):
    """The end of a process, for those that only see what is on disk."""


@pytest.mark.slow
def test_a_run_that_ended_after_any_round_resumes_to_the_same_rows(
    generator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_round, left = Engine._round, [-1]

    def counting(self: Engine, *args: Any) -> None:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        whole_round(self, *args)

    monkeypatch.setattr(Engine, "_round", counting)
    natural = attack(generator)
    pictures = samples(natural)

    def run(name: str) -> brittle.Run:
        return brittle.attack(Slanted(), pictures, natural, folder=tmp_path, name=name)

    whole = rows(run("whole"))
    total = -1 - left[0]
    assert total > 20
    for killed_after in (*range(6), *range(9, total - 1, 7), total - 1):
        left[0] = killed_after
        with pytest.raises(Killed):
            run(f"killed-{killed_after}")
        left[0] = -1
        assert rows(run(f"killed-{killed_after}")) == whole


@pytest.mark.slow
def test_a_killed_process_resumes_to_the_same_rows(generator: Path, tmp_path: Path) -> None:
    (tmp_path / "killing.py").write_text(MODULE)
    sources = [tmp_path, Path(brittle.__file__).parents[1], Path(__file__).parents[1]]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sources))}
    natural = attack(generator)
    pictures = samples(natural)
    whole = brittle.attack(Slanted(), pictures, natural, folder=tmp_path / "whole", name="run")
    for rounds in KILLS:
        values = f"{str(tmp_path / 'runs')!r}, {str(generator)!r}, {rounds}"
        call = [sys.executable, "-c", f"import killing; killing.killed({values})"]
        ended = subprocess.run(call, env=environment, capture_output=True)
        assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    again = brittle.attack(Slanted(), pictures, natural, folder=tmp_path / "runs", name="run")
    assert rows(again) == rows(whole)
