"""Files of a model that travel: what is taken, where it is written, what it is then called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from brittle.runs.workers import setup
from brittle.runs.workers.setup import ModelFiles, model_files_of


@dataclass(frozen=True)
class FakeCard:
    """A card of a model, as far as carrying looks at it."""

    fingerprint: str
    full_name: str = "a model@mr#0"


@dataclass(frozen=True)
class Model:
    """A model, or one of the cache's."""

    card: FakeCard
    path: Path = Path()


@dataclass(frozen=True)
class Ensemble:
    """Several models."""

    members: tuple[Model, ...]


@pytest.fixture
def near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two networks that read the same language model."""
    near = tmp_path / "near"
    monkeypatch.setenv("BRITTLE_CACHE", str(near))
    models = []
    for name in ("a", "b", "bilm", "unused"):
        folder = near / "models" / name
        (folder / "deep").mkdir(parents=True)
        (folder / "model.json").write_text(name)
        (folder / "deep" / "weights").write_bytes(b"\x00" + name.encode())
        models.append(Model(FakeCard(name), folder))
    monkeypatch.setattr(setup, "trained_models", lambda: models)
    shared = near / "models" / "bilm"
    monkeypatch.setattr(
        setup, "needed_folders", lambda path: [path, *([shared] if path.name in "ab" else [])]
    )
    return near


def write(
    model_files: ModelFiles | None, spec: str, far: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    assert model_files is not None
    monkeypatch.setenv("BRITTLE_CACHE", str(far))
    for _ in range(2):  # the second time everything is there
        name = str(model_files.write(spec))
    return name


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_network_travels_with_what_it_shares(
    near: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, far = Model(FakeCard("a")), tmp_path / "far"
    name = write(model_files_of("zoo:a@mr", network), "zoo:a@mr", far, monkeypatch)
    assert name == str(far / "models" / "a")
    expected = {n: c for n, c in contents(near).items() if "/a/" in n or "/bilm/" in n}
    found = {n: c for n, c in contents(far).items() if n != "parcels.lock"}
    assert found == expected and len(expected) == 4


def test_a_model_of_another_seed_with_the_same_weights_stays(
    near: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [Model(FakeCard("a"), near / "models" / "a")]
    known.append(Model(FakeCard("a", "a model@mr#1"), near / "models" / "b"))
    monkeypatch.setattr(setup, "trained_models", lambda: known)
    far = tmp_path / "far"
    write(model_files_of("zoo:a@mr", Model(FakeCard("a"))), "zoo:a@mr", far, monkeypatch)
    assert not [name for name in contents(far) if "/b/" in name]


def test_the_members_of_an_ensemble_travel_and_its_name_stays(
    near: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = tuple(Model(FakeCard(n)) for n in "ab")
    spec, far = "ensemble:zoo:a@mr,zoo:b@mr", tmp_path / "far"
    assert write(model_files_of(spec, Ensemble(members)), spec, far, monkeypatch) == spec
    assert sorted(path.name for path in (far / "models").iterdir()) == ["a", "b", "bilm"]


@pytest.mark.parametrize("is_file", [True, False])
def test_a_folder_or_file_of_the_users_keeps_its_own_name(
    near: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_file: bool
) -> None:
    own = tmp_path / ("model.skops" if is_file else "my-model")
    if is_file:
        own.write_bytes(b"pipeline")
    else:
        own.mkdir()
        (own / "config.json").write_text("{}")
    far = tmp_path / "far"
    name = Path(write(model_files_of(str(own), object()), str(own), far, monkeypatch))
    assert name.name == own.name and name.is_file() == is_file and far in name.parents
    assert (name.read_bytes() == b"pipeline") if is_file else contents(name) == contents(own)


def test_what_has_no_files_is_not_carried(near: Path) -> None:
    assert model_files_of("python:module:name", object()) is None
    assert model_files_of(object(), object()) is None
