"""The file of rules: one line of JSON about all of them, then one line for each rule."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict

from brittle import files
from brittle.errors import UsageError
from brittle.proposals.rules import Rule, Rules
from brittle.proposals.training_data import find_class
from brittle.schema import Count, parse
from brittle.text import is_word

FORMAT = 1
DIGITS = 6


def save_rules(rules: Rules, path: str | Path) -> None:
    """Write the rules in one step."""
    start = {"brittle rules": FORMAT, "labels": list(rules.labels)}
    header = {**start, **rules.about, "rules": len(rules)}
    lines = [header, *({**asdict(rule), **_rounded(rule)} for rule in rules.rules)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    files.write_whole(Path(path), text)


def load_rules(path: str | Path) -> Rules:
    """Load a file of rules; an empty, a damaged or any other file is an error."""
    name = repr(str(path))
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The rules in {name} cannot be read ({error}). Expected a file that brittle rules "
            "mine has written."
        ) from error
    if not lines:
        raise UsageError(
            f"The file of rules {name} is empty. Mine rules into it: brittle rules mine."
        )
    about = _header(lines[0], name)
    labels = tuple(about.pop("labels"))
    rules = tuple(_rule(line, n, labels, name) for n, line in enumerate(lines[1:], 2))
    if len(rules) != about.get("rules", len(rules)):
        raise UsageError(
            f"The file {name} has {len(rules)} rules, but its first line says {about['rules']}: a "
            "part of it is missing. Mine the rules again."
        )
    if not rules:
        raise UsageError(
            f"The file {name} holds no rule. Mine from more texts, or with a lower --min-support."
        )
    return Rules(labels, rules, about)


def find_labels(
    rules: Rules, labels: Sequence[str], label_map: Mapping[str, str] | None, file: str
) -> tuple[str, ...]:
    """Return the label of the rules for every class of the target; refuse other labels."""
    by_class = {find_class(label, labels, label_map): label for label in rules.labels}
    if by_class.keys() != {*range(len(labels))}:
        raise UsageError(
            f"The rules in {file!r} were mined from the labels {', '.join(rules.labels)}, but the "
            f"target has {', '.join(labels)}. Use rules of the same labels, or say which is which: "
            "--labels data=target,data=target."
        )
    return tuple(by_class[number] for number in range(len(labels)))


def _rounded(rule: Rule) -> dict[str, Any]:
    """Return the numbers of a rule with few digits, for files that people read."""
    return {
        "salience": float(f"{rule.salience:.{DIGITS}g}"),
        "pmi_word": [round(value, 4) for value in rule.pmi_word],
        "pmi_substitute": [round(value, 4) for value in rule.pmi_substitute],
    }


class _Labels(TypedDict):
    labels: tuple[str, ...]


class _Header(_Labels, total=False):
    """The first line: the labels, and what is known of the mining."""

    rules: Count
    data: str
    method: str
    members: tuple[str, ...]
    texts: Count
    min_support: Count


class _Replacement(TypedDict):
    label: str
    word: str
    substitute: str
    salience: float
    support: Count


class _RuleLine(_Replacement, total=False):
    """A line about one rule; rules that were written by hand have the first fields alone."""

    pmi_word: tuple[float, ...]
    pmi_substitute: tuple[float, ...]
    held_out: Count
    confirmed: Count


def _header(line: str, name: str) -> dict[str, Any]:
    try:
        about: dict[str, Any] = {**parse(_Header, json.loads(line))}
        version = about.pop("brittle rules")
    except files.DAMAGED as error:
        raise UsageError(
            f"{name} is no file of rules: its first line is {line[:60]!r} ({error}). Name a file "
            "that brittle rules mine has written."
        ) from error
    if version != FORMAT:
        raise UsageError(
            f"The rules in {name} have the format {version}; this version of brittle reads "
            f"{FORMAT}. Update brittle, or mine the rules again."
        )
    return about


def _rule(line: str, number: int, labels: tuple[str, ...], name: str) -> Rule:
    try:
        rule = _parse(json.loads(line))
        if rule.label not in labels:
            raise ValueError(f"the label {rule.label!r} is not among {', '.join(labels)}")
        if not is_word(rule.word) or not is_word(rule.substitute):
            raise ValueError(f"{rule} does not replace one word by one word")
    except files.DAMAGED as error:
        raise UsageError(
            f"Line {number} of the rules in {name} is damaged ({error}): {line[:60]!r}. Expected "
            'such as {"label": "positive", "word": "funny", "substitute": "laughable", "salience": '
            '1.2, "support": 40}.'
        ) from error
    return rule


def _parse(content: Any) -> Rule:
    row = parse(_RuleLine, content)
    return Rule(
        row["label"],
        row["word"].lower(),
        row["substitute"].lower(),
        float(row["salience"]),
        row["support"],
        tuple(map(float, row.get("pmi_word", ()))),
        tuple(map(float, row.get("pmi_substitute", ()))),
        row.get("held_out", 0),
        row.get("confirmed", 0),
    )
