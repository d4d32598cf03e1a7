"""Tasks that measure: words, principal components, and how good estimated gains are.

Tasks about words: those that speak most for a class, and how many are near to a word. The task that
finds the two principal components of a training set. The task that compares the estimated gain of
character edits with what they really change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.candidates.strong_words import StrongWords
from brittle.data import Example
from brittle.english.vectors import GLOVE, load_vectors
from brittle.english.words import is_stop_word
from brittle.inside.nearest import embed_vocabulary
from brittle.metrics.components import pca
from brittle.metrics.paired import rank_correlation
from brittle.moves import CHARACTER_EDITS, EditKind, EditRequest, EditSpace, Move
from brittle.targets.protocols import Classifies, HasFlips
from brittle.text import Text, is_word, words_of
from brittle.workflow.tasks import TaskContext
from brittle_papers.data import load_split, load_splits
from brittle_papers.planning import task_function
from brittle_papers.tasks import open_model

WORDS_PER_PRODUCT = 512


@task_function("brittle.papers.words:strongest_words", "data")
def strongest_words(
    context: TaskContext, *, data: str, source: str, content: str, count: int
) -> dict[str, Any]:
    """Return for each of two classes the words that speak most for it, the strongest first.

    `whole` learns from all texts of the source, with punctuation removed, so that 4/10 is the word
    410; `train` from the train split of the data task, as attacks do. `content` is the digest of
    the source.
    """
    whole = [example for dataset in load_splits(source).values() for example in dataset]
    plain = [Example.of(_without_punctuation(e.fields[0][1]), e.label) for e in whole]
    train = load_split(context.folder, context.needs[data], "train")
    words: dict[str, dict[str, list[str]]] = {}
    for name, examples in {"whole": plain, "train": train.examples}.items():
        strong = StrongWords.learn(examples, train.labels)
        strongest = {c: strong.strongest(n, 1 - n, count) for n, c in enumerate(train.labels)}
        words[name] = strongest
    message = "; ".join(f"{label}: {', '.join(found)}" for label, found in words["whole"].items())
    return {"words": words, "message": message}


def _without_punctuation(text: str) -> str:
    """Remove punctuation, and tags such as <br />.

    >>> _without_punctuation("Not good.<br />4/10")
    'Not good 410'
    """
    return re.sub(r"[^\w\s]", "", re.sub(r"<[^<>]*>", " ", text))


@task_function("brittle.papers.words:count_neighbours", "data", "target")
def count_neighbours(
    context: TaskContext, *, target: str, data: str, thresholds: Sequence[float]
) -> dict[str, Any]:
    """Count for the words of the test split how many of the vocabulary reach each cosine.

    Each count stands once for every time its word occurs; stop words and unknown words are left
    out.
    """
    dataset = load_split(context.folder, context.needs[data], "test")
    vocabulary = embed_vocabulary(open_model(context.needs[target]), "embedding")
    row_of = {word: n for n, word in enumerate(vocabulary.words)}
    words = (word for example in dataset for word in words_of(example.fields[0][1].lower()))
    times = Counter(row_of[word] for word in words if word in row_of and not is_stop_word(word))
    rows = sorted(times)
    counts: dict[str, list[int]] = {f"{threshold:g}": [] for threshold in thresholds}
    for start in range(0, len(rows), WORDS_PER_PRODUCT):
        part = rows[start : start + WORDS_PER_PRODUCT]
        cosine = vocabulary.unit[part] @ vocabulary.unit.T
        cosine[np.arange(len(part)), part] = -1.0  # the word itself
        repeats = [times[row] for row in part]
        for threshold in thresholds:
            near = (cosine >= threshold).sum(axis=1)
            counts[f"{threshold:g}"] += np.repeat(near, repeats).tolist()
    means = [f"{name}: {np.mean(near or [0]):.2f}" for name, near in counts.items()]
    return {"neighbours": counts, "message": "mean neighbours, " + ", ".join(means)}


BAG_OF_WORDS_SIZE = 1000  # the most frequent words


@task_function("brittle.papers.components:principal_components", "data")
def principal_components(context: TaskContext, *, data: str, features: str) -> dict[str, Any]:
    """Find the first two components of the train split, and how well they separate the classes.

    `features` is "glove", the mean vector of the words of a text, or "words", the shares of the
    most frequent words. `parted` counts the texts whose class has the nearest mean in the plane.
    """
    dataset = load_split(context.folder, context.needs[data], "train")
    texts = [words_of(example.fields[0][1].lower()) for example in dataset]
    plane = pca(_mean_vectors(texts) if features == GLOVE else _bags_of_words(texts))
    label = np.array([dataset.labels.index(str(example.label)) for example in dataset])
    means = np.array([plane.points[label == n].mean(axis=0) for n in range(len(dataset.labels))])
    distance = np.linalg.norm(plane.points[:, None, :] - means[None, :, :], axis=2)
    parted = int((distance.argmin(axis=1) == label).sum())
    return {
        "points": plane.points.round(4).tolist(),
        "label": label.tolist(),
        "labels": list(dataset.labels),
        "share": plane.share.tolist(),
        "parted": parted,
        "message": f"{parted / len(label):.1%} of {len(label):,} texts lie nearest to their class",
    }


def _mean_vectors(texts: list[list[str]]) -> NDArray[np.float64]:
    vectors = load_vectors(GLOVE)
    mean = np.zeros((len(texts), vectors.matrix.shape[1]))
    for n, words in enumerate(texts):
        indices = [vectors.index[word] for word in words if word in vectors.index]
        if indices:
            mean[n] = vectors.matrix[indices].mean(axis=0)
    return mean


def _bags_of_words(texts: list[list[str]]) -> NDArray[np.float64]:
    bags = [Counter(words) for words in texts]
    counts = Counter(word for words in texts for word in words)
    frequent = sorted(counts, key=lambda word: (-counts[word], word))[:BAG_OF_WORDS_SIZE]
    share = np.zeros((len(bags), len(frequent)))
    for column, word in enumerate(frequent):
        share[:, column] = [bag[word] for bag in bags]
    share /= np.maximum(1, share.sum(axis=1, keepdims=True))
    return share


KINDS = ("flip", "inner insert", "append", "delete")
ALL_EDITS = 1_000_000  # more than a text has
SMALLEST_PROBABILITY = 1e-300
MOVES_FOR_EACH = 8  # edits drawn for each that is used: most inserts are inner ones


@task_function("brittle.papers.estimates:estimates", "data", "target")
def estimates(
    context: TaskContext,
    *,
    target: str,
    data: str,
    texts: int,
    edits: int,
    estimate: str,
    seed: int,
) -> dict[str, Any]:
    """Compute the rank correlation of gains and true changes in loss, by kind of edit.

    For each of `texts` texts of the test split it is taken over up to `edits` random edits of a
    kind. An insert at the end of a word is an append: it moves no other character.
    """
    model: Any = open_model(context.needs[target])
    dataset = load_split(context.folder, context.needs[data], "test")
    random = Random(seed)
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for example in dataset.take(min(texts, len(dataset)), seed):
        text, label = Text.of(dict(example.fields)), dataset.labels.index(str(example.label))
        for kind in CHARACTER_EDITS:
            moves = _random_moves(model, text, label, kind, estimate, random)
            for name, chosen in _by_kind(text, moves, edits).items():
                change = _losses(model, [text.swap(m.position, m.new) for m in chosen], label)
                value = rank_correlation([move.gain for move in chosen], change)
                if value is not None:
                    found[name].append(value)
    means = [f"{kind} {np.mean(values or [0]):.2f}" for kind, values in found.items()]
    return {"correlations": found, "message": "rank correlation, " + ", ".join(means)}


def _random_moves(
    model: HasFlips, text: Text, label: int, kind: EditKind, estimate: str, random: Random
) -> Iterator[Move]:
    """Yield all edits of a kind in random order, each with its estimated gain."""
    changed: dict[str, Any] = {} if estimate == "paper" else {"estimate": estimate}
    space = EditSpace("characters", (kind,), ALL_EDITS, **changed)
    request = EditRequest(text, label, None, space, tuple(model.words_read([text])[0]))
    moves = model.flips([request])[0].moves
    order = list(range(len(moves.gain)))
    random.shuffle(order)
    return (move for move in map(moves.__getitem__, order) if is_word(move.new))


def _by_kind(text: Text, moves: Iterator[Move], edits: int) -> dict[str, list[Move]]:
    """Sort some edits by kind, up to `edits` of each; appends are a small part of the inserts."""
    chosen: dict[str, list[Move]] = {}
    for move in islice(moves, MOVES_FOR_EACH * edits):
        name: str = move.kind
        if name == "insert":
            is_last = move.character == len(str(text.words[move.position]))
            name = "append" if is_last else "inner insert"
        chosen.setdefault(name, []).append(move)
    return {name: of_kind[:edits] for name, of_kind in chosen.items()}


def _losses(model: Classifies, texts: list[Text], label: int) -> NDArray[np.float64]:
    """Compute the loss of each text; that of the original would only shift them all."""
    probability = np.maximum(model.scores(texts)[:, label], SMALLEST_PROBABILITY)
    loss: NDArray[np.float64] = -np.log(probability)
    return loss
