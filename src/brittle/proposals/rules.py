"""Universal rules: replacements of words by label, with their salience, and how a text takes them.

A rule says: in a text of this label, replace this word by that one. It is by the form of a word in
lower case. The part of speech is no part of it, as in the paper; where a rule may be applied is
decided by a proposal: the substitute must be one of the word's candidates there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from brittle.english.forms import match_case
from brittle.proposals import Proposal
from brittle.text import Text

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
        from brittle.proposals.rule_files import save_rules

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
