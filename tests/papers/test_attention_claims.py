"""The judges of the self-attention paper: invented grids in which a claim holds, or does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brittle.asks import NO_CANDIDATES
from brittle.metrics.inside import InsideRun
from brittle.metrics.paired import Contrast
from brittle.results import Result
from brittle_papers.attention import plan, stages
from brittle_papers.attention.claims import JUDGES
from brittle_papers.attention.results import AttentionResults, counted, difference
from brittle_papers.request import PaperRequest
from papers.invented_grids import (
    CASES,
    Rate,
    cell,
    checked_theorem,
    like_the_paper,
    results,
    seen,
    study,
    translated,
    upside_down,
)


def verdict(key: str, found: AttentionResults) -> str | None:
    judged = JUDGES[key](found)
    return None if judged is None else judged.verdict


CLAIMED = (
    *("random-lowest", "greedy-highest", "consistently-lower", "greedy-lower"),
    *("attention-breaks-lstm", "last-layer", "entailment-lower", "entailment-harder"),
    "highest-attention",
)


@pytest.mark.parametrize("key", CLAIMED)
def test_a_claim_that_holds_and_its_reverse(key: str) -> None:
    assert verdict(key, results(like_the_paper)) == "agrees"
    assert verdict(key, results(upside_down)) == "disagrees"


@pytest.mark.parametrize("key", CLAIMED)
def test_of_cells_that_do_not_differ_no_claim_is_decided(key: str) -> None:
    if key != "last-layer":
        assert verdict(key, results(lambda task, attack, target: 0.1)) == "undecided"
    else:
        assert verdict(key, results(lambda task, attack, target: 0.08)) == "undecided"


def test_one_cell_that_differs_decides_against_a_claim_about_all() -> None:
    def rate(task: str, attack: str, target: str) -> float:
        is_odd = (attack, target) == ("asmin-gr", plan.SCRATCH)
        return 0.9 if is_odd else like_the_paper(task, attack, target)

    judged = JUDGES["consistently-lower"](results(rate))
    assert judged is not None and judged.verdict == "disagrees"
    assert "15 of 16 comparisons agree, 1 disagree" in judged.evidence
    assert "ASMIN-GR on BERT-NOPT less BiLSTM, +60.0 points" in judged.evidence


def test_both_greedy_attacks_are_almost_identical_within_five_points() -> None:
    def apart(by: float) -> Rate:
        return lambda task, attack, target: 0.5 + by * (attack == plan.GS_EC)

    assert verdict("identical", results(apart(0.0))) == "agrees"
    assert verdict("identical", results(apart(0.04))) == "undecided"
    assert verdict("identical", results(apart(0.3))) == "disagrees"


def test_without_pairs_and_translations_their_claims_are_left_out() -> None:
    found = results(like_the_paper, (plan.SENTIMENT,))
    for key in ("entailment-lower", "entailment-harder", "highest-attention", "keyword", "typo"):
        assert JUDGES[key](found) is None
    assert verdict("random-lowest", found) == "agrees"


def test_rates_of_draws_that_are_never_won_are_no_evidence() -> None:
    rates = {plan.RANDOM: 0.0}
    found = results(lambda task, attack, target: rates.get(attack, 0.0))
    for row in found.studies[plan.SENTIMENT].cells.values():
        row[plan.ENCODER] = replace(  # type: ignore[index]
            row[plan.ENCODER],
            rows=tuple(replace(r, won=0 if r.tried else None) for r in row[plan.ENCODER].rows),
        )
    assert verdict("random-lowest", found) == "undecided"


def test_a_rate_of_draws_is_compared_by_the_intervals_of_both() -> None:
    gap = difference(cell(0.02, draws=True), cell(0.0))
    assert not isinstance(gap, Contrast)
    assert gap.value == pytest.approx(-0.02, abs=1e-3)
    assert gap.low is not None and gap.high is not None and gap.low < 0 < gap.high


def test_texts_without_candidates_count_as_held() -> None:
    grid = study(plan.SENTIMENT, lambda task, attack, target: 0.2)
    some = {plan.LSTM: cell(0.2, reason=NO_CANDIDATES), plan.ENCODER: cell(0.2, reason="other")}
    cells = counted(grid.changed(cells={**grid.cells, plan.LIST: some})).cells[plan.LIST]
    statuses = [{row.status for row in cells[name].rows} for name in some]
    assert statuses == [{"broken", "held"}, {"broken", "skipped"}]


@pytest.mark.parametrize("key", ["stable-attention", "relative-change", "sparse"])
def test_what_is_seen_inside_is_compared_on_shared_cases(key: str) -> None:
    more, less = seen(0.6, 0.3, 0.8), replace(seen(0.2, 0.05, 0.5), target="other")

    def found(lstm: InsideRun, encoder: InsideRun) -> AttentionResults:
        both = {plan.LSTM: lstm, plan.ENCODER: encoder}
        stored = {plan.INSIDE[plan.SENTIMENT]: {"limit": 10}}
        results = AttentionResults(PaperRequest("attention", "small", "mr"), Path(), stored)
        results.__dict__["insides"] = {plan.SENTIMENT: {plan.GS_EC: both}}
        return results

    judged = JUDGES[key](found(more, less))
    assert judged is not None and judged.verdict == "agrees" and "n = 10" in judged.evidence
    assert verdict(key, found(less, more)) == "disagrees"
    assert verdict(key, found(seen(0.6, 0.3, 0.8, 9), less)) == "undecided"
    assert JUDGES[key](found(more, replace(less, cases=()))) is None


def test_translators_are_compared_sentence_by_sentence() -> None:
    pytest.importorskip("sacrebleu")
    good, fair, poor = (
        *("a man walks a dog in the park", "a man walks a dog in a park"),
        "a dog walks the man of a park",
    )
    rows = {
        plan.TYPO[plan.RECURRENT]: [translated(n, fair, poor, True) for n in range(60)],
        plan.TYPO[plan.TRANSFORMER]: [translated(n, good, fair, True) for n in range(60)],
        plan.KEYWORD[plan.RECURRENT]: [translated(n, fair, fair, n < 30) for n in range(60)],
        plan.KEYWORD[plan.TRANSFORMER]: [translated(n, fair, fair, n < 10) for n in range(60)],
    }

    def found(rows: dict[str, list[Result]]) -> AttentionResults:
        stored: dict[str, Any] = {name: {} for name in rows}
        results = AttentionResults(PaperRequest("attention", "small", "mr"), Path(), stored)
        results.__dict__["_rows"] = rows
        return results

    keys = ("keyword", "typo", "bleu")
    swapped = dict(zip(rows, (rows[name] for name in (*[*rows][1::-1], *[*rows][:1:-1]))))
    assert [verdict(key, found(rows)) for key in keys] == ["agrees"] * 3
    assert [verdict(key, found(swapped)) for key in keys] == ["disagrees"] * 3


@pytest.mark.parametrize("key", ["theorem-mean", "theorem-tail"])
def test_the_theorem_holds_if_every_check_does(key: str) -> None:
    request = PaperRequest("attention", "small", "mr")
    stored = [{plan.THEOREM: checked_theorem(holds)} for holds in (True, False)]
    judged = [verdict(key, AttentionResults(request, Path(), one)) for one in stored]
    assert judged == ["agrees", "disagrees"]


def test_the_case_of_a_figure_is_the_shortest_that_is_broken_in_all_cells() -> None:
    grid = study(plan.SENTIMENT, lambda task, attack, target: 0.3)
    texts = [("one two three", "one two", "one two three four")[n % 3] for n in range(CASES)]
    cases = tuple(replace(c, fields=(("text", t),)) for c, t in zip(grid.cases, texts))
    grid = grid.changed(cases=cases)
    cells = [(plan.GS_EC, plan.LSTM), (plan.GS_EC, plan.ENCODER)]
    assert stages.shortest_broken(grid, cells) == "c1"
    assert stages.shortest_broken(grid, []) is None
    none = {**grid.cells, plan.GS_EC: {plan.LSTM: cell(0.3), plan.ENCODER: cell(0.0)}}
    assert stages.shortest_broken(grid.changed(cells=none), cells) is None


def test_only_an_optional_model_that_has_not_learnt_is_left_out() -> None:
    accuracy = {plan.LSTM: 0.7, plan.ENCODER: 0.4, plan.SCRATCH: 0.61}
    assert stages.too_weak(accuracy, [plan.SCRATCH]) == []
    assert stages.too_weak(accuracy | {plan.SCRATCH: 0.59}, [plan.SCRATCH]) == [plan.SCRATCH]
    assert stages.too_weak(accuracy | {plan.SCRATCH: 0.1}, []) == []
