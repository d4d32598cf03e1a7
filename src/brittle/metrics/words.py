"""The words and the parts of speech that break the target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from brittle.edits import Edit
from brittle.metrics.summary import ATTACKED
from brittle.results import Result
from brittle.text import split, words_of

Tagger = Callable[[Sequence[str], Sequence[str]], Sequence[str]]

MOST_TAGGED = 100_000
PART_NAMES = ("noun", "verb", "adjective", "adverb", "other")
_PART_OF_TAG = {"NN": "noun", "VB": "verb", "JJ": "adjective", "RB": "adverb"}


@dataclass(frozen=True)
class BrokenWord:
    """A word that was changed in broken cases.

    `count` broken cases changed it, of `seen` attacked cases that contain it; `replacements` lists
    what replaced it, most frequent first. An inserted word has the empty string as `word`.
    """

    word: str
    count: int
    seen: int
    replacements: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class PartOfSpeech:
    """A part of speech: `count` of its `of` words in broken cases were changed."""

    name: str
    count: int
    of: int


def words_that_break(results: Sequence[Result]) -> list[BrokenWord]:
    """List the words changed in broken cases, the most frequent first; capitals do not matter.

    >>> from brittle.metrics.samples import sample_results
    >>> for broken in words_that_break(sample_results())[:2]:
    ...     print(broken.word, broken.count, broken.seen, broken.replacements)
    funny 2 2 (('comical', 1), ('odd', 1))
    plot 1 1 (('plan', 1),)
    """
    cases: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    replacements: dict[str, Counter[str]] = {}
    for r in results:
        if r.status not in ATTACKED:
            continue
        seen.update({word.lower() for _, raw in r.fields for word in words_of(raw)})
        seen[""] += 1
        if r.status != "broken":
            continue
        pairs = [pair for edit in r.edits for pair in changed_words(edit)]
        cases.update({old for old, _ in pairs})
        for old, new in pairs:
            replacements.setdefault(old, Counter())[new] += 1
    order = sorted(cases, key=lambda word: (-cases[word], seen[word], word))
    return [
        BrokenWord(word, cases[word], seen[word], _ranked(replacements[word])) for word in order
    ]


def changed_words(edit: Edit) -> Iterator[tuple[str, str]]:
    """Pair the old words of an edit with the new ones, in lower case.

    If their numbers differ, every old word is paired with all that replaced them.

    >>> list(changed_words(Edit("text", 0, 8, "Not good", "Badly")))
    [('not', 'badly'), ('good', 'badly')]
    >>> list(changed_words(Edit("text", 4, 4, "", " truly")))
    [('', 'truly')]
    """
    old = [word.lower() for word in words_of(edit.old)] or [""]
    new = [word.lower() for word in words_of(edit.new)]
    if len(old) == len(new):
        yield from zip(old, new)
    else:
        # A hole or a symbol is no word, but it is what replaced the words.
        replacement = " ".join(new) or edit.new.strip()
        yield from ((word, replacement) for word in old)


def parts_that_break(
    results: Sequence[Result], tagger: Tagger | None = None, max_words: int = MOST_TAGGED
) -> list[PartOfSpeech]:
    """Count for every part of speech how many of its words in broken cases were changed.

    Words are tagged in their texts, by `tagger(words, gaps around them)`, else by ours. No text is
    tagged after the first `max_words` words, so that a report on long texts does not take minutes;
    the counts cover only the tagged words.

    >>> from brittle.metrics.samples import sample_results
    >>> tags = {"funny": "JJ", "plot": "NN", "dull": "JJ", "film": "NN"}
    >>> for part in parts_that_break(
    ...     sample_results(), lambda words, gaps: [tags.get(word, "IN") for word in words]
    ... ):
    ...     print(part.name, part.count, part.of)
    noun 1 2
    adjective 3 3
    other 0 8
    """
    from brittle.english.tags import tag_words

    tag = tagger or tag_words
    changed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    tagged = 0
    for r in results:
        if r.status != "broken":
            continue
        if tagged >= max_words:
            break
        edits: dict[str, list[Edit]] = {}
        for edit in r.edits:
            edits.setdefault(edit.field, []).append(edit)
        for name, raw in r.fields:
            words, gaps = split(raw)
            tagged += len(words)
            touched = _touched(words, gaps, edits.get(name, ()))
            for penn_tag, is_changed in zip(tag(words, gaps) if words else (), touched):
                part = part_of(penn_tag)
                total[part] += 1
                changed[part] += is_changed
    return [PartOfSpeech(name, changed[name], total[name]) for name in PART_NAMES if total[name]]


def part_of(tag: str) -> str:
    """Return the part of speech of a Penn tag in plain words.

    >>> [part_of(tag) for tag in ("NNS", "VBD", "JJR", "RB", "RP", "DT")]
    ['noun', 'verb', 'adjective', 'adverb', 'other', 'other']
    """
    return _PART_OF_TAG.get(tag[:2], "other")


def _touched(words: Sequence[str], gaps: Sequence[str], edits: Sequence[Edit]) -> list[bool]:
    """Tell for each word of a field whether an edit overlaps it."""
    touched = []
    start = n = 0
    ordered = sorted(edits, key=lambda edit: edit.start)
    for gap, word in zip(gaps, words):
        start += len(gap)
        stop = start + len(word)
        while n < len(ordered) and ordered[n].stop <= start:
            n += 1
        touched.append(n < len(ordered) and ordered[n].start < stop)
        start = stop
    return touched


def _ranked(counter: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counter.items(), key=lambda pair: (-pair[1], pair[0])))
