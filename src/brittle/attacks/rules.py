"""Rules: replacements that were mined before, applied without a look at the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from brittle.asks import NO_CANDIDATES, Case, Search, Tag, Try, Unfit
from brittle.attacks.recipes import RunContext, check_share
from brittle.attacks.registry import registered
from brittle.candidates import Proposal
from brittle.candidates.rules import Rules, apply_rules, find_labels, load_rules, matching_rules
from brittle.candidates.synonyms import Synonyms
from brittle.text import Text

TOO_SHORT = "too short for one word within the share"


@dataclass(frozen=True)
class ApplyRules:
    """Replace words by rules of the text's label, the most salient rule first, up to a share.

    The whole text is finished before the target is asked about it. It is tried first, then its
    prefixes: those with fewer of the replacements. The cost of a candidate is its number of
    changed words, so that the first prefix that works is reported. Whether the finished text works
    is the first step after the original. Without `prefixes` only the finished text is tried.

    `labels` are those of the rules, by the target's classes. With a `proposal` a rule is applied
    only where the proposal lists its substitute. The share is rounded down and never exceeded.
    """

    rules: Rules
    labels: tuple[str, ...]
    share: float = 0.3
    proposal: Proposal | None = None
    prefixes: bool = True
    asks: ClassVar = (Tag, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        assert case.label is not None
        tags: Sequence[str] = ()
        if self.proposal is not None and self.proposal.needs_tags:
            tags = (yield from Tag([case.text]))[0]
        label = self.labels[case.label]
        matches = matching_rules(self.rules, case.text, label, case.positions, self.proposal, tags)
        if not matches:
            raise Unfit(NO_CANDIDATES)
        path = apply_rules(case.text, matches, self.share)
        if not path:
            raise Unfit(TOO_SHORT)
        yield from Try(path[-1:], cost=[len(path)])
        if self.prefixes and path[1:]:
            yield from Try(path[:-1], cost=range(1, len(path)))


@registered("rules")
def rules(
    *,
    context: RunContext = RunContext(),
    rules: Annotated[str, "a file written by brittle rules mine"],
    share: Annotated[float, "largest share of the words to replace, rounded down"] = 0.3,
    in_context: Annotated[
        bool, "replace a word only if the substitute has the same part of speech"
    ] = True,
    prefixes: Annotated[bool, "after the full text, also try it with fewer replacements"] = True,
) -> ApplyRules:
    """Apply universal rules, mined before, without a query; then see whether they work."""
    labels = context.needed_labels("rules")
    check_share(share=share)
    loaded = load_rules(rules)
    classes = find_labels(loaded, labels, context.label_map, rules)
    return ApplyRules(loaded, classes, share, Synonyms() if in_context else None, prefixes)
