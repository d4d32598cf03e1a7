"""The tables of the papers, from answers that are counted by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from brittle.validity.answers import SampleKey, check_answers, load_answers
from brittle.validity.questionnaire import preset
from brittle.validity.sampling import DrawnSample, PageItem, Source, draw_sample
from brittle.validity.verdicts import TableRow, answer_table

Write = Callable[..., Path]


@pytest.fixture
def table(
    source: Source, beside: Source, keyed: Callable[[DrawnSample], SampleKey], answer_file: Write
) -> Callable[..., dict[tuple[str, str], TableRow]]:
    """Return a function that has people answer a preset, and returns the rows of its table."""

    def make(
        name: str,
        *people: Callable[[PageItem], Mapping[str, Any]],
        count: int = 40,
        two: bool = False,
    ) -> dict[tuple[str, str], TableRow]:
        questionnaire = preset(name)
        sample = draw_sample(
            source, questionnaire, count, len(people), beside=beside if two else None
        )
        files = [answer_file(sample, answer, n + 1) for n, answer in enumerate(people)]
        key = keyed(sample)
        checked = check_answers([load_answers(file) for file in files], key, questionnaire)
        rows = {row.case: row for row in source.rows}
        return {
            (row.question, row.about): row
            for row in answer_table(checked, key, questionnaire, rows)
        }

    return make


def label(item: PageItem, is_right: bool = True) -> str:
    return ("negative", "positive")[(int(item.case, 16) + (not is_right)) % 2]


def test_hotflip_has_the_median_accuracy_of_the_people(table: Any) -> None:
    def careful(item: PageItem) -> dict[str, Any]:
        return {"label": label(item)}

    def careless(item: PageItem) -> dict[str, Any]:
        return {"label": label(item, item.panels[0].role == "original")}

    rows = table("hotflip", careful, careful, careless)
    clean = rows["label read right", "originals"]
    adversarial = rows["label read right", "demo"]
    assert clean.median == 1 and clean.figure.value == 1 and clean.figure.of == 20
    assert adversarial.median == 1 and adversarial.figure.value == pytest.approx(2 / 3)
    assert (adversarial.figure.of, adversarial.answers) == (20, 60)


def test_natural_sentences_has_a_column_for_each_run(table: Any) -> None:
    def person(item: PageItem) -> dict[str, Any]:
        own = item.panels[0].role == "adversarial"
        return {"grammatical": "yes" if own else "no", "similar": "yes"}

    rows = table("natural-sentences", person, two=True)
    assert rows["grammatical", "demo"].figure.value == 1
    assert rows["grammatical", "other"].figure.value == 0
    assert rows["similar to the original", "other"].figure.count == 20


def test_natural_pictures_asks_about_both_and_lets_one_be_closer(table: Any) -> None:
    def person(item: PageItem) -> dict[str, Any]:
        first = item.panels[0].role
        return {
            "handwritten": "yes" if first == "adversarial" else "no",
            "handwritten-2": "yes" if first == "beside" else "no",
            "closer": "first" if first == "beside" else "second",
        }

    rows = table("natural-pictures", person, two=True)
    assert rows["looks handwritten", "demo"].figure.value == 1
    assert rows["looks handwritten", "other"].figure.value == 0
    assert rows["closer to the original", "demo"].figure.value == 0
    assert rows["closer to the original", "other"].figure.value == 1


def test_natural_changes_asks_which_of_two_changes_is_more_natural(table: Any) -> None:
    def person(item: PageItem) -> dict[str, Any]:
        return {"changes": "first" if item.panels[0].role == "adversarial" else "second"}

    rows = table("natural-changes", person, two=True)
    assert rows["more natural changes", "demo"].figure.value == 1
    assert rows["more natural changes", "other"].figure.value == 0
    assert set(rows) == {("more natural changes", run) for run in ("demo", "other")}


def test_attention_has_relative_readability_and_accuracy(table: Any) -> None:
    def person(item: PageItem) -> dict[str, Any]:
        number = int(item.case, 16)
        own, other = ("first", "second")
        if item.panels[0].role == "beside":
            own, other = other, own
        is_right = item.panels[0].role == "beside"
        return {"label": label(item, is_right), "readable": other if number % 4 else own}

    rows = table("attention", person, count=500, two=True)
    readable = [rows["more natural of the two", run] for run in ("demo", "other")]
    votes = [sum(n % 4 == 0 for n in range(10, 60)), sum(n % 4 != 0 for n in range(10, 60))]
    assert [row.figure.value for row in readable] == [vote / 50 for vote in votes]
    assert readable[1].relative == 1 and readable[0].relative == pytest.approx(votes[0] / votes[1])
    assert rows["label read right", "demo"].figure.value == 0
    assert rows["label read right", "other"].figure.value == 1


def test_similarity_is_a_mean_and_the_original_a_share_against_chance(table: Any) -> None:
    rows = table("similarity", lambda item: {"label": label(item), "similarity": 2})
    assert rows["similarity", "demo"].unit == "mean"
    assert rows["similarity", "demo"].figure.value == 2
    found = table("original", lambda item: {"original": "first"})
    assert found["taken for the original", "originals"].figure.of == 40
    assert all(row.median is None and row.relative is None for row in found.values())
    share = found["taken for the original", "originals"].figure.value
    assert share is not None and 0.2 < share < 0.8
