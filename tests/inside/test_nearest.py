"""Nearest words, compared with vectors written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from brittle.edits import Edit
from brittle.errors import UsageError
from brittle.inside.nearest import edited_words, embed_vocabulary, select_layer
from brittle.metrics.samples import sample_results
from brittle.testing import FakeTarget
from brittle.text import Text

VECTORS = {
    "past": (1.0, 0.0, 0.0),
    "last": (0.9, 0.1, 0.0),
    "pasture": (0.0, 1.0, 0.1),
    "pasty": (0.1, 1.0, 0.0),
    "pas1t": (0.1, 2.0, 0.0),
    "pas!t": (0.1, 2.0, 0.0),
    "actor": (0.0, 0.0, 1.0),
    "void": (0.0, 0.0, 0.0),
}


class Vectored(FakeTarget):
    """A target whose word vectors are a table; at its second layer they are negated."""

    vocabulary = ("<pad>", "<unknown>", "past", "last", "pasture", "pasty", "actor", "void", "far")
    layers = ("embedding", "highway 1", "highway 2", "states 1")
    asked = 0

    def embeddings(self, items: Sequence[Text], layer: str, level: str = "words") -> list[Any]:
        self.asked += len(items)
        sign = -1.0 if layer == "highway 2" else 1.0
        unread = (np.nan,) * 3
        return [
            np.array([np.multiply(sign, VECTORS.get(str(w).lower(), unread)) for w in text.words])
            for text in items
        ]


def test_the_nearest_words_are_those_of_the_highest_cosine() -> None:
    words = embed_vocabulary(Vectored(), "embedding")
    # Without marks, a word with a zero vector, and a word that the target cannot read.
    assert words.words == ("past", "last", "pasture", "pasty", "actor")
    neighbours = words.nearest("past", k=2)
    assert [n.word for n in neighbours] == ["last", "pasty"]
    assert neighbours[0].cosine == pytest.approx(0.9 / np.hypot(0.9, 0.1))
    assert neighbours[1].cosine == pytest.approx(0.1 / np.hypot(0.1, 1.0))
    assert [n.word for n in words.nearest("PAST", k=1)] == ["last"]
    assert len(words.nearest("past", k=99)) == 4


def test_after_an_edit_the_word_may_be_lost() -> None:
    change = embed_vocabulary(Vectored(), "embedding").change("past", "pas1t", k=2)
    assert [n.word for n in change.before] == ["last", "pasty"]
    assert [n.word for n in change.after] == ["pasty", "pasture"]
    # Nearer to pas1t than past is: pasty, pasture and last.
    assert change.rank == 3 and change.is_lost
    assert change.cosine == pytest.approx(0.1 / np.hypot(0.1, 2.0))
    change = embed_vocabulary(Vectored(), "embedding").change("pasty", "pas1t", k=2)
    assert change.rank == 0 and not change.is_lost and change.after[0].word == "pasty"


def test_an_edited_word_with_a_mark_is_read_as_one_word() -> None:
    """As the paper reads pas!t; alone, it would be two words and a mark."""
    change = embed_vocabulary(Vectored(), "embedding").change("past", "pas!t", k=2)
    assert change.edited == "pas!t" and [n.word for n in change.after] == ["pasty", "pasture"]
    with pytest.raises(UsageError, match="expected one word"):
        embed_vocabulary(Vectored(), "embedding").nearest("pas!t")


def test_only_the_most_frequent_words_are_embedded_and_only_once() -> None:
    target = Vectored()
    words = embed_vocabulary(target, "embedding", max_words=2)
    assert words.words == ("past", "last") and target.asked == 2
    words.change("past", "pas1t")
    assert target.asked == 4


def test_other_words_can_replace_the_vocabulary() -> None:
    assert embed_vocabulary(Vectored(), "embedding", words=["actor", "past"]).words == (
        "actor",
        "past",
    )


def test_the_layer_is_the_last_highway_unless_named() -> None:
    target = Vectored()
    assert select_layer(target) == "highway 2"
    assert embed_vocabulary(target).unit[0].tolist() == [-1.0, 0.0, 0.0]
    target.layers = ("embedding", "states 1")
    assert select_layer(target) == "embedding"


@pytest.mark.parametrize("layer", ["highwy 1", "zzz"])
def test_an_unknown_layer_is_refused_with_the_known_ones(layer: str) -> None:
    with pytest.raises(UsageError, match="Unknown layer") as raised:
        embed_vocabulary(Vectored(), layer)
    message = str(raised.value)
    assert "embedding, highway 1, highway 2, states 1." in message
    assert ("Did you mean 'highway 1'?" in message) == (layer == "highwy 1")
    assert message.count("states 1") == 1


def test_targets_without_vectors_or_a_vocabulary_are_refused() -> None:
    with pytest.raises(UsageError, match="'fake' shows no vectors of words, only scores"):
        embed_vocabulary(FakeTarget())
    target = Vectored()
    target.vocabulary = None  # type: ignore[assignment]
    with pytest.raises(UsageError, match="has no vocabulary"):
        embed_vocabulary(target)


def test_words_that_have_no_vector_are_refused() -> None:
    words = embed_vocabulary(Vectored(), "embedding")
    with pytest.raises(UsageError, match="reads no token in the word 'unheard'"):
        words.nearest("unheard")
    with pytest.raises(UsageError, match="expected one word"):
        words.nearest("two words")


def test_edited_words_come_from_the_clearest_cases_first() -> None:
    def broken(case: str, confidence: float, *edits: tuple[str, str]) -> Any:
        return replace(
            sample_results()[0],
            case=case,
            status="broken",
            edits=tuple(Edit("text", 0, len(old), old, new) for old, new in edits),
            adversarial_confidence=confidence,
        )

    rows = [
        broken("a", 0.99, ("ships", "hips"), ("mood", "mooP")),
        broken("b", 0.60, ("past", "pas1t")),
        broken("c", 0.70, ("Alps", "llps")),
        broken("d", 0.95, ("good", "terrific")),
        broken("e", 0.50, ("past", "pas1t")),
        replace(broken("f", 0.9, ("you", "yoTu")), status="held"),
    ]
    pairs = [("Alps", "llps"), ("past", "pas1t"), ("ships", "hips"), ("mood", "mooP")]
    assert edited_words(rows) == pairs
    assert edited_words(rows, 1) == [("Alps", "llps")]
