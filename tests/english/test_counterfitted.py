"""Counter-fitted vectors: the method on a space drawn by hand, the table, and what is shipped."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from brittle.english.vectors import SHIPPED, SynonymVectors, Vectors, counterfitted, unit_rows


def script() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts" / "counterfit.py"
    spec = importlib.util.spec_from_file_location("counterfit", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def angle(*degrees: float) -> np.ndarray:
    turned = np.radians(degrees)
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


def test_synonyms_come_together_antonyms_part_and_neighbours_follow() -> None:
    # 0 and 1 are antonyms though near, 0 and 2 synonyms though far; 3 is near 2 alone.
    before = angle(0, 10, 60, 65)
    module = script()
    after = module.counterfit(before, np.array([[0, 2]]), np.array([[0, 1]]))
    cosine = after @ after.T
    assert np.allclose(np.linalg.norm(after, axis=1), 1, atol=1e-6)
    assert cosine[0, 2] > 0.99 and cosine[0, 1] < 0.2
    assert np.array_equal(after[3], before[3])  # in no pair, and not among the words kept near


def test_a_pull_is_the_mean_direction_in_which_cosines_rise() -> None:
    module = script()
    matrix = angle(0, 40, 90)
    pairs = np.array([[0, 1], [0, 2]])
    pull = module.mean_pull(matrix, pairs)
    expected = np.zeros_like(matrix)
    for row, others in {0: (1, 2), 1: (0,), 2: (0,)}.items():
        parts = [matrix[o] - (matrix[o] @ matrix[row]) * matrix[row] for o in others]
        expected[row] = np.mean(parts, axis=0)
    assert np.allclose(pull, expected, atol=1e-6)


def test_near_pairs_are_those_within_the_distance() -> None:
    module = script()
    matrix = angle(0, 20, 50, 300)
    near = module.near_pairs(matrix, np.arange(4))
    brute = [
        (a, b)
        for a in range(4)
        for b in range(a + 1, 4)
        if matrix[a] @ matrix[b] >= 1 - module.NEAR
    ]
    assert [tuple(pair) for pair in near.tolist()] == brute == [(0, 1), (1, 2)]


def test_a_table_comes_back_with_its_words_vectors_and_pairs() -> None:
    matrix = unit_rows(np.array([[3, 4], [-1, 0.5], [0.2, 0.9]], np.float32))
    pairs = np.array([[0, 2, 512], [1, 2, -40]], np.int16)
    back = SynonymVectors.from_table(
        script().table(SynonymVectors(Vectors(["good", "bad", "fine"], matrix), pairs))
    )
    assert list(back.vectors.words) == ["good", "bad", "fine"]
    assert np.allclose(back.vectors.matrix, matrix, atol=0.01)
    assert back.listed("good") == {"fine": 0.512} and back.listed("absent") == {}
    assert back.listed("fine") == {"good": 0.512, "bad": -0.04}
    assert back.similarity("good", "fine") == pytest.approx(float(matrix[0] @ matrix[2]), abs=0.01)
    assert back.similarity("good", "absent") is None


def test_the_shipped_table_is_small_and_knows_synonyms_from_antonyms() -> None:
    assert SHIPPED.stat().st_size < 3_000_000
    table = counterfitted()
    assert len(table.vectors.words) == 30_000
    for word, synonym, antonym in [
        ("good", "decent", "bad"),
        ("strong", "solid", "weak"),
        ("happy", "glad", "sad"),
        ("increase", "growth", "decrease"),
    ]:
        near, far = table.similarity(word, synonym), table.similarity(word, antonym)
        assert near is not None and far is not None and near > 0.5 > far, word


def test_the_shipped_table_orders_pairs_as_people_do() -> None:
    folder = Path(__file__).parents[3] / "shared" / "data" / "counterfit"
    if not (folder / "SimLex-999.txt.gz").is_file():
        pytest.skip("SimLex-999 is not here")
    module = script()
    correlation, _, _ = module.simlex(counterfitted().vectors, module.load_simlex(folder)).split(
        " ", 2
    )
    assert float(correlation) >= 0.45
