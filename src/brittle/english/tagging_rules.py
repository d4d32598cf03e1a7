"""Contextual tagging rules (Brill, 1992): a tag changes by the words and tags around it.

A rule such as `NN VB PREVTAG TO` turns a noun into a verb after "to". Two points of Brill's method
matter for accuracy, and textblob's own loop over the same rules has neither: a rule is applied to
the whole sentence before the next one is looked at, and a word never gets a tag it cannot have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from brittle.english.forms import PART_OF_SPEECH, possible_tags
from brittle.errors import UsageError

# Where a rule looks: for each of its one or two operands, in words or tags, at which distances.
_PLACES: Mapping[str, tuple[tuple[str, tuple[int, ...]], ...]] = {
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
_MARGIN = ("STAART",) * 3

Test = Callable[[Sequence[str], Sequence[str], int], bool]
Rule = tuple[str, str, Test]


def read_rules(lines: Iterable[str]) -> tuple[Rule, ...]:
    """Read rules, one a line: the old tag, the new tag, the place, one or two operands."""
    return tuple(_rule(line) for line in lines)


def apply_rules(rules: Iterable[Rule], words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Give the tags of one sentence after all rules."""
    wide = [*_MARGIN, *words, *_MARGIN]
    now = [*_MARGIN, *tags, *_MARGIN]
    places: dict[str, list[int]] = {}
    for i, tag in enumerate(tags, len(_MARGIN)):
        places.setdefault(tag, []).append(i)
    for old, new, test in rules:
        moved = []
        for i in places.get(old, ()):
            if test(wide, now, i) and _may_be(wide[i], old, new):
                now[i] = new
                moved.append(i)
        if moved:
            places[old] = [i for i in places[old] if now[i] == old]
            places[new] = sorted([*places.get(new, ()), *moved])
    return now[len(_MARGIN) : -len(_MARGIN)]


def _may_be(word: str, old: str, new: str) -> bool:
    # Function words have few tags and the rules name them; nouns, verbs, adjectives and adverbs
    # must be known to the dictionary under the new tag.
    return (old not in PART_OF_SPEECH and new not in PART_OF_SPEECH) or new in possible_tags(word)


def _rule(line: str) -> Rule:
    old, new, place, *operands = line.split()
    places = _PLACES.get(place)
    if places is None or len(operands) < len(places):
        raise UsageError(f"Not a contextual rule: {line.strip()!r}. Expected OLD NEW PLACE WORD.")
    tests = [_test(row, offsets, operand) for (row, offsets), operand in zip(places, operands)]
    if len(tests) == 1:
        return old, new, tests[0]
    first, second = tests
    return old, new, lambda words, tags, i: first(words, tags, i) and second(words, tags, i)


def _test(row: str, offsets: tuple[int, ...], operand: str) -> Test:
    if len(offsets) > 1:
        return lambda words, tags, i: (
            operand in [(words if row == "word" else tags)[i + offset] for offset in offsets]
        )
    (offset,) = offsets
    if row == "word":
        return lambda words, tags, i: words[i + offset] == operand
    return lambda words, tags, i: tags[i + offset] == operand
