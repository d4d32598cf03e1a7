"""White-box attacks, models that cannot be trained, and weights that do not fit."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.cli import main
from brittle.results import Result
from brittle.targets.zoo.target import ZooTarget
from brittle.training import train_on
from brittle.training.splits import load_splits
from brittle.zoo import folder as folders
from brittle.zoo.names import grid
from robustness.table import row, write_workspace

GOOD, BAD = ("lovely", "warm", "funny", "great"), ("dull", "cold", "awful", "weak")
OTHER = ("the", "film", "plot", "and", "its", "cast", "is", "with")
TRAINED: dict[tuple[str, str], tuple[Path, dict[str, bytes]]] = {}
"""The files of every model trained, which many checks use, and their place in a workspace."""
GRADIENTS = ("hotflip", "hotflip-words", "jsma")
ANY = {"hotflip-words": ("--cosine", "0", "--no-same-tag", "--no-other-lexeme", "--stop-words")}
"""Flags with which an attack may swap a word for any other."""


@dataclass(frozen=True)
class Workspace:
    """A folder for commands, with its own cache of models."""

    folder: Path

    def call(self, *words: str) -> tuple[int, str]:
        """Call a command; return its exit code and its stderr."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main([*words, "--quiet"])
        assert "Traceback" not in err.getvalue(), err.getvalue()
        return code, err.getvalue()

    def file(self, name: str, *lines: str) -> str:
        (self.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return name

    def reviews(self, count: int = 80) -> str:
        """Write labelled reviews that are easy to classify."""
        random, lines = Random(0), ["text,label"]
        for n in range(count):
            words = [
                *random.choices(OTHER, k=random.randint(2, 7)),
                random.choice((BAD, GOOD)[n % 2]),
            ]
            random.shuffle(words)
            lines.append(f"{' '.join(words)},{('negative', 'positive')[n % 2]}")
        return self.file("reviews.csv", *lines)

    def trained(self, model: str, **changed: Any) -> str:
        """Train a small model on the reviews; return its folder."""
        data, key = self.reviews(), (model, repr(changed))
        if key not in TRAINED:
            settings = grid.settings(grid.design(model), "tiny", **changed)
            folder = train_on(model, load_splits(data), size="tiny", settings=settings)
            files = {file.name: file.read_bytes() for file in folder.iterdir()}
            TRAINED[key] = folder.relative_to(self.folder), files
        path, files = TRAINED[key]
        (self.folder / path).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (self.folder / path / name).write_bytes(content)
        return str(self.folder / path)

    def attacked(
        self, target: str, attack: str, *texts: str, more: tuple[str, ...] = ()
    ) -> list[Result]:
        """Attack unlabelled texts by the command line; return the rows."""
        data = self.file("texts.csv", "text", *texts)
        code, stderr = self.call(
            "attack", target, attack, "--data", data, "--name", attack, "--new", *more
        )
        assert code == 0, stderr
        return brittle.open_run(attack, "runs").results()


@contextmanager
def workspace(folder: Path) -> Iterator[Workspace]:
    """Change to a folder, with its own cache of models."""
    pytest.importorskip("torch")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        patch.setenv("BRITTLE_CACHE", str(folder / "cache"))
        yield Workspace(folder)


@contextmanager
def asked() -> Iterator[set[str]]:
    """Record every text that a model of the zoo is asked to score."""
    texts: set[str] = set()
    real = ZooTarget.canonical

    def canonical(self: ZooTarget, items: Any) -> list[bytes]:
        texts.update(map(str, items))
        return real(self, items)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ZooTarget, "canonical", canonical)
        yield texts


@row(
    "an attack by gradient on a target without gradients",
    "exit 2 before anything is asked: “asks for flips, but target … offers only scores”",
)
def no_gradients(folder: Path) -> None:
    with workspace(write_workspace(folder, 3)) as here:
        bayes = here.trained("naive-bayes")
        for target in ("python:model:classify", bayes):
            for attack in GRADIENTS:
                code, stderr = here.call("attack", target, attack, "--data", "texts.csv")
                assert code == 2 and f"Attack '{attack}' asks for flips, but target" in stderr
                assert "offers only scores" in stderr and "such as pwws" in stderr
        assert not list(folder.glob("runs/*.sqlite"))


@row("a text longer than the model reads", "edited only where it is read")
def long_text(folder: Path) -> None:
    text = "the warm film and its cast is funny with lovely great plot and cast"
    with workspace(folder) as here, asked() as texts:
        for model, attacks in (
            ("CharCNN-LSTM", ("hotflip", "key", "key-any")),
            ("LSTM-W-Random-1", ("hotflip-words", "jsma")),
        ):
            target = here.trained(model, reads=5)
            for attack in attacks:
                (result,) = here.attacked(target, attack, text, more=ANY.get(attack, ()))
                assert result.status in ("broken", "held") and result.edits
                assert result.adversarial in texts
    # An edit that is not read changes no score, so that no row would show it.
    assert len(texts) > 20 and {asked.split(" ", 5)[5] for asked in texts} == {
        text.split(" ", 5)[5]
    }


@row("a word longer than the model reads", "edited only in the letters that are read")
def long_word(folder: Path) -> None:
    with workspace(folder) as here:
        target = here.trained("CharCNN-LSTM", spelling=6)
        word = "warmhearted" * 4
        # After a delete the next letter is read, and the next edit may change that one.
        for kinds, added in (("flip", 0), ("flip,insert,delete", 3)):
            more = ("--share", "0.08", "--kinds", kinds)
            (result,) = here.attacked(target, "hotflip", word, more=more)
            assert result.adversarial is not None and result.adversarial != word
            assert result.adversarial.endswith(word[6 + added :])


@row(
    "characters outside the model's alphabet",
    "read as one unknown character; inserted characters are of the alphabet",
)
def strange_characters(folder: Path) -> None:
    with workspace(folder) as here:
        target = here.trained("CharCNN-LSTM")
        alphabet = set(folders.load_words(Path(target) / folders.ALPHABET_FILE))
        texts = ("größte вещь 映画 warm", "ÆØÅ ßßß ïïï", "映画", "film 🎬 warm")
        for text, result in zip(texts, here.attacked(target, "hotflip", *texts)):
            assert result.status in ("broken", "held") and result.original == text
            assert set(result.adversarial or "") <= set(text) | alphabet
        # The model cannot distinguish two characters outside its alphabet.
        scores = [r.confidence for r in here.attacked(target, "hotflip", "映 warm", "画 warm")]
        assert scores[0] == scores[1]


@row(
    "a text of words that the model does not know",
    "attacked like any other; known words replace them",
)
def unknown_words(folder: Path) -> None:
    with workspace(folder) as here:
        target = here.trained("LSTM-W-Random-1")
        known = set(folders.load_words(Path(target) / folders.VOCABULARY_FILE))
        edits = []
        for attack in ("hotflip-words", "jsma"):
            (result,) = here.attacked(target, attack, "zyx qwv vbn", more=ANY.get(attack, ()))
            assert result.status in ("broken", "held") and result.queries > 2
            edits += result.edits
        assert edits and {edit.new.lower() for edit in edits} <= known


@row("a text in which nothing is read", "`skipped`, “nothing to edit”, by every attack")
def nothing_read(folder: Path) -> None:
    with workspace(folder) as here:
        for model, attacks in (("CharCNN-LSTM", ("hotflip",)), ("LSTM-W-Random-1", GRADIENTS[1:])):
            target = here.trained(model)
            for attack in attacks:
                (result,) = here.attacked(target, attack, "?! …")
                assert (result.status, result.reason) == ("skipped", "nothing to edit")


@row("training on words that occur only once each", "exit 2: there is nothing to learn from")
def empty_vocabulary(folder: Path) -> None:
    with workspace(folder) as here:
        lines = [f"w{n}a w{n}b,{('negative', 'positive')[n % 2]}" for n in range(40)]
        data = here.file("rare.csv", "text,label", *lines)
        for model in ("LSTM-W-Random-1", "CharCNN-LSTM"):
            code, stderr = here.call("train", model, "--data", data, "--size", "tiny")
            assert code == 2 and "No word occurs 2 times or more" in stderr and "--text" in stderr
        assert not [
            path for path in (folder / "cache").rglob("*") if path.is_dir() and "@" in path.name
        ]


@row("training on one class", "exit 2: at least two are needed")
def one_class(folder: Path) -> None:
    with workspace(folder) as here:
        lines = [f"a warm film {n},positive" for n in range(30)]
        data = here.file("happy.csv", "text,label", *lines)
        code, stderr = here.call("train", "CharCNN-LSTM", "--data", data, "--size", "tiny")
        assert code == 2 and "one class, 'positive'" in stderr and "at least two classes" in stderr


@row(
    "a loss that becomes NaN",
    "training stops and says where; the last good weights are kept, and can be loaded",
)
def lost_loss(folder: Path) -> None:
    from brittle.training.adversarial import losses

    real, calls = losses.cross_entropy, 0

    def broken_loss(*args: Any, **keywords: Any) -> Any:
        nonlocal calls
        calls += 1
        return real(*args, **keywords) * (float("nan") if calls > first else 1.0)

    with workspace(folder) as here, pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "cross_entropy", broken_loss)
        words = ("train", "CharCNN-LSTM", "--data", here.reviews(), "--size", "tiny")
        # 72 of the 80 reviews are learnt from, in 9 steps of 8.
        for first, where in ((3, "epoch 1, step 4"), (10, "epoch 2, step 2")):
            calls = 0
            code, stderr = here.call(*words, "--seed", str(first))
            assert code != 0 and f"the loss is nan in {where}" in stderr and "--seed" in stderr
            assert ("No epoch was whole" in stderr) == (first == 3)
        (kept,) = (folder / "cache" / "models").glob("*.kept")
        assert str(kept) in stderr
    with workspace(folder) as here:
        (result,) = here.attacked(str(kept), "hotflip", "the warm film")
        assert result.status in ("broken", "held")


@row(
    "weights that are damaged, missing, or of another model", "exit 2, with the file and the remedy"
)
def foreign_weights(folder: Path) -> None:
    with workspace(folder) as here:
        path = Path(here.trained("CharCNN-LSTM"))
        weights, card = path / folders.WEIGHTS_FILE, folders.load_card(path)
        attack = ("attack", str(path), "hotflip", "--data", here.file("texts.csv", "text", "warm"))
        good = weights.read_bytes()
        other = Path(here.trained("LSTM-W-Random-1")) / folders.WEIGHTS_FILE
        for content in (good[: len(good) // 2], good[:-1] + b"\xff", other.read_bytes(), b""):
            weights.write_bytes(content)
            code, stderr = here.call(*attack)
            assert (
                code == 2
                and "damaged or belongs to another model" in stderr
                and "--force" in stderr
            )
        # If the card was changed too, only the content can show it.
        for content, match in ((other.read_bytes(), "do not fit"), (b"PK\x03\x04", "safetensors")):
            weights.write_bytes(content)
            folders.write_card(path, card, "")
            code, stderr = here.call(*attack)
            assert code == 2 and match in stderr and "--force" in stderr
        weights.unlink()
        code, stderr = here.call(*attack)
        assert code == 2 and "incomplete" in stderr
        assert not list(folder.glob("runs/*.sqlite"))


@row("weights that contain NaN", "exit 3: the target answers nothing but NaN")
def rotten_weights(folder: Path) -> None:
    with workspace(folder) as here:
        path = Path(here.trained("CharCNN-LSTM"))
        card, tensors = folders.load_card(path), folders.load_tensors(path / folders.WEIGHTS_FILE)
        tensors["head.bias"] = np.full_like(tensors["head.bias"], np.nan)
        folders.write_tensors(path / folders.WEIGHTS_FILE, tensors)
        folders.write_card(path, card, "")
        data = here.file("texts.csv", "text", "the warm film")
        code, stderr = here.call("attack", str(path), "hotflip", "--data", data)
        assert code == 3 and "not finite" in stderr


@row("a model card that was edited", "exit 2: it does not fit the weights")
def edited_card(folder: Path) -> None:
    with workspace(folder) as here:
        path = Path(here.trained("CharCNN-LSTM"))
        content = json.loads((path / folders.CARD_FILE).read_text())
        content["settings"]["hidden"] += 1
        (path / folders.CARD_FILE).write_text(json.dumps(content))
        data = here.file("texts.csv", "text", "the warm film")
        code, stderr = here.call("attack", str(path), "hotflip", "--data", data)
        assert code == 2 and "do not fit" in stderr


@row(
    "an unknown model, kind of edit or adversarial training",
    "exit 2, with what was probably meant",
)
def not_in_the_grid(folder: Path) -> None:
    with workspace(folder) as here:
        data, model = here.reviews(), here.trained("CharCNN-LSTM")
        for words, meant in (
            (("train", "CharCNN-LSTN", "--data", data), "CharCNN-LSTM"),
            (("train", "lstm-w-glov-2", "--data", data), "LSTM-W-GloVe-2"),
            (("train", "CharCNN-LSTM+hotflop", "--data", data), "hotflip"),
            (("train", "CharCNN-LSTM", "--size", "tinny", "--data", data), "tiny"),
            (
                ("attack", "zoo:BiLSTM-W-Randon-1@mr", "hotflip", "--data", data),
                "BiLSTM-W-Random-1",
            ),
            (("attack", model, "hotflip", "--kinds", "flips", "--data", data), "flip"),
            (("attack", model, "hotflap", "--data", data), "hotflip"),
        ):
            code, stderr = here.call(*words)
            assert code == 2 and f"Did you mean '{meant}'?" in stderr, stderr
