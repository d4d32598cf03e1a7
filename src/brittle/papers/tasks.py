"""What the steps of the papers do: train, score, attack, carry texts over, look inside.

Each function is called as a step (see steps.py) and gives a result that JSON can hold, the same
one whenever it is called again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from brittle.data import Dataset
from brittle.english.vectors import GLOVE, load_vectors
from brittle.metrics.pca import pca
from brittle.papers.data import load_split, load_training_splits
from brittle.results import Result
from brittle.runs.run import Run
from brittle.runs.runner import attack as run_attack
from brittle.studies.representation import edited_words, embed_vocabulary
from brittle.targets.protocols import Classifies
from brittle.targets.zoo.target import load_folder
from brittle.text import Text, words_of
from brittle.training import train_on
from brittle.workflow.tasks import Report, TaskContext
from brittle.zoo.cache import models_folder
from brittle.zoo.folder import CARD_FILE, load_card
from brittle.zoo.names import grid

TEXTS_PER_CALL = 512
SECONDS_BETWEEN_MESSAGES = 20.0  # seconds between two messages of one step
BAG_OF_WORDS_SIZE = 1000  # words of a bag of words whose components are taken

TaskResult = dict[str, Any]


def train(
    work: TaskContext,
    *,
    model: str,
    data: str,
    size: str,
    changed: Mapping[str, Any],
    adversarial: str | None = None,
    seed: int = 0,
) -> TaskResult:
    """Train a model on the sides that a step has written, or find it trained."""
    design = grid.design(model)
    settings = grid.settings(design, size, **changed)
    splits = load_training_splits(work.folder, work.needs[data])
    say = _seldom(work.report)

    def report(progress: Any) -> None:
        told = str(progress).removeprefix(f"{progress.model}: ")
        (work.report if progress.dev_accuracy is not None else say)(told)

    folder = train_on(
        model, splits, seed, size=size, settings=settings, adversarial=adversarial, progress=report
    )
    card = load_card(folder)
    return {
        "folder": folder.name,
        "name": card.full_name,
        "fingerprint": card.fingerprint,
        "settings": dict(card.settings),
        "hardening": dict(card.hardening),
        "examples": card.examples,
        "epochs": card.epochs,
        "dev_accuracy": card.dev_accuracy,
        "told": f"dev accuracy {card.dev_accuracy:.3f} after {card.epochs} epochs",
    }


def model_exists(place: Path, told: TaskResult) -> bool:
    """Say whether a model is still in the cache."""
    return Path(models_folder(), told["folder"], CARD_FILE).is_file()


def open_model(told: TaskResult) -> Classifies:
    """Open a model that a step has trained."""
    return load_folder(models_folder() / told["folder"])


def score_split(work: TaskContext, *, target: str, data: str, split: str) -> TaskResult:
    """Say of every text of a side whether a target is right on it, as a row of 0 and 1."""
    dataset = load_split(work.folder, work.needs[data], split)
    model = open_model(work.needs[target])
    found = predict_labels(model, [Text.of(dict(example.fields)) for example in dataset])
    bits = [int(said == example.label) for said, example in zip(found, dataset)]
    share = sum(bits) / len(bits)
    return {"right": "".join(map(str, bits)), "told": f"right on {share:.1%} of {len(bits):,}"}


def attack(
    work: TaskContext,
    *,
    target: str,
    data: str,
    attack: str,
    limit: int | None,
    confidence: float | None = None,
    seed: int = 0,
    settings: Mapping[str, Any],
) -> TaskResult:
    """Attack a target on the test side; `learn_from` of the settings names a side of the data."""
    dataset = load_split(work.folder, work.needs[data], "test")
    chosen = dict(settings)
    if "learn_from" in chosen:
        folder = work.folder / work.needs[data]["folder"]
        chosen["learn_from"] = str(folder / f"{chosen['learn_from']}.csv")
    say = _seldom(work.report)

    def report(progress: Any) -> None:
        broken = progress.counts.get("broken", 0)
        say(f"{progress.done:,} of {progress.planned:,} cases, {broken:,} broken")

    run = run_attack(
        open_model(work.needs[target]),
        dataset,
        attack,
        limit=None if limit is None or limit >= len(dataset) else limit,
        seed=seed,
        confidence=confidence,
        name=work.label,
        folder=work.folder,
        progress=report,
        **chosen,
    )
    statuses = Counter(row.status for row in run.results())
    told = ", ".join(f"{status} {count:,}" for status, count in sorted(statuses.items()))
    return {"run": run.path.name, "warnings": run.manifest["warnings"], "told": told}


def run_exists(place: Path, told: TaskResult) -> bool:
    """Say whether a run is still there."""
    return Path(place, told["run"]).is_file()


def open_task_run(place: Path, told: TaskResult) -> Run:
    """Open a run that a step has made."""
    return Run(place / told["run"])


def transfer(work: TaskContext, *, run: str, target: str) -> TaskResult:
    """Let another target answer the texts of a run: every original, and what the attack left."""
    rows = open_task_run(work.folder, work.needs[run]).results()
    model = open_model(work.needs[target])
    before = predict_labels(model, [Text.of(dict(row.fields)) for row in rows])
    after = predict_labels(model, [Text.of(final_text(row)) for row in rows])
    fooled = sum(a != row.label and b == row.label for a, b, row in zip(after, before, rows))
    told = f"{fooled:,} of {len(rows):,} texts fool this target too"
    return {"before": before, "after": after, "cases": [row.case for row in rows], "told": told}


def final_text(row: Result) -> str:
    """Give the text an attack left: the winner, or the best it found, or the original."""
    return row.original if row.adversarial is None else row.adversarial


def nearest(
    work: TaskContext, *, run: str, target: str, layer: str, most: int, k: int = 5
) -> TaskResult:
    """Find the nearest words of the words that one edit of a character changed in a run."""
    rows = open_task_run(work.folder, work.needs[run]).results()
    words = embed_vocabulary(open_model(work.needs[target]), layer)
    pairs = edited_words(rows, most)
    changes = [words.change(old, new, k) for old, new in pairs]
    lost = sum(change.is_lost for change in changes)
    return {
        "layer": layer,
        "words": len(words.words),
        "k": k,
        "changes": [asdict(change) | {"is_lost": change.is_lost} for change in changes],
        "told": f"{lost:,} of {len(changes):,} edited words are no longer near themselves",
    }


def principal_components(work: TaskContext, *, data: str, features: str) -> TaskResult:
    """Find the two widest components of the train side, and how well they part the classes.

    `features` is "glove", the mean vector of a text's words, or "words", the shares of the most
    frequent words. A text is `parted` if the mean of its own class is the nearest in the plane.
    """
    dataset = load_split(work.folder, work.needs[data], "train")
    table = _mean_vectors(dataset) if features == GLOVE else _bags(dataset)
    found = pca(table)
    label = np.array([dataset.labels.index(str(example.label)) for example in dataset])
    means = np.array([found.points[label == n].mean(axis=0) for n in range(len(dataset.labels))])
    distance = np.linalg.norm(found.points[:, None, :] - means[None, :, :], axis=2)
    parted = int((distance.argmin(axis=1) == label).sum())
    return {
        "points": found.points.round(4).tolist(),
        "label": label.tolist(),
        "labels": list(dataset.labels),
        "share": found.share.tolist(),
        "parted": parted,
        "told": f"{parted / len(label):.1%} of {len(label):,} texts lie nearest to their class",
    }


def predict_labels(target: Classifies, texts: Sequence[Text]) -> list[str]:
    """Give the label a target says of every text, the texts sorted by length on the way."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found = [""] * len(texts)
    for start in range(0, len(order), TEXTS_PER_CALL):
        rows = order[start : start + TEXTS_PER_CALL]
        best = np.asarray(target.scores([texts[i] for i in rows])).argmax(axis=1)
        for i, n in zip(rows, best.tolist()):
            found[i] = target.labels[n]
    return found


def _mean_vectors(dataset: Dataset) -> Any:
    vectors = load_vectors(GLOVE)
    rows = np.zeros((len(dataset), vectors.matrix.shape[1]))
    for n, words in enumerate(_words(dataset)):
        at = [vectors.index[word] for word in words if word in vectors.index]
        if at:
            rows[n] = vectors.matrix[at].mean(axis=0)
    return rows


def _bags(dataset: Dataset) -> Any:
    counts: Counter[str] = Counter()
    texts = [Counter(words) for words in _words(dataset)]
    for text in texts:
        counts.update(text)
    known = sorted(counts, key=lambda word: (-counts[word], word))[:BAG_OF_WORDS_SIZE]
    rows = np.zeros((len(texts), len(known)))
    for column, word in enumerate(known):
        rows[:, column] = [text[word] for text in texts]
    return rows / np.maximum(1, rows.sum(axis=1, keepdims=True))


def _words(dataset: Dataset) -> Iterator[list[str]]:
    return (words_of(example.fields[0][1].lower()) for example in dataset)


def _seldom(say: Report) -> Report:
    """Pass a message on only if the last one was a while ago."""
    last = time.monotonic()

    def told(message: str) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_MESSAGES:
            last = time.monotonic()
            say(message)

    return told
