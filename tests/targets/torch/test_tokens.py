"""Tokens are found in the text they come from."""

from __future__ import annotations

import re
from random import Random

import pytest

from brittle.targets.torch.tokens import TokenReader, locate
from brittle.text import Text

SPLITS = {
    "words and marks": lambda text: re.findall(r"\w+|[^\w\s]", text.lower()),
    "spaces": str.split,
    "characters": list,
    "words": None,
}


def sentences(count: int = 60) -> list[str]:
    random = Random(5)
    pieces = ["a", "Film", "don't", "well-made", "ÉCOLE", "é", ",", "  ", "…", "<br />", "7"]
    pieces += [" "] * 5
    return ["".join(random.choices(pieces, k=random.randint(0, 14))) for _ in range(count)]


@pytest.mark.parametrize("name", SPLITS)
def test_tokens_cover_what_they_are_made_of(name: str) -> None:
    split = SPLITS[name]
    reader = TokenReader(split, {"<unk>": 0}, 0, None)
    for sentence in sentences():
        text = Text.of(sentence)
        tokens = reader.split(sentence) if split else [str(word) for word in text.words]
        spans = locate(tokens, sentence).tolist()
        assert [sentence[a:b].lower() for a, b in spans] == [token.lower() for token in tokens]
        assert spans == sorted(spans)
        alignment = reader.align(text)
        assert alignment.read == tuple(range(len(text)))
        for word, columns in zip(map(str, text.words), alignment.columns):
            covered = [tokens[column] for column in columns]
            if name in ("characters", "words"):
                assert "".join(covered) == word
            assert all(set(token.lower()) & set(word.lower()) for token in covered)


def test_a_token_that_is_no_piece_of_the_text_belongs_to_no_word() -> None:
    reader = TokenReader(
        lambda text: ["<s>", *text.split(), "</s>"], {"<s>": 1, "</s>": 2}, 0, None
    )
    alignment = reader.align(Text.of("a good film"))
    assert alignment.tokens.ids.tolist() == [1, 0, 0, 0, 2]
    assert alignment.columns == ((1,), (2,), (3,))
