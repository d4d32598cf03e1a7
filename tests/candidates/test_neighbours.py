"""Nearest neighbours, beside brute force."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from brittle.candidates import Neighbours, neighbours
from brittle.candidates.neighbours import Metric, nearest
from brittle.english.vectors import Vectors, load_vectors
from brittle.errors import UsageError

METRICS: tuple[Metric, ...] = ("cosine", "euclidean")


def space(words: int, size: int, seed: int = 0) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((words, size)).astype(np.float32)
    return Vectors([f"w{i}" for i in range(words)], rows)


def brute(vectors: Vectors, query: np.ndarray, k: int, metric: Metric) -> list[tuple[float, int]]:
    """Measure every word in double precision, and sort by distance, then index."""
    point = query.astype(np.float64)
    measured = []
    for i, row in enumerate(vectors.matrix.astype(np.float64)):
        if metric == "euclidean":
            measured.append((float(np.sqrt(((row - point) ** 2).sum())), i))
        else:
            scale = np.sqrt((row**2).sum() * (point**2).sum()) or 1.0
            measured.append((float(1 - (row * point).sum() / scale), i))
    return sorted(measured)[:k]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("words", "k"), [(1, 1), (7, 3), (300, 1), (1000, 9), (1000, 1000)])
def test_neighbours_are_those_of_brute_force(
    metric: Metric, words: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small blocks, uneven ends: the result must not depend on how the work is cut.
    monkeypatch.setattr(neighbours, "_WORDS_PER_BLOCK", 64)
    monkeypatch.setattr(neighbours, "_QUERIES_PER_BLOCK", 4)
    vectors = space(words, 5)
    queries = np.concatenate([vectors.matrix[:3], space(6, 5, seed=1).matrix])
    indices, distances = nearest(vectors, queries, k, metric)
    assert indices.shape == distances.shape == (len(queries), min(k, words))
    for row, query in enumerate(queries):
        expected = brute(vectors, query, k, metric)
        assert indices[row].tolist() == [i for _, i in expected]
        assert distances[row] == pytest.approx([d for d, _ in expected], rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("metric", METRICS)
def test_ties_go_to_the_lower_index(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_WORDS_PER_BLOCK", 8)
    both = space(2, 20).matrix
    which = np.random.default_rng(5).integers(0, 2, 400)
    vectors = Vectors([f"w{i}" for i in range(400)], both[which])
    indices, distances = nearest(vectors, both[0], 300, metric)
    assert indices[0].tolist() == np.argsort(which, kind="stable")[:300].tolist()
    assert len(set(distances[0].tolist())) == 2


def test_rounding_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    # Far from the origin, single precision cannot tell these apart; double precision can.
    monkeypatch.setattr(neighbours, "_WORDS_PER_BLOCK", 16)
    rng = np.random.default_rng(0)
    rows = (1000 + 0.01 * rng.standard_normal((500, 8))).astype(np.float32)
    vectors = Vectors([f"w{i}" for i in range(500)], rows)
    indices, _ = nearest(vectors, rows[:20], 5, "euclidean")
    for row in range(20):
        assert indices[row].tolist() == [i for _, i in brute(vectors, rows[row], 5, "euclidean")]


def test_the_company_of_a_query_does_not_matter() -> None:
    vectors = space(2000, 50)
    together = nearest(vectors, vectors.matrix[:50], 5)
    for row in (0, 17, 49):
        alone = nearest(vectors, vectors.matrix[row], 5)
        assert np.array_equal(alone[0][0], together[0][row])
        assert np.array_equal(alone[1][0], together[1][row])


def test_zero_vectors_and_no_queries() -> None:
    vectors = Vectors(["a", "b"], np.array([[0, 0], [1, 0]], dtype=np.float32))
    indices, distances = nearest(vectors, [[1, 0], [0, 0]], 2)
    assert indices.tolist() == [[1, 0], [0, 1]] and distances.tolist() == [[0, 1], [1, 1]]
    assert nearest(vectors, np.empty((0, 2)), 2)[0].shape == (0, 2)
    assert nearest(vectors, [[1, 0]], 0)[0].shape == (1, 0)


def test_an_unknown_metric_is_named() -> None:
    with pytest.raises(UsageError, match=r"Unknown metric 'cosin'\. Did you mean 'cosine'"):
        nearest(space(3, 2), [[0, 0]], 1, "cosin")  # type: ignore[arg-type]


@pytest.fixture
def source(tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "own.txt"
    path.write_text(
        "good 0 0\nfine 0.6 0\ndecent 0 0.7\n... 0.1 0\nGood 0 0.1\nbad 0.8 0\nfar 9 9\n",
        encoding="utf-8",
    )
    yield str(path)
    load_vectors.cache_clear()


def test_a_word_has_its_nearest_words(source: str) -> None:
    assert Neighbours(source, k=5).of("good", "JJ") == ("fine", "decent", "bad")
    assert Neighbours(source, k=1).of("good", "") == ()  # the nearest is no word
    assert Neighbours(source, k=6).of("good", "")[-1] == "far"


def test_the_limit_is_on_the_squared_distance(source: str) -> None:
    assert Neighbours(source, within=0.5).of("good", "") == ("fine", "decent")
    assert Neighbours(source, within=0.4).of("good", "") == ("fine",)


def test_case_is_kept(source: str) -> None:
    assert Neighbours(source, within=0.5).of("GOOD", "") == ("FINE", "DECENT")
    assert Neighbours(source, within=0.1).of("Bad", "") == ("Fine",)
    assert Neighbours(source, within=0.5).of("unheard", "") == ()


def test_prepared_words_are_the_same_and_found_at_once(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["good", "GOOD", "fine", "unheard", "far"]
    expected = [Neighbours(source, k=3).of(word, "") for word in words]
    calls = []

    def counted(vectors: Vectors, queries: np.ndarray, k: int, metric: Metric):  # type: ignore[no-untyped-def]
        calls.append(len(queries))
        return nearest(vectors, queries, k, metric)

    neighbours._CACHES.clear()
    monkeypatch.setattr(neighbours, "nearest", counted)
    proposal = Neighbours(source, k=3)
    proposal.prepare(words)
    assert [proposal.of(word, "") for word in words] == expected
    assert calls == [3]  # good, fine, far; the rest is the same row or none
    assert not proposal.needs_tags
