"""Contextual tagging rules (Brill, 1992): a tag changes by the words and tags around it.

A rule such as `NN VB PREVTAG TO` turns a noun into a verb after "to". Two points of Brill's method
matter for accuracy, and textblob's own loop over the same rules has neither: a rule is applied to
the whole sentence before the next rule, and a word never gets a tag that it cannot have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from brittle.english.forms import PART_OF_SPEECH, possible_tags
from brittle.errors import UsageError

# What each kind of rule compares with its one or two operands: words or tags, and at which
# distances from the word whose tag may change.
_CONTEXTS: Mapping[str, tuple[tuple[str, tuple[int, ...]], ...]] = {
    "CURWD": (("word", (0,)),),
    "PREVWD": (("word", (-1,)),),
    "NEXTWD": (("word", (1,)),),
    "PREV1OR2WD": (("word", (-1, -2)),),
    "NEXT1OR2WD": (("word", (1, 2)),),
    "PREVTAG": (("tag", (-1,)),),
    "NEXTTAG": (("tag", (1,)),),
    "PREV2TAG": (("tag", (-2,)),),
    "NEXT2TAG": (("tag", (2,)),),
    "PREV1OR2TAG": (("tag", (-1, -2)),),
    "NEXT1OR2TAG": (("tag", (1, 2)),),
    "PREV1OR2OR3TAG": (("tag", (-1, -2, -3)),),
    "NEXT1OR2OR3TAG": (("tag", (1, 2, 3)),),
    "SURROUNDTAG": (("tag", (-1,)), ("tag", (1,))),
    "PREVBIGRAM": (("tag", (-2,)), ("tag", (-1,))),
    "NEXTBIGRAM": (("tag", (1,)), ("tag", (2,))),
    "LBIGRAM": (("word", (-1,)), ("word", (0,))),
    "RBIGRAM": (("word", (0,)), ("word", (1,))),
    "WDPREVTAG": (("tag", (-1,)), ("word", (0,))),
    "WDNEXTTAG": (("word", (0,)), ("tag", (1,))),
    "WDAND2AFT": (("word", (0,)), ("word", (2,))),
    "WDAND2TAGBFR": (("tag", (-2,)), ("word", (0,))),
    "WDAND2TAGAFT": (("word", (0,)), ("tag", (2,))),
}
_MARGIN = ("STAART",) * 3  # the sign for "outside the sentence"; no rule looks further than 3

Test = Callable[[Sequence[str], Sequence[str], int], bool]
Rule = tuple[str, str, Test]
"""The old tag, the new tag, and whether the rule holds for the words, the tags and a position."""


def parse_rules(lines: Iterable[str]) -> tuple[Rule, ...]:
    """Parse rules, one a line: the old tag, the new tag, the context, one or two operands."""
    return tuple(_parse_rule(line) for line in lines)


def apply_rules(rules: Iterable[Rule], words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Return the tags of one sentence after all rules."""
    words = [*_MARGIN, *words, *_MARGIN]
    now = [*_MARGIN, *tags, *_MARGIN]
    positions: dict[str, list[int]] = {}
    for i, tag in enumerate(tags, len(_MARGIN)):
        positions.setdefault(tag, []).append(i)
    for old, new, test in rules:
        changed = []
        for i in positions.get(old, ()):
            if test(words, now, i) and _may_become(words[i], old, new):
                now[i] = new
                changed.append(i)
        if changed:
            positions[old] = [i for i in positions[old] if now[i] == old]
            positions[new] = sorted([*positions.get(new, ()), *changed])
    return now[len(_MARGIN) : -len(_MARGIN)]


def _may_become(word: str, old: str, new: str) -> bool:
    # Function words have few tags and the rules name them; nouns, verbs, adjectives and adverbs
    # must be known to lemminflect under the new tag.
    return (old not in PART_OF_SPEECH and new not in PART_OF_SPEECH) or new in possible_tags(word)


def _parse_rule(line: str) -> Rule:
    old, new, context, *operands = line.split()
    parts = _CONTEXTS.get(context)
    if parts is None or len(operands) < len(parts):
        raise UsageError(f"Not a contextual rule: {line.strip()!r}. Expected OLD NEW PLACE WORD.")
    tests = [_build_test(row, offsets, operand) for (row, offsets), operand in zip(parts, operands)]
    if len(tests) == 1:
        return old, new, tests[0]
    first, second = tests
    return old, new, lambda words, tags, i: first(words, tags, i) and second(words, tags, i)


def _build_test(row: str, offsets: tuple[int, ...], operand: str) -> Test:
    if len(offsets) > 1:
        return lambda words, tags, i: (
            operand in [(words if row == "word" else tags)[i + offset] for offset in offsets]
        )
    (offset,) = offsets
    if row == "word":
        return lambda words, tags, i: words[i + offset] == operand
    return lambda words, tags, i: tags[i + offset] == operand
