"""Warnings before a run, when the evaluation itself could not be trusted.

Each check is a pure function over scores. `diagnose` asks for a sample of the originals, whose
answers the attacks need anyway, and repeats a few of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from brittle.errors import TargetDown, TargetError
from brittle.targets.protocols import Classifies, Scores
from brittle.text import Text

# Float32 models answer the same text in another batch up to 1e-6 differently (measured: 6.5e-7 on
# MiniLM, 1.03e-6 on a tiny random BERT); more than this is chance at work, and would decide what an
# attack finds.
TOLERANCE = 1e-4
# From here on a wrong answer would show no rise in float32, and hardly any in float64.
SATURATED = 0.9999
SAMPLE, REPEATS = 32, 8
COSTLY_SAMPLE, COSTLY_REPEATS = 8, 4


@dataclass(frozen=True)
class DiagnosisWarning:
    """Something that makes the results of a run doubtful, in words for people."""

    code: str
    message: str


class LabelledText(Protocol):
    """A text and the index of its label, None where it is not known."""

    @property
    def text(self) -> Text: ...

    @property
    def label(self) -> int | None: ...


class Asker(Protocol):
    """Who passes questions on and keeps the answers: the broker."""

    def answer(self, question: str, items: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]: ...

    def alone(self, question: str, items: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]: ...


def diagnose(
    target: Classifies,
    cases: Sequence[LabelledText],
    asker: Asker | None = None,
    *,
    sample: int | None = None,
    data_labels: Mapping[str, int] | None = None,
) -> list[DiagnosisWarning]:
    """Look at the target's answers to a sample of the cases, and warn of what looks wrong.

    Without an asker the target is called directly. Of a costly target 8 cases are asked and 4 of
    them repeated, else 32 and 8. `data_labels`, as `match` gives it, names the data's labels in
    advice. A target that answers nothing at all is `TargetDown`.
    """
    costly = bool(getattr(target, "costly", False))
    sample = sample or (COSTLY_SAMPLE if costly else SAMPLE)
    taken = list(cases[:sample])
    if not taken:
        return []
    asker = asker or _Direct(target)
    texts = [case.text for case in taken]
    rows, failures = asker.answer("scores", texts)
    good = [n for n in range(len(taken)) if n not in failures]
    if not good:
        raise TargetDown(
            f"Target {target.name!r} answered none of the first {len(taken)} texts. The first "
            f"failure: {failures[0]}"
        )
    score = np.asarray([rows[n] for n in good], dtype=np.float64)
    # Other order and other company: each repeat is asked by itself, the last one first.
    chosen = list(range(len(good)))[: COSTLY_REPEATS if costly else REPEATS][::-1]
    again, lost = asker.alone("scores", [texts[good[n]] for n in chosen])
    kept = [i for i in range(len(chosen)) if i not in lost]
    once = score[[chosen[i] for i in kept]]
    twice = np.asarray([again[i] for i in kept], dtype=np.float64).reshape(once.shape)
    labels = [taken[n].label for n in good]
    found = [
        constant(score, target.name),
        unstable(once, twice, target.name),
        label_only(score, target.name, bool(getattr(target, "label_only", False))),
        saturated(score, target.name),
        swapped(score, labels, target.labels, data_labels),
    ]
    return [warning for warning in found if warning is not None]


def constant(score: Scores, name: str = "target") -> DiagnosisWarning | None:
    """Warn when different texts all get one and the same answer."""
    if len(score) < 2 or np.ptp(score, axis=0).max() > 0:
        return None
    return DiagnosisWarning(
        "constant",
        f"Target {name!r} gives the same scores to all of {len(score)} different texts: no attack "
        "can learn anything from it. See whether the texts reach it at all.",
    )


def unstable(once: Scores, again: Scores, name: str = "target") -> DiagnosisWarning | None:
    """Warn when a text asked again, in other company, gets another answer."""
    if not len(once):
        return None
    change = np.abs(once - again).max(axis=1)
    if change.max() <= TOLERANCE:
        return None
    flips = int((once.argmax(axis=1) != again.argmax(axis=1)).sum())
    told = (
        f"Target {name!r} is not deterministic: asked again, {int((change > TOLERANCE).sum())} of "
        f"{len(once)} texts got other scores (by up to {change.max():.2g}; {flips} got another "
        "label)."
    )
    if flips:
        return DiagnosisWarning(
            "random",
            f"{told} Successes may be chance: winners are scored again alone, and those that no "
            "longer win are unconfirmed. Switch dropout, sampling or temperature off.",
        )
    return DiagnosisWarning(
        "unstable",
        f"{told} Results depend on the order of asking. Switch dropout, sampling or low precision "
        "off.",
    )


def saturated(score: Scores, name: str = "target") -> DiagnosisWarning | None:
    """Warn when confidence leaves no room for scores to tell candidates apart."""
    certain = score.max(axis=1)
    if len(score) < 2 or (certain == 1.0).all() or np.mean(certain > SATURATED) < 0.99:
        return None
    return DiagnosisWarning(
        "saturated",
        f"Target {name!r} is more than {SATURATED:.2%} sure of {np.mean(certain > SATURATED):.0%} "
        f"of {len(score)} texts: scores hardly move, and attacks that follow them search blindly. "
        "Calibrate it, or give its logits (--scores logits, scores='logits' in Python) if these "
        "were rounded.",
    )


def label_only(
    score: Scores, name: str = "target", declared: bool = False
) -> DiagnosisWarning | None:
    """Say what it costs that only labels come back."""
    if not declared and not (len(score) >= 2 and np.isin(score, (0.0, 1.0)).all()):
        return None
    return DiagnosisWarning(
        "label-only",
        f"Target {name!r} gives only labels. Attacks that rank by score (pwws, genetic) see no "
        "difference before the label flips: they fall back on the order of the text, need more "
        "queries and find less. What is not broken here may still be easy to break.",
    )


def swapped(
    score: Scores,
    labels: Sequence[int | None],
    target_labels: Sequence[str],
    data_labels: Mapping[str, int] | None = None,
) -> DiagnosisWarning | None:
    """Warn when so few answers are right that chance would do better: labels are mixed up.

    Below chance means: guessing would be this bad less than once in a hundred times.
    """
    known = np.array([n for n, label in enumerate(labels) if label is not None], dtype=int)
    truth = np.array([label for label in labels if label is not None], dtype=int)
    if not len(known):
        return None
    said = score[known].argmax(axis=1)
    right, count, width = int((said == truth).sum()), len(known), len(target_labels)
    if _at_most(right, count, 1 / width) > 0.01:
        return None
    advice = _advice(truth, said, target_labels, data_labels)
    return DiagnosisWarning(
        "swapped",
        f"Only {right} of {count} texts are classified as the data says; guessing would give "
        f"{count / width:.0f}. The labels are probably swapped.{advice}",
    )


def _advice(
    truth: NDArray[np.int_],
    said: NDArray[np.int_],
    target_labels: Sequence[str],
    data_labels: Mapping[str, int] | None,
) -> str:
    """Suggest what each label of the data is most often answered with, if that is clear."""
    named = data_labels or {label: index for index, label in enumerate(target_labels)}
    seen = {index for index in named.values() if (truth == index).any()}
    best = {
        index: int(np.bincount(said[truth == index], minlength=len(target_labels)).argmax())
        for index in seen
    }
    if len(target_labels) == 2:
        best = {0: 1, 1: 0}
    if len(set(best.values())) < len(best):
        return " Check --labels."
    pairs = [f"{n}={target_labels[best[i]]}" for n, i in named.items() if i in best]
    return f" Check, and if so say --labels '{','.join(pairs)}'."


def _at_most(right: int, count: int, chance: float) -> float:
    """Give the probability of so few hits or fewer by guessing."""
    return sum(comb(count, n) * chance**n * (1 - chance) ** (count - n) for n in range(right + 1))


@dataclass(frozen=True)
class _Direct:
    """Ask a target without a broker; a text that fails fails alone."""

    target: Classifies

    def answer(self, question: str, items: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
        try:
            return list(self.target.scores(items)), {}
        except TargetError:
            return self.alone(question, items)

    def alone(self, question: str, items: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
        rows: list[Any] = []
        failures: dict[int, Any] = {}
        for n, item in enumerate(items):
            try:
                rows.append(self.target.scores([item])[0])
            except TargetError as error:
                rows.append(None)
                failures[n] = error
        return rows, failures
