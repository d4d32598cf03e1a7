"""Runs of an attack with a generator: reconstructions, and sentences on the way from there."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from brittle.asks import RECONSTRUCTION
from brittle.reports import render, summary_json, summary_text
from brittle.reports.cases import clearest
from brittle.reports.kept import way
from brittle.reports.terminal import run_block
from brittle.results import KeptItem

Make = Callable[..., Any]
REBUILT = KeptItem("reconstruction", "a warm and <b>good</b> film", 0.0, "positive", 0.97)


@pytest.fixture
def natural(make_run: Make) -> Any:
    """Make a run with two adversaries, one lost reconstruction, and one case that held."""
    run = make_run(attack="natural", cost_name="Δz")
    first, second, third, held, *_ = run.rows
    between = KeptItem("way", "a warm and fine film", 0.25)
    run.rows = [
        replace(first, cost=0.5, kept=(REBUILT, between, KeptItem("way", "a comical film", 0.5))),
        replace(second, cost=0.125, kept=(REBUILT, KeptItem("way", "the plan is soft", 0.75))),
        replace(third, status="skipped", reason=RECONSTRUCTION, adversarial=None, kept=(REBUILT,)),
        replace(held, kept=(REBUILT,)),
    ]
    run.manifest["examples"] = 4
    costs = {row.case: row.cost for row in run.rows}
    run.improvements = [
        replace(step, cost=costs.get(step.case) if step.query > 1 else None)
        for step in run.improvements
    ]
    return run


def test_reconstructions_that_are_lost_are_counted_apart(natural: Any) -> None:
    text = summary_text(natural)
    assert re.search(
        r"reconstructions kept +75\.0%  \[30\.1–95\.4%\] +3 of 4 reconstructions", text
    )
    assert f"not tested 1 ({RECONSTRUCTION})" in text and "2 of 3 attacked cases" in text
    assert "Δz of the winner" in text
    kept = summary_json(natural)["reconstructions_kept"]
    assert (kept["count"], kept["of"]) == (3, 4)


def test_a_run_without_a_generator_says_nothing_of_them(make_run: Make) -> None:
    assert "reconstruction" not in summary_text(make_run())
    assert "straight line" not in render(make_run())
    assert "reconstructions_kept" not in summary_json(make_run())


def test_a_way_to_another_winner_is_not_shown(natural: Any) -> None:
    assert [len(way(row)) for row in natural.rows] == [2, 0, 0, 0]


def test_the_nearest_in_the_latent_space_comes_first(natural: Any) -> None:
    assert [row.cost for row in clearest(natural.rows)] == [0.125, 0.5]


def test_the_page_has_what_was_kept(natural: Any) -> None:
    page = render(natural)
    [rows] = re.findall(r'id="rows">(.*?)</script>', page)
    data = json.loads(rows)
    assert data["cost"] == "Δz" and "<b>good" not in page and "straight line" in page
    named = [
        [(data["strings"][item[0]], *item[1:3]) for item in row[-1]] for row in data["rows"][:2]
    ]
    first = ("reconstruction", REBUILT.item, 0.0)
    assert named == [
        [first, ("way", "a warm and fine film", 0.25), ("way", "a comical film", 0.5)],
        [first],
    ]
    assert data["strings"][data["rows"][0][-1][0][3]] == "positive"


def test_the_page_draws_success_against_the_distance(natural: Any) -> None:
    page = render(natural)
    assert "<b>66.7%</b> broken within Δz <b>0.5</b>" in page and "Median Δz" in page
    assert "median cost" not in page and "The Δz is that of the cheapest winner" in page


def test_the_terminal_lists_the_sentences_on_the_way(natural: Any) -> None:
    out = io.StringIO()
    Console(file=out, width=80).print(run_block(natural, 5))
    shown = out.getvalue()
    assert "Δz 0.500, 1 of 5 words changed" in shown
    lines = re.findall(r"^ +(0\.\d{3})  (.*?) *$", shown, re.MULTILINE)
    assert lines[-3:] == [
        ("0.000", REBUILT.item),
        ("0.250", "a warm and fine film"),
        ("0.500", "a comical film"),
    ]
