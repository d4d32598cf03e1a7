"""The n-gram model, against probabilities that add up to 1 and a plain reference."""

from __future__ import annotations

import math
from itertools import product

import pytest

from brittle.metrics.ngrams import BEGIN, END, NgramModel

SENTENCES = [("a", "b"), ("a", "c", "b"), ("b",), ("a", "b", "a")]
WORDS = ("a", "b", "c", "d")


@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_add_up_to_one_after_every_history(order: int) -> None:
    model = NgramModel.of(SENTENCES, len(WORDS), order)
    for history in product((BEGIN, *WORDS), repeat=order - 1):
        total = sum(model.probability(word, history) for word in (*WORDS, END))
        assert math.isclose(total, 1.0)


def test_a_bigram_model_equals_the_formula() -> None:
    model = NgramModel.of(SENTENCES, len(WORDS), 2)
    counts = {"a": 4, "b": 4, "c": 1, END: 4}
    unigram = {word: (counts.get(word, 0) + 4 / 5) / (13 + 4) for word in (*WORDS, END)}
    # After "a": b twice, c once, the end once.
    assert math.isclose(model.probability("b", ("a",)), (2 + 3 * unigram["b"]) / (4 + 3))
    assert math.isclose(model.probability("d", ("d",)), unigram["d"])
    expected = [model.probability("a", (BEGIN,)), model.probability(END, ("a",))]
    assert math.isclose(model.perplexity([("a",)]), math.prod(expected) ** -0.5)


def test_sentences_like_the_counted_ones_have_a_lower_perplexity() -> None:
    model = NgramModel.of(SENTENCES, len(WORDS))
    assert model.perplexity(SENTENCES) < model.perplexity([("d", "c", "d"), ("c", "c")])
    assert math.isnan(model.perplexity([]))
