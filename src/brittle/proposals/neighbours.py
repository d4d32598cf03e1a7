"""Nearest neighbours in word vectors, exact: blocked matrix products, then the few that matter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from brittle.english.forms import match_case
from brittle.english.vectors import Floats, Vectors, load_vectors
from brittle.errors import unknown
from brittle.text import is_word

Metric = Literal["cosine", "euclidean"]
Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# 256 queries against 16,384 words at a time: 16 MB of distances.
_QUERIES = 256
_WORDS = 1 << 14


def nearest(
    vectors: Vectors, queries: npt.ArrayLike, k: int, metric: Metric = "cosine"
) -> tuple[Integers, Doubles]:
    """Find the k nearest words of each query (q × dimensions): indices and distances (q × k).

    Distances are 1 − cosine, or Euclidean; the nearest comes first, ties go to the lower index.
    k is cut to the number of words. A vector of zeros has the cosine 0 with every vector.
    """
    if metric not in ("cosine", "euclidean"):
        raise unknown("metric", str(metric), ("cosine", "euclidean"))
    asked = np.atleast_2d(np.asarray(queries, dtype=np.float32))
    k = max(0, min(k, len(vectors.words)))
    indices = np.zeros((len(asked), k), np.int64)
    distances = np.zeros((len(asked), k))
    for start in range(0, len(asked) if k else 0, _QUERIES):
        block = asked[start : start + _QUERIES]
        for row, near in enumerate(_shortlists(vectors, block, k, metric), start):
            exact = _distances(vectors.matrix[near], asked[row], metric)
            # A stable sort of ascending indices: ties go to the lower one.
            best = np.argsort(exact, kind="stable")[:k]
            indices[row], distances[row] = near[best], exact[best]
    return indices, distances


def _shortlists(vectors: Vectors, queries: Floats, k: int, metric: Metric) -> list[Integers]:
    """List for every query, in ascending order, some words that hold all of its k nearest.

    Distances are rough here (float32, and up to a constant per query). The smallest of each chunk
    of words is taken first: the k-th smallest of these is no smaller than the k-th smallest of
    all, so only words below it, with a margin for rounding, can be among the nearest.
    """
    chunk = max(1, min(256, _WORDS // (4 * k)))
    smallest = np.full((len(queries), k), np.inf, np.float32)
    found: list[tuple[Integers, Integers, Floats]] = []
    margin = _margin(vectors, queries, metric)
    for start in range(0, len(vectors.words), _WORDS):
        rough = _rough(vectors, slice(start, start + _WORDS), queries, metric)
        minima = np.minimum.reduceat(rough, np.arange(0, rough.shape[1], chunk), axis=1)
        smallest = np.partition(np.concatenate([smallest, minima], axis=1), k - 1, axis=1)[:, :k]
        # Flat positions: numpy finds these many times faster than rows and columns.
        hits = np.flatnonzero(rough <= smallest.max(axis=1, keepdims=True) + margin)
        rows, columns = np.divmod(hits, rough.shape[1])
        found.append((rows, columns + start, rough[rows, columns]))
    rows, columns, values = (np.concatenate(part) for part in zip(*found))
    kept = values <= (smallest.max(axis=1) + margin[:, 0])[rows]
    rows, columns = rows[kept], columns[kept]
    order = np.lexsort((columns, rows))
    ends = np.searchsorted(rows[order], np.arange(1, len(queries)))
    return np.split(columns[order], ends)


def _rough(vectors: Vectors, words: slice, queries: Floats, metric: Metric) -> Floats:
    matrix, squares = vectors.matrix[words], vectors.squares[words]
    if metric == "euclidean":
        rough: Floats = (-2 * queries) @ matrix.T
        rough += squares
        return rough
    lengths = np.einsum("ij,ij->i", queries, queries)
    cosine: Floats = -_unit(queries, lengths) @ _unit(matrix, squares).T
    return cosine


def _unit(matrix: Floats, squares: Floats) -> Floats:
    lengths = np.sqrt(np.where(squares > 0, squares, 1), dtype=np.float32)
    return np.asarray(matrix / lengths[:, None], dtype=np.float32)


def _margin(vectors: Vectors, queries: Floats, metric: Metric) -> Floats:
    """Bound twice the rounding error of a rough distance, for each query (q × 1)."""
    steps = (vectors.matrix.shape[1] + 16) * np.finfo(np.float32).eps
    if metric == "cosine":
        return np.full((len(queries), 1), 4 * steps, np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", queries, queries)) + np.sqrt(vectors.squares.max())
    return np.asarray(4 * steps * lengths[:, None] ** 2, dtype=np.float32)


def _distances(rows: Floats, query: Floats, metric: Metric) -> Doubles:
    """Measure in double precision and row by row, so that no word depends on its company."""
    wide, point = rows.astype(np.float64), query.astype(np.float64)
    if metric == "euclidean":
        return np.asarray(np.sqrt(((wide - point) ** 2).sum(axis=1)))
    scale = np.sqrt((wide**2).sum(axis=1) * (point**2).sum())
    return np.asarray(1 - (wide * point).sum(axis=1) / np.where(scale > 0, scale, 1))


@dataclass(frozen=True)
class Neighbours:
    """The nearest words in a space of word vectors, whatever their part of speech.

    `source` is what `load_vectors` takes. `within` is a limit on the *squared Euclidean* distance
    (Alzantot et al., 2018: 0.5 on counter-fitted vectors). Of the k nearest, those that lie
    further, are no words or differ only in case are left out. A word that is known in lower case
    only gets its neighbours in its own capitalisation.
    """

    source: str
    k: int = 8
    within: float | None = None
    needs_tags: ClassVar[bool] = False

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the neighbours of a word, the nearest first; none if it has no vector."""
        known = _KNOWN.setdefault(self, {})
        if word not in known:
            self.prepare([word])
        return known[word]

    def prepare(self, words: Iterable[str]) -> None:
        """Find the neighbours of many words at once, which is far cheaper than one by one."""
        known = _KNOWN.setdefault(self, {})
        new = list(dict.fromkeys(word for word in words if word not in known))
        vectors = load_vectors(self.source)
        at = {word: vectors.index.get(word, vectors.index.get(word.lower())) for word in new}
        rows = list(dict.fromkeys(row for row in at.values() if row is not None))
        # One more than asked for, since the nearest word is the word itself.
        indices, distances = nearest(vectors, vectors.matrix[rows], self.k + 1, "euclidean")
        found = {row: (indices[i], distances[i]) for i, row in enumerate(rows)}
        for word, row in at.items():
            known[word] = () if row is None else self._pick(word, row, vectors, *found[row])

    def _pick(
        self, word: str, row: int, vectors: Vectors, indices: Integers, distances: Doubles
    ) -> tuple[str, ...]:
        limit = np.inf if self.within is None else np.sqrt(self.within)
        others = [i for i, distance in zip(indices, distances) if i != row and distance <= limit]
        forms = (vectors.words[i] for i in others[: self.k])
        if vectors.words[row] != word:
            forms = (match_case(form, word) for form in forms)
        return tuple(dict.fromkeys(f for f in forms if f.lower() != word.lower() and is_word(f)))


_KNOWN: dict[Neighbours, dict[str, tuple[str, ...]]] = {}
