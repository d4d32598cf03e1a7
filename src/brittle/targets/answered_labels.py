"""The labels of a target whose answers name them: `{"clean": 0.9, "offensive": 0.1}`.

Where nobody lists the labels of a function, an endpoint or a program, it is asked one plain
sentence. If its answer has a score for every label by name, these names are the labels, sorted.
They have then no order of the target's own, so that every later answer must name them too.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

from brittle.errors import TargetError, UsageError
from brittle.redaction import redact, short_repr
from brittle.targets.labels import IF_IT_TRANSLATES, label_names
from brittle.targets.options import ScoreKind
from brittle.targets.scores import MAX_SUM_ERROR, label_scores

KEYS = ("label", "score")


def answered_labels(
    answer: Any, kind: ScoreKind, who: str, keys: tuple[str, str] = KEYS
) -> tuple[str, ...]:
    """Return the labels that the answer on a plain sentence names, sorted.

    >>> answered_labels({"offensive": 0.1, "clean": 0.9}, "auto", "The endpoint")
    ('clean', 'offensive')
    """
    pairs = label_scores(answer, keys) or []
    names, scores = [name for name, _ in pairs], [score for _, score in pairs]
    is_map = len(pairs) > 1 and all(isinstance(name, str) for name in names)
    if not is_map or not all(isinstance(s, Real) and not isinstance(s, bool) for s in scores):
        # The usual remedy, and what was seen: the user may only have to set a path.
        seen = f" It answered a plain sentence with {short_repr(answer)}."
        return label_names(None, None, who, f"{seen}{IF_IT_TRANSLATES}")
    if kind != "logits" and abs(sum(scores) - 1) > MAX_SUM_ERROR:
        raise UsageError(
            f"{who} answered a plain sentence with {short_repr(answer)}. These scores add up to "
            f"{sum(scores):.6g}, so that labels may be missing; expected probabilities of all "
            "labels. Name the labels (--labels clean,offensive), or say --scores logits if that "
            "is what they are."
        )
    if any(redact(name) != name for name in names):
        raise UsageError(
            f"{who} answered a plain sentence with {short_repr(answer)}: it sends a key back as a "
            "label, which would be stored. Name the labels: --labels clean,offensive."
        )
    return tuple(sorted(names))


def refuse_unnamed(answers: Iterable[Any], who: str, keys: tuple[str, str] = KEYS) -> None:
    """Refuse plain lists of scores from a target whose labels were learnt from its answers."""
    for answer in answers:
        if not isinstance(answer, str) and label_scores(answer, keys) is None:
            raise TargetError(
                f"{who} answered {short_repr(answer)}, which names no labels, after answers that "
                "did. The order of its scores is not known: list its labels with --labels."
            )
