"""What the figures of a run rest on: facts, what is missing, bounds in words, and the card."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rich.console import Console

import brittle
from brittle.metrics.curves import MAX_LATE, Flattening
from brittle.metrics.samples import sample_results
from brittle.metrics.summary import rate, robust_to_words
from brittle.reports import render, summary_html, summary_json, summary_text
from brittle.reports.card import card
from brittle.reports.summaries import summarize
from brittle.reports.terminal import run_block
from brittle.reports.trust import (
    _growth,
    describe_space,
    missing,
    robust_lines,
    short_lines,
    trust_facts,
)
from brittle.testing import FakeTarget

MakeRun = Callable[..., Any]


def facts_of(run: Any) -> dict[str, str | None]:
    return {fact.name: fact.value for fact in trust_facts(run, *summarize(run))}


def shown(block: Any) -> str:
    file = io.StringIO()
    Console(file=file, width=80).print(block)
    return file.getvalue()


def test_what_is_there_is_said_and_what_is_not_is_missing(make_run: MakeRun) -> None:
    run = make_run(examples=10, fingerprint="f00d", content="beef", budget=50)
    facts = facts_of(run)
    assert facts["searched"] == "pwws (inflect); untargeted"
    assert facts["budget"] == "50 queries a case"
    assert facts["cases"] == "8 of 10 planned cases finished, 7 answered, 5 attacked"
    assert facts["wrong without any edit"] == "14.3%, 1 of 7 originals"
    assert facts["proved"] == "0 of 5 attacked cases"
    assert facts["target"] == "zoo:toy, f00d" and facts["data"] == "mr, test, beef"
    assert facts["diagnosis"] == "no warning" and facts["seed"] == "0"
    assert facts["versions"] == "brittle 0.1.0"
    growth = facts["larger budget"]
    assert growth == "would break more: 1 of 5 attacked cases broke in the second half of this one"
    lacking = [name for name, value in facts.items() if value is None]
    assert lacking == missing(trust_facts(run, *summarize(run)))
    assert lacking == [
        "broken by a random edit",
        "label read by another model",
        "validity",
        "command",
    ]


def test_what_was_measured_later_is_no_longer_missing(make_run: MakeRun) -> None:
    run = make_run(warnings=["Confidence is saturated."])
    run.command = "brittle attack zoo:toy pwws --data mr"
    valid, edit = asdict(rate(6, 40, "broken cases read")), asdict(rate(2, 50, "attacked cases"))
    run.later = {
        "validity": {"reading": {"parts": {"valid": valid}}, "judge": None},
        "floors": {"random_edit": edit, "other": {"name": "naive-bayes", "adversaries": edit}},
    }
    facts = facts_of(run)
    assert None not in facts.values()
    assert facts["validity"] == "15.0% (7.1–29.1%) of 40 broken cases read"
    assert facts["broken by a random edit"] == "4.0% (1.1–13.5%) of 50 attacked cases"
    assert str(facts["label read by another model"]).endswith("attacked cases (naive-bayes)")
    assert facts["diagnosis"] == "1 warning: Confidence is saturated."
    judged = {"judge": {"validity": asdict(rate(1, 4, "judged"))}, "reading": {"parts": {}}}
    run.later = {"validity": judged}
    assert str(facts_of(run)["validity"]).startswith("25.0%")


def test_the_terminal_has_few_lines_of_it(make_run: MakeRun) -> None:
    run = make_run(budget=50, attacks=["gradient-swap", "pwws"], attack="auto")
    lines = short_lines(trust_facts(run, *summarize(run)))
    assert lines[0] == "searched: auto (gradient-swap, pwws, inflect); untargeted"
    kept = describe_space(run.manifest | {"keep": {"similarity": [0.85, "MiniLM"]}})
    assert kept == "auto (gradient-swap, pwws, inflect); similarity ≥ 0.85; untargeted"
    assert (
        lines[-1].startswith("not checked yet: do random edits break it, too?") and len(lines) <= 5
    )
    for text in (shown(run_block(run, 2)), shown(run_block(run, 0)), summary_text(run)):
        assert "trust" in text and "would break more" in text and "not checked yet:" in text
        assert max(map(len, text.splitlines())) <= 80
    assert "would break more" in summary_html(run)
    assert "are the texts valid?" in summary_html(run)
    assert summary_json(run)["trust"]["budget"] == "50 queries a case"


def test_swaps_are_written_from_both_sides_with_their_space(make_run: MakeRun) -> None:
    rows = sample_results()
    assert robust_lines(rows) == []
    rows[3] = replace(rows[3], proved_words=1, single_swaps=4)
    lines = (
        "one word swapped: between 1 and 3 of 5 attacked cases (20.0% and 60.0%) withstand it; 2 "
        "are not decided: they broke with more words, or the search ended early",
        "all known swaps were tried (mean 4.0 a text); 1 text has no word to swap: not tested",
    )
    run = make_run(rows)
    for text in (summary_text(run), render(run), shown(run_block(run, 0)), card(run)):
        assert all(line in " ".join(text.split()) for line in lines)
        assert "robust to" not in text and "decided for every example" not in text
    [bounds] = summary_json(run)["robust"]
    assert bounds["unbroken"]["count"] == 3 and bounds["proved"]["of"] == 5
    assert (bounds["unknown"], bounds["untested"], bounds["single_swaps"]["value"]) == (2, 1, 4.0)


def test_swaps_of_several_words_are_written_where_all_cases_are_decided() -> None:
    broken, held = sample_results()[0], sample_results()[3]
    *lines, last = robust_lines([broken, replace(held, proved_words=7, single_swaps=1)])
    assert [line.split(" swapped: ")[0] for line in lines] == [
        *("one word", "up to two words", "up to three words", "up to 7 words"),
    ]
    decided = "swapped: 1 of 2 attacked cases (50.0%, 9.5–90.5%) withstand it"
    assert all(line.endswith(decided) for line in lines)
    assert last == "all known swaps were tried (mean 1.0 a text)"
    former = robust_lines([replace(held, proved_words=1)])  # of a run without the column
    assert former[-1] == "all known swaps were tried"
    assert former[0].startswith("one word swapped: 1 of 1 attacked case (100.0%")


def test_attacks_on_the_same_cases_never_contradict_each_other(tmp_path: Path) -> None:
    """What `pwws` says of single swaps is what `exhaustive` says, and `auto` never says less."""
    words = ("good", "great", "bad", "poor", "film", "story", "actor", "dull", "xyz")
    random = Random(5)
    texts = [" ".join(random.choices(words, k=random.randint(1, 7))) for _ in range(60)]
    target = FakeTarget({"good": 1.5, "great": 1.5, "bad": -1.5, "poor": -1.5}, spread=0.2)
    runs = {
        name: brittle.attack(target, texts, name, folder=tmp_path, candidates="careful")
        for name in ("exhaustive", "pwws")
    }
    bounds = {name: robust_to_words(run.results())[0] for name, run in runs.items()}
    truth, pwws = bounds["exhaustive"], bounds["pwws"]
    assert truth.unknown == pwws.unknown == 0 and truth.untested == pwws.untested > 0
    assert truth.proved == pwws.proved and truth.single_swaps == pwws.single_swaps
    climbed = brittle.attack(target, texts, "auto", levels="careful", folder=tmp_path).results()
    proved = {row.case for row in climbed if row.status == "proved"}
    broken = {row.case for row in runs["exhaustive"].results() if row.status == "broken"}
    assert proved and broken and not proved & broken


def test_the_page_lists_facts_and_escapes_them(make_run: MakeRun) -> None:
    page = render(make_run(target="<script>alert(1)</script>"))
    assert "What the figures rest on" in page and "<dt>not checked yet</dt>" in page
    assert "<script>alert(1)" not in page


def test_proved_has_its_colour_and_meaning_on_the_page(make_run: MakeRun) -> None:
    rows = sample_results()
    rows[3] = replace(rows[3], status="proved", reason="by bounds", proved_words=2)
    page = render(make_run(rows))
    assert 'class="is-proved"' in page and "by bounds" in page
    assert "all texts of the search space were checked" in page
    assert "proved 1 (by bounds)" in summary_text(make_run(rows))


def test_the_card_is_markdown_with_metadata(make_run: MakeRun) -> None:
    yaml = pytest.importorskip("yaml")
    run = make_run(target='a "b"|c: \x1b[31m<i>', examples=10)
    text = card(run)
    _, head, body = text.split("---\n", 2)
    index = yaml.safe_load(head)["model-index"][0]
    assert index["name"].startswith('a "b"|c: ') and "\x1b" not in text
    result = index["results"][0]
    assert result["dataset"] == {"name": "mr", "type": "mr", "split": "test"}
    metrics = {metric["name"]: metric["value"] for metric in result["metrics"]}
    assert metrics["accuracy before attack"] == 0.8571 and metrics["success of pwws"] == 0.6
    assert "| attack success | 60.0% |" in body and "| validity | **missing** |" in body
    assert "> Incomplete: 8 of 10 cases" in body and "<i>" not in body
    table = [line for line in body.splitlines() if line.startswith("|")]
    cells = {line.replace("\\|", "").count("|") for line in table}
    assert cells == {5, 3}


@pytest.mark.parametrize(
    ("about", "task"),
    [
        ({}, "text-classification"),
        ({"kind": "picture"}, "image-classification"),
        ({"answers": "texts"}, "translation"),
    ],
)
def test_the_card_names_the_task(make_run: MakeRun, about: dict[str, str], task: str) -> None:
    assert f"      type: {task}\n" in card(make_run(**about))


@pytest.mark.parametrize(
    ("late", "of", "expected"),
    [(0, 4, "not known: 0 of 4"), (0, 400, "would hardly break more: 0 of 400"), (2, 4, "would b")],
)
def test_few_cases_do_not_show_that_a_larger_budget_is_of_no_use(
    late: int, of: int, expected: str
) -> None:
    figure = rate(late, of, "attacked cases")
    growth = Flattening((figure.value or 0.0) <= MAX_LATE, figure)
    assert str(_growth(growth)).startswith(expected)
