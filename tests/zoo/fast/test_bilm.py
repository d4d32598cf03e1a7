"""The quick biLM gives what the network gives, and a text has the same scores in every batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.text import Text  # noqa: E402
from brittle.zoo.fast import lstm  # noqa: E402
from brittle.zoo.fast.bilm import FastBiLM  # noqa: E402
from brittle.zoo.networks import make_batch  # noqa: E402
from zoo.small import KNOWN, model, texts  # noqa: E402

NAMES = ["LSTM-WC-ELMo-1", "CNN-WC-ELMo-1", "BiLSTM-WC-ELMo-2-mean", "Average-WC-ELMo"]


@pytest.mark.parametrize("name", NAMES)
def test_it_equals_the_network(name: str) -> None:
    tested = model(name)
    assert isinstance(tested._bilm, FastBiLM) and tested._fast is None and tested._vectors is None
    for seed in range(2):
        keys = tested.encode(texts(seed))
        with torch.inference_mode():
            expected = tested.network(make_batch(keys, tested.tokenizer, "cpu")).numpy()
        assert np.abs(tested.logits(keys) - expected).max() < 1e-5


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_text_has_the_same_bits_in_every_batch(name: str) -> None:
    tested = model(name, "default")
    keys = tested.encode(texts(3))
    whole = tested.logits(keys)
    for n in (0, 7, 30, len(keys) - 1):
        assert (tested.logits([keys[n]])[0] == whole[n]).all()
    assert (tested.logits(keys[::-1])[::-1] == whole).all()
    assert (tested.logits(keys[5:24]) == whole[5:24]).all()


def test_the_two_sides_of_a_pair_are_read_apart() -> None:
    tested = model("LSTM-WC-ELMo-1-pair")
    rows = texts(1)
    pairs = [Text.of({"first": str(a), "second": str(b)}) for a, b in zip(rows, rows[3:])]
    keys = tested.encode(pairs)
    with torch.inference_mode():
        expected = tested.network(make_batch(keys, tested.tokenizer, "cpu")).numpy()
    assert np.abs(tested.logits(keys) - expected).max() < 1e-5


def test_the_vector_of_a_word_depends_on_the_words_around_it() -> None:
    tested = model("Average-WC-ELMo")
    first, second = tested.encode([Text.of("aing bing cing"), Text.of("aing bing dtion")])
    mixed, start = tested._bilm._mixed([first, second])
    for word in range(3):
        assert (mixed[start[0] + word] != mixed[start[1] + word]).any()


def test_candidates_of_one_text_compute_only_what_they_do_not_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tested = model("LSTM-WC-ELMo-1")
    base = Text.of(" ".join(KNOWN[:20]))
    candidates = [base.swap(19, word) for word in KNOWN[8:40]]
    states: list[Any] = []
    shared = lstm.share_prefixes

    def counted(*arguments: Any) -> Any:
        states.append(shared(*arguments).count.sum())
        return shared(*arguments)

    monkeypatch.setattr("brittle.zoo.fast.bilm.share_prefixes", counted)
    tested.logits(tested.encode(candidates))
    # Forward, the words before the swap have one state for all, in a whole row of 16.
    assert states == [19 * 16 + 32, 20 * 32]
    states.clear()
    tested.logits(tested.encode([base.swap(0, word) for word in KNOWN[8:40]]))
    assert states == [20 * 32, 19 * 16 + 32]
