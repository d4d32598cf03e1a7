"""A model's folder, complete and damaged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.text import Text
from brittle.zoo import folder as folders
from brittle.zoo.folder import Card
from brittle.zoo.model import open_model

WORDS = ["<pad>", "<unknown>", "good", "naïve", "x\u2028y"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    weight = np.arange(10, dtype=np.float64).reshape(5, 2) / 3
    folders.write_tensors(tmp_path / folders.WEIGHTS_FILE, {"weight": weight, "bias": np.ones(2)})
    folders.write_words(tmp_path / folders.VOCABULARY_FILE, WORDS)
    folders.write_card(tmp_path, card(), "# A model\n")
    return tmp_path


def card(**changes: object) -> Card:
    values: dict[str, object] = {
        "name": "naive-bayes",
        "kind": "linear",
        "data": "toy",
        "seed": 0,
        "size": "default",
        "labels": ("no", "yes"),
        "fields": ("text",),
        "parts": {},
        "settings": {"smoothing": 1.0},
        "dev_accuracy": 0.5,
        "epochs": 1,
        "examples": 4,
        "data_fingerprint": "f",
        "key": "k",
        "seconds": 0.1,
        "versions": {},
    }
    return Card(**{**values, **changes})  # type: ignore[arg-type]


def test_what_is_written_is_read(folder: Path) -> None:
    loaded, model = open_model(folder)
    assert loaded.full_name == "naive-bayes@toy#0" and loaded.labels == ("no", "yes")
    assert folders.load_words(folder / folders.VOCABULARY_FILE) == WORDS
    [logits] = model.logits(model.encode([Text.of("good good")]))
    assert logits.tolist() == pytest.approx([1 + 4 / 3 + 4 / 3, 1 + 5 / 3 + 5 / 3], abs=1e-14)


def test_the_fingerprint_is_of_the_answers_not_of_the_training(folder: Path) -> None:
    before = folders.load_card_checked(folder).fingerprint
    assert folders.write_card(folder, card(seconds=9.9, dev_accuracy=0.7), "").fingerprint == before
    assert folders.write_card(folder, card(labels=("yes", "no")), "").fingerprint != before
    folders.write_tensors(
        folder / folders.WEIGHTS_FILE, {"weight": np.ones((5, 2)), "bias": np.ones(2)}
    )
    assert folders.write_card(folder, card(), "").fingerprint != before


def test_a_card_from_before_gradients_were_measured_is_loaded(folder: Path) -> None:
    path = folder / folders.CARD_FILE
    content = json.loads(path.read_text())
    assert content.pop("gradients") == {}
    path.write_text(json.dumps(content))
    assert folders.load_card_checked(folder).gradients == {}


def damage_weights(folder: Path) -> None:
    content = bytearray((folder / folders.WEIGHTS_FILE).read_bytes())
    content[-1] ^= 1
    (folder / folders.WEIGHTS_FILE).write_bytes(content)


def remove_words(folder: Path) -> None:
    (folder / folders.VOCABULARY_FILE).unlink()


def foreign_weights(folder: Path) -> None:
    folders.write_tensors(folder / folders.WEIGHTS_FILE, {"other": np.ones(3)})
    vouch(folder)


def no_safetensors(folder: Path) -> None:
    (folder / folders.WEIGHTS_FILE).write_bytes(b"\x80\x04pickle")
    vouch(folder)


def vouch(folder: Path) -> None:
    content = json.loads((folder / folders.CARD_FILE).read_text())
    digest = hashlib.sha256((folder / folders.WEIGHTS_FILE).read_bytes()).hexdigest()
    content["files"][folders.WEIGHTS_FILE] = digest
    (folder / folders.CARD_FILE).write_text(json.dumps(content))


def change(**changes: object) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        content = json.loads((folder / folders.CARD_FILE).read_text())
        (folder / folders.CARD_FILE).write_text(json.dumps(content | changes))

    return changed


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_weights, "damaged or belongs to another model"),
        (remove_words, "vocabulary.txt is missing"),
        (foreign_weights, "do not fit the model 'naive-bayes'"),
        (no_safetensors, "not a weights file in safetensors format"),
        (change(format=99), "has format 99"),
        (change(labels=None), "not a model card"),
        (change(files={"../../etc/passwd": "0"}), "not a model card.*without a folder"),
        (change(kind="seq2seq"), "kind 'seq2seq'"),
        (lambda folder: (folder / folders.CARD_FILE).write_text("{"), "not a model card"),
        (lambda folder: (folder / folders.CARD_FILE).write_text("[]"), "not a model card"),
        (lambda folder: (folder / folders.CARD_FILE).unlink(), "has no model.json"),
    ],
)
def test_damaged_and_foreign_folders(
    folder: Path, damage: Callable[[Path], None], message: str
) -> None:
    damage(folder)
    with pytest.raises(UsageError, match=message):
        open_model(folder)


@pytest.mark.parametrize(
    "header",
    [b"[1, 2]", b"null", b"[" * 100_000, b'{"w": 1}', b'{"w": {"shape": ["x"]}}', b"{", b"\xff"],
)
def test_a_damaged_header_of_weights_is_refused_by_name(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(UsageError, match=r"model\.safetensors is not a weights file"):
        folders.count_parameters(path)
