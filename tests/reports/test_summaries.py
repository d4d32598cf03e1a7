from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from brittle.metrics.samples import sample_results
from brittle.reports import comparison_json, summary_html, summary_json, summary_text
from brittle.reports.run_page import render


def test_the_plain_summary(make_run: Callable[..., Any]) -> None:
    text = summary_text(make_run(examples=10)).splitlines()
    assert text[0] == "demo: pwws against zoo:toy on mr (test)"
    assert text[1] == "  accuracy before         85.7%  [48.7–97.4%]  6 of 7 right"
    assert text[3] == "  attack success          60.0%  [23.1–88.2%]  3 of 5 attacked cases"
    assert max(map(len, text)) <= 80
    assert "  ! Incomplete: 8 of 10 cases. The figures cover only these. Short searches end" in text
    assert "already wrong: other cases will differ" in " ".join(" ".join(text).split())


def test_cases_that_could_not_be_attacked_are_warned_about(make_run: Callable[..., Any]) -> None:
    rows = sample_results()
    bare = replace(rows[3], status="skipped", reason="no candidates")
    text = " ".join(summary_text(make_run([*rows, bare, bare])).split())
    assert "2 of 7 examples to attack could not be attacked (no candidates 2)" in text
    assert "already wrong 1 · not tested 3 (no candidates 2, nothing to edit 1)" in text
    assert "3 of 9 still right" not in text and "still right (2 could not be attacked)" in text
    assert "examples to attack could not be" not in summary_text(make_run([*rows, bare]))
    assert "--cosine" not in text
    near = " ".join(summary_text(make_run([*rows, bare, bare], settings={"cosine": 0.8})).split())
    assert "A --cosine below 0.8 finds more candidates." in near


def test_cases_that_tried_nothing_are_warned_about(make_run: Callable[..., Any]) -> None:
    rows = sample_results()
    bare = replace(rows[4], reason="before one candidate was tried")
    text = " ".join(summary_text(make_run([*rows, bare], budget=30)).split())
    assert (
        "1 case ended before one candidate was tried, which says nothing about the target: raise "
        "--budget above 30, or use salient-swap." in text
    )
    assert "out of budget 2 (before one candidate was tried 1)" in text
    other = summary_text(make_run([bare], budget=30, attack="salient-swap"))
    assert "or use" not in other and "(before one candidate was tried)" in other
    assert "before one candidate" not in summary_text(make_run())
    page = render(make_run([*rows, bare], budget=30))
    assert "1 case ended before one candidate was tried" in page


def test_the_data_names_every_denominator(make_run: Callable[..., Any]) -> None:
    data = json.loads(json.dumps(summary_json(make_run(examples=10)), allow_nan=False))
    assert data["accuracy_after"] | {"low": 0, "high": 0} == {
        "value": 3 / 7,
        "low": 0,
        "high": 0,
        "count": 3,
        "of": 7,
        "over": "examples answered",
    }
    assert data["complete"] is False
    assert data["statuses"]["broken"] == 3
    assert data["totals"]["sent"] == 900


def test_a_run_without_results_is_still_data(make_run: Callable[..., Any]) -> None:
    data = summary_json(make_run([], examples=5))
    assert data["success"]["value"] is None
    json.dumps(data, allow_nan=False)


def test_a_comparison_pairs_each_run_with_the_first(make_run: Callable[..., Any]) -> None:
    data = comparison_json([make_run(name="a"), make_run(name="b"), make_run(name="c")])
    assert [run["run"] for run in data["runs"]] == ["a", "b", "c"]
    assert [(pair["a"], pair["b"]) for pair in data["paired"]] == [("a", "b"), ("a", "c")]
    assert data["paired"][0]["accuracy"]["difference"] == 0
    json.dumps(data, allow_nan=False)
    assert comparison_json([])["runs"] == comparison_json([])["paired"] == []


def test_the_notebook_s_fragment_is_escaped(make_run: Callable[..., Any]) -> None:
    evil = "<script>alert(1)</script>\x00"
    text = summary_html(make_run(name=evil, target=evil, warnings=[evil], data=evil))
    assert "<script" not in text and "\x00" not in text
    assert "&lt;script&gt;" in text
    assert "<b><bdi>42.9%</bdi></b>" in text and "3 of 7 still right" in text


def test_a_label_or_a_confidence_gives_two_accuracies(make_run: Callable[..., Any]) -> None:
    for goal in ({"toward": "positive"}, {"confidence": 0.9}):
        text = summary_text(make_run(**goal))
        assert "under attack, by goal" in text and "under attack, by label" in text
    assert "by label" not in summary_text(make_run())
