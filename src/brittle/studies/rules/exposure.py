"""What a corpus is exposed to: how many of its texts and words have a rule, and which rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.data import Dataset, Example
from brittle.english.tags import Tagger
from brittle.errors import UsageError
from brittle.proposals import Proposal
from brittle.proposals.choice import PAPER
from brittle.proposals.rules import Rule, Rules, matching_rules
from brittle.proposals.synonyms import Synonyms
from brittle.text import Text

MATCHED: Mapping[str, Any] = {"in_context": True, "candidates": PAPER}
"""How rules match texts: where the substitute is among the published candidates of the word."""


@dataclass(frozen=True)
class LabelExposure:
    """The texts of one label: how many have a rule, and how many of their words."""

    label: str
    texts: int
    exposed_texts: int
    words: int
    exposed_words: int


@dataclass(frozen=True)
class Exposure:
    """What a corpus is exposed to, by label, and the rules that match, the most frequent first."""

    by_label: tuple[LabelExposure, ...]
    rules: tuple[tuple[Rule, int], ...]


@dataclass(frozen=True)
class MatchedText:
    """A text, its label, and its best rules by position, the most salient first."""

    text: Text
    label: str
    matches: Sequence[tuple[int, Rule]]


def match_texts(
    rules: Rules, examples: Sequence[Example], proposal: Proposal | None = None
) -> Iterator[MatchedText]:
    """Yield every text with the rules that apply to it; by default in context, as in attacks."""
    proposal = proposal or Synonyms()
    tagger = Tagger()
    for example in examples:
        if example.label not in rules.labels:
            raise UsageError(
                f"A text has the label {example.label!r}, but the rules were mined from "
                f"{', '.join(rules.labels)}. Use data with these labels (--label COLUMN), or other "
                "rules."
            )
        text = Text.of(dict(example.fields), example.locked)
        tags = tagger.tags([text])[0] if proposal.needs_tags else ()
        matches = matching_rules(rules, text, example.label, range(len(text)), proposal, tags)
        yield MatchedText(text, example.label, matches)


def exposure(rules: Rules, dataset: Dataset) -> Exposure:
    """Count the texts and words of a data set that have a rule of their label."""
    texts: Counter[str] = Counter()
    exposed: Counter[str] = Counter()
    words: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    counts: Counter[Rule] = Counter()
    for item in match_texts(rules, dataset.examples):
        texts[item.label] += 1
        exposed[item.label] += bool(item.matches)
        words[item.label] += len(item.text)
        matched[item.label] += len(item.matches)
        counts.update(rule for _, rule in item.matches)
    by_label = tuple(
        LabelExposure(label, texts[label], exposed[label], words[label], matched[label])
        for label in rules.labels
    )
    return Exposure(by_label, tuple(sorted(counts.items(), key=lambda c: (-c[1], -c[0].salience))))
