"""Gentle rewrites of an English text: contractions, fixed phrases, spellings, openers.

A rule is a phrase, what may stand for it, and the words and tags that must or must not be next to
it (`rewrite_rules`). What a text offers is a list of slots: stretches that may read otherwise. The
slots are independent of each other, so an attack may use any of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from brittle.candidates.rewrite_matches import Match, independent, phrase_matches
from brittle.candidates.rewrite_openers import find_opener, full_stop
from brittle.candidates.rewrite_rules import RewriteRules, load_rules
from brittle.candidates.rewrite_tokens import Tokens
from brittle.english.words import is_plainly_not_english
from brittle.text import Text, with_strings


@dataclass(frozen=True)
class Slot:
    """A stretch of a field that may read otherwise, and what may stand there instead.

    `start` and `stop` count the characters of the field as it is rendered. A slot of no characters
    is a place where something may be added. The alternatives that change most come first.
    """

    field: str
    start: int
    stop: int
    alternatives: tuple[str, ...]


@dataclass(frozen=True)
class Rewrites:
    """Rewrites that keep the meaning of an English text, by the shipped rules.

    `path` is a TOML file of the user's own. Its rules are added to the shipped ones; with the line
    `shipped = false` they replace them.
    """

    path: str | None = None
    needs_tags: ClassVar[bool] = True

    def slots(self, text: Text, tags: Sequence[str]) -> list[Slot]:
        """List the slots of a text with these Penn tags: in order, disjoint and independent."""
        return [slot for slot, _ in self.named_slots(text, tags)]

    def named_slots(self, text: Text, tags: Sequence[str]) -> list[tuple[Slot, tuple[str, ...]]]:
        """List the slots of a text, each with the rule of every alternative."""
        rules = load_rules(self.path)
        found: list[tuple[Slot, tuple[str, ...]]] = []
        has_opener = False
        for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
            words = [word for word in text.words[start:stop] if isinstance(word, str)]
            if not words or len(words) < stop - start or is_plainly_not_english(words):
                continue
            tokens = Tokens.of(words, field.gaps, tags[start:stop])
            for match in find_matches(tokens, rules, has_opener):
                has_opener |= any(name.startswith("^") for name in match.names)
                slot = Slot(field.name, match.start, match.stop, match.alternatives)
                found.append((slot, match.names))
        return found


def rewritten(text: Text, edits: Sequence[tuple[Slot, str]]) -> Text:
    """Return the text in which each of these slots of it reads as given; locked fields stay."""
    by_field: dict[str, list[tuple[int, int, str]]] = {}
    for slot, string in edits:
        by_field.setdefault(slot.field, []).append((slot.start, slot.stop, string))
    rendered = text.fields()
    return with_strings(
        text, {name: _replaced(rendered[name], own) for name, own in by_field.items()}
    )


def _replaced(raw: str, edits: Sequence[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    at = 0
    for start, stop, string in sorted(edits):
        parts += (raw[at:start], string)
        at = stop
    return "".join((*parts, raw[at:]))


def find_matches(tokens: Tokens, rules: RewriteRules, has_opener: bool) -> list[Match]:
    """List the matches of a field, in order; any of them may be used together.

    Matches that would disturb each other are one match, of whose alternatives one is chosen.
    """
    found = list(phrase_matches(tokens, rules))
    opener = None if has_opener else find_opener(tokens, rules)
    if opener is not None:
        found.insert(0, opener)
    if rules.full_stop:
        found += full_stop(tokens)
    return independent(found, tokens.raw)
