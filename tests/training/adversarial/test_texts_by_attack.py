"""Texts that fool the model in training: when they are looked for, kept, and learnt from."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brittle.text import Text
from brittle.training import TrainingProgress, train_on
from brittle.training.adversarial.methods import AttackTraining, TypoTraining
from brittle.training.adversarial.texts import SNAPSHOT_FOLDER, TEXTS_FILE
from brittle.training.splits import LabelledTexts
from brittle.zoo import folder as folders
from brittle.zoo.model import open_model
from brittle.zoo.names import grid

NETWORK = "CNN-W-Random-1"


class Attack:
    """Put a word of the other class first, and record the arguments."""

    def __init__(self) -> None:
        self.calls: list[tuple[LabelledTexts, int]] = []
        self.logits: list[bytes] = []

    def __call__(self, folder: Path, originals: LabelledTexts, seed: int) -> LabelledTexts:
        card, model = open_model(folder, "cpu")
        assert card.data == "toy" and card.labels == ("negative", "positive")
        self.logits.append(model.logits(model.encode(originals.texts[:1])).tobytes())
        model.close()
        self.calls.append((originals, seed))
        # Two words in place of one, as some synonyms are.
        labelled = zip(originals.texts, originals.label)
        fooling = [text.swap(0, ("so warm", "so dull")[label]) for text, label in labelled]
        return LabelledTexts(tuple(fooling[::2]), originals.label[::2])


def trained(data: Any, attack: Attack, every: int = 1, **options: Any) -> Path:
    method = AttackTraining("mine", attack, copies=20, every=every)
    return train_on(options.pop("name", NETWORK), data, size="tiny", adversarial=method, **options)


def weights(folder: Path) -> bytes:
    return (folder / folders.WEIGHTS_FILE).read_bytes()


def stop_in(epoch: int) -> Any:
    def stop(progress: TrainingProgress) -> None:
        if progress.epoch == epoch:
            raise KeyboardInterrupt

    return stop


def test_the_current_model_is_attacked_after_each_epoch_but_the_last(splits: Any) -> None:
    pytest.importorskip("torch")
    data, attack, reports = splits(), Attack(), []
    folder = trained(data, attack, progress=reports.append)
    assert len(attack.calls) == 3 and len(set(attack.logits)) == 3
    train = data.labelled(data.train)
    labels = dict(zip(train.texts, train.label))
    for sample, _ in attack.calls:
        assert len(set(sample.texts)) <= 20 == len(sample)
        assert all(labels[text] == label for text, label in zip(sample.texts, sample.label))
    assert len({seed for _, seed in attack.calls}) == len({s.texts for s, _ in attack.calls}) == 3
    # 48 texts are 6 batches of 8; with 10 more they are 8.
    assert {(p.epoch, p.steps) for p in reports if p.dev_accuracy is None} == {
        (1, 6),
        (2, 8),
        (3, 8),
        (4, 8),
    }
    assert {path.name for path in folder.iterdir()} == {
        "model.json",
        "model.safetensors",
        "README.md",
        "vocabulary.txt",
    }
    card = folders.load_card(folder)
    assert card.full_name == f"{NETWORK}+mine,copies=20@toy#0?size=tiny"
    assert card.hardening == {"method": "mine", "copies": 20, "every": 1, "settings": {}}
    assert weights(folder) != weights(train_on(NETWORK, data, size="tiny"))


@pytest.mark.parametrize(("every", "epoch", "calls"), [(1, 3, 3), (2, 4, 1), (3, 4, 1)])
@pytest.mark.slow
def test_an_interrupted_training_learns_from_the_same_texts(
    every: int,
    epoch: int,
    calls: int,
    splits: Any,
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("torch")
    attack = Attack()
    with pytest.raises(KeyboardInterrupt):
        trained(splits(), attack, every, progress=stop_in(epoch))
    [partial] = (cache / "models").glob("*.partial")
    assert (partial / TEXTS_FILE).is_file() and not (partial / SNAPSHOT_FOLDER).exists()
    if os.name == "posix":
        assert stat.S_IMODE((partial / TEXTS_FILE).stat().st_mode) == 0o600  # it holds the texts
    resumed = trained(splits(), attack, every)
    assert len(attack.calls) == calls  # nothing is attacked twice
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "other"))
    assert weights(trained(splits(), Attack(), every)) == weights(resumed)


@pytest.mark.parametrize("every", [2, 3])
def test_what_is_kept_was_hardened_and_patience_waits_for_it(every: int, splits: Any) -> None:
    pytest.importorskip("torch")
    data, attack, reports = splits(), Attack(), []
    chosen = grid.settings(grid.design(NETWORK), "tiny", epochs=5, patience=1, learning_rate=1e-9)
    method = AttackTraining("mine", attack, copies=20, every=every)
    # At this rate no epoch is better than the first, which nevertheless must not be kept.
    folder = train_on(NETWORK, data, settings=chosen, adversarial=method, progress=reports.append)
    epochs = [p for p in reports if p.dev_accuracy is not None]
    assert [p.epoch for p in epochs] == list(range(1, every + 3))[:5]
    assert [p.best for p in epochs] == [n in (0, every) for n in range(len(epochs))]
    assert len(attack.calls) == 1
    early = train_on(NETWORK, data, settings=replace(chosen, epochs=1))
    assert weights(early) != weights(folder)


def test_texts_that_are_lost_are_found_anew(
    splits: Any, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("torch")
    attack = Attack()
    with pytest.raises(KeyboardInterrupt):
        trained(splits(), attack, 2, progress=stop_in(4))
    [partial] = (cache / "models").glob("*.partial")
    (partial / TEXTS_FILE).write_text("rubbish")
    (partial / SNAPSHOT_FOLDER).mkdir()  # as a killed process leaves it
    folder = trained(splits(), attack, 2)
    assert len(attack.calls) == 2 and "attacked again" in caplog.text
    assert TEXTS_FILE not in {path.name for path in folder.iterdir()}


def test_an_attack_that_fails_ends_the_training_and_leaves_the_checkpoint(
    splits: Any, cache: Path
) -> None:
    pytest.importorskip("torch")

    def broken(folder: Path, originals: LabelledTexts, seed: int) -> LabelledTexts:
        raise RuntimeError("no luck")

    with pytest.raises(RuntimeError, match="no luck"):
        train_on(NETWORK, splits(), size="tiny", adversarial=AttackTraining("mine", broken))
    [partial] = (cache / "models").glob("*.partial")
    assert {path.name for path in partial.iterdir()} == {"checkpoint.safetensors"}


@pytest.mark.parametrize("name", ["naive-bayes", "linear-svm"])
def test_linear_models_are_fitted_attacked_and_fitted_again(name: str, splits: Any) -> None:
    attack = Attack()
    folder = trained(splits(), attack, name=name)
    [(sample, _)] = attack.calls
    assert len(sample) == 20
    assert {path.name for path in folder.iterdir()} == {
        "model.json",
        "model.safetensors",
        "README.md",
        "vocabulary.txt",
    }
    plain = train_on(name, splits(), size="tiny")
    (_, before), (_, after) = (open_model(f) for f in (plain, folder))
    text = [Text.of("so warm")]
    # "warm" now stands in texts of the negative class.
    for_negative = [m.logits(m.encode(text))[0] @ [1, -1] for m in (before, after)]
    assert for_negative[1] > for_negative[0]


def test_linear_models_learn_from_copies_with_typos(splits: Any) -> None:
    folder = train_on("naive-bayes", splits(), adversarial=TypoTraining(0.3))
    plain = train_on("naive-bayes", splits())
    words = [folders.load_words(f / folders.VOCABULARY_FILE) for f in (plain, folder)]
    assert set(words[0]) < set(words[1])
