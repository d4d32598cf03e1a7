from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from brittle.reports import comparison_json, summary_html, summary_json, summary_text


def test_the_plain_summary(make_run: Callable[..., Any]) -> None:
    text = summary_text(make_run(examples=10)).splitlines()
    assert text[0] == "demo: pwws against zoo:toy on mr (test)"
    assert text[1] == "  accuracy before         85.7%  [48.7–97.4%]  6 of 7 examples answered"
    assert text[3] == "  attack success          60.0%  [23.1–88.2%]  3 of 5 attacked cases"
    assert max(map(len, text)) <= 80
    assert "  ! Incomplete: 8 of 10 cases. The figures cover only these; the same command" in text


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
    assert "<b>42.9%</b>" in text and "3 of 7 examples answered" in text
