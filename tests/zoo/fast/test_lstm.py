"""The quick LSTM gives what the network gives, whatever it reads and however many layers it has."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.text import Text  # noqa: E402
from brittle.zoo.fast.lstm import FastLstm  # noqa: E402
from brittle.zoo.networks import make_batch  # noqa: E402
from zoo.small import KNOWN, model, texts  # noqa: E402

NAMES = [f"LSTM-{read}-Random-{layers}" for read in ("W", "C", "WC") for layers in (1, 2, 4)]


@pytest.mark.parametrize("name", NAMES)
def test_it_equals_the_network(name: str) -> None:
    tested = model(name)
    assert isinstance(tested._fast, FastLstm)
    for seed in range(3):
        keys = tested.encode(texts(seed))
        with torch.inference_mode():
            expected = tested.network(make_batch(keys, tested.tokenizer, "cpu")).numpy()
        assert np.abs(tested._fast.logits(keys) - expected).max() < 1e-5


@pytest.mark.parametrize("name", ["BiLSTM-W-Random-1", "LSTM-W-Random-1-max", "CNN-W-Random-2"])
def test_others_are_left_to_torch(name: str) -> None:
    assert model(name)._fast is None


def test_candidates_of_one_text_from_two_threads() -> None:
    """New spellings are met by both threads while each reads what the other has made."""
    tested = model("CharCNN-LSTM")
    base = Text.of(" ".join(KNOWN[:20]))

    def edited(seed: int) -> list[Text]:
        random = Random(seed)
        letters = "abcdefghijk"
        return [
            base.swap(random.randrange(20), "".join(random.choices(letters, k=8)))
            for _ in range(64)
        ]

    def scored(seed: int) -> float:
        keys = tested.encode(edited(seed))
        with torch.inference_mode():
            expected = tested.network(make_batch(keys, tested.tokenizer, "cpu")).numpy()
        return float(np.abs(tested.logits(keys) - expected).max())

    with ThreadPoolExecutor(2) as pool:
        assert max(pool.map(scored, range(24))) < 1e-5
