"""Universal rules: replacements of words by label, how a text takes them, and their files.

Universal rules: replacements of words by label, with their salience, and how a text takes them.

A rule says: in a text of this label, replace this word by that one. It is by the form of a word in
lower case. The part of speech is no part of it, as in the paper; where a rule may be applied is
decided by a proposal: the substitute must be one of the word's candidates there.

The file of rules: one line of JSON about all of them, then one line for each rule.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

from brittle.candidates import Proposal
from brittle.candidates.training_data import find_class
from brittle.english.forms import match_case
from brittle.errors import UsageError
from brittle.safety import files
from brittle.safety.schema import Count, parse
from brittle.text import Text, is_word

FIRST_WORDS = '{"brittle rules":'
"""How a file of rules begins."""
ROUNDING = 1e-9  # 0.29 · 100 is 29 words, though a little less in floating point


@dataclass(frozen=True)
class Rule:
    """One replacement, for texts of one label.

    `salience` is what it does to the logits, or to the PMI, on average over the `support`
    occurrences in training text. Of `held_out` occurrences in held-out text, `confirmed` moved the
    same way. The PMI of both words is that with every label, in the order of the labels.
    """

    label: str
    word: str
    substitute: str
    salience: float
    support: int
    pmi_word: tuple[float, ...] = ()
    pmi_substitute: tuple[float, ...] = ()
    held_out: int = 0
    confirmed: int = 0

    def __str__(self) -> str:
        return f"{self.word} → {self.substitute}"


@dataclass(frozen=True)
class Rules:
    """Rules with where they come from: `about` has data, split, ensemble, method and the like."""

    labels: tuple[str, ...]
    rules: tuple[Rule, ...]
    about: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rules)

    def of(self, label: str, word: str) -> Sequence[Rule]:
        """List the rules of a word in texts of a label, the most salient first."""
        return self._by_word.get((label, word.lower()), ())

    @cached_property
    def _by_word(self) -> Mapping[tuple[str, str], Sequence[Rule]]:
        table: defaultdict[tuple[str, str], list[Rule]] = defaultdict(list)
        for rule in sorted(self.rules, key=lambda rule: (-rule.salience, rule.substitute)):
            if rule.salience > 0:
                table[rule.label, rule.word].append(rule)
        return table

    def save(self, path: str | Path) -> None:
        """Write the rules to a file that `brittle attack … rules --rules FILE` takes."""

        save_rules(self, path)

    def frame(self) -> Any:
        """Return the rules as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame([row_of(rule, self.labels) for rule in self.rules])


def row_of(rule: Rule, labels: Sequence[str]) -> dict[str, Any]:
    """Return a rule as a flat row, with a column for the PMI of each word with each label."""
    row: dict[str, Any] = {
        "label": rule.label,
        "word": rule.word,
        "substitute": rule.substitute,
        "salience": rule.salience,
        "support": rule.support,
        "held_out": rule.held_out,
        "confirmed": rule.confirmed,
    }
    for name, values in (("word", rule.pmi_word), ("substitute", rule.pmi_substitute)):
        row |= {f"pmi_{name}_{label}": value for label, value in zip(labels, values)}
    return row


def allowed_words(words: int, share: float) -> int:
    """Return how many of the words of a text may be changed: a share of them, rounded down.

    >>> allowed_words(10, 0.3), allowed_words(2, 0.3)
    (3, 0)
    """
    return int(share * words + ROUNDING)


def matching_rules(
    rules: Rules,
    text: Text,
    label: str,
    positions: Sequence[int],
    proposal: Proposal | None = None,
    tags: Sequence[str] = (),
) -> list[tuple[int, Rule]]:
    """Return the best rule at every position that has one, the most salient first.

    With a proposal, only those rules count whose substitute it lists for the word with its tag.
    """
    matches: list[tuple[int, Rule]] = []
    for i in positions:
        word = text.words[i]
        if not isinstance(word, str):
            continue
        known = rules.of(label, word)
        if known and proposal is not None:
            candidates = {c.lower() for c in proposal.of(word, tags[i] if tags else "")}
            known = [rule for rule in known if rule.substitute in candidates]
        if known:
            matches.append((i, known[0]))
    return sorted(matches, key=lambda match: (-match[1].salience, match[0]))


def apply_rules(text: Text, matches: Sequence[tuple[int, Rule]], share: float) -> list[Text]:
    """Replace word after word, the most salient first, up to a share of the words.

    The list has the text after each replacement; the last one is the text at the limit.
    """
    path = []
    for i, rule in matches[: allowed_words(len(text), share)]:
        text = text.swap(i, match_case(rule.substitute, str(text.words[i])))
        path.append(text)
    return path


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
            f"The rules in {name} cannot be read ({error}). Expected a file written by "
            "brittle rules mine."
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
            f"The file {name} has {len(rules)} rules, but its first line says "
            f"{about['rules']}: some are missing. Mine the rules again."
        )
    if not rules:
        raise UsageError(
            f"The file {name} has no rules. Mine from more texts, or with a lower --min-support."
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
            f"{name} is not a file of rules: its first line is {line[:60]!r} ({error}). "
            "Use a file written by brittle rules mine."
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
            raise ValueError(f"{rule} does not replace one word with one word")
    except files.DAMAGED as error:
        raise UsageError(
            f"Line {number} of the rules in {name} is damaged ({error}): {line[:60]!r}. "
            "Expected, for example: "
            '{"label": "positive", "word": "funny", "substitute": "laughable", "salience": 1.2, '
            '"support": 40}.'
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
