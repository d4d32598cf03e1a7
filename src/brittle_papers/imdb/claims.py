"""How our intervals judge the findings of the IMDb paper, which are quoted in paper.toml."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from brittle.metrics.paired import Contrast
from brittle_papers.claims import (
    Judge,
    Judgement,
    above,
    below,
    difference,
    judge,
    judge_all,
    judge_near,
    within,
)
from brittle_papers.formats import format_value
from brittle_papers.imdb import plan
from brittle_papers.imdb.plan import LSTM, NAIVE_BAYES, SVM, TARGETS
from brittle_papers.imdb.results import ImdbResults
from brittle_papers.spec import load_spec

NEGLIGIBLE = 0.02
"""The fall in accuracy, as a share of all texts, up to which an attack counts as harmless here."""

NEAR = 0.05
"""How far an accuracy may lie from a number of the paper that it is meant to equal."""

ALIKE = 0.1
"""How far the classes may differ to count as affected alike: the paper's differ by 9.3 points."""

PARTED = 0.75
"""Half of the way from chance to classes that two components part wholly."""

MAIN = plan.JSMA["gradient"]
BY_STRENGTH = {target: [*plan.BLACK_BOX] for target in TARGETS}
# The others only see texts that JSMA made on the LSTM, which says nothing of its strength on them.
BY_STRENGTH[LSTM].append(MAIN)


def _monotone(results: ImdbResults, target: str) -> Judgement:
    attacks = BY_STRENGTH[target]
    steps = {f"tack-on on {target}": results.fall(target, attacks[0])}
    for a, b in pairwise(attacks):
        steps[f"{b} after {a} on {target}"] = results.compare_cells((target, a), (target, b))
    return judge_all(below, steps)


def _most_robust(results: ImdbResults, *attacks: str) -> Judgement:
    others = {
        f"{attack}, {target}": results.compare_cells((target, attack), (LSTM, attack))
        for attack in attacks
        for target in TARGETS
        if target != LSTM
    }
    return judge_all(above, others)


def _strongest(results: ImdbResults) -> Judgement:
    cells = {name: results.compare_cells((LSTM, name), (LSTM, MAIN)) for name in plan.BLACK_BOX}
    return judge_all(below, cells)


def _svm(results: ImdbResults) -> Judgement:
    others = [target for target in TARGETS if target != SVM]
    accuracy = {t: results.compare_accuracy(plan.CLEAN[t], plan.CLEAN[SVM]) for t in others}
    return judge_all(above, accuracy)


def _against_best(results: ImdbResults, other: str) -> Contrast:
    return results.compare_accuracy(plan.DEV[other], plan.DEV[plan.ATTACKED_LSTM])


def _both_classes(results: ImdbResults) -> Judgement:
    labels = results[plan.DATA]["labels"]
    classes = {label: results.broken_by_few(MAIN, label) for label in labels}
    evidence = ", ".join(f"{label} {format_value(figure)}" for label, figure in classes.items())
    if len(classes) != 2:
        return Judgement("undecided", evidence)
    return Judgement(within(difference(*classes.values()), ALIKE), evidence)


def _level(results: ImdbResults, attack: str, paper: float) -> Judgement:
    return judge_near(results.grid.cells[LSTM, attack], paper, NEAR)


def _strongest_words(results: ImdbResults) -> Judgement:
    found = results[plan.STRONGEST]["words"]["whole"]
    paper = load_spec("imdb").tables["strongest words"]
    shared = sum(len({*words} & {*found.get(label, ())}) for label, words in paper.items())
    order = "in the same order" if found == paper else "in another order"
    evidence = f"{shared} of {sum(map(len, paper.values()))} words are the same, {order}"
    return Judgement("agrees" if found == paper else "disagrees", evidence)


JUDGES: Mapping[str, Judge[ImdbResults]] = {
    "strongest-words": _strongest_words,
    "jsma-strongest": _strongest,
    "harmless-tack-on": lambda r: judge(within, r.fall(LSTM, "tack-on"), NEGLIGIBLE),
    "harmless-1-swap": lambda r: judge(within, r.fall(LSTM, "1 swap"), NEGLIGIBLE),
    "level-3-swaps": lambda r: _level(r, "3 swaps", 0.6817),
    "level-5-swaps": lambda r: _level(r, "5 swaps", 0.5936),
    "level-jsma": lambda r: _level(r, MAIN, 0.3986),
    "monotone-naive-bayes": lambda r: _monotone(r, NAIVE_BAYES),
    "monotone-linear-svm": lambda r: _monotone(r, SVM),
    "monotone-LSTM": lambda r: _monotone(r, LSTM),
    "svm-clean": _svm,
    "lstm-robust": lambda r: _most_robust(r, *plan.BLACK_BOX),
    "lstm-jsma": lambda r: _most_robust(r, MAIN),
    "units": lambda r: judge_all(
        above, {other: _against_best(r, other) for other in ("32 units", "128 units")}
    ),
    "dropout": lambda r: judge(above, _against_best(r, "64 units, dropout 50%")),
    "both-classes": _both_classes,
    "few-words": lambda r: judge(above, r.broken_by_few(MAIN), 0.5),
    "components-glove": lambda r: judge(above, r.parted("glove"), PARTED),
    "components-words": lambda r: judge(above, r.parted("words"), PARTED),
}
