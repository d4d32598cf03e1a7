"""Training as a whole: what is written, what is found again, what is resumed, what is refused."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import BrittleError, UsageError
from brittle.text import Text
from brittle.training import TrainingProgress, find, train, train_on
from brittle.training.job import accuracy
from brittle.training.splits import TrainingSplits
from brittle.zoo import folder as folders
from brittle.zoo.model import open_model
from brittle.zoo.names.grid import design, settings
from brittle.zoo.names.settings import NetworkSettings

LSTM, CNN = "LSTM-W-Random-1", "CNN-W-Random-1"


def tiny(name: str, **changes: Any) -> NetworkSettings:
    chosen = settings(design(name), "tiny")
    assert isinstance(chosen, NetworkSettings)
    return replace(chosen, **changes)


def weights(folder: Path) -> bytes:
    return (folder / folders.WEIGHTS_FILE).read_bytes()


def interrupt_at(epoch: int, step: bool = False) -> Any:
    def report(progress: TrainingProgress) -> None:
        if progress.epoch == epoch and (progress.dev_accuracy is None) == step:
            raise KeyboardInterrupt

    return report


def test_what_a_folder_holds(splits: Any) -> None:
    folder = train_on("naive-bayes", splits())
    names = {"model.safetensors", "model.json", "vocabulary.txt", "README.md"}
    assert {path.name for path in folder.iterdir()} == names
    card = json.loads((folder / "model.json").read_text())
    assert card["labels"] == ["negative", "positive"] and card["fields"] == ["text"]
    assert card["examples"] == 48 and card["seed"] == 0 and card["format"] == 1
    assert set(card["files"]) == names - {"model.json", "README.md"}
    assert "brittle" in card["versions"] and card["key"].startswith(folder.name[-12:])
    readme = (folder / "README.md").read_text()
    assert "# naive-bayes@toy#0" in readme and f"{card['dev_accuracy']:.4f}" in readme
    assert not list(folder.parent.glob("*.partial"))


@pytest.mark.parametrize("name", [LSTM, pytest.param(CNN, marks=pytest.mark.slow)])
def test_networks_learn_report_and_come_out_the_same(name: str, splits: Any) -> None:
    pytest.importorskip("torch")
    reports: list[TrainingProgress] = []
    chosen = tiny(name, dropout=0.1, word_dropout=0.0)
    folder = train_on(name, splits(160, 40), settings=chosen, progress=reports.append)
    epochs = [p for p in reports if p.dev_accuracy is not None]
    assert [p.epoch for p in epochs] == list(range(1, len(epochs) + 1))
    assert epochs[-1].loss < epochs[0].loss
    assert "epoch 1/4, loss" in str(epochs[0]) and "step" in str(reports[0])
    card, _ = open_model(folder)
    assert card.dev_accuracy == max(p.dev_accuracy or 0 for p in epochs) > 0.8
    before = weights(folder)
    assert weights(train_on(name, splits(160, 40), settings=chosen, new=True)) == before
    assert weights(train_on(name, splits(160, 40), 1, settings=chosen)) != before


@pytest.mark.parametrize(
    "name",
    [
        "CharCNN-LSTM",
        pytest.param("BiLSTM-C-Random-1-attention", marks=pytest.mark.slow),
        pytest.param("CNN-WC-Random-2", marks=pytest.mark.slow),
        pytest.param("Transformer", marks=pytest.mark.slow),
    ],
)
def test_what_is_opened_again_is_as_good_as_it_was(name: str, splits: Any) -> None:
    pytest.importorskip("torch")
    data = splits(160, 40)
    chosen = tiny(name, dropout=0.1, word_dropout=0.0)
    card, model = open_model(train_on(name, data, settings=chosen))
    assert accuracy(model, data.labelled(data.dev)) == card.dev_accuracy > 0.7
    assert card.parts == design(name).parts


@pytest.mark.parametrize("step", [False, True])
def test_an_interrupted_training_ends_as_if_undisturbed(
    step: bool, splits: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    with pytest.raises(KeyboardInterrupt):
        train_on(LSTM, splits(), size="tiny", progress=interrupt_at(2, step))
    reports: list[TrainingProgress] = []
    resumed = train_on(LSTM, splits(), size="tiny", progress=reports.append)
    assert reports[0].epoch == (2 if step else 3)
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "other"))
    whole = train_on(LSTM, splits(), size="tiny")
    assert whole != resumed and weights(whole) == weights(resumed)
    assert open_model(whole)[0].fingerprint == open_model(resumed)[0].fingerprint


def test_a_damaged_checkpoint_is_no_obstacle(
    splits: Any, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("torch")
    with pytest.raises(KeyboardInterrupt):
        train_on(LSTM, splits(), size="tiny", progress=interrupt_at(1))
    [partial] = (cache / "models").glob("*.partial")
    (partial / "checkpoint.safetensors").write_bytes(b"rubbish")
    folder = train_on(LSTM, splits(), size="tiny")
    assert "training starts from the beginning" in caplog.text
    assert "checkpoint.safetensors" not in {path.name for path in folder.iterdir()}


def test_the_best_weights_are_kept_and_patience_ends_it(splits: Any) -> None:
    pytest.importorskip("torch")
    reports: list[TrainingProgress] = []
    chosen = tiny(LSTM, epochs=30, patience=2, learning_rate=0.05)
    folder = train_on(LSTM, splits(160, 40), settings=chosen, progress=reports.append)
    accuracies = [p.dev_accuracy for p in reports if p.dev_accuracy is not None]
    assert len(accuracies) < 30
    best = accuracies.index(max(accuracies))
    assert len(accuracies) - 1 - best == 2
    card, model = open_model(folder)
    data = splits(160, 40)
    assert accuracy(model, data.labelled(data.dev)) == card.dev_accuracy == max(accuracies)


def test_a_lost_loss_stops_and_says_where(
    splits: Any, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from brittle.training import stepwise

    monkeypatch.setattr(stepwise, "schedule", lambda done, warmup: float("nan"))
    with pytest.raises(BrittleError, match=r"the loss is nan in epoch 1, step 2\. No epoch"):
        train_on(LSTM, splits(), size="tiny")
    assert [path.suffix for path in (cache / "models").iterdir()] == [".lock"]


def test_a_lost_loss_keeps_the_last_good_weights(
    splits: Any, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from brittle.training import stepwise

    monkeypatch.setattr(
        stepwise, "schedule", lambda done, warmup: 1.0 if done < 0.5 else float("nan")
    )
    with pytest.raises(BrittleError, match=r"epoch 3, step 2.*good weights \(epoch [12], dev") as e:
        train_on(LSTM, splits(), size="tiny")
    [kept] = (cache / "models").glob("*.kept")
    assert str(kept) in str(e.value)
    card, model = open_model(kept)
    assert accuracy(model, splits().labelled(splits().dev)) == card.dev_accuracy


def test_nothing_is_trained_twice(splits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    module = sys.modules["brittle.training.train"]  # the package's name `train` is the function
    fit = module.fit

    def counted(job: Any) -> Any:
        calls.append(job.name)
        time.sleep(0.1)
        return fit(job)

    monkeypatch.setattr(module, "fit", counted)
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(train_on("naive-bayes", splits())))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1 and len(found) == 3
    assert calls == ["naive-bayes@toy#0"]
    train_on("naive-bayes", splits(), 1)
    train_on("naive-bayes", splits(seed=5))
    train_on("Naive-Bayes", splits())
    assert len(calls) == 3


def test_a_file_is_trained_on_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "toy.csv"
    rows = "".join(f"{word} number {n},{word}\n" for n in range(20) for word in ("good", "bad"))
    path.write_text("review,stars\n" + rows)
    columns: Any = {"text": ["review"], "label": "stars"}
    assert find("naive-bayes", str(path), **columns) is None
    folder = train("naive-bayes", str(path), **columns)
    assert find("naive-bayes", str(path), **columns) == folder
    path.write_text("review,stars\n" + rows + "another good one,good\n")
    assert find("naive-bayes", str(path), **columns) is None


def test_an_unknown_name_or_data_set() -> None:
    with pytest.raises(UsageError, match="Unknown model 'lstm'"):
        train("lstm", "mr")
    with pytest.raises(UsageError, match="Unknown data set 'mrr'"):
        train("naive-bayes", "mrr")


def test_settings_are_changed_by_name(tmp_path: Path) -> None:
    path = tmp_path / "toy.csv"
    rows = "".join(f"{word} number {n},{word}\n" for n in range(20) for word in ("good", "bad"))
    path.write_text("text,label\n" + rows)
    plain = train("naive-bayes", str(path))
    rough = train("naive-bayes", str(path), changed=["smoothing=0.5"])
    assert rough == train("naive-bayes", str(path), changed={"smoothing": 0.5}) != plain
    assert find("naive-bayes", str(path), changed=["smoothing=0.5"]) == rough
    assert train("naive-bayes", str(path), changed=["smoothing=1"]) == plain
    card = folders.load_card(rough)
    assert card.full_name == "naive-bayes@toy#0?smoothing=0.5"
    assert (card.changed, card.settings) == ({"smoothing": 0.5}, {"smoothing": 0.5})
    readme = (rough / "README.md").read_text()
    assert "# naive-bayes@toy#0?smoothing=0.5" in readme and "smoothing | 0.5 (changed)" in readme
    assert "brittle attack 'zoo:naive-bayes@toy#0?smoothing=0.5' pwws" in readme
    assert "changed" not in (plain / "README.md").read_text()
    with pytest.raises(UsageError, match="Did you mean 'smoothing'"):
        train("naive-bayes", str(path), changed=["smothing=2"])
    with pytest.raises(UsageError, match="a number above 0"):
        train("naive-bayes", str(path), changed={"smoothing": 0.0})


def test_one_class_is_nothing_to_learn(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "toy.csv"
    path.write_text("text,label\n" + "".join(f"a film {n},good\n" for n in range(30)))
    with pytest.raises(UsageError, match=r"has one class, 'good'.*at least two classes"):
        train(LSTM, str(path))
    assert not (cache / "models").exists()


@pytest.mark.slow
def test_weights_that_are_not_this_networks(splits: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    one, other = (train_on(name, splits(), size="tiny") for name in (LSTM, CNN))
    damaged = tmp_path / "damaged"

    def put(content: bytes) -> None:
        shutil.rmtree(damaged, ignore_errors=True)
        shutil.copytree(one, damaged)
        (damaged / folders.WEIGHTS_FILE).write_bytes(content)
        card = json.loads((damaged / folders.CARD_FILE).read_text())
        card["files"][folders.WEIGHTS_FILE] = hashlib.sha256(content).hexdigest()
        (damaged / folders.CARD_FILE).write_text(json.dumps(card))

    put(weights(other))
    with pytest.raises(UsageError, match="do not fit the model 'LSTM-W-Random-1'") as error:
        open_model(damaged)
    assert "missing, unknown or of another shape: " in str(error.value)
    put(weights(one)[:-1000])
    with pytest.raises(UsageError, match="not a weights file in safetensors format"):
        open_model(damaged)
    put(weights(one))
    card = json.loads((damaged / folders.CARD_FILE).read_text())
    (damaged / folders.CARD_FILE).write_text(json.dumps(card | {"settings": {"hidden": 16}}))
    with pytest.raises(UsageError, match="do not fit the model"):
        open_model(damaged)


def test_a_device_that_is_not_there(splits: Any) -> None:
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match="device 'nonsense' cannot be used"):
        train_on(LSTM, splits(), size="tiny", device="nonsense")


def as_pairs(plain: TrainingSplits) -> TrainingSplits:
    """Put a field before the text of every example."""
    pairs = [
        replace(
            split,
            examples=tuple(
                replace(e, fields=(("one", f"so {n % 3}"), ("two", e.fields[0][1])))
                for n, e in enumerate(split.examples)
            ),
        )
        for split in (plain.train, plain.dev)
    ]
    return TrainingSplits("pairs", *pairs)


@pytest.mark.parametrize(
    "name", ["naive-bayes", LSTM, f"{LSTM}-pair", "Average-C-Random-pair-plain"]
)
def test_pairs_are_learnt_from(name: str, splits: Any) -> None:
    if name != "naive-bayes":
        pytest.importorskip("torch")
    folder = train_on(name, as_pairs(splits()), size="tiny")
    card, model = open_model(folder)
    assert card.fields == ("one", "two")
    assert ("<next>" in folders.load_words(folder / folders.VOCABULARY_FILE)) == (name == LSTM)
    one, two = Text.of({"one": "so", "two": "warm"}), Text.of({"one": "so warm", "two": ""})
    keys = model.encode([one, two])
    assert (keys[0] == keys[1]) == (name == "naive-bayes")
    assert model.logits(keys).shape == (2, 2)


@pytest.mark.parametrize("method", ["hotflip", "miyato", "key"])
@pytest.mark.parametrize(
    "name", [f"{LSTM}-pair", pytest.param("CNN-WC-Random-1-pair", marks=pytest.mark.slow)]
)
def test_networks_that_read_both_sides_apart_are_hardened(
    name: str, method: str, splits: Any
) -> None:
    pytest.importorskip("torch")
    folder = train_on(f"{name}+{method}", as_pairs(splits(24, 8)), size="tiny")
    card, model = open_model(folder)
    assert card.hardening and card.gradients["edits"]
    assert np.isfinite(model.logits(model.encode([Text.of({"one": "", "two": "warm"})]))).all()


def test_both_sides_of_a_pair_must_be_there(splits: Any) -> None:
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match=r"has 1 fields \(text\).*--text premise,hypothesis"):
        train_on(f"{LSTM}-pair", splits(), size="tiny")


@pytest.mark.parametrize("name", ["naive-bayes", "linear-svm", LSTM])
def test_data_without_words(name: str, splits: Any, cache: Path) -> None:
    if name == LSTM:
        pytest.importorskip("torch")
    plain = splits(8, 8)
    examples = tuple(replace(e, fields=(("text", "?!"),)) for e in plain.train.examples)
    with pytest.raises(UsageError, match="nothing to train on"):
        train_on(name, TrainingSplits("toy", replace(plain.train, examples=examples), plain.dev))
    assert [path.suffix for path in (cache / "models").iterdir()] == [".lock"]


def test_the_card_of_a_network_says_what_its_gradients_tell(splits: Any) -> None:
    pytest.importorskip("torch")
    folder = train_on("CNN-C-Random-1", splits(), settings=tiny("CNN-C-Random-1", epochs=1))
    facts = folders.load_card(folder).gradients
    assert facts["texts"] == 16 and 0 <= facts["saturated"] <= 1
    assert set(facts["correlation"]) == {"flip", "delete", "append", "inner insert"}
    assert f"flip {facts['correlation']['flip']:.2f}" in (folder / "README.md").read_text()


def test_masked_gradients_are_warned_about(
    splits: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    chosen = tiny("CNN-C-Random-1", epochs=1)
    train_on("CNN-C-Random-1", splits(), settings=chosen)
    assert "hardly predict the effect" not in caplog.text
    masked = replace(chosen, character_scale=1e4)
    folder = train_on("CNN-C-Random-1", splits(), settings=masked)
    facts = folders.load_card(folder).gradients
    assert facts["saturated"] > 0.9
    assert (
        "The gradients of CNN-C-Random-1@toy#0" in caplog.text
        and "hardly predict the effect" in caplog.text
    )
