"""Training of generators of pictures: folders, cards, resuming, divergence, warnings."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.cli import main
from brittle.data import Dataset
from brittle.data.example import as_examples
from brittle.errors import BrittleError, UsageError
from brittle.generators import open_generator
from brittle.opening import load_zoo
from brittle.picture import Picture
from brittle.training import train_on
from brittle.training.splits import TrainingSplits
from brittle.zoo.folder import load_card, load_tensors
from brittle.zoo.generators.folder import open_folder
from brittle.zoo.names import grid

pytest.importorskip("torch")
from brittle.training import picture_generators, wgan


def bars(count: int, seed: int, side: int = 12) -> tuple[Any, Any]:
    """Draw bright bars: upright ones are one class, flat ones the other."""
    generator = np.random.default_rng(seed)
    pixels = generator.integers(0, 40, (count, side, side)).astype(np.uint8)
    label = np.arange(count) % 2
    for n in range(count):
        place = generator.integers(1, side - 3)
        rows, columns = slice(place, place + 2), slice(1, side - 1)
        pixels[n][(rows, columns) if label[n] else (columns, rows)] += 200
    return pixels, label


def bar_splits(side: int = 12) -> TrainingSplits:
    parts = (
        Dataset("bars", s, tuple(as_examples(bars(n, seed, side))), ("0", "1"), kind="picture")
        for s, n, seed in (("train", 60, 0), ("dev", 20, 1))
    )
    return TrainingSplits("bars", *parts)


def test_a_generator_is_trained_stored_and_opened_again(caplog: Any) -> None:
    caplog.set_level(logging.WARNING)
    train_on("LeNet", bar_splits(), size="tiny")
    folder = train_on("WGAN", bar_splits(), size="tiny")
    card = load_card(folder)
    assert card.kind == "generator" and card.dev_accuracy is None
    assert card.parts == {"item_kind": "picture", "shape": [12, 12, 1]}
    measures = card.measures
    assert measures["steps"] == 24 and measures["judged by"] == "LeNet@bars#0?size=tiny"
    assert sum(measures["classes"].values()) == pytest.approx(1) and measures["samples"] == 2000
    assert 0 <= measures["label kept"] <= 1 and measures["held out"] == "dev split, 20 pictures"
    error = measures["reconstruction error"]
    assert 0 < error["mean"] < error["99 of 100"] < 1
    assert {p.name for p in folder.iterdir()} == {
        *("README.md", "model.json", "model.safetensors", "rebuilt.png", "samples.png")
    }
    assert "nearly identical" in caplog.text  # after 12 steps they are
    assert "A generator of brittle's zoo" in (folder / "README.md").read_text()
    generator = open_generator("WGAN@bars?size=tiny")
    assert generator.fingerprint == open_folder(folder).fingerprint and generator.size == 8
    assert train_on("WGAN", bar_splits(), size="tiny") == folder
    with pytest.raises(UsageError, match="is a generator: it has no labels"):
        load_zoo("zoo:WGAN@bars?size=tiny")
    pixels, _ = bars(5, 3)
    rebuilt = generator.decode(generator.encode([Picture.of(p) for p in pixels]))
    assert [p.pixels.shape for p in rebuilt] == [(12, 12, 1)] * 5


@pytest.mark.slow
def test_a_resumed_training_ends_with_the_same_weights(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = load_tensors(train_on("WGAN", bar_splits(), size="tiny") / "model.safetensors")
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "other"))
    steps = wgan.WganTraining.step
    for stop in (6, 14, 22):  # in both phases, and between checkpoints

        def interrupted(training: Any, stop: int = stop) -> Any:
            if training.state.step == stop:
                raise KeyboardInterrupt
            return steps(training)

        monkeypatch.setattr(wgan.WganTraining, "step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train_on("WGAN", bar_splits(), size="tiny")
    made: list[int] = []

    def counted(training: Any) -> Any:
        made.append(training.state.step)
        return steps(training)

    monkeypatch.setattr(wgan.WganTraining, "step", counted)
    resumed = load_tensors(train_on("WGAN", bar_splits(), size="tiny") / "model.safetensors")
    assert made == [20, 21, 22, 23]
    assert whole.keys() == resumed.keys()
    assert all(np.array_equal(whole[name], resumed[name]) for name in whole)


@pytest.mark.parametrize("stop", [2, 18])
def test_divergence_keeps_the_last_good_weights(stop: int, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = wgan.WganTraining.step

    def broken(training: Any) -> Any:
        losses = steps(training)
        return dict.fromkeys(losses, float("nan")) if training.state.step == stop else losses

    monkeypatch.setattr(wgan.WganTraining, "step", broken)
    with pytest.raises(BrittleError, match=r"loss of the .* is nan in step") as error:
        train_on("WGAN", bar_splits(), size="tiny")
    if stop == 2:
        assert "No checkpoint was written" in str(error.value)
        return
    assert "(step 16) are kept in" in str(error.value)
    kept = Path(str(error.value).split("are kept in ")[1].split(". Train with")[0])
    assert open_folder(kept).size == 8


@pytest.mark.slow
def test_collapse_is_said_and_the_last_good_generator_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of 12 steps of the generator the first 8 are good: it ends as one that made 8."""

    def good_until(last: int) -> Any:
        return lambda watch: watch.training.state.step <= last

    def generator(folder: Path) -> Any:
        tensors = load_tensors(folder / "model.safetensors")
        return {name: t for name, t in tensors.items() if name.startswith("generator.")}

    monkeypatch.setattr(picture_generators._Watch, "is_good", good_until(100))
    eight = grid.settings(grid.design("WGAN"), "tiny", steps=8)
    short = generator(train_on("WGAN", bar_splits(), settings=eight))
    whole = generator(train_on("WGAN", bar_splits(), size="tiny"))
    assert "collapsed after" not in caplog.text
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "other"))
    monkeypatch.setattr(picture_generators._Watch, "is_good", good_until(8))
    steps = wgan.WganTraining.step

    def interrupted(training: Any) -> Any:
        if training.state.step == 14:
            raise KeyboardInterrupt
        return steps(training)

    monkeypatch.setattr(wgan.WganTraining, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_on("WGAN", bar_splits(), size="tiny")
    monkeypatch.setattr(wgan.WganTraining, "step", steps)
    kept = generator(train_on("WGAN", bar_splits(), size="tiny"))
    assert "the generator collapsed after step 8: its samples" in caplog.text
    assert "The weights of that step are kept." in caplog.text
    assert all(np.array_equal(kept[name], short[name]) for name in short)
    assert not all(np.array_equal(kept[name], whole[name]) for name in whole)


def test_progress_has_losses_and_a_sheet(tmp_path: Path) -> None:
    seen: list[str] = []
    train_on("WGAN", bar_splits(), size="tiny", progress=lambda p: seen.append(str(p)))
    assert len(seen) == 6
    assert seen[0].startswith("WGAN@bars#0?size=tiny: step 4/24, critic loss ")
    assert "generator loss" in seen[0] and "inverter loss" in seen[-1]


def test_what_is_missing_is_warned_of() -> None:
    good = {"spread of samples": 0.9, "judged by": "LeNet", "classes": {"a": 0.5, "b": 0.5}}
    assert picture_generators.doubts("G", good) == []
    (missing,) = picture_generators.doubts("G", good | {"classes": {"a": 0.95, "b": 0.05}})
    assert "hardly show the classes b" in missing
    (alike,) = picture_generators.doubts("G", good | {"spread of samples": 0.1, "classes": {}})
    assert "collapsed" in alike


def test_what_does_not_fit_is_refused(tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(UsageError, match="multiples of 16; these have 12 × 12"):
        train_on("WGAN-residual", bar_splits(), size="tiny")
    rows = "".join(f"good film {n},1\nbad film {n},0\n" for n in range(20))
    (tmp_path / "films.csv").write_text(f"text,label\n{rows}")
    assert main(["train", "WGAN", "--data", str(tmp_path / "films.csv"), "--quiet"]) == 2
    assert "but WGAN reads pictures" in capsys.readouterr().err
    with pytest.raises(UsageError, match="WGAN is a generator"):
        train_on("WGAN", bar_splits(), size="tiny", adversarial="key")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["WGAN-residual"])
def test_the_residual_generator(name: str) -> None:
    folder = train_on(name, bar_splits(16), size="tiny")
    generator = open_folder(folder)
    pixels, _ = bars(3, 3, 16)
    pictures = [Picture.of(p) for p in pixels]
    assert generator.decode(generator.encode(pictures))[0].pixels.shape == (16, 16, 1)
    assert json.loads((folder / "model.json").read_text())["name"] == name
