"""The page of the self-attention paper, from invented results: no model is asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from brittle_papers import SCALES, TRIAL
from brittle_papers.attention import results as names
from brittle_papers.attention.claims import AttentionFigures
from brittle_papers.attention.page import edited
from brittle_papers.page import PaperPage, load_notes
from brittle_papers.paper import build_page, load_paper
from brittle_papers.spec import PaperRequest
from papers.invented_grids import checked_theorem, invent_grids, like_the_paper, seen

NOTES = Path(__file__).parents[2] / "docs" / "papers"


def stored_results(tasks: tuple[str, ...]) -> dict[str, Any]:
    """Invent the results of the tasks of classification, without files."""
    stored: dict[str, Any] = {"theorem 1": checked_theorem(), "attacks on word models": {}}
    stored["accuracy of Transformer-W for sentiment"] = {"right": "1110" * 25}
    for task in tasks:
        stored[f"data for {task}"] = {"name": task, "train": {"examples": 1000}}
        for name in names.TARGETS:
            settings = {"hidden": 128, "width": 128}
            stored[f"train {name} for {task}"] = {"name": f"{name}@data#0", "settings": settings}
            stored[f"accuracy of {name} for {task}"] = {"right": "1110" * 25}
        stored[f"attacks for {task}"] = {
            "cases": 100,
            "words": 800,
            "left_out": [names.SCRATCH] if task == names.ENTAILMENT else [],
            "settings": {"vocabulary": 800, "draws": 500},
        }
        stored[f"attacks for {task}, own words"] = {}
        stored[f"inside for {task}"] = {"limit": 10, "case": "c0", "attended": "c1"}
    return stored


def found(request: PaperRequest, tasks: tuple[str, ...] = names.CLASSIFIED) -> AttentionFigures:
    results = AttentionFigures(request, Path(), stored_results(tasks))
    invent_grids(results, like_the_paper, tasks)
    runs = {names.LSTM: seen(0.6, 0.3, 0.8), names.ENCODER: seen(0.2, 0.05, 0.5)}
    attended = {key: {names.ENCODER: runs[names.ENCODER]} for key in ("asmin-ec", "asmax-ec")}
    results.__dict__["last_insides"] = runs
    results.__dict__["insides"] = {task: {names.GS_EC: runs, **attended} for task in tasks}
    return results


def page_of(results: AttentionFigures) -> PaperPage:
    return build_page(load_paper("attention"), results, {}, 60.0)


def test_every_cell_stands_beside_the_papers() -> None:
    page = page_of(found(PaperRequest("attention", "small", "mr", pairs="snli")))
    text = page.text()
    for line in (
        "| RANDOM | 2.0% (2.0–2.0; n = 100) [1.1%] | 1.0% (1.0–1.0; n = 100) [0.8%] |",
        "| GS-GR | 70.0% (60.4–78.1; 70 of 100) [79%] | 35.0% (26.4–44.7; 35 of 100) [52%] |",
        "| A\\* | 50.0% (40.4–59.6; 50 of 100), ASMAX-GR [62%] |",
        "| GS-EC | -35.0 (",
        "; n = 100) | < 0.001 | < 0.001 |",
        "| entailment, MiniLM | 50.0% (40.4–59.6; 50 of 100) | 1.0% (0.2–5.4; 1 of 100) |",
        "| sentiment | MiniLM | MiniLM | 93.7% | 75.0% (65.7–82.5; 75 of 100) |",
        "| LSTM, GS-EC (Table 3) | 0.6 | 52.1% | not asked |",
        "| 400 | 70.0% (60.4–78.1; 70 of 100) | 35.0% (26.4–44.7; 35 of 100) |",
        "| ASMAX-GR on MiniLM | 25.0% (17.5–34.3; 25 of 100) | 15.0% (9.3–23.3; 15 of 100) |",
        "| GS-GR | 70.0% (60.4–78.1; 70 of 100) | 35.0% (26.4–44.7; 35 of 100) | -35.0 (",
        "the 800 most frequent words of the training texts that all of them know",
        "| word dropout of the LSTM | not said | none: BiLSTM@data#0 |",
        "BERT-NOPT is left out of entailment",
    ):
        assert line in text, line
    assert "| attack | MiniLM less BiLSTM | p | p, Holm |" in text
    assert "| attack | BERT-NOPT less BiLSTM | p | p, Holm |" in text
    assert page.figures["sentiment, paired"]["gs-ec"].keys() == {"MiniLM", "BERT-NOPT"}
    assert page.figures["sentiment"]["gs-gr"]["BiLSTM"]["count"] == 70
    assert page.figures["relative"]["sentiment, BiLSTM"]["Re"]["of"] == 10
    assert "Here no case is broken by both." in text  # the invented rows have no texts
    assert not re.search(r"\bnan\b|None", text)


def test_plots_are_there_and_named_after_the_paper() -> None:
    page = page_of(found(PaperRequest("attention", "small", "mr"), (names.SENTIMENT,)))
    figures = {f"attention-figure-{n}" for n in ("1", "2", "4-BiLSTM", "4-MiniLM")}
    assert set(page.plots) == figures | {f"attention-distance-{name}" for name in names.TARGETS[:2]}
    assert "entailment (Tables 5 and 6): `--pairs` names its data" in page.text()
    judged = page.figures["findings"]
    assert "entailment-lower" not in judged and judged["relative-change"]["verdict"] == "agrees"


def test_without_a_shared_broken_case_there_is_no_figure() -> None:
    results = found(PaperRequest("attention", "small", "mr"), (names.SENTIMENT,))
    stored: Any = results.results["inside for sentiment"]
    stored |= {"case": None, "attended": None}
    page = page_of(results)
    assert not any(name.startswith("attention-figure") for name in page.plots)
    assert page.text().count("Here no case is broken by both.") == 4


def test_an_empty_cell_says_so() -> None:
    results = found(PaperRequest("attention", "small", "mr"), (names.SENTIMENT,))
    grid = results.studies[names.SENTIMENT]
    cells = {a: dict(row) for a, row in grid.cells.items()}
    for attack in names.BY_ATTENTION:
        del cells[attack][names.ENCODER]
    del cells[names.LAST_LAYER][names.ENCODER]
    results.__dict__["studies"] = {names.SENTIMENT: grid.changed(cells=cells)}
    text = page_of(results).text()
    assert "| – [17%] |" in text and "last-layer" not in page_of(results).figures["findings"]


def test_the_notes_name_figures_that_the_page_has() -> None:
    page = page_of(found(PaperRequest("attention", "small", "mr", pairs="snli")))
    filled = {k: page.fill(n) for k, n in load_notes(NOTES / "attention.notes.md").items()}
    assert not any(re.search(r"\{[a-z]+[ ,]", note) for note in filled.values())
    assert "With the nearest 50 words GS-EC breaks 70.0% (" in filled["identical-nearest"]


@pytest.mark.parametrize(
    "scale", [pytest.param(s, marks=[pytest.mark.slow] * (s == "full")) for s in SCALES]
)
def test_only_a_trial_says_that_it_is_no_result(scale: str) -> None:
    page = page_of(found(PaperRequest("attention", scale, "mr"), (names.SENTIMENT,)))
    assert ("This page is a trial of the command" in page.text()) == (scale == TRIAL)


def test_tables_are_narrow_enough_for_a_phone() -> None:
    text = page_of(found(PaperRequest("attention", "small", "mr", pairs="snli"))).text()
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.replace("\\|", "").count("|") <= 6, line  # five columns


def test_what_was_replaced_is_struck_out_in_both_sides_of_a_pair() -> None:
    before = (("premise", "a dog runs"), ("hypothesis", "no dog"))
    after = (("premise", "a dog sits"), ("hypothesis", "no dog"))
    assert edited(before, after) == "a dog ~~runs~~ **sits** / no dog"
