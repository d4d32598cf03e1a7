"""The highest gains against a full sort, with ties, blocks and gains that are not finite."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.ranking import top_k as module  # noqa: E402
from brittle.ranking.top_k import top_k, top_k_of_table  # noqa: E402

SHAPES = [(0, 5), (1, 1), (4, 0), (7, 300), (30, 128)]


def sort_fully(gain: Any, k: int) -> list[tuple[float, int, int]]:
    """List the finite gains of a table, rounded, the highest first, ties by row and column."""
    finite = [(float(value), *at) for at, value in np.ndenumerate(gain) if np.isfinite(value)]
    highest = max([value for value, *_ in finite], default=0.0)
    # Of the 23 bits after the first, 7 may depend on the order of a sum.
    step = 2.0 ** (math.frexp(highest)[1] - 16) if highest else 0.0
    entries = [(-round(value / step) * step if step else -value, *at) for value, *at in finite]
    return [(-value, row, column) for value, row, column in sorted(entries)[:k]]


@pytest.mark.parametrize("block", [1, 3, 128])
@pytest.mark.parametrize("k", [0, 1, 7, 10**9])
def test_a_table_of_several_texts(block: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_COLUMNS", block)
    random = np.random.default_rng(5)
    for rows, columns in SHAPES:
        for values in (2, 10**6):  # few values: nearly all are ties
            gain = random.integers(0, values, (rows, columns)).astype(np.float32)
            gain[random.random(gain.shape) < 0.1] = -np.inf
            ends = sorted([*random.integers(0, rows + 1, 3).tolist(), rows])
            found = top_k_of_table(torch.from_numpy(gain), ends, k)
            for best, start, stop in zip(found, [0, *ends], ends):
                assert list(zip(*best)) == sort_fully(gain[start:stop], k)
                assert best.gain.dtype == np.float64


def test_what_is_not_finite_hides_nothing() -> None:
    gain = torch.arange(600.0).view(2, 300)
    gain[0, 299], gain[1, 5], gain[1, 200] = torch.nan, torch.inf, -torch.inf
    [best] = top_k_of_table(gain, [2], 10**9)
    assert len(best.gain) == 597
    assert list(zip(*best)) == sort_fully(gain.numpy(), 10**9)


def test_only_the_best_blocks_are_expanded() -> None:
    gain = np.array([[1.0, 9], [8, 2], [7, 7], [0, 3], [9, 0]])
    asked = []

    def expand(block: Any) -> Any:
        asked.extend(block.tolist())
        return gain[block]

    first, second = top_k(gain.max(axis=1), [3, 5], 2, expand)
    assert asked == [0, 1, 3, 4]
    assert list(zip(*first)) == [(9, 0, 1), (8, 1, 0)]
    assert list(zip(*second)) == [(9, 1, 0), (3, 0, 1)]
    assert top_k(np.zeros(0), [], 2, expand) == []


@pytest.mark.parametrize("scale", [1.0, 1e-30, 3e7])
def test_last_digits_decide_nothing(scale: float) -> None:
    """Words that a model cannot tell apart keep their order, whatever their last digits are."""
    random = np.random.default_rng(3)
    gain = np.repeat(random.normal(size=(4, 30)), 3, axis=1).astype(np.float32) * np.float32(scale)
    noise = random.integers(-2, 3, (8, *gain.shape)) * np.spacing(abs(gain))
    [expected], *others = [
        top_k_of_table(torch.from_numpy((gain + part).astype(np.float32)), [4], 40)
        for part in (np.zeros_like(gain), *noise)
    ]
    for [other] in others:
        moved = [a != b for a, b in zip(zip(*other), zip(*expected))]
        assert sum(moved) <= 4  # a gain that lies between two multiples can go either way
    assert expected.column.reshape(-1)[:3].tolist() == sorted(expected.column[:3].tolist())


def test_in_double_precision_more_digits_are_kept() -> None:
    gain = torch.tensor([[1.0, 1.0 + 2.0**-40, 1.0 + 2.0**-50]], dtype=torch.float64)
    [best] = top_k_of_table(gain, [1], 3)
    assert best.column.tolist() == [1, 0, 2]
