"""What was edited: words, parts of speech and characters, and how many of them.

The words and the parts of speech that break the target. The character operations of the adversarial
texts: flips, inserts and deletes. Histograms of whole numbers, such as the words that broken cases
changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median

from brittle.edits import Edit, count_operations
from brittle.metrics.summary import ATTACKED, Figure, mean
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


@dataclass(frozen=True)
class Operations:
    """How many characters were flipped (replaced), inserted and deleted in broken cases.

    `share` is the mean over broken cases: the operations of a case divided by the characters of
    its original.
    """

    flips: int
    inserts: int
    deletes: int
    share: Figure

    @property
    def counts(self) -> dict[str, int]:
        return {"flips": self.flips, "inserts": self.inserts, "deletes": self.deletes}

    @property
    def shares(self) -> dict[str, float]:
        return {name: count / (self.total or 1) for name, count in self.counts.items()}

    @property
    def total(self) -> int:
        return self.flips + self.inserts + self.deletes


def operations(results: Sequence[Result], level: float = 0.95, seed: int = 0) -> Operations:
    """Count the operations that turn the old stretch of every edit into the new one.

    Characters are code points; those of the original are counted in its rendered form, with all
    its fields, gaps and line breaks between fields.

    >>> from brittle.metrics.samples import sample_results
    >>> counted = operations(sample_results())
    >>> counted.flips, counted.inserts, counted.deletes, counted.total
    (14, 2, 2, 18)
    >>> round(counted.share.value, 3), counted.share.over
    (0.306, 'broken cases')
    """
    flips = inserts = deletes = 0
    for row in _broken(results):
        for edit in row.edits:
            flipped, inserted, deleted = aligned(edit.old, edit.new)
            flips, inserts, deletes = flips + flipped, inserts + inserted, deletes + deleted
    return Operations(flips, inserts, deletes, characters_share(results, level, seed))


def characters_share(results: Sequence[Result], level: float = 0.95, seed: int = 0) -> Figure:
    """Return the mean share of the original's characters that broken cases changed.

    >>> from brittle.metrics.samples import sample_results
    >>> round(characters_share(sample_results()).value, 3)
    0.306
    """
    shares = [r.characters_changed / len(r.original) for r in _broken(results) if r.original]
    return mean(shares, "broken cases", level, seed)


def is_by_characters(results: Sequence[Result]) -> bool:
    """Tell whether edits keep words recognisable, as character attacks do.

    They do if in the median broken case at most half of the characters of the edited stretches
    changed (of old and new stretch, the longer counts). Without edits in broken cases they do not.

    >>> from brittle.metrics.samples import sample_results
    >>> is_by_characters(sample_results())
    False
    """
    changed = []
    for row in _broken(results):
        longest = sum(max(len(edit.old), len(edit.new)) for edit in row.edits)
        if longest:
            changed.append(row.characters_changed / longest)
    return bool(changed) and median(changed) <= 0.5


def aligned(old: str, new: str) -> tuple[int, int, int]:
    """Count the flips, inserts and deletes of the shortest way from one string to another.

    Of several shortest ways the one with the most flips counts, so that the counts are unique:
    inserts minus deletes is the difference of the lengths.

    >>> aligned("mood", "mooP"), aligned("mood", "moood"), aligned("mood", "mod")
    ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    >>> aligned("ab", "ba"), aligned("abcd", "bcda")
    ((2, 0, 0), (0, 1, 1))
    """
    total, shifts = count_operations(old, new)
    longer = len(new) - len(old)
    return total - shifts, (shifts + longer) // 2, (shifts - longer) // 2


def _broken(results: Sequence[Result]) -> list[Result]:
    return [r for r in results if r.status == "broken"]


MAX_BINS = 40


@dataclass(frozen=True)
class Bin:
    """`count` values from `low` to `high`, both included."""

    low: int
    high: int
    count: int


@dataclass(frozen=True)
class Histogram:
    """`of` whole numbers counted in bins of one width, without gaps between them."""

    bins: tuple[Bin, ...]
    of: int

    @property
    def width(self) -> int:
        return self.bins[0].high - self.bins[0].low + 1 if self.bins else 1


def words_histogram(results: Sequence[Result], max_bins: int = MAX_BINS) -> Histogram:
    """Count the broken cases by the number of words they changed.

    >>> from brittle.metrics.samples import sample_results
    >>> [(b.low, b.count) for b in words_histogram(sample_results()).bins]
    [(1, 2), (2, 1)]
    """
    return histogram([r.words_changed for r in results if r.status == "broken"], max_bins)


def histogram(values: Sequence[int], max_bins: int = MAX_BINS) -> Histogram:
    """Count whole numbers (0 or more) in at most `max_bins` bins, no wider than needed.

    Bins begin at 1, or at 0 if a value is 0, and are 1, 2, 5, 10, 20 … wide.

    >>> histogram([1, 1, 4]).bins[1:3]
    (Bin(low=2, high=2, count=0), Bin(low=3, high=3, count=0))
    >>> histogram([3, 7, 12], max_bins=3).bins
    (Bin(low=1, high=5, count=1), Bin(low=6, high=10, count=1), Bin(low=11, high=15, count=1))
    """
    if not values:
        return Histogram((), 0)
    first = min(1, *values)
    span = max(values) - first + 1
    widths = (step * 10**exponent for exponent in count() for step in (1, 2, 5))
    width = next(width for width in widths if -(-span // width) <= max_bins)
    counts = [0] * ((max(values) - first) // width + 1)
    for value in values:
        counts[(value - first) // width] += 1
    lows = range(first, first + width * len(counts), width)
    bins = (Bin(low, low + width - 1, held) for low, held in zip(lows, counts))
    return Histogram(tuple(bins), len(values))
