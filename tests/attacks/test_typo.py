"""Typo: what is drawn, and that the changed text is in the row whatever it does to the goal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.asks import Answer, Case, Try, Unfit
from brittle.attacks import build
from brittle.attacks.typing_errors import NO_LISTED_WORD, Typo
from brittle.candidates.typos import Typos
from brittle.errors import UsageError
from brittle.testing import FakeTarget
from brittle.text import Text

TYPOS = Typos({"man": ("amn", "mna"), "walks": ("wlaks",), "city": ("ctiy", "cty", "citty")})
SOURCE = "A Man walks through the CITY."


def case(source: str = SOURCE, **more: Any) -> Case[Text]:
    return Case("0", Text.of(source), label=0, start=answer(0.3), **more)


def answer(*loss: float) -> Answer:
    values = np.array(loss)
    return Answer(np.stack([1 - values, values], axis=1), values, values > 0.5)


def test_one_listed_word_becomes_one_of_its_typos_in_its_case() -> None:
    drawn: Counter[str] = Counter()
    for seed in range(900):
        search = Typo(TYPOS)(case(), Random(seed))
        ask = next(search)
        assert isinstance(ask, Try) and ask.keep and len(ask.items) == 1
        drawn[str(ask.items[0])] += 1
        with pytest.raises(StopIteration):
            search.send(answer(0.1))
    first = ["A Amn walks through the CITY.", "A Mna walks through the CITY."]
    last = [f"A Man walks through the {typo}." for typo in ("CTIY", "CTY", "CITTY")]
    assert sorted(drawn) == sorted([*first, "A Man wlaks through the CITY.", *last])
    words = (sum(drawn[text] for text in first), sum(drawn[text] for text in last))
    assert all(240 < count < 360 for count in (*words, 900 - sum(words)))  # each word a third


def test_draws_are_made_in_the_order_the_docstring_says() -> None:
    rng, text = Random(4), Text.of(SOURCE)
    options = {1: ("Amn", "Mna"), 2: ("wlaks",), 5: ("CTIY", "CTY", "CITTY")}
    expected = []
    for _ in range(6):
        changed = text
        for i in rng.sample([1, 2, 5], 2):
            changed = changed.swap(i, rng.choice(options[i]))
        expected.append(changed)
    ask = next(Typo(TYPOS, words=2, draws=6)(case(), Random(4)))
    assert ask.items == list(dict.fromkeys(expected))


def test_fewer_listed_words_than_asked_for_all_become_typos() -> None:
    (text,) = next(Typo(TYPOS, words=9)(case(), Random(0))).items
    changed = [a != b for a, b in zip(text.words, Text.of(SOURCE).words)]
    assert changed == [False, True, True, False, False, True]


def test_only_words_that_are_listed_and_read_are_drawn() -> None:
    for seed in range(30):
        (text,) = next(Typo(TYPOS)(case(read_positions=[0, 2, 3]), Random(seed))).items
        assert str(text) == "A Man wlaks through the CITY."
    for unfit in (case("Nothing known here"), case(read_positions=[0, 3]), case("")):
        with pytest.raises(Unfit, match=NO_LISTED_WORD):
            next(Typo(TYPOS)(unfit, Random(0)))


def translate(texts: list[str]) -> list[str]:
    """Translate known words; a typo is left out, which here makes a translation better."""
    known = {"a": "ein", "man": "Mann", "walks": "geht", "the": "die", "city": "Stadt"}
    return [" ".join(known[w] for w in t.casefold().split() if w in known) for t in texts]


def run_on(tmp_path: Path, goal: str, **settings: Any) -> Any:
    (tmp_path / "typos").write_text("man mna amn\ncity ctiy\nnot nto\n")
    examples = [
        ("a man walks", "ein Mann geht"),
        ("the city", "die"),
        ("the unheard of", "die"),
        ("a man a city", "ein Mann eine Stadt"),
        ("not a word", "kein Wort"),
    ]
    where = {"folder": tmp_path, "typos": str(tmp_path / "typos"), "answers": "text"}
    return brittle.attack(translate, examples, "typo", goal=goal, **where, **settings)


def test_the_answer_about_the_changed_text_is_in_the_row_whatever_its_loss(tmp_path: Path) -> None:
    run = run_on(tmp_path, "keyword:Wort")
    walks, city, unheard, both, unknown = run.results()
    assert walks.status == "held" and walks.words_changed == 1 and walks.queries == 2
    assert walks.adversarial in ("a mna walks", "a amn walks")
    assert walks.adversarial_answer == "ein geht"
    assert (city.adversarial, city.adversarial_answer) == ("the ctiy", "die")
    assert both.adversarial_answer in ("ein ein Stadt", "ein Mann ein")
    assert (unheard.status, unheard.reason) == ("skipped", NO_LISTED_WORD)
    # A typo that changes nothing is in its row too.
    assert (unknown.status, unknown.adversarial) == ("held", "nto a word")
    assert unknown.adversarial_answer == unknown.answer == "ein"
    assert brittle.Run(run.path).results() == run.results()
    # Steps are what came nearer to the goal: none but the original.
    assert [step.query for step in run.steps() if step.case == unknown.case] == [1]


def test_the_best_of_several_draws_is_kept_though_the_original_is_better(tmp_path: Path) -> None:
    run = run_on(tmp_path, "keyword:Manns", draws=20)
    both = run.results()[3]
    assert both.status == "held"
    assert both.adversarial_answer == "ein Mann ein"  # the typo in "city" keeps "Mann"
    assert both.queries == 4  # of 20 draws three are different texts


def test_classifiers_are_attacked_too(tmp_path: Path) -> None:
    target = FakeTarget({"good": 2.0, "film": -0.5})
    (tmp_path / "typos").write_text("good godo\nfilm flim\n")
    texts = [("a good film", "positive"), ("film", "negative"), ("so", "positive")]
    where = {"folder": tmp_path, "typos": str(tmp_path / "typos")}
    first, second, third = brittle.attack(target, texts, "typo", **where).results()
    assert first.status in ("broken", "held") and first.adversarial is not None
    assert second.adversarial == "flim" and second.adversarial_label is not None
    assert third.status == "skipped"


def test_recipe_and_its_settings(tmp_path: Path) -> None:
    path = tmp_path / "typos"
    path.write_text("man amn\n")
    built = build("typo", {"typos": str(path), "words": 2, "draws": 3})
    assert built == Typo(Typos({"man": ("amn",)}), 2, 3)
    for wrong in ({"words": 0}, {"draws": 0}):
        with pytest.raises(UsageError, match="expected a whole number, 1 or more"):
            build("typo", {"typos": str(path), **wrong})
