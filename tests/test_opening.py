"""What a user hands in finds its adapter, or an error that lists the kinds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle import opening
from brittle.errors import UsageError
from brittle.opening import as_target
from brittle.targets.options import Target, TargetOptions, stored_options
from brittle.testing import FakeTarget


def test_a_target_is_given_back_as_it_is() -> None:
    target = FakeTarget()
    assert as_target(target) is target
    assert as_target(target, labels="0=negative,1=positive") is target
    with pytest.raises(UsageError, match="has its own labels"):
        as_target(target, labels="bad,good")


def test_a_target_without_real_names_is_told_which_form_to_use() -> None:
    with pytest.raises(UsageError, match="data=target"):
        as_target(FakeTarget(labels=("LABEL_0", "LABEL_1")), labels="neg,pos")


def test_options_are_keywords_or_a_value() -> None:
    def half(texts: list[str]) -> list[float]:
        return [0.5] * len(texts)

    options: dict[str, Any] = {"labels": "a,b", "scores": "single", "mask": "?", "name": "half"}
    for target in (as_target(half, **options), as_target(Target(half, **options))):
        opened: Any = target
        assert (opened.labels, opened.name, opened.transport.answers.kind) == (
            ("a", "b"),
            "half",
            "single",
        )
        assert opened.transport.reader.mask == "?"
    assert Target.of(Target(half, mask="?"), name="half") == Target(half, mask="?", name="half")
    with pytest.raises(UsageError, match=r"Unknown option of a target 'lables'.*'labels'"):
        as_target(half, lables="a,b")


def test_a_run_stores_what_opens_its_target_again() -> None:
    stored = {name: getattr(TargetOptions(), name) for name in stored_options()}
    stored |= {"spec": "hf:some", "mask": "?", "timeout": 5, "wanted_mask": "pad"}
    assert {"labels", "scores", "answers", "device", "trust"} <= stored.keys()
    target = Target("hf:some", mask="?", timeout=5, wanted_mask="pad", fields=("a", "b"))
    assert target.stored() == stored
    assert Target(print, fields=("a", "b")).as_stored(stored) == target
    assert Target(print).stored() == {}, "a live object has no name"


def test_opening_asks_nothing() -> None:
    class Counted(FakeTarget):
        @property
        def fingerprint(self) -> str:
            raise AssertionError("asked for")

    assert as_target(Counted()).name == "fake"
    calls: list[int] = []
    as_target(lambda texts: calls.append(len(texts)), labels="a,b")
    assert calls == []


@pytest.mark.parametrize("thing", [3, None, [1, 2], {"a": 1}, b"bytes", "", "zo:naive-bayes@mr"])
def test_what_is_no_target_lists_the_kinds(thing: Any) -> None:
    with pytest.raises(UsageError) as error:
        as_target(thing)
    for kind in (
        "zoo:",
        "folder/",
        "hf:",
        ".skops",
        "python:",
        "http:",
        "cmd:",
        "filter:",
        "fast-tr",
    ):
        assert kind in str(error.value)


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "sub/model.pickle", "weights.pt"])
def test_pickles_are_refused_with_the_remedy(name: str) -> None:
    with pytest.raises(UsageError, match=r"skops\.io\.dump.*python:module:name"):
        as_target(name)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no model"):
        as_target(tmp_path)


def test_zoo_names_go_to_the_zoo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[Any] = []

    def load(*args: Any, **options: Any) -> FakeTarget:
        opened.append((*args, options))
        return FakeTarget()

    monkeypatch.setattr(opening, "load_zoo", load)
    monkeypatch.setattr(opening, "load_folder", load)
    progress = print
    as_target("zoo:naive-bayes@mr#1", device="cpu", progress=progress)
    (tmp_path / "model.json").write_text("{}")
    as_target(tmp_path, labels="0=negative,1=positive", mask="pad")
    assert opened == [
        ("zoo:naive-bayes@mr#1", {"device": "cpu", "mask": None, "progress": progress}),
        (tmp_path, {"device": "auto", "mask": "pad"}),
    ]
    with pytest.raises(UsageError, match="for a zoo model"):
        as_target("zoo:naive-bayes@mr", scores="logits")


def test_masks_that_a_target_cannot_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    for spec in ("zoo:naive-bayes@mr", "zoo:LSTM-W-Random-1@mr"):  # neither is trained
        with pytest.raises(
            UsageError, match=r"^Got --mask '\?' for a zoo model\. Expected pad \(a"
        ):
            as_target(spec, mask="?")
    (tmp_path / "api.toml").write_text('url = "http://127.0.0.1:9"\njson = { q = "{text}" }\n')
    endpoint = f"http:{tmp_path / 'api.toml'}"
    for black_box in (lambda texts: np.full((len(texts), 2), 0.5), "cmd:cat", endpoint):
        with pytest.raises(UsageError, match=r"^Got --mask pad for a black box\. A zero vector"):
            as_target(black_box, labels="a,b", mask="pad")
    with pytest.raises(UsageError, match=r"^Got --mask 'pad' for a target of your own"):
        as_target(FakeTarget(), mask="pad")


def test_unknown_kinds_of_scores_are_refused_first() -> None:
    with pytest.raises(UsageError, match=" scores"):
        as_target(FakeTarget(), scores="proba")


def test_the_same_options_fit_every_kind() -> None:
    """The command line hands all of them to whatever target is named."""
    options: dict[str, Any] = {"mask": None, "device": "auto", "trust": [], "progress": None}
    target = as_target(lambda texts: np.full((len(texts), 2), 0.5), labels="a,b", **options)
    assert as_target(target, labels="a,b", **options) is target


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, brittle.targets, brittle.targets.diagnosis, brittle.targets.function, "
        "brittle.targets.command.transport, brittle.targets.http.transport, "
        "brittle.targets.sklearn, brittle.targets.transformers.classifier\n"
        "heavy = {'torch', 'transformers', 'sklearn', 'skops', 'httpx', 'pandas', 'scipy'}\n"
        "sys.exit(','.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_bare_torch_module_is_told_how_to_become_a_target() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(UsageError, match=r"module Linear, .* brittle\.torch_target\("):
        as_target(torch.nn.Linear(2, 2))


def test_a_target_without_its_prefix_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.toml").touch()
    (tmp_path / "models.py").touch()
    for named, meant in {
        "api.toml": "http:api.toml",
        "models:classify": "python:models:classify",
        "models.py:classify": "python:models:classify",
    }.items():
        with pytest.raises(UsageError, match=rf"Did you mean '{meant}'\?$"):
            as_target(named)
    with pytest.raises(UsageError, match="Expected one of"):
        as_target("others:classify")
