"""Where labels of the data meet labels of the target: by name, case-blind, never guessed.

`--labels` (in Python `labels=`) comes in two forms:

- `neg=LABEL_0,pos=LABEL_1`, data label = target label, for labels that do not meet by name;
- `neg,pos`, the target's labels in the order of its scores, for a target without names.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence

from brittle.errors import UsageError

Labels = str | Sequence[str] | Mapping[str, str] | None

_PLACEHOLDER = re.compile(r"(?:label_?)?-?\d+", re.IGNORECASE)


def match_labels(
    data_labels: Iterable[str], target_labels: Sequence[str], labels: Labels = None
) -> dict[str, int]:
    """Give for every label of the data its index among the labels of the target.

    Only the form data = target of `labels` matters here; a plain list has already named the target.

    >>> match_labels(["Pos", "Neg"], ["neg", "pos"])
    {'Pos': 1, 'Neg': 0}
    >>> match_labels(["0", "1"], ["neg", "pos"], "0=neg,1=pos")
    {'0': 0, '1': 1}
    """
    data = list(dict.fromkeys(data_labels))
    mapping = parse_labels(labels)[1]
    stray = [name for name in mapping if find_label(name, data) is None]
    # Few rows may not show every class, but a mapping that meets none of the data is a mistake.
    if data and mapping and len(stray) == len(mapping):
        raise _apart(data, target_labels, f"--labels names {_listed(stray)}, not in the data")
    told = {find_label(name, data): answer for name, answer in mapping.items()}
    found = {
        name: find_label(told.get(number, name), target_labels) for number, name in enumerate(data)
    }
    missing = [name for name, index in found.items() if index is None]
    if missing:
        raise _apart(data, target_labels, f"no label of the target is called {_listed(missing)}")
    return {name: index for name, index in found.items() if index is not None}


def find_label(name: str, labels: Sequence[str]) -> int | None:
    """Find a label: spelt alike, else the only one that differs in case and outer blanks alone."""
    if name in labels:
        return list(labels).index(name)
    near = [i for i, label in enumerate(labels) if _plain(label) == _plain(name)]
    return near[0] if len(near) == 1 else None


def parse_labels(labels: Labels) -> tuple[tuple[str, ...] | None, dict[str, str]]:
    """Read either form: the target's names in order or None, and data label → target label.

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
        label_names = [
            part.strip() for part in next(csv.reader([labels], skipinitialspace=True), [])
        ]
        paired = ["=" in name for name in label_names]
    else:
        label_names = [str(part) for part in labels]
        paired = [False] * len(label_names)
    if not label_names or not all(label_names) or any(paired) != all(paired):
        raise UsageError(
            f"Got --labels {labels!r}. Expected either data=target pairs, such as "
            "neg=LABEL_0,pos=LABEL_1, or the target's labels in order, such as neg,pos."
        )
    if not any(paired):
        return _distinct(label_names), {}
    pairs = [[side.strip() for side in name.split("=", 1)] for name in label_names]
    _distinct([name for name, _ in pairs])
    return None, dict(pairs)


def label_names(own: Sequence[str] | None, labels: Labels, who: str) -> tuple[str, ...]:
    """Decide what the labels of a target are called.

    `own` are the names the target has itself, or None. Placeholders (LABEL_0, integers) may be
    renamed by a plain list; real names may not.
    """
    order, mapping = parse_labels(labels)
    if own is None:
        if order is None and not mapping:
            raise UsageError(
                f"{who} does not say what its labels are called. Name them in the order of its "
                "scores: --labels negative,positive (in Python: labels=['negative', 'positive'])."
            )
        return order or _answers(mapping)
    _distinct(own)
    if order is not None:
        if len(order) != len(own):
            raise UsageError(
                f"--labels names {len(order)} labels ({_listed(order)}), but {who} has "
                f"{len(own)} ({_listed(own)})."
            )
        same = all(_plain(given) == _plain(name) for given, name in zip(order, own))
        if not same and not all(_PLACEHOLDER.fullmatch(name) for name in own):
            raise UsageError(
                f"{who} names its labels itself ({_listed(own)}), so that a plain list "
                f"({_listed(order)}) cannot rename them. Say which label of the data is which: "
                f"--labels {_pairs(order, own)} (check the order)."
            )
        return order
    strange = [answer for answer in mapping.values() if find_label(answer, own) is None]
    if strange:
        raise UsageError(
            f"--labels gives {_listed(strange)} as labels of the target, but {who} has "
            f"{_listed(own)}. The form is data=target."
        )
    return tuple(own)


def _answers(mapping: Mapping[str, str]) -> tuple[str, ...]:
    """Order the target's side of a mapping: 0, 1, 2 … are columns, else as written."""
    answers = list(dict.fromkeys(mapping.values()))
    if all(answer.isdecimal() for answer in answers):
        answers.sort(key=int)
    return _distinct(answers)


def _distinct(label_names: Sequence[str]) -> tuple[str, ...]:
    if len(set(label_names)) < len(label_names):
        raise UsageError(f"Labels must differ from one another. Got: {_listed(label_names)}.")
    return tuple(label_names)


def _apart(data: Sequence[str], target: Sequence[str], why: str) -> UsageError:
    return UsageError(
        f"The labels of the data and of the target do not meet: {why}. Data: {_listed(data)}. "
        f"Target: {_listed(target)}. Say which is which with --labels, for example "
        f"--labels {_pairs(data, target)} (check the order: it is not known)."
    )


def _pairs(data: Sequence[str], target: Sequence[str]) -> str:
    pairs = ",".join(f"{name}={answer}" for name, answer in zip(data, target))
    return f"'{pairs}'" if re.search(r"[^\w=,.-]", pairs) else pairs


def _listed(label_names: Iterable[str]) -> str:
    return ", ".join(repr(str(name)) for name in label_names)


def _plain(name: str) -> str:
    return str(name).strip().casefold()
