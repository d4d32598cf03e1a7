"""What the IMDb paper claims, and what our intervals say of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from brittle.metrics.paired import Contrast
from brittle.metrics.summary import rate
from brittle.papers.findings import (
    Finding,
    Verdict,
    above,
    altogether,
    below,
    difference,
    nowhere,
    span,
    within,
)
from brittle.papers.imdb.found import Found
from brittle.papers.imdb.plan import BLACK_BOX, CHOSEN, FEATURES, JSMA, LSTM, TARGETS
from brittle.papers.page import percents, points

NEGLIGIBLE = 0.05
"""The fall in accuracy, as a share of all texts, up to which an attack counts as harmless here."""

ALIKE = 0.1
"""The difference of two classes' success up to which they count as affected alike."""

MAIN = JSMA["gradient"]


def findings(found: Found) -> list[Finding]:
    """Judge the claims of section VI."""
    return [
        _strongest(found),
        *(_harmless(found, attack) for attack in ("tack-on", "1 swap")),
        _harmful(found, "5 swaps"),
        *(_monotone(found, target) for target in TARGETS),
        _best_when_clean(found),
        _most_robust(found, "lstm-robust", tuple(BLACK_BOX), "every black-box adversary"),
        _most_robust(found, "lstm-jsma", (MAIN,), "JSMA, whose texts the others only see"),
        *_swept(found),
        _both_classes(found),
        *_parted(found),
    ]


def _strongest(found: Found) -> Finding:
    others = {attack: found.accuracy((LSTM, attack), (LSTM, MAIN)) for attack in BLACK_BOX}
    verdict = altogether([below(span(c)) for c in others.values()])
    claim = "JSMA lowers the LSTM's accuracy more than every black-box attack"
    return Finding("jsma-strongest", claim, verdict, _weakest(others, -1))


def _harmless(found: Found, attack: str) -> Finding:
    fall = found.fall(LSTM, attack)
    claim = f"{attack} has almost no effect on the LSTM (less than {NEGLIGIBLE:.0%} of the reviews)"
    return Finding(f"harmless-{_key(attack)}", claim, within(span(fall), NEGLIGIBLE), points(fall))


def _harmful(found: Found, attack: str) -> Finding:
    fall = found.fall(LSTM, attack)
    claim = f"{attack} lower the LSTM's accuracy by more than {NEGLIGIBLE:.0%} of the reviews"
    return Finding(f"harmful-{_key(attack)}", claim, below(span(fall), -NEGLIGIBLE), points(fall))


def _monotone(found: Found, target: str) -> Finding:
    # What JSMA does to the others is carried over from the LSTM: another thing than strength.
    chain = [*BLACK_BOX, MAIN] if target == LSTM else [*BLACK_BOX]
    falls = [found.accuracy((target, b), (target, a)) for a, b in pairwise(chain)]
    first = found.fall(target, chain[0])
    least = min((c.difference or 0.0) for c in falls)
    claim = (
        f"The accuracy of {target} falls with the adversary's strength, from {chain[0]} to "
        f"{chain[-1]} (and rises nowhere by more than {NEGLIGIBLE:.0%} of the reviews)"
    )
    told = f"{chain[0]} {points(first)}; the least further fall is {100 * least:+.1f} points"
    return Finding(f"monotone-{target}", claim, nowhere(falls, NEGLIGIBLE), told)


def _best_when_clean(found: Found) -> Finding:
    others = {t: found.versus("clean", t, "linear-svm") for t in TARGETS if t != "linear-svm"}
    verdict = altogether([above(span(c)) for c in others.values()])
    claim = "The linear SVM is the most accurate without an attack"
    return Finding("svm-clean", claim, verdict, _weakest(others, 1))


def _most_robust(found: Found, key: str, attacks: Sequence[str], under: str) -> Finding:
    others = {
        f"{attack}, {target}": found.accuracy((target, attack), (LSTM, attack))
        for attack in attacks
        for target in TARGETS
        if target != LSTM
    }
    verdicts: list[Verdict] = [above(span(c)) for c in others.values()]
    claim = f"The LSTM is more accurate than the other two under {under}"
    return Finding(key, claim, altogether(verdicts), _weakest(others, 1))


def _swept(found: Found) -> list[Finding]:
    units = {name: found.versus("dev", name, CHOSEN) for name in ("32 units", "128 units")}
    claim = "64 hidden units do best on the dev side"
    verdict = altogether([above(span(c)) for c in units.values()])
    rows = [Finding("units", claim, verdict, _weakest(units, 1))]
    dropout = found.versus("dev", "64 units, dropout 50%", CHOSEN)
    claim = "Dropout of 25% does better on the dev side than 50%"
    return [*rows, Finding("dropout", claim, above(span(dropout)), points(dropout))]


def _both_classes(found: Found) -> Finding:
    classes = found.by_class(MAIN)
    claim = f"JSMA sways both classes alike (success not further apart than {ALIKE:.0%})"
    told = ", ".join(f"{label} {percents(figure)}" for label, figure in classes.items())
    verdict: Verdict = "undecided"
    if len(classes) == 2:
        verdict = within(difference(*classes.values()), ALIKE)
    return Finding("both-classes", claim, verdict, told)


def _parted(found: Found) -> Sequence[Finding]:
    rows = []
    for features in FEATURES:
        told = found.result(f"components, {features}")
        parted = rate(told["parted"], len(told["label"]), "training reviews")
        claim = f"Two principal components of the training set part the classes ({features})"
        verdict = above(span(parted), 1 / len(told["labels"]))
        rows.append(Finding(f"components-{features}", claim, verdict, percents(parted)))
    return rows


def _weakest(contrasts: dict[str, Contrast], toward: int) -> str:
    """Tell the comparison that speaks least for a claim of higher (1) or lower (-1) rates."""
    name = min(contrasts, key=lambda n: toward * (contrasts[n].difference or 0.0))
    return f"the weakest of {len(contrasts)} comparisons: {name}, {points(contrasts[name])}"


def _key(attack: str) -> str:
    return attack.replace(" ", "-")
