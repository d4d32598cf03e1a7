from __future__ import annotations

import numpy as np
import pytest

from brittle.text import HOLE, Text
from brittle.zoo import tokenizers as module
from brittle.zoo.tokenizers import PAD, SEPARATOR, UNKNOWN, WordIds, WordTokenizer


@pytest.fixture
def known() -> WordTokenizer:
    return WordTokenizer.of([Text.of("The film, the plot"), Text.of("a Film")])


def numbers(key: bytes) -> list[int]:
    return list(np.frombuffer(key, dtype=np.int32))


def test_words_come_by_frequency_then_by_spelling(known: WordTokenizer) -> None:
    assert known.words == ("<pad>", "<unknown>", "film", "the", "a", "plot")


def test_cap_and_minimum() -> None:
    texts = [Text.of("a a a b b c")]
    assert WordTokenizer.of(texts, cap=2).words[2:] == ("a", "b")
    assert WordTokenizer.of(texts, min_count=3).words[2:] == ("a",)


def test_sequences_keep_order_and_are_cut(known: WordTokenizer) -> None:
    text = Text.of("The THE film zebra!")
    assert numbers(known.encode([text], 400)[0]) == [3, 3, 2, UNKNOWN]
    assert numbers(known.encode([text], 2)[0]) == [3, 3]


def test_a_hole_and_nothing_at_all_read_as_unknown(known: WordTokenizer) -> None:
    keys = known.encode([Text.of("film").mask(0), Text.of("?!"), Text.of("")], 400)
    assert [numbers(key) for key in keys] == [[UNKNOWN]] * 3


def test_a_bag_is_sorted_after_the_bias_and_leaves_out_the_unknown(known: WordTokenizer) -> None:
    one, other, none = known.encode_bags(
        [Text.of("the film zebra"), Text.of("Film the").swap(0, "film")]
    ) + (known.encode_bags([Text.of("zebra").mask(0)]))
    assert one == other
    assert numbers(one) == [PAD, 2, 3]
    assert numbers(none) == [PAD]


def test_pairs_are_joined_and_locked_fields_are_read() -> None:
    text = Text.of({"premise": "a film", "hypothesis": "the plot"}, locked=["premise"])
    known = WordTokenizer.of([text], pairs=True)
    assert known.words[: SEPARATOR + 1] == ("<pad>", "<unknown>", "<next>")
    [key] = known.encode([text], 400)
    words = [known.words[i] for i in numbers(key)]
    assert words == ["a", "film", "<next>", "the", "plot"]
    assert numbers(known.encode([text], 2)[0]) == numbers(key)[:2]
    assert len(numbers(known.encode_bags([text])[0])) == 1 + 4


def test_frames_may_change_from_text_to_text(known: WordTokenizer) -> None:
    pair = Text.of({"one": "film", "two": "plot"})
    single = Text.of("film")
    alone = [known.encode([text], 400)[0] for text in (single, pair, single)]
    assert known.encode([single, pair, single], 400) == alone
    assert known.encode_bags([single, pair, single]) == [
        known.encode_bags([t])[0] for t in (single, pair, single)
    ]


def test_spellings_met_are_remembered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = WordIds(["<pad>", "<unknown>", "film"])
    monkeypatch.setattr(module, "MAX_CACHED_WORDS", 6)
    assert [ids[word] for word in ("FILM", "Film", "fILM", "x", HOLE)] == [2, 2, 2, 1, 1]
    assert "FILM" in ids and "fILM" not in ids
