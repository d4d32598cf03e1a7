"""The claims of the IMDb paper (section VI), judged by our intervals."""

from __future__ import annotations

from itertools import pairwise

from brittle.papers import claims as findings
from brittle.papers.claims import Judgement, above, below, judge, judge_all, within
from brittle.papers.imdb import plan
from brittle.papers.imdb.plan import LSTM, SVM, TARGETS
from brittle.papers.imdb.results import ImdbResults
from brittle.papers.page import format_value

NEGLIGIBLE = 0.05
"""The fall in accuracy, as a share of all texts, up to which an attack counts as harmless here."""

ALIKE = 0.1
"""The difference of two classes' success up to which they count as affected alike."""

MAIN = plan.JSMA["gradient"]
BY_STRENGTH = {target: [*plan.BLACK_BOX] for target in TARGETS}
# The others only see texts that JSMA made on the LSTM, which says nothing of its strength on them.
BY_STRENGTH[LSTM].append(MAIN)

CLAIMS = {
    "jsma-strongest": "JSMA lowers the LSTM's accuracy more than every black-box attack",
    "harmless-tack-on": "tack-on has almost no effect on the LSTM (less than "
    f"{NEGLIGIBLE:.0%} of the reviews)",
    "harmless-1-swap": "1 swap has almost no effect on the LSTM (less than "
    f"{NEGLIGIBLE:.0%} of the reviews)",
    "harmful-5-swaps": "5 swaps lower the LSTM's accuracy by more than "
    f"{NEGLIGIBLE:.0%} of the reviews",
    **{
        f"monotone-{target}": f"The accuracy of {target} falls with the adversary's strength, from "
        f"{attacks[0]} to {attacks[-1]} (and rises nowhere by more than {NEGLIGIBLE:.0%} of the "
        "reviews)"
        for target, attacks in BY_STRENGTH.items()
    },
    "svm-clean": "The linear SVM is the most accurate without an attack",
    "lstm-robust": "The LSTM is more accurate than the other two under every black-box adversary",
    "lstm-jsma": "The LSTM is more accurate than the other two under JSMA, whose texts the others "
    "only see",
    "units": "64 hidden units do best on the dev split",
    "dropout": "Dropout of 25% does better on the dev split than 50%",
    "both-classes": f"JSMA sways both classes alike (success not further apart than {ALIKE:.0%})",
    **{
        f"components-{features}": "Two principal components of the training set part the classes "
        f"({features})"
        for features in plan.FEATURES
    },
}


def judge_claims(results: ImdbResults) -> dict[str, Judgement]:
    """Judge all claims."""
    jsma = {name: results.compare_cells((LSTM, name), (LSTM, MAIN)) for name in plan.BLACK_BOX}
    svm = {t: results.compare_accuracy(plan.CLEAN[t], plan.CLEAN[SVM]) for t in TARGETS if t != SVM}
    sweep = {
        name: results.compare_accuracy(task, plan.DEV[plan.ATTACKED_LSTM])
        for name, task in plan.DEV.items()
    }
    return {
        "jsma-strongest": judge_all(below, jsma),
        "harmless-tack-on": judge(within, results.fall(LSTM, "tack-on"), NEGLIGIBLE),
        "harmless-1-swap": judge(within, results.fall(LSTM, "1 swap"), NEGLIGIBLE),
        "harmful-5-swaps": judge(below, results.fall(LSTM, "5 swaps"), -NEGLIGIBLE),
        **{f"monotone-{target}": _monotone(results, target) for target in TARGETS},
        "svm-clean": judge_all(above, svm),
        "lstm-robust": _most_robust(results, *plan.BLACK_BOX),
        "lstm-jsma": _most_robust(results, MAIN),
        "units": judge_all(above, {name: sweep[name] for name in ("32 units", "128 units")}),
        "dropout": judge(above, sweep["64 units, dropout 50%"]),
        "both-classes": _both_classes(results),
        **{f"components-{features}": _parted(results, features) for features in plan.FEATURES},
    }


def _monotone(results: ImdbResults, target: str) -> Judgement:
    attacks = BY_STRENGTH[target]
    falls = [results.compare_cells((target, b), (target, a)) for a, b in pairwise(attacks)]
    least = 100 * min((contrast.difference or 0.0) for contrast in falls)
    first = f"{attacks[0]} {format_value(results.fall(target, attacks[0]))}"
    return Judgement(
        findings.nowhere(falls, NEGLIGIBLE),
        f"{first}; the least further fall is {least:+.1f} points",
    )


def _most_robust(results: ImdbResults, *attacks: str) -> Judgement:
    others = {
        f"{attack}, {target}": results.compare_cells((target, attack), (LSTM, attack))
        for attack in attacks
        for target in TARGETS
        if target != LSTM
    }
    return judge_all(above, others)


def _both_classes(results: ImdbResults) -> Judgement:
    classes = results.success_by_class(MAIN)
    evidence = ", ".join(f"{label} {format_value(figure)}" for label, figure in classes.items())
    if len(classes) != 2:
        return Judgement("undecided", evidence)
    return Judgement(within(findings.difference(*classes.values()), ALIKE), evidence)


def _parted(results: ImdbResults, features: str) -> Judgement:
    classes = results.results[plan.COMPONENTS[features]]["labels"]
    return judge(above, results.parted(features), 1 / len(classes))
