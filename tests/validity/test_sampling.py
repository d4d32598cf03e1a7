"""Which cases people read: reproducible, blind, and what each arrangement promises."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from brittle.errors import UsageError
from brittle.validity.questionnaire import PRESETS, preset
from brittle.validity.sampling import Source, draw_sample

STANDARD = preset("standard")


def test_the_same_run_and_seed_draw_the_same_sample(source: Source) -> None:
    first, again = (draw_sample(source, STANDARD, 40, 2) for _ in range(2))
    assert first == again
    other = draw_sample(source, STANDARD, 40, 2, seed=1)
    assert other.id != first.id and {i.id for i in other.items}.isdisjoint(
        i.id for i in first.items
    )
    renamed = draw_sample(replace(source, name="another"), STANDARD, 40, 2)
    assert (renamed.id, renamed.items) == (first.id, first.items)


def test_another_person_can_be_added_to_the_same_sample(source: Source) -> None:
    two, three = (draw_sample(source, STANDARD, 40, people) for people in (2, 3))
    assert (two.id, two.items) == (three.id, three.items)
    assert three.orders[:2] == two.orders and len(set(three.orders)) == 3


def test_everybody_reads_every_item_in_an_order_of_their_own(source: Source) -> None:
    sample = draw_sample(source, STANDARD, 40, 2)
    assert len(sample.items) == 40
    assert [sorted(order) for order in sample.orders] == [[item.id for item in sample.items]] * 2
    assert sample.orders[0] != sample.orders[1]


def test_a_case_is_read_once_and_a_quarter_are_originals(source: Source) -> None:
    sample = draw_sample(source, STANDARD, 40, 1)
    assert len({item.case for item in sample.items}) == 40
    assert Counter(item.panels[0].role for item in sample.items) == {
        "adversarial": 30,
        "original": 10,
    }
    for item in sample.items:
        texts = {panel.role: dict(panel.fields)["text"] for panel in item.panels}
        assert texts["original"].endswith("good") and texts["adversarial"].endswith("odd")


def test_only_broken_cases_are_read_and_no_more_than_there_are(source: Source) -> None:
    sample = draw_sample(source, STANDARD, 500, 1)
    broken = {row.case for row in source.rows if row.status == "broken"}
    assert {item.case for item in sample.items} == broken
    held = replace(source, rows=[row for row in source.rows if row.status == "held"])
    with pytest.raises(UsageError, match="No case of the run 'demo' is broken"):
        draw_sample(held, STANDARD, 10, 1)


def test_neither_ids_nor_orders_tell_the_roles(source: Source) -> None:
    """Adversaries are not earlier, nor lower, than originals: over many seeds both are even."""
    earlier = lower = pairs = 0
    for seed in range(60):
        sample = draw_sample(source, STANDARD, 40, 1, seed=seed)
        roles = {item.id: item.panels[0].role for item in sample.items}
        originals = [n for n, role in roles.items() if role == "original"]
        place = {number: n for n, number in enumerate(sample.orders[0])}
        for one in originals:
            for other in roles:
                if roles[other] == "adversarial":
                    pairs += 1
                    earlier += place[one] < place[other]
                    lower += one < other
    assert pairs == 60 * 10 * 30
    assert 0.46 < earlier / pairs < 0.54 and 0.46 < lower / pairs < 0.54


def test_ids_depend_on_what_only_the_owner_has(source: Source) -> None:
    sample = draw_sample(source, STANDARD, 40, 1)
    other = [replace(row, queries=row.queries + 1) for row in source.rows]
    changed = draw_sample(replace(source, rows=other), STANDARD, 40, 1)
    assert {i.id for i in sample.items}.isdisjoint(i.id for i in changed.items)


def test_hotflip_s_questionnaire_is_half_originals_and_even_by_class(source: Source) -> None:
    sample = draw_sample(source, preset("hotflip"), 40, 1)
    labels = {row.case: row.label for row in source.rows}
    counts = Counter((item.panels[0].role, labels[item.case]) for item in sample.items)
    assert set(counts.values()) == {10} and len(counts) == 4
    assert all(len(item.panels) == 1 for item in sample.items)


def test_rivals_are_the_adversaries_of_one_case_from_two_runs(
    source: Source, beside: Source
) -> None:
    sample = draw_sample(source, preset("natural-pictures"), 500, 1, beside=beside)
    assert len(sample.items) == 50  # broken in both
    firsts = Counter(item.panels[0].role for item in sample.items)
    assert set(firsts) == {"adversarial", "beside"} and min(firsts.values()) > 10
    for item in sample.items:
        texts = {panel.role: dict(panel.fields)["text"] for panel in item.panels}
        assert item.panels[2].role == "original"
        assert texts["adversarial"].endswith("odd") and texts["beside"].endswith("dull")
    labels = {row.case: row.label for row in source.rows}
    for name in ("natural-pictures", "natural-changes"):
        even = draw_sample(source, preset(name), 20, 1, beside=beside)
        assert set(Counter(labels[item.case] for item in even.items).values()) == {10}
    two = draw_sample(source, preset("attention"), 20, 1, beside=beside)
    assert all(len(item.panels) == 2 for item in two.items)


def test_with_two_runs_every_case_is_asked_about_twice(source: Source, beside: Source) -> None:
    sample = draw_sample(source, preset("natural-sentences"), 40, 1, beside=beside)
    assert set(Counter(item.case for item in sample.items).values()) == {2}
    alone = draw_sample(source, preset("natural-sentences"), 40, 1)
    assert len({item.case for item in alone.items}) == 40


@pytest.mark.parametrize(
    ("name", "message"),
    [("attention", "--beside RUN"), ("natural-pictures", "--beside RUN")],
)
def test_what_compares_two_runs_asks_for_both(source: Source, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        draw_sample(source, preset(name), 10, 1)


def test_what_does_not_fit_is_refused(source: Source, beside: Source) -> None:
    with pytest.raises(UsageError, match="reads one run"):
        draw_sample(source, STANDARD, 10, 1, beside=beside)
    translator = replace(source, manifest={"answers": "texts"})
    with pytest.raises(UsageError, match=r"asks for labels.*natural-sentences or original"):
        draw_sample(translator, STANDARD, 10, 1)
    assert draw_sample(translator, preset("original"), 10, 1).items
    with pytest.raises(UsageError, match="Did you mean 'hotflip'"):
        preset("hotflop")


def test_every_questionnaire_shows_the_label_s_panel_first_and_has_captions() -> None:
    for name, one in PRESETS.items():
        shown = [panel for question in one.questions for panel in question.shows]
        assert max(shown) < len(one.captions), name
        for question in one.questions:
            assert set(question.about) <= set(question.shows), (name, question.key)
            if question.kind == "label":
                assert question is one.questions[0] and question.shows == (0,)
