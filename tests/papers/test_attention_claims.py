"""The judges of the self-attention paper: invented grids in which a claim holds, or does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from brittle.asks import NO_CANDIDATES
from brittle.inside.measures import InsideRun
from brittle.metrics.paired import Contrast
from brittle_papers.attention import results as names
from brittle_papers.attention import stages
from brittle_papers.attention.claims import AttentionFigures
from brittle_papers.attention.results import counted, difference
from brittle_papers.spec import PaperRequest
from papers.invented_grids import (
    CASES,
    Rate,
    cell,
    checked_theorem,
    like_the_paper,
    results,
    seen,
    study,
    upside_down,
)
from papers.judged import judged


def verdict(key: str, found: AttentionFigures) -> str | None:
    judgement = judged(key, found)
    return None if judgement is None else judgement.verdict


CLAIMED = (
    *("random-lowest", "greedy-highest", "consistently-lower", "greedy-lower"),
    *("attention-breaks-lstm", "last-layer", "entailment-lower", "entailment-harder"),
    *("highest-attention", "word-models"),
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
        is_odd = (attack, target) == ("asmax-gr", names.SCRATCH)
        return 0.9 if is_odd else like_the_paper(task, attack, target)

    judgement = judged("consistently-lower", results(rate))
    assert judgement is not None and judgement.verdict == "disagrees"
    assert "13 of 14 comparisons agree, 1 disagree" in judgement.evidence
    assert "ASMAX-GR on BERT-NOPT less BiLSTM, +40.0 points" in judgement.evidence


def test_both_greedy_attacks_are_almost_identical_within_five_points() -> None:
    def apart(by: float) -> Rate:
        return lambda task, attack, target: 0.5 + by * (attack == names.GS_EC)

    assert verdict("identical", results(apart(0.0))) == "agrees"
    assert verdict("identical", results(apart(0.04))) == "undecided"
    assert verdict("identical", results(apart(0.3))) == "disagrees"


def test_fewer_of_the_nearest_words_break_fewer_texts() -> None:
    found = results(lambda task, attack, target: 0.5)
    far = found.cell(names.SENTIMENT, names.GS_EC, names.LSTM)
    assert far is not None and verdict("identical-nearest", found) == "agrees"
    rows = tuple(replace(row, queries=2 + 1 + n) for n, row in enumerate(far.rows))  # n nearer
    found.studies[names.SENTIMENT].cells[names.GS_EC][names.LSTM] = replace(far, rows=rows)  # type: ignore[index]

    def broken(nearest: int | None) -> int:
        cell = found.nearest_cell(names.SENTIMENT, names.LSTM, nearest)
        assert cell is not None
        return sum(row.status == "broken" for row in cell.rows)

    assert [broken(k) for k in (1, 20, 50, 400, None)] == [1, 20, 50, 50, 50]
    found.results["attacks for sentiment"]["words"] = 20
    judgement = judged("identical-nearest", found)
    assert judgement is not None and judgement.verdict == "disagrees"
    assert "GS-EC with 10 words less GS-GR on BiLSTM, sentiment, -40.0" in judgement.evidence


def test_without_pairs_and_translations_their_claims_are_left_out() -> None:
    found = results(like_the_paper, (names.SENTIMENT,))
    for key in ("entailment-lower", "entailment-harder", "highest-attention"):
        assert judged(key, found) is None
    assert verdict("random-lowest", found) == "agrees"


def test_rates_of_draws_that_are_never_won_are_no_evidence() -> None:
    rates = {names.RANDOM: 0.0}
    found = results(lambda task, attack, target: rates.get(attack, 0.0))
    for row in found.studies[names.SENTIMENT].cells.values():
        row[names.ENCODER] = replace(  # type: ignore[index]
            row[names.ENCODER],
            rows=tuple(replace(r, won=0 if r.tried else None) for r in row[names.ENCODER].rows),
        )
    assert verdict("random-lowest", found) == "undecided"


def test_a_rate_of_draws_is_compared_by_the_intervals_of_both() -> None:
    gap = difference(cell(0.02, draws=True), cell(0.0))
    assert not isinstance(gap, Contrast)
    assert gap.value == pytest.approx(-0.02, abs=1e-3)
    assert gap.low is not None and gap.high is not None and gap.low < 0 < gap.high


def test_texts_without_candidates_count_as_held() -> None:
    grid = study(names.SENTIMENT, lambda task, attack, target: 0.2)
    some = {names.LSTM: cell(0.2, reason=NO_CANDIDATES), names.ENCODER: cell(0.2, reason="other")}
    cells = counted(grid.changed(cells={**grid.cells, names.LIST: some})).cells[names.LIST]
    statuses = [{row.status for row in cells[name].rows} for name in some]
    assert statuses == [{"broken", "held"}, {"broken", "skipped"}]


INSIDE = ("stable-attention", "stable-attention-last", "relative-change", "sparse")


@pytest.mark.parametrize("key", INSIDE)
def test_what_is_seen_inside_is_compared_on_shared_cases(key: str) -> None:
    more, less = seen(0.6, 0.3, 0.8), replace(seen(0.2, 0.05, 0.5), target="other")

    def found(lstm: InsideRun, encoder: InsideRun) -> AttentionFigures:
        both = {names.LSTM: lstm, names.ENCODER: encoder}
        stored = {"inside for sentiment": {"limit": 10}}
        results = AttentionFigures(PaperRequest("attention", "small", "mr"), Path(), stored)
        results.__dict__["insides"] = {names.SENTIMENT: {names.GS_EC: both}}
        results.__dict__["last_insides"] = both
        return results

    judgement = judged(key, found(more, less))
    assert judgement is not None and judgement.verdict == "agrees"
    shared = 20 if key == "stable-attention-last" else 10  # its task keeps to the limit
    assert f"n = {shared}" in judgement.evidence
    assert verdict(key, found(less, more)) == "disagrees"
    assert verdict(key, found(seen(0.6, 0.3, 0.8, 9), less)) == "undecided"
    assert judged(key, found(more, replace(less, cases=()))) is None


@pytest.mark.parametrize("key", ["theorem-mean", "theorem-tail"])
def test_the_theorem_holds_if_every_check_does(key: str) -> None:
    request = PaperRequest("attention", "small", "mr")
    stored = [{"theorem 1": checked_theorem(holds)} for holds in (True, False)]
    judged = [verdict(key, AttentionFigures(request, Path(), one)) for one in stored]
    assert judged == ["agrees", "disagrees"]


def test_the_case_of_a_figure_is_the_shortest_that_is_broken_in_all_cells() -> None:
    grid = study(names.SENTIMENT, lambda task, attack, target: 0.3)
    texts = [("one two three", "one two", "one two three four")[n % 3] for n in range(CASES)]
    cases = tuple(replace(c, fields=(("text", t),)) for c, t in zip(grid.cases, texts))
    grid = grid.changed(cases=cases)
    cells = [(names.GS_EC, names.LSTM), (names.GS_EC, names.ENCODER)]
    assert stages.shortest_broken(grid, cells) == "c1"
    assert stages.shortest_broken(grid, []) is None
    none = {**grid.cells, names.GS_EC: {names.LSTM: cell(0.3), names.ENCODER: cell(0.0)}}
    assert stages.shortest_broken(grid.changed(cells=none), cells) is None


def test_only_an_optional_model_that_has_not_learnt_is_left_out() -> None:
    accuracy = {names.LSTM: 0.7, names.ENCODER: 0.4, names.SCRATCH: 0.61}
    assert stages.too_weak(accuracy, [names.SCRATCH]) == []
    assert stages.too_weak(accuracy | {names.SCRATCH: 0.59}, [names.SCRATCH]) == [names.SCRATCH]
    assert stages.too_weak(accuracy | {names.SCRATCH: 0.1}, []) == []
