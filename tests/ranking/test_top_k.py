"""The highest gains against a full sort, with ties, blocks and gains that are not finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.ranking import top_k as module  # noqa: E402
from brittle.ranking.top_k import top_k, top_k_of_table  # noqa: E402

SHAPES = [(0, 5), (1, 1), (4, 0), (7, 300), (30, 128)]


def sort_fully(gain: Any, k: int) -> list[tuple[float, int, int]]:
    """List the finite gains of a table, the highest first, ties by row and column."""
    entries = [(-value, *at) for at, value in np.ndenumerate(gain) if np.isfinite(value)]
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
    gain = np.array([[1, 9], [8, 2], [7, 7], [0, 3], [9, 0]])
    asked = []

    def expand(block: Any) -> Any:
        asked.extend(block.tolist())
        return gain[block]

    first, second = top_k(gain.max(axis=1), [3, 5], 2, expand)
    assert asked == [0, 1, 3, 4]
    assert list(zip(*first)) == [(9, 0, 1), (8, 1, 0)]
    assert list(zip(*second)) == [(9, 1, 0), (3, 0, 1)]
    assert top_k(np.zeros(0), [], 2, expand) == []
