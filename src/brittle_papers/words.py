"""Tasks about words: those that speak most for a class, and how many are near to a word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from brittle.data import Example
from brittle.english.stop_words import is_stop_word
from brittle.proposals.strong_words import StrongWords
from brittle.studies.representation import embed_vocabulary
from brittle.text import words_of
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
