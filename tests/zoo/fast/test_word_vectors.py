"""Vectors are made once a row, within bounds."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.text import Text  # noqa: E402
from brittle.zoo.fast.cnn import WORDS_PER_PASS, WordVectorCache, compute_word_vectors  # noqa: E402
from zoo.small import KNOWN, model  # noqa: E402

WIDTH = 4


def doubled(made: list[int]) -> Any:
    def make(rows: Any) -> Any:
        made.extend(rows.tolist())
        return torch.from_numpy(2.0 * rows + 1)[:, None].expand(-1, WIDTH)

    return make


def found(table: WordVectorCache, rows: list[list[int]]) -> Any:
    kept, position = table.look_up(np.array(rows))
    return kept[torch.from_numpy(position)][..., 0].tolist()


def test_each_row_is_made_once() -> None:
    made: list[int] = []
    table = WordVectorCache(doubled(made))
    assert found(table, [[1, 2], [2, 0]]) == [[3, 5], [5, 1]]
    assert found(table, [[3, 1], [5000, 2]]) == [[7, 3], [10001, 5]]
    assert sorted(made) == [0, 1, 2, 3, 5000]
    assert found(table, [list(range(3 * WORDS_PER_PASS))]) == [
        [2 * n + 1 for n in range(3 * WORDS_PER_PASS)]
    ]
    assert len(made) == len(set(made))


def test_it_forgets_rather_than_grow_beyond_its_bound() -> None:
    made: list[int] = []
    table = WordVectorCache(doubled(made), max_bytes=10 * WIDTH * 8)
    for start in range(0, 200, 4):
        rows = [0, *range(start, start + 6)]
        assert found(table, [rows]) == [[2 * n + 1 for n in rows]]
        assert len(table._vectors) <= 10
    assert made.count(0) > 10
    # What one call needs it gets, however little room there is.
    assert found(table, [list(range(50))]) == [[2 * n + 1 for n in range(50)]]


@pytest.mark.slow
def test_what_it_knows_of_ids_stays_small_as_they_rise() -> None:
    table = WordVectorCache(doubled([]), max_bytes=1000 * WIDTH * 8)
    for start in range(1, 500_000, 700):
        rows = [0, *range(start, start + 800)]
        assert found(table, [rows]) == [[2 * n + 1 for n in rows]]
        assert len(table._row_of) <= 4096
    # An id from before is met again: it is computed anew, and so is what came after.
    assert found(table, [[7, 0], [499_999, 8]]) == [[15, 1], [999_999, 17]]


def test_a_reader_keeps_what_it_was_given_while_others_write() -> None:
    table = WordVectorCache(doubled([]), max_bytes=64 * WIDTH * 8)
    wrong: list[Any] = []

    def read(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(300):
            rows = random.integers(0, 500, size=(3, 7))
            kept, position = table.look_up(rows)
            if not np.array_equal(kept[torch.from_numpy(position)][..., 0].numpy(), 2 * rows + 1):
                wrong.append(rows)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("name", ["LSTM-W-Random-1", "LSTM-C-Random-1", "LSTM-WC-Random-1"])
def test_the_vectors_are_those_the_encoder_takes(name: str) -> None:
    from brittle.zoo.networks import make_batch

    tested = model(name)
    [key] = tested.encode([Text.of(" ".join(KNOWN[:9]))])
    batch = make_batch([key], tested.tokenizer, "cpu")
    with torch.inference_mode():
        expected = tested.network.vectors(tested.network.embed(batch), batch)[0]
    rows = np.frombuffer(key, np.int32).astype(np.int64)
    given = compute_word_vectors(tested.network, tested.tokenizer, np.append(rows, 0))
    assert (given[:-1] - expected).abs().max() < 1e-6 and (given[-1] == 0).all()
