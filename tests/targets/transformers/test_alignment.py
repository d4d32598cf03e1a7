"""From tokens back to words: covered exactly, whatever the text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brittle.errors import UsageError
from brittle.text import HOLE, Text

pytest.importorskip("torch")
pytest.importorskip("transformers")

from brittle.targets.transformers.tokenizer import (
    Alignment,
    TextTokenizer,
    align_texts,
    tokens_of,
    whole_words,
    words_read,
)
from targets import tiny

ODD = [
    "A good, VERY good film!",
    "don't say it's well-known — “rain”…",
    "see http://www.film.com/a?b=1&c=2 or mail me@rain.org",
    "😀film😀 the 👩‍👩‍👧 rain",
    "Café naïve e\u0301tude Ångström über straße",
    "добрый 電影 فيلم 좋은",
    "a<br />b &amp; c\n\n\td",
    "bad\u200bfilm 123 4th x2y ½ ²",
    "...",
    "",
    "[SEP] film [MASK] rain",
]


def make_tokenizer(kind: str, longest: int = 10_000, **options: Any) -> TextTokenizer:
    backend = {
        "wordpiece": tiny.wordpiece,
        "bytes": tiny.byte_pairs,
        "unigram": tiny.sentence_pieces,
    }[kind]()
    model = tiny.model("distilbert", 400, max_position_embeddings=longest)
    return TextTokenizer.of(tiny.wrapped(backend, longest=longest), model, **options)


TOKENIZERS = {kind: make_tokenizer(kind) for kind in ("wordpiece", "bytes", "unigram")}


def align_one(item: Text, tokenizer: TextTokenizer) -> Alignment:
    (found,) = align_texts([item], tokenizer)
    return found


def naive(item: Text, tokenizer: TextTokenizer) -> list[int]:
    """Find the first word that every token overlaps, trying them all."""
    rendered = list(item.fields(tokenizer.mask).values())
    (tokens,) = tokenizer.tokenize([item])
    spans = []
    for field, (low, high), text in zip(item.frame.fields, item.frame.spans, rendered):
        at = 0
        for gap, word in zip(field.gaps, item.words[low:high]):
            shown = word if isinstance(word, str) else tokenizer.mask
            at += len(gap)
            assert text[at : at + len(shown)] == shown
            spans.append((item.frame.fields.index(field), at, at + len(shown)))
            at += len(shown)
    found = []
    for number, start, stop in zip(tokens.field, tokens.start, tokens.stop):
        over = [
            n
            for n, (field, low, high) in enumerate(spans)
            if field == number and max(low, start) < min(high, stop)
        ]
        found.append(over[0] if over else -1)
    for column, (number, start, stop) in enumerate(zip(tokens.field, tokens.start, tokens.stop)):
        if (
            found[column] < 0
            and (number, stop) in [span[:2] for span in spans]
            and (position := [span[:2] for span in spans].index((number, stop))) in found
            and rendered[number][start:stop] in ("", " ")
            and rendered[number][stop - 1 : stop] == " "
        ):
            found[column] = position
    return found


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("text", ODD)
def test_the_tokens_of_a_word_cover_its_characters_and_no_others(kind: str, text: str) -> None:
    tokenizer, item = TOKENIZERS[kind], Text.of(text)
    found = align_one(item, tokenizer)
    assert found.word.tolist() == naive(item, tokenizer)
    assert list(found.read) == list(range(len(item)))
    for position, word in enumerate(item.words):
        held = found.characters(position)
        assert len(held) == len(str(word))
        # Marks that a tokenizer strips are held by nobody, letters and digits always are; but of a
        # row of strange characters unigrams make one token, which is the first word's.
        shared = kind == "unigram" and "=" in text
        assert shared or all(at >= 0 for at, c in zip(held, str(word)) if c.isalnum())
        assert set(held.tolist()) - {-1} <= set(found.columns[position])
        for column in found.columns[position]:
            token = found.tokens.start[column], found.tokens.stop[column]
            beyond = text[token[0] : found.start[position]] + text[found.stop[position] : token[1]]
            # A token may begin with the space before its word; one for something strange may hold
            # whatever stands around it.
            strange = found.tokens.ids[column] == tokenizer.hf_tokenizer.unk_token_id
            assert strange or not any(c.isalnum() for c in beyond)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(TOKENIZERS)),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.text("abз’'- \u0301😀.", max_size=20),
)
def test_any_text_is_aligned_as_trying_all_words_would(kind: str, first: str, second: str) -> None:
    for item in (Text.of(first), Text.of(second), Text.of({"a": first, "b": second})):
        assert align_one(item, TOKENIZERS[kind]).word.tolist() == naive(item, TOKENIZERS[kind])


def test_all_tokens_of_a_word_with_an_apostrophe_belong_to_it() -> None:
    found = align_one(Text.of("I don't"), TOKENIZERS["wordpiece"])
    names = [
        TOKENIZERS["wordpiece"].hf_tokenizer.convert_ids_to_tokens(int(n)) for n in found.tokens.ids
    ]
    assert [names[column] for column in found.columns[1]] == ["don", "'", "t"]
    assert found.characters(1).tolist() == [2, 2, 2, 3, 4]


def test_a_hole_is_read_as_its_mask_and_has_no_characters() -> None:
    tokenizer = TOKENIZERS["wordpiece"]
    found = align_one(Text.of("a good film").mask(1), tokenizer)
    assert found.read == (0, 1, 2)
    assert [int(found.tokens.ids[c]) for c in found.columns[1]] == [
        tokenizer.hf_tokenizer.mask_token_id
    ]
    assert len(found.characters(1)) == 0
    unmasked = make_tokenizer("wordpiece", mask="")
    assert align_one(Text.of("a good film").mask(1), unmasked).read == (0, 2)


def test_truncated_words_are_not_read() -> None:
    tokenizer = make_tokenizer("wordpiece", longest=6)
    texts = ["a good film", "a good film was it", "a film xyzzy it", "story! story! story! it"]
    items = [Text.of(text) for text in texts]
    # Of "xyzzy" two of five tokens are still there.
    assert words_read(items, tokenizer) == [(0, 1, 2), (0, 1, 2, 3), (0, 1, 2), (0, 1)]
    for item, alignment in zip(items, align_texts(items, tokenizer)):
        assert alignment.tokens.key == tokenizer.encode([item])[0]
    assert [len(columns) for columns in align_texts(items, tokenizer)[2].columns] == [1, 1, 2, 0]


def test_pairs_are_truncated_where_the_tokenizer_does_it() -> None:
    tokenizer = make_tokenizer("wordpiece", longest=9)
    pair = Text.of({"p": "a good film it was", "h": "the rain"})
    assert words_read([pair], tokenizer) == [(0, 1, 2, 3, 5, 6)]
    pair = Text.of({"p": "the rain", "h": "a good film it was"})
    assert words_read([pair], tokenizer) == [(0, 1, 2, 3, 4, 5)]
    locked = Text.of({"p": "the rain", "h": "a good film it was"}, locked=["p"])
    assert words_read([locked], tokenizer) == [(0, 1, 2, 3)]
    locked = Text.of({"p": "the rain", "h": "a good film it was"}, locked=["h"])
    found = align_one(locked, tokenizer)
    assert found.read == (0, 1)
    assert found.columns == ((1,), (2,))
    assert (found.word >= 0).sum() == 2


def test_a_token_over_two_words_is_the_first_ones_and_both_are_read() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    own = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = TextTokenizer.of(tiny.wrapped(own), tiny.model("distilbert", 400))
    found = align_one(Text.of("a good,bad a"), tokenizer)
    assert found.word.tolist() == [0, 1, 3]
    assert found.read == (0, 1, 2, 3)
    assert found.columns == ((0,), (1,), (), (2,))


def test_keys_are_those_of_scoring() -> None:
    for tokenizer in TOKENIZERS.values():
        items = [Text.of(text) for text in ODD] + [Text.of({"a": "it", "b": "rain"})]
        assert [tokens.key for tokens in tokenizer.tokenize(items)] == tokenizer.encode(items)


def test_the_vocabulary_is_of_words_that_are_one_token_after_a_space() -> None:
    words, ids = whole_words(TOKENIZERS["wordpiece"])
    assert words == list(dict.fromkeys([*tiny.WORDS, *tiny.LETTERS]))
    for kind, mark in (("wordpiece", ""), ("bytes", "Ġ"), ("unigram", "▁")):
        tokenizer = TOKENIZERS[kind]
        words, ids = whole_words(tokenizer)
        assert ids == sorted(ids) and len(words) == len(ids)
        assert [tokenizer.hf_tokenizer.convert_ids_to_tokens(n) for n in ids] == [
            mark + w for w in words
        ]
        for word, token_id in zip(words, ids):
            (key,) = tokenizer.encode([Text.of(f"the {word}")])
            (alone,) = tokenizer.encode([Text.of("the")])
            assert len(key) == len(alone) + 4, word
            assert tokens_of([word], tokenizer) == [(token_id,)]
    assert {"good", "film"} <= set(whole_words(TOKENIZERS["bytes"])[0])
    assert {"a", "the"} & set(whole_words(TOKENIZERS["unigram"])[0])


def test_tokens_are_those_of_the_word_in_a_sentence() -> None:
    for tokenizer in TOKENIZERS.values():
        words = ["film", "Filmz", "don't", "well-known", "naïve", "電影"]
        for word, ids in zip(words, tokens_of(words, tokenizer)):
            found = align_one(Text.of(f"the {word} was"), tokenizer)
            assert list(ids) == [int(found.tokens.ids[c]) for c in found.columns[1]]


class Spaces(tiny.transformers.PreTrainedTokenizer):  # type: ignore[misc]
    """A tokenizer written in Python, which does not know the offsets of its tokens."""

    vocab_files_names: dict[str, str] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.words = ["[UNK]", "[PAD]", "a", "good", "film"]
        super().__init__(unk_token="[UNK]", pad_token="[PAD]", model_max_length=3)

    @property
    def vocab_size(self) -> int:
        return len(self.words)

    def get_vocab(self) -> dict[str, int]:
        return {word: n for n, word in enumerate(self.words)}

    def _tokenize(self, text: str, **_: Any) -> list[str]:
        return text.split()

    def _convert_token_to_id(self, token: str) -> int:
        return self.words.index(token) if token in self.words else 0

    def _convert_id_to_token(self, index: int) -> str:
        return self.words[index]


def test_a_tokenizer_without_offsets_reads_all_and_says_what_it_cannot() -> None:
    tokenizer = TextTokenizer.of(Spaces(), tiny.model("distilbert", 400))
    assert words_read([Text.of("a good film a"), Text.of("a").swap(0, HOLE)], tokenizer) == [
        range(4),
        range(1),
    ]
    with pytest.raises(UsageError, match=r"Spaces does not report .* fast tokenizer"):
        tokenizer.tokenize([Text.of("a")])
