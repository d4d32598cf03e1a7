"""The task that finds the two principal components of a training set."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.english.vectors import GLOVE, load_vectors
from brittle.metrics.pca import pca
from brittle.text import words_of
from brittle.workflow.tasks import TaskContext
from brittle_papers.data import load_split
from brittle_papers.planning import task_function

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
