"""What stays one word, exactly as a text is split."""

from __future__ import annotations

import pytest

from brittle.english.spelling import stays_one_word
from brittle.text import Text

FORMS = ["mooP", "don't", "well-known", "a7", "é", "é", "n't", "7", "ª", "²", "Ⅷ", "日本", "a’b"]
NOT = ["", "-a", "a-", "a--b", "a b", "'s", "a.", "̈a", "a_b", "&amp;", "<b>", "😀"]


@pytest.mark.parametrize("form", FORMS + NOT)
def test_as_a_text_is_split(form: str) -> None:
    assert stays_one_word(form) is (Text.of(f"x {form} y").words == ("x", form, "y"))
    assert stays_one_word(form) is (form in FORMS)
