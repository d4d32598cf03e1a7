"""Names without capitals."""

from __future__ import annotations

from brittle.english.names import name_positions
from brittle.text import Text


def names(raw: str) -> list[str]:
    text = Text.of(raw)
    return [str(text.words[i]) for i in sorted(name_positions(text))]


def test_words_that_are_names_and_words_beside_them() -> None:
    assert names("a film by steven spielberg and john waters") == [
        *("steven", "spielberg", "john", "waters")
    ]
    assert names("hugh grant is at his best") == ["hugh", "grant"]
    assert names("they grant him a rest , and paris is his") == ["paris"]


def test_punctuation_and_fields_part_a_word_from_a_name() -> None:
    assert names("spielberg , grant me this") == ["spielberg"]
    two = Text.of({"premise": "we saw spielberg", "hypothesis": "grant him a rest"})
    assert sorted(name_positions(two)) == [2]


def test_common_words_are_no_names() -> None:
    assert names("the film tells a warm and funny story of the rose season") == []
