"""The flips of a batch, against every flip tried by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from brittle.text import Text
from brittle.zoo.names import grid
from brittle.zoo.names.settings import NetworkSettings

torch = pytest.importorskip("torch")

from brittle.training.adversarial.losses import (  # noqa: E402
    NetworkInTraining,
    best_flips,
    clean_half,
    cross_entropy,
    flip_batch,
    flip_words,
    letter_ids,
    mark_highest,
    word_mask,
)
from brittle.zoo.networks import Embedded, build, make_batch, pad_keys  # noqa: E402  # noqa: E402
from brittle.zoo.scoring import build_tokenizer  # noqa: E402
from brittle.zoo.spellings import UNKNOWN_CHARACTER, CharacterTokenizer  # noqa: E402
from brittle.zoo.tokenizers import UNKNOWN, WordTokenizer  # noqa: E402

TEXTS = ["a warm film", "the well-known café's plot is dull and cold 2day", "", "weak", "ñ x", "ok"]
PAIRS = [("a warm film", "is dull"), ("weak", ""), ("the cast", "and its plot")]


def model_of(name: str, texts: list[Text], **changed: Any) -> NetworkInTraining:
    design = grid.design(name)
    chosen = grid.settings(design, "tiny", dropout=0.0, word_dropout=0.0, **changed)
    assert isinstance(chosen, NetworkSettings)
    vocabulary = WordTokenizer.of(texts, pairs=len(texts[0].frame.fields) > 1)
    alphabet = [c for c in CharacterTokenizer.alphabet_of(texts) if c != "ñ"]
    torch.manual_seed(3)
    count = len(alphabet) + UNKNOWN_CHARACTER + 1
    network = build(design.parts, chosen, len(vocabulary), count, 2).double().train()
    return NetworkInTraining(
        network, build_tokenizer(design.parts, chosen, vocabulary, alphabet), 400, "cpu"
    )


def flipped_batch(name: str, texts: list[Text], share: float, **changed: Any) -> Any:
    """The batch, its copy, its gradient, and where the words are."""
    model = model_of(name, texts, **changed)
    keys = model.tokenizer.encode(texts, model.max_words)
    batch = make_batch(keys, model.tokenizer, "cpu", apart=True)
    label = torch.arange(len(texts)) % 2
    _, embedded, gradient = clean_half(model.network, batch, label)
    copy = flip_batch(model, keys, batch, embedded, gradient, share)
    return model, batch, copy, gradient, word_mask(keys, model.tokenizer)


@pytest.mark.parametrize("name", ["CNN-C-Random-1", "LSTM-WC-Random-1", "BiLSTM-C-Random-1"])
@pytest.mark.parametrize("share", [0.01, 0.2, 1.0])
def test_the_best_flips_of_characters_by_brute_force(name: str, share: float) -> None:
    texts = [Text.of(text) for text in TEXTS]
    model, batch, copy, gradient, _ = flipped_batch(name, texts, share)
    table = model.network.spelling.embedding.weight.detach()
    allowed = letter_ids(model.tokenizer)
    assert {model.tokenizer.alphabet[n - UNKNOWN_CHARACTER - 1] for n in allowed} == {
        c for c in model.tokenizer.alphabet if c not in "-'"
    }
    for t, text in enumerate(texts):
        gains, became = {}, {}
        for w, word in enumerate(text.words):
            row = int(batch.which[t, w])
            for at in range(len(str(word))):
                now = int(batch.characters[row, at])
                g = gradient.characters[row, at]
                options = {n: float(g @ (table[n] - table[now])) for n in allowed if n != now}
                became[row, at], gains[row, at] = max(options.items(), key=lambda kv: kv[1])
        r = min(len(gains), max(1, int(share * len(gains) + 1e-9)))
        expected = set(sorted(gains, key=lambda spot: -gains[spot])[:r])
        rows = [int(batch.which[t, w]) for w in range(len(text.words))]
        changed = {
            (row, at)
            for row in rows
            for at in range(batch.characters.shape[1])
            if copy.characters[row, at] != batch.characters[row, at]
        }
        assert changed == expected
        assert all(int(copy.characters[spot]) == became[spot] for spot in changed)
        if copy.words is not None:
            touched = [row in {row for row, _ in changed} for row in rows]
            assert (copy.words[t, : len(rows)] == UNKNOWN).tolist() == [
                hit or int(n) == UNKNOWN for hit, n in zip(touched, batch.words[t])
            ]
    # Padding, and the text of no words, which reads as a hole.
    assert torch.equal(copy.characters == 0, batch.characters == 0)
    hole = int(batch.which[2, 0])
    assert torch.equal(copy.characters[hole], batch.characters[hole])
    assert torch.equal(copy.which, batch.which) and torch.equal(copy.length, batch.length)


def test_the_gain_is_the_slope_of_the_loss() -> None:
    texts = [Text.of(text) for text in TEXTS]
    model, batch, _, gradient, _ = flipped_batch("CNN-C-Random-1", texts, 0.2)
    network, label = model.network, torch.arange(len(texts)) % 2
    vectors = network.embed(batch).characters.detach()
    table = network.spelling.embedding.weight.detach()
    row, at, new, step = int(batch.which[0, 1]), 2, letter_ids(model.tokenizer)[3], 1e-6

    def loss(amount: float) -> float:
        moved = vectors.clone()
        moved[row, at] += amount * (table[new] - vectors[row, at])
        logits = network.logits(Embedded(None, moved), batch)
        return float(cross_entropy(logits, label).detach())

    gain = float(gradient.characters[row, at] @ (table[new] - vectors[row, at]))
    # The gradient is that of half the loss.
    assert gain == pytest.approx((loss(step) - loss(-step)) / (2 * step) / 2, rel=1e-4, abs=1e-9)
    assert gain != 0


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_the_best_flips_of_words_by_brute_force(share: float) -> None:
    texts = [Text.of({"one": one, "two": two}) for one, two in PAIRS]
    model, batch, copy, gradient, is_word = flipped_batch("LSTM-W-Random-1", texts, share)
    table = model.network.embedding.weight.detach()
    first = 3  # after padding, unknown, and what joins a pair
    for t in range(len(texts)):
        gains, became = {}, {}
        for w in np.flatnonzero(is_word[t]).tolist():
            now = int(batch.words[t, w])
            g = gradient.words[t, w]
            options = {
                n: float(g @ (table[n] - table[now])) for n in range(first, len(table)) if n != now
            }
            became[w], gains[w] = max(options.items(), key=lambda kv: kv[1])
        assert len(gains) == len(texts[t].words)
        r = max(1, int(share * len(gains) + 1e-9))
        changed = {w for w in range(batch.words.shape[1]) if copy.words[t, w] != batch.words[t, w]}
        assert changed == set(sorted(gains, key=lambda w: -gains[w])[:r])
        assert all(int(copy.words[t, w]) == became[w] for w in changed)


def test_forgotten_words_are_measured_from_what_was_read() -> None:
    from brittle.zoo.networks import Batch

    table = torch.tensor([[0.0], [9.0], [1.0], [2.0]], dtype=torch.float64)
    batch = Batch(torch.tensor([2]), words=torch.tensor([[2, 3]]))
    read = Embedded(torch.tensor([[[9.0], [2.0]]], dtype=torch.float64))  # the first is forgotten
    gradient = torch.tensor([[[1.0], [0.5]]], dtype=torch.float64)
    is_word = torch.tensor([[True, True]])
    copy = flip_words(batch, is_word, gradient, read, table, 2, 0.5)
    # From 9 to 2 loses 7; from 2 to 1 loses a half. Measured from its own 1, the first would win.
    assert copy.words.tolist() == [[2, 2]]


def test_where_words_stand() -> None:
    texts = [Text.of({"one": one, "two": two}) for one, two in [*PAIRS, ("", "")]]
    for name in ("CNN-C-Random-1", "CNN-W-Random-1"):
        tokenizer = model_of(name, texts).tokenizer
        keys = tokenizer.encode(texts, 400)
        expected = np.zeros_like(pad_keys(keys)[0], dtype=bool)
        for row, joined in zip(expected, ([3, 2], [1, 0], [2, 3], [0, 0])):
            row[: joined[0]] = True
            row[joined[0] + 1 : joined[0] + 1 + joined[1]] = True
        assert np.array_equal(word_mask(keys, tokenizer), expected)


def test_the_highest_of_a_row() -> None:
    low = -torch.inf
    gain = torch.tensor([[1.0, 3, 3, low, 2], [low] * 5, [low, -5, low, low, low]])
    assert mark_highest(gain, 0.5).tolist() == [
        [False, True, True, False, False],
        [False] * 5,
        [False, True, False, False, False],
    ]
    # 0.2 of 35 is 7, whatever floats make of it.
    assert mark_highest(torch.arange(35.0)[None], 0.2).sum() == 7


def test_large_tables_are_gone_through_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    from brittle.training.adversarial import losses

    torch.manual_seed(0)
    gradient, table, now = (
        torch.randn(10, 4),
        torch.randn(7, 4),
        torch.tensor([*range(7), -1, 9, 3]),
    )
    whole = best_flips(gradient, table, now)
    monkeypatch.setattr(losses, "MAX_PRODUCT_ENTRIES", 20)
    value, choice = best_flips(gradient, table, now)
    assert torch.equal(choice, whole[1])
    torch.testing.assert_close(value, whole[0])  # a product of fewer rows may round otherwise
    assert all(int(choice) != int(n) for choice, n in zip(whole[1], now))
    value, _ = best_flips(gradient[:1], table[:1], torch.tensor([0]))
    assert value.tolist() == [-torch.inf]
