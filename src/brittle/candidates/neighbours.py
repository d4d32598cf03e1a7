"""Exact nearest neighbours in word vectors: rough distances of all words, exact ones of a few."""

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
_QUERIES_PER_BLOCK = 256
_WORDS_PER_BLOCK = 1 << 14


def nearest(
    vectors: Vectors, queries: npt.ArrayLike, k: int, metric: Metric = "cosine"
) -> tuple[Integers, Doubles]:
    """Return the k nearest words of each query (q × dimensions): indices and distances (q × k).

    Distances are 1 − cosine, or Euclidean; the nearest comes first, ties go to the lower index.
    k is cut to the number of words. A vector of zeros has the cosine 0 with every vector.
    """
    if metric not in ("cosine", "euclidean"):
        raise unknown("metric", str(metric), ("cosine", "euclidean"))
    points = np.atleast_2d(np.asarray(queries, dtype=np.float32))
    k = max(0, min(k, len(vectors.words)))
    indices = np.zeros((len(points), k), np.int64)
    distances = np.zeros((len(points), k))
    for start in range(0, len(points) if k else 0, _QUERIES_PER_BLOCK):
        block = points[start : start + _QUERIES_PER_BLOCK]
        for row, near in enumerate(_shortlists(vectors, block, k, metric), start):
            exact = _exact_distances(vectors.matrix[near], points[row], metric)
            # A stable sort of ascending indices: ties go to the lower one.
            best = np.argsort(exact, kind="stable")[:k]
            indices[row], distances[row] = near[best], exact[best]
    return indices, distances


def _shortlists(vectors: Vectors, queries: Floats, k: int, metric: Metric) -> list[Integers]:
    """Return for every query the indices of some words, ascending: its k nearest are among them.

    Distances are rough here (float32, and up to a constant per query). The smallest distance of
    each chunk of words is taken first: the k-th smallest of these is no smaller than the k-th
    smallest of all, so only words below it, with a margin for rounding, can be among the nearest.
    """
    chunk = max(1, min(256, _WORDS_PER_BLOCK // (4 * k)))
    smallest = np.full((len(queries), k), np.inf, np.float32)
    blocks: list[tuple[Integers, Integers, Floats]] = []
    margin = _rounding_margin(vectors, queries, metric)
    for start in range(0, len(vectors.words), _WORDS_PER_BLOCK):
        block = slice(start, start + _WORDS_PER_BLOCK)
        rough = _rough_distances(vectors, block, queries, metric)
        minima = np.minimum.reduceat(rough, np.arange(0, rough.shape[1], chunk), axis=1)
        smallest = np.partition(np.concatenate([smallest, minima], axis=1), k - 1, axis=1)[:, :k]
        # Flat indices: numpy finds these many times faster than rows and columns.
        hits = np.flatnonzero(rough <= smallest.max(axis=1, keepdims=True) + margin)
        rows, columns = np.divmod(hits, rough.shape[1])
        blocks.append((rows, columns + start, rough[rows, columns]))
    rows, columns, values = (np.concatenate(part) for part in zip(*blocks))
    is_near = values <= (smallest.max(axis=1) + margin[:, 0])[rows]
    rows, columns = rows[is_near], columns[is_near]
    order = np.lexsort((columns, rows))
    ends = np.searchsorted(rows[order], np.arange(1, len(queries)))
    return np.split(columns[order], ends)


def _rough_distances(vectors: Vectors, words: slice, queries: Floats, metric: Metric) -> Floats:
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


def _rounding_margin(vectors: Vectors, queries: Floats, metric: Metric) -> Floats:
    """Return a bound on twice the rounding error of a rough distance, for each query (q × 1)."""
    steps = (vectors.matrix.shape[1] + 16) * np.finfo(np.float32).eps
    if metric == "cosine":
        return np.full((len(queries), 1), 4 * steps, np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", queries, queries)) + np.sqrt(vectors.squares.max())
    return np.asarray(4 * steps * lengths[:, None] ** 2, dtype=np.float32)


def _exact_distances(rows: Floats, query: Floats, metric: Metric) -> Doubles:
    """Compute in double precision and row by row, so that no row depends on the others."""
    wide, point = rows.astype(np.float64), query.astype(np.float64)
    if metric == "euclidean":
        return np.asarray(np.sqrt(((wide - point) ** 2).sum(axis=1)))
    scale = np.sqrt((wide**2).sum(axis=1) * (point**2).sum())
    return np.asarray(1 - (wide * point).sum(axis=1) / np.where(scale > 0, scale, 1))


@dataclass(frozen=True)
class Neighbours:
    """The nearest words in a space of word vectors, whatever their part of speech.

    `source` is what `load_vectors` takes. `within` is a limit on the *squared Euclidean* distance
    (Alzantot et al., 2018: 0.5 on counter-fitted vectors). Of the k nearest words, those that lie
    further, are no words or differ only in case are left out. For a word that has a vector in
    lower case only, the neighbours take its capitalisation.
    """

    source: str
    k: int = 8
    within: float | None = None
    needs_tags: ClassVar[bool] = False

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the neighbours of a word, the nearest first; none if it has no vector."""
        cache = _CACHES.setdefault(self, {})
        if word not in cache:
            self.prepare([word])
        return cache[word]

    def prepare(self, words: Iterable[str]) -> None:
        """Find the neighbours of many words at once, which is far cheaper than one by one."""
        cache = _CACHES.setdefault(self, {})
        new = list(dict.fromkeys(word for word in words if word not in cache))
        vectors = load_vectors(self.source)
        row_of = {word: vectors.index.get(word, vectors.index.get(word.lower())) for word in new}
        rows = list(dict.fromkeys(row for row in row_of.values() if row is not None))
        # One more than asked for, since the nearest word is the word itself.
        indices, distances = nearest(vectors, vectors.matrix[rows], self.k + 1, "euclidean")
        near = {row: (indices[i], distances[i]) for i, row in enumerate(rows)}
        for word, row in row_of.items():
            cache[word] = () if row is None else self._select(word, row, vectors, *near[row])

    def _select(
        self, word: str, row: int, vectors: Vectors, indices: Integers, distances: Doubles
    ) -> tuple[str, ...]:
        limit = np.inf if self.within is None else np.sqrt(self.within)
        others = [i for i, distance in zip(indices, distances) if i != row and distance <= limit]
        forms = (vectors.words[i] for i in others[: self.k])
        if vectors.words[row] != word:
            forms = (match_case(form, word) for form in forms)
        return tuple(dict.fromkeys(f for f in forms if f.lower() != word.lower() and is_word(f)))


_CACHES: dict[Neighbours, dict[str, tuple[str, ...]]] = {}
