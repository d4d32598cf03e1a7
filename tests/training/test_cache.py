from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from brittle.safety import files
from brittle.training import cache_folder, train_on, trained_models
from brittle.zoo import folder as module


def test_the_folder_is_the_one_named_or_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path
) -> None:
    assert cache_folder() == cache
    monkeypatch.delenv("BRITTLE_CACHE")
    monkeypatch.setattr(files.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "brittle"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "brittle"


def test_folder_names_are_plain() -> None:
    key = "0123456789abcdef"
    assert module.model_folder("MiniLM", "mr", 3, key).name == "MiniLM@mr#3-0123456789ab"
    strange = module.model_folder("MiniLM", "hf:user/data set", 0, key)
    assert strange.parent == module.models_folder()
    assert strange.name == "MiniLM@hf_user_data_set#0-0123456789ab"


def test_trained_models_are_listed_and_rubbish_is_not(splits: Any, cache: Path) -> None:
    assert trained_models() == []
    folder = train_on("naive-bayes", splits(), 4)
    (cache / "models" / "rubbish").mkdir()
    (cache / "models" / "halfway.partial").mkdir()
    shutil.copytree(folder, cache / "models" / "cut")
    (cache / "models" / "cut" / "model.safetensors").write_bytes(b"\x01")
    [found] = trained_models()
    assert (found.name, found.data, found.seed) == ("naive-bayes", "toy", 4)
    assert found.path == folder and found.spec == "zoo:naive-bayes@toy#4"
    assert found.size == sum(f.stat().st_size for f in folder.iterdir())
    assert 0.5 < found.dev_accuracy <= 1
    words = len((folder / "vocabulary.txt").read_text().split())
    assert found.parameters == 2 * words + 2  # two classes: a column and an offset for each


def test_a_lock_keeps_others_waiting(tmp_path: Path) -> None:
    inside = threading.Event()

    def enter() -> None:
        with module.hold_lock(tmp_path / "model"):
            inside.set()

    with module.hold_lock(tmp_path / "model"):
        thread = threading.Thread(target=enter)
        thread.start()
        assert not inside.wait(0.1)
    thread.join(60)
    assert inside.is_set()
