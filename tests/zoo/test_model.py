from __future__ import annotations

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.text import Text
from brittle.zoo.model import Linear
from brittle.zoo.tokenizers import WordTokenizer

VOCABULARY = WordTokenizer(["<pad>", "<unknown>", "good", "bad", "film"])


@pytest.fixture
def model() -> Linear:
    weight = np.array([[0, 0], [0, 0], [-1.5, 2.0], [3.0, -0.25], [0.125, 0.1]])
    return Linear(VOCABULARY, weight, np.array([0.5, -0.5]))


def test_the_score_is_counts_times_weight_plus_bias(model: Linear) -> None:
    keys = model.encode([Text.of("a good good film"), Text.of("bad"), Text.of("")])
    expected = [[2 * -1.5 + 0.125 + 0.5, 4.1 - 0.5], [3.5, -0.75], [0.5, -0.5]]
    assert np.allclose(model.logits(keys), expected, rtol=0, atol=1e-15)


def test_a_batch_equals_its_rows_to_the_last_bit(model: Linear) -> None:
    texts = [Text.of("good film " * n + "bad " * (7 - n)) for n in range(8)]
    keys = model.encode(texts)
    alone = np.concatenate([model.logits([key]) for key in keys])
    assert np.array_equal(model.logits(keys), alone)


def test_weights_of_another_shape_are_refused() -> None:
    with pytest.raises(UsageError, match="words x labels"):
        Linear.built(VOCABULARY, {"weight": np.zeros((3, 2)), "bias": np.zeros(2)})
    with pytest.raises(UsageError, match="words x labels"):
        Linear.built(VOCABULARY, {"something": np.zeros(2)})
