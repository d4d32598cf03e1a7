"""Labels of a target: those that are given, and those that its answers show.

Labels of the data and of the target are matched by name, case-blind, and never guessed.

`--labels` (in Python `labels=`) comes in two forms:

- `neg=LABEL_0,pos=LABEL_1`, data label = target label, for labels that do not meet by name;
- `neg,pos`, the target's labels in the order of its scores, for a target without names.

The labels of a target whose answers name them: `{"clean": 0.9, "offensive": 0.1}`.

Where nobody lists the labels of a function, an endpoint or a program, it is asked one plain
sentence. If its answer has a score for every label by name, these names are the labels, sorted.
They have then no order of the target's own, so that every later answer must name them too.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from brittle.answers import find_label, plain_label
from brittle.errors import TargetError, UsageError
from brittle.redaction import redact, short_repr
from brittle.targets.options import Labels, ScoreKind
from brittle.targets.scores import (
    MAX_SUM_ERROR,
    PERCENT,
    are_percentages,
    label_scores,
    refuse_other_entries,
)

IF_IT_TRANSLATES = " If it answers with texts: --answers text (in Python: answers='text')."
_PLACEHOLDER = re.compile(r"(?:label_?)?-?\d+", re.IGNORECASE)


def match_labels(
    data_labels: Iterable[str], target_labels: Sequence[str], labels: Labels = None
) -> dict[str, int]:
    """Return for every label of the data its index among the labels of the target.

    Of `labels` only the form data=target is used here; a plain list has already named the target.

    >>> match_labels(["Pos", "Neg"], ["neg", "pos"])
    {'Pos': 1, 'Neg': 0}
    >>> match_labels(["0", "1"], ["neg", "pos"], "0=neg,1=pos")
    {'0': 0, '1': 1}
    """
    data = list(dict.fromkeys(data_labels))
    mapping, index_of = parse_labels(labels)[1], _find_labels(data, target_labels, labels)
    unknown = [name for name in mapping if find_label(name, data) is None]
    # A few rows may not hold every class, but a mapping without any label of the data is a mistake.
    if data and mapping and len(unknown) == len(mapping):
        answers = list(mapping.values())
        if all(find_label(answer, data) is not None for answer in answers):
            raise UsageError(
                f"--labels names {_join(unknown)}, which the data does not have (it has "
                f"{_join(data)}). Write data=target. If these are the labels of the target: "
                f"--labels {format_pairs(answers, list(mapping))}."
            )
        raise _no_match(
            data, target_labels, f"--labels names {_join(unknown)}, which the data does not have"
        )
    missing = [name for name, index in index_of.items() if index is None]
    if missing and len(missing) < len(data):
        raise UsageError(
            f"{_join(missing)} of the labels of the data "
            f"{'is not a label' if len(missing) == 1 else 'are not labels'} of the target, which "
            f"has {_join(target_labels)}. Say which is meant (--labels "
            f"{format_pairs(missing[:1], ['LABEL'])}), or leave such rows out: --skip-bad "
            "(in Python brittle.data.load(…, skip_bad=True))."
        )
    if missing:
        raise _no_match(data, target_labels, f"no label of the target is called {_join(missing)}")
    return {name: index for name, index in index_of.items() if index is not None}


def unknown_labels(
    data_labels: Iterable[str], target_labels: Sequence[str], labels: Labels = None
) -> list[str]:
    """List the labels of the data that the target does not have.

    >>> unknown_labels(["pos", "n/a"], ["neg", "pos"])
    ['n/a']
    """
    index_of = _find_labels(list(dict.fromkeys(data_labels)), target_labels, labels)
    return [name for name, index in index_of.items() if index is None]


def _find_labels(
    data: Sequence[str], target_labels: Sequence[str], labels: Labels
) -> dict[str, int | None]:
    """Return for every label of the data the index of the target's label, or None."""
    mapped = {find_label(name, data): answer for name, answer in parse_labels(labels)[1].items()}
    return {
        name: find_label(mapped.get(number, name), target_labels)
        for number, name in enumerate(data)
    }


def parse_labels(labels: Labels) -> tuple[tuple[str, ...] | None, dict[str, str]]:
    """Parse either form: the target's names in order or None, and data label → target label.

    >>> parse_labels("neg,pos")
    (('neg', 'pos'), {})
    >>> parse_labels("neg=LABEL_0, pos=LABEL_1")
    (None, {'neg': 'LABEL_0', 'pos': 'LABEL_1'})
    """
    if labels is None:
        return None, {}
    if isinstance(labels, Mapping):
        return None, {str(name): str(answer) for name, answer in labels.items()}
    if isinstance(labels, str):
        # csv, so that a label with a comma can stand in quotes.
        parts = [part.strip() for part in next(csv.reader([labels], skipinitialspace=True), [])]
        paired = ["=" in part for part in parts]
    else:
        parts = [str(part) for part in labels]
        paired = [False] * len(parts)
    if not parts or not all(parts) or any(paired) != all(paired):
        raise UsageError(
            f"Got --labels {labels!r}. Expected either data=target pairs, such as "
            "neg=LABEL_0,pos=LABEL_1, or the target's labels in order, such as neg,pos."
        )
    if not any(paired):
        return _check_distinct(parts), {}
    pairs = [[name.strip() for name in part.split("=", 1)] for part in parts]
    _check_distinct([name for name, _ in pairs])
    return None, dict(pairs)


def stated_labels(model: Any) -> tuple[str, ...] | None:
    """Return the labels that a user's object has as its attribute `labels`, if it has any."""
    labels = getattr(model, "labels", None)
    return None if labels is None else tuple(str(label) for label in labels)


def label_names(
    target_labels: Sequence[str] | None, labels: Labels, who: str, remedy: str = ""
) -> tuple[str, ...]:
    """Return the names of a target's labels.

    `target_labels` are the names that the target states itself, or None. Placeholders (LABEL_0,
    integers) may be renamed by a plain list; real names may not. `remedy` stands at the end of the
    error for a target whose labels nobody names.
    """
    names, mapping = parse_labels(labels)
    if target_labels is None:
        if names is None and not mapping:
            raise UsageError(
                f"{who} does not name its labels. List them in the order of its scores: "
                "--labels negative,positive (in Python: labels=['negative', "
                f"'positive']).{remedy}"
            )
        return names or _target_labels(mapping)
    _check_distinct(target_labels)
    if names is not None:
        if len(names) != len(target_labels):
            raise UsageError(
                f"--labels names {len(names)} labels ({_join(names)}), but {who} has "
                f"{len(target_labels)} ({_join(target_labels)})."
            )
        same = list(map(plain_label, names)) == list(map(plain_label, target_labels))
        if not same and not all(_PLACEHOLDER.fullmatch(name) for name in target_labels):
            raise UsageError(
                f"{who} has its own labels ({_join(target_labels)}); a plain list "
                f"({_join(names)}) cannot rename them. Map the labels of the data to "
                f"them: --labels {format_pairs(names, target_labels)} (check the order)."
            )
        return names
    unknown = [answer for answer in mapping.values() if find_label(answer, target_labels) is None]
    if unknown:
        raise UsageError(
            f"--labels gives {_join(unknown)} as labels of the target, but {who} has "
            f"{_join(target_labels)}. Write data=target."
        )
    return tuple(target_labels)


def _target_labels(mapping: Mapping[str, str]) -> tuple[str, ...]:
    """Return the target's labels of a mapping; numbers (0, 1, 2 …) are sorted as columns."""
    labels = list(dict.fromkeys(mapping.values()))
    if all(label.isdecimal() for label in labels):
        labels.sort(key=int)
    return _check_distinct(labels)


def _check_distinct(names: Sequence[str]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise UsageError(f"Labels must differ from one another. Got: {_join(names)}.")
    return tuple(names)


def _no_match(data: Sequence[str], target: Sequence[str], why: str) -> UsageError:
    return UsageError(
        f"The labels of the data and of the target do not match: {why}. Data: "
        f"{_join(data)}. Target: {_join(target)}. Map them with --labels, for example "
        f"--labels {format_pairs(data, target)} (check the order, brittle guessed it)."
    )


def format_pairs(data: Sequence[str], target: Sequence[str]) -> str:
    """Write labels of the data and of the target in the form of `--labels`, quoted for a shell."""
    pairs = ",".join(f"{name}={answer}" for name, answer in zip(data, target))
    return f"'{pairs}'" if re.search(r"[^\w=,.-]", pairs) else pairs


def _join(names: Iterable[str]) -> str:
    return ", ".join(repr(str(name)) for name in names)


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
        refuse_other_entries(pairs, answer, who, keys)
        # The usual remedy, and what was seen: the user may only have to set a path.
        seen = f" It answered a plain sentence with {short_repr(answer)}."
        return label_names(None, None, who, f"{seen}{IF_IT_TRANSLATES}")
    is_percent = are_percentages(scores)
    if is_percent and kind not in ("percent", "logits"):
        raise UsageError(
            f"{who} answered a plain sentence with {short_repr(answer)}. These scores add up to "
            f"{sum(scores):.6g}; expected probabilities of all labels. {PERCENT}"
        )
    is_whole = is_percent if kind == "percent" else abs(sum(scores) - 1) <= MAX_SUM_ERROR
    if kind != "logits" and not is_whole:
        raise UsageError(
            f"{who} answered a plain sentence with {short_repr(answer)}. These scores add "
            f"up to {sum(scores):.6g}, so some labels may be missing; expected "
            "probabilities of all labels. Name the labels (--labels clean,offensive), or "
            "use --scores logits if they are logits."
        )
    if any(redact(name) != name for name in names):
        raise UsageError(
            f"{who} answered a plain sentence with {short_repr(answer)}: a label contains "
            "a secret key, which would be stored. Name the labels: --labels "
            "clean,offensive."
        )
    return tuple(sorted(names))


def refuse_unnamed(answers: Iterable[Any], who: str, keys: tuple[str, str] = KEYS) -> None:
    """Refuse plain lists of scores from a target whose labels were learnt from its answers."""
    for answer in answers:
        if not isinstance(answer, str) and label_scores(answer, keys) is None:
            raise TargetError(
                f"{who} answered {short_repr(answer)}, which has no labels, but earlier "
                "answers had. The order of its scores is unknown: list its labels with "
                "--labels."
            )
