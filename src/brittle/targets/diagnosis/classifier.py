"""Warnings before and after a run if its evaluation could not be trusted.

Each check is a pure function over scores. `diagnose` asks for the scores of a sample of the
originals, which the attacks need anyway, and repeats a few of these questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from brittle.asks import Case
from brittle.engine.asking import Asker
from brittle.targets.diagnosis.samples import (
    COSTLY_SAMPLE_SIZE,
    EXCHANGED_SAMPLE_SIZE,
    MAX_CHANCE,
    MIN_WRONG,
    SAMPLE_SIZE,
    DiagnosisWarning,
    ask_exchanged,
    ask_sample,
    is_clearly_more,
    is_costly,
    turned_fields,
)
from brittle.targets.protocols import Classifies, Scores, declared_by
from brittle.text import Text

# The scores of float32 models differ by up to 1e-6 if the same text is in another batch (measured:
# 6.5e-7 on MiniLM, 1.03e-6 on a tiny random BERT). A larger difference is random, and would
# influence what an attack finds.
TOLERANCE = 1e-4
CLEAR_CHANGE = 0.01  # of a confidence between the start and the end of a run
SATURATED_CONFIDENCE = 0.9999  # above it, scores hardly move
SATURATED_SHARE = 0.99  # of the cases
MAX_SAMPLE_SIZE = max(SAMPLE_SIZE, EXCHANGED_SAMPLE_SIZE)


def diagnose(
    target: Classifies,
    cases: Sequence[Case[Text]],
    broker: Asker,
    *,
    data_labels: Mapping[str, int] | None = None,
) -> list[DiagnosisWarning]:
    """Check the target's answers to a sample of the cases; return warnings.

    Of a costly target, or under a limit on the whole run, 8 cases are asked and 4 of them
    repeated, else 32 and 8. Pairs are asked with their sides exchanged too, if many of the sample
    are wrong: the 8 of a costly target, else up to 128, so hand in `MAX_SAMPLE_SIZE` cases. If the
    target has `trained_fields`, the names of the fields are compared first. `data_labels`, as
    `match_labels` returns it, names the data's labels in advice. If the target answers nothing at
    all, `TargetDown` is raised.
    """
    if not cases:
        return []
    sample = ask_sample(target, cases, broker)
    answered = sample.answered
    score = np.asarray([row for _, row in answered], dtype=np.float64)
    first, second = (
        np.asarray(sample.repeated, dtype=np.float64).reshape(-1, 2, score.shape[1]).swapaxes(0, 1)
    )
    labels = [case.label for case, _ in answered]
    warnings = [
        constant(score, target.name, labels),
        unstable(first, second, target.name),
        label_only(score, target.name, bool(declared_by(target, "label_only"))),
        saturated(score, target.name),
        swapped(score, labels, target.labels, data_labels),
    ]
    wrong = [case.label not in (None, int(np.argmax(row))) for case, row in answered]
    turned = turned_fields(cases[0].text, declared_by(target, "trained_fields"), target.name)
    if turned is None and sum(wrong) >= MIN_WRONG and warnings[-1] is None:  # labels not swapped
        count = COSTLY_SAMPLE_SIZE if is_costly(target, broker) else EXCHANGED_SAMPLE_SIZE
        turned = ask_exchanged(cases[:count], broker)
    warnings.append(turned)
    return [warning for warning in warnings if warning is not None]


def constant(
    score: Scores, name: str = "target", labels: Sequence[int | None] = ()
) -> DiagnosisWarning | None:
    """Warn if all cases get the same scores.

    `labels` are those of the cases. Cases of one class should get one label, so that a target that
    gives only labels has no other scores to give.
    """
    if len(score) < 2 or np.ptp(score, axis=0).max() > 0:
        return None
    is_one_class = len(set(labels)) == 1 and labels[0] is not None
    if is_one_class and _are_labels(score):
        return None
    return DiagnosisWarning(
        "constant",
        f"Target {name!r} gives the same scores to all of {len(score)} different cases, "
        "so no attack can work. Check that they reach the model.",
    )


def unstable(first: Scores, second: Scores, name: str = "target") -> DiagnosisWarning | None:
    """Warn if cases that are asked twice get different scores."""
    if not len(first):
        return None
    change = np.abs(first - second).max(axis=1)
    if change.max() <= TOLERANCE:
        return None
    flips = int((first.argmax(axis=1) != second.argmax(axis=1)).sum())
    problem = (
        f"Target {name!r} is not deterministic: asked again, "
        f"{int((change > TOLERANCE).sum())} of {len(first)} cases got different scores "
        f"(by up to {change.max():.2g}; {flips} got another label)."
    )
    if flips:
        return DiagnosisWarning(
            "random",
            f"{problem} Some successes may be chance: winners are scored again alone, and "
            "those that no longer win are unconfirmed. Turn off dropout, sampling or "
            "temperature.",
        )
    return DiagnosisWarning(
        "unstable",
        f"{problem} Results depend on the order of queries. Turn off dropout, sampling or "
        "low precision.",
    )


def changed(
    answers: Sequence[tuple[int, float, Scores]], name: str = "target"
) -> DiagnosisWarning | None:
    """Warn if originals that are asked again after a run get clearly different answers.

    An answer is the label of the original, its confidence, and the scores it gets now.
    """
    moves = [abs(float(now[label]) - confidence) for label, confidence, now in answers]
    flips = sum(int(np.argmax(now)) != label for label, _, now in answers)
    if not flips and max(moves, default=0.0) <= CLEAR_CHANGE:
        return None
    return DiagnosisWarning(
        "changed",
        f"Target {name!r} changed during the run: of {len(answers)} originals asked again at the "
        f"end, {flips} got another label, and confidences changed by up to {max(moves):.2g}. "
        "Either the model was replaced, or the order of its scores changed (let it return label "
        "names with its scores), or it is not deterministic. The figures mix both states: start "
        "over with --new.",
    )


def saturated(score: Scores, name: str = "target") -> DiagnosisWarning | None:
    """Warn if the target is so confident that scores hardly distinguish candidates."""
    confidence = score.max(axis=1)
    share = np.mean(confidence > SATURATED_CONFIDENCE)
    if len(score) < 2 or (confidence == 1.0).all() or share < SATURATED_SHARE:
        return None
    return DiagnosisWarning(
        "saturated",
        f"Target {name!r} is more than {SATURATED_CONFIDENCE:.2%} sure of {share:.0%} of "
        f"{len(score)} cases: scores hardly change, so attacks cannot follow them. "
        "Calibrate it, or return its logits (--scores logits, scores='logits' in Python) "
        "if the scores were rounded.",
    )


def label_only(
    score: Scores, name: str = "target", declared: bool = False
) -> DiagnosisWarning | None:
    """Warn if the target answers only labels, as it says or as its scores look."""
    if not declared and not (len(score) >= 2 and _are_labels(score)):
        return None
    sure = "" if declared else f", or is completely sure of all {len(score)} cases"
    return DiagnosisWarning(
        "label-only",
        f"Target {name!r} gives only labels{sure}. Attacks that follow scores see no "
        "change before the label flips: they need more queries and find less. Texts that "
        "hold here may still be easy to break.",
    )


def _are_labels(score: Scores) -> bool:
    """Tell whether scores are labels alone: 1 for one of them, and 0 for the others."""
    return bool(np.isin(score, (0.0, 1.0)).all())


def swapped(
    score: Scores,
    labels: Sequence[int | None],
    target_labels: Sequence[str],
    data_labels: Mapping[str, int] | None = None,
) -> DiagnosisWarning | None:
    """Warn if so few answers are right that the labels are probably swapped.

    That means: guessing would be this bad less than once in a hundred times, or with the labels in
    another order clearly more would be right (three labels of which two are swapped are no worse
    than guessing).
    """
    labelled = np.array([n for n, label in enumerate(labels) if label is not None], dtype=int)
    truth = np.array([label for label in labels if label is not None], dtype=int)
    if not len(labelled):
        return None
    predicted = score[labelled].argmax(axis=1)
    correct, count, width = int((predicted == truth).sum()), len(labelled), len(target_labels)
    p = 1 / width
    chance = sum(comb(count, n) * p**n * (1 - p) ** (count - n) for n in range(correct + 1))
    answer = _most_frequent_answers(truth, predicted, width)
    if chance > MAX_CHANCE and not _is_better_in_another_order(truth, predicted, answer, width):
        return None
    advice = _suggest_labels(answer, target_labels, data_labels)
    return DiagnosisWarning(
        "swapped",
        f"Only {correct} of {count} cases get the label of the data; guessing would give "
        f"{count / width:.0f}. The labels are probably swapped.{advice}",
    )


def _most_frequent_answers(
    truth: NDArray[np.int_], predicted: NDArray[np.int_], width: int
) -> dict[int, int]:
    """Return for each label of the data the most frequent answer."""
    return {
        label: int(np.bincount(predicted[truth == label], minlength=width).argmax())
        for label in np.unique(truth).tolist()
    }


def _is_better_in_another_order(
    truth: NDArray[np.int_], predicted: NDArray[np.int_], answer: Mapping[int, int], width: int
) -> bool:
    """Tell whether clearly more answers are right if each label means its most frequent answer."""
    if len(set(answer.values())) < len(answer):
        return False
    before = predicted == truth
    after = predicted == np.array([answer[label] for label in truth.tolist()])
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    return is_clearly_more(gained, lost, factorial(width))


def _suggest_labels(
    answer: dict[int, int], target_labels: Sequence[str], data_labels: Mapping[str, int] | None
) -> str:
    """Suggest for each label of the data the most frequent answer, if these answers differ."""
    index_of = data_labels or {label: index for index, label in enumerate(target_labels)}
    if len(target_labels) == 2:
        answer = {0: 1, 1: 0}
    if len(set(answer.values())) < len(answer):
        return " Check --labels."
    pairs = [f"{name}={target_labels[answer[i]]}" for name, i in index_of.items() if i in answer]
    return f" Check this. If so, use --labels '{','.join(pairs)}'."
