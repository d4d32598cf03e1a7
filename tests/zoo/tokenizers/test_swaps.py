"""The key of a text with one word swapped, from the text's own key, is the key of that text."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from brittle.text import Text
from zoo.small import KNOWN, model

WORDS = [*KNOWN[:6], "Strange", "ünknown", ""]
DESIGNS = ["LSTM-W-Random-1", "CNN-C-Random-1", "LSTM-WC-Random-1", "LSTM-WC-ELMo-1"]
DESIGNS += ["BiLSTM-W-Random-1-pair"]


@pytest.mark.parametrize("design", DESIGNS)
def test_swapped_keys_are_those_of_the_swapped_texts(design: str) -> None:
    network = model(design, reads=5)
    sources = ["aing btion c-x", "a b c d e f g h", {"premise": "a b c", "next": "d e f g"}]
    for source in sources[2:] if design.endswith("pair") else sources:
        for text in (Text.of(source), Text.of(source, locked=["premise"])):
            swaps = [(i, word) for i in range(len(text)) for word in WORDS]
            [key] = network.encode([text])
            expected = network.encode([text.swap(i, word) for i, word in swaps])
            assert network.encode_swaps(text, key, swaps) == expected
            assert len(set(expected)) > 3
