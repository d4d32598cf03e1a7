"""What translators answer: strings, one for every text, of a bounded length."""

from __future__ import annotations

from typing import Any

import pytest

from brittle.errors import TargetError
from brittle.targets.answer_parsers import cut, max_characters, parse_texts
from brittle.targets.capabilities import texts_desk
from brittle.testing import FakeTarget
from brittle.text import Text


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ("ein Film", "a str, for 2 texts"),
        ({"a": "b"}, "a dict, for 2 texts"),
        (None, "gave None for 2 texts"),
        (["ein Film"], "gave 1 answers for 2 texts"),
        (["a", "b", "c"], "gave 3 answers for 2 texts"),
        (["a", None], "gave None, a NoneType, as a translation"),
        (["a", {"text": "b"}], "a dict, as a translation"),
        (["a", "\ud800"], "not valid Unicode"),
    ],
)
def test_what_is_no_list_of_strings_is_refused(answers: Any, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        parse_texts(answers, 2, "The target")


def test_a_list_an_array_and_an_iterator_of_strings() -> None:
    import numpy as np

    for answers in (["a", ""], ("a", ""), iter(["a", ""]), np.array(["a", ""])):
        texts = parse_texts(answers, 2, "The target")
        assert texts == ["a", ""] and {type(text) for text in texts} == {str}


def test_an_endless_translation_is_cut_at_the_desk() -> None:
    item = Text.of("a film")
    assert max_characters(item) == 20 * 6 + 200
    assert cut(["x" * 319, "x" * 321], [item, item]) == ["x" * 319, "x" * 320]

    class Endless(FakeTarget):
        def translate(self, items: Any) -> list[str]:
            return ["la " * 10_000 for _ in items]

    assert [len(text) for text in texts_desk(Endless()).compute([item])] == [320]
