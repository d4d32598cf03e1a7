"""Part-of-speech tags: one Penn tag for every editable word, by a lexicon and by rules.

Part-of-speech tags: one Penn tag for every editable word.

Words keep their boundaries: nothing is split or joined. The tagger sees what a reader sees: each
field by itself, cut into sentences, with the punctuation of the gaps, and contractions in two
tokens ("do n't"; the word has the tag of its first token). The lexicon tags each token by itself,
then contextual rules correct the tags.

Contextual tagging rules (Brill, 1992): a tag changes by the words and tags around it.

A rule such as `NN VB PREVTAG TO` turns a noun into a verb after "to". Two points of Brill's method
matter for accuracy, and textblob's own loop over the same rules has neither: a rule is applied to
the whole sentence before the next rule, and a word never gets a tag that it cannot have.

The lexicon: the usual Penn tag of 94,118 words and marks, and the rules that correct tags.

The shipped table is built from textblob's files by scripts/build_lexicon.py. Its first line names
that source. Then comes a line for each tag, with all words that have it, then an empty line, then
one contextual rule a line.
"""

from __future__ import annotations

import lzma
import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from brittle.english.forms import PART_OF_SPEECH, possible_tags
from brittle.errors import UsageError
from brittle.text import LONG, SwappedText, Text, Word

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


SHIPPED = Path(__file__).with_name("lexicon.txt.xz")

_NUMBER = re.compile(r"[0-9,.:/%$-]+$")
# The endings of unknown words by tag; the first tag that fits counts.
_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "VBP": ("ate", "ify", "ise", "ize"),
    "VBN": ("ed",),
    "JJ": ("able", "al", "ful", "ible", "ient", "ish", "ive", "less", "tic", "ous"),
    "NN": ("is", "ss"),
    "NNS": ("s",),
    "RB": ("ly",),
    "VBG": ("ing",),
}


@dataclass(frozen=True)
class Lexicon:
    """Words with their usual tags, and contextual rules; `source` tells where both come from."""

    source: str
    tags: Mapping[str, str]
    rules: tuple[Rule, ...]

    @staticmethod
    def from_table(table: str) -> Lexicon:
        """Parse a table as it is described above."""
        source, *lines = table.rstrip("\n").split("\n")
        end = lines.index("")
        tags: dict[str, str] = {}
        for line in lines[:end]:
            tag, *words = line.split(" ")
            tags.update(dict.fromkeys(words, tag))
        return Lexicon(source, tags, parse_rules(lines[end + 1 :]))

    def tag_tokens(self, tokens: Sequence[str]) -> list[str]:
        """Tag each token of a sentence by itself; the first may also be known in lower case."""
        tags = [self.tags.get(token) or guess_tag(token) for token in tokens]
        if tokens and tokens[0] not in self.tags:
            tags[0] = self.tags.get(tokens[0].lower(), tags[0])
        return tags


def guess_tag(word: str) -> str:
    """Return the tag of an unknown word, by its shape, else by its ending.

    >>> [guess_tag(word) for word in ("Hooloovoo", "1,000", "zombified", "un-zombie", "zombies")]
    ['NNP', 'CD', 'VBN', 'JJ', 'NNS']
    """
    if word.istitle():
        return "NNP"
    if _NUMBER.match(word):
        return "CD"
    for tag, endings in _ENDINGS.items():
        if word.endswith(endings) or (tag == "JJ" and "-" in word):
            return tag
    return "NN"


@cache
def load_lexicon() -> Lexicon:
    """Load the shipped lexicon, once per process."""
    return Lexicon.from_table(lzma.decompress(SHIPPED.read_bytes()).decode())


_CONTRACTION = re.compile(r"(?i)(.+?)(n't|'(?:s|re|ve|ll|d|m))")
_MARK = re.compile(r"<[^<>]*>|\.\.\.|--|[^\w\s]|\n")
_SENTENCE_ENDS = (".", "!", "?", "...", "\n")

Token = tuple[str, int | None]
"""A token and the position of the word that gets its tag, if any."""


class Tagger:
    """Tags words with textblob's English lexicon and its contextual rules."""

    def tags(self, items: Sequence[Text]) -> list[tuple[str, ...]]:
        """Return one Penn tag per position of every text; a hole is tagged as an unknown word.

        Of a long text that differs from another in a few words, only their sentences are tagged.
        """
        return [
            _tag_swapped(item)
            if isinstance(item, SwappedText)
            else (item.once(_tag_text) if len(item) > LONG else _tag_text(item))
            for item in items
        ]


def tag_words(words: Sequence[str], gaps: Sequence[str] | None = None) -> list[str]:
    """Tag the words of one field; the gaps around them (one more than words) show its sentences."""
    lexicon = load_lexicon()
    tags = [""] * len(words)
    for sentence in _sentences(words, gaps or [" "] * (len(words) + 1), lexicon.tags):
        tokens = [token for token, _ in sentence]
        token_tags = apply_rules(lexicon.rules, tokens, lexicon.tag_tokens(tokens))
        for tag, (_, position) in zip(token_tags, sentence):
            if position is not None:
                tags[position] = tag
    return tags


def _tag_text(text: Text) -> tuple[str, ...]:
    tags: list[str] = []
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        tags += tag_words(_visible(text.words[start:stop]), field.gaps)
    return tuple(tags)


def _tag_swapped(text: SwappedText) -> tuple[str, ...]:
    """Tag the sentences with swapped words; the other words have the tags of the source."""
    source, tags = text.source, text.source.once(_tag_text)
    sentences = source.once(_sentence_spans)
    starts = [start for start, _, _ in sentences]
    for n in dict.fromkeys(bisect_right(starts, i) - 1 for i, _ in text.swapped):
        start, stop, gaps = sentences[n]
        words = list(source.words[start:stop])
        for i, word in text.swapped:
            if start <= i < stop:
                words[i - start] = word
        changed = tuple(tag_words(_visible(words), gaps))
        if changed != tags[start:stop]:
            tags = (*tags[:start], *changed, *tags[stop:])
    return tags


def _sentence_spans(text: Text) -> list[tuple[int, int, tuple[str, ...]]]:
    """List the sentences of a text: the first position, the one after the last, the gaps."""
    spans = []
    known = load_lexicon().tags
    for field, (first, last) in zip(text.frame.fields, text.frame.spans):
        sentences = _sentences(_visible(text.words[first:last]), field.gaps, known)
        positions = ([i for _, i in sentence if i is not None] for sentence in sentences)
        spans += [
            (first + own[0], first + own[-1] + 1, field.gaps[own[0] : own[-1] + 2])
            for own in positions
            if own
        ]
    return spans


def _visible(words: Iterable[Word]) -> list[str]:
    return [word if isinstance(word, str) else "____" for word in words]


def _sentences(
    words: Sequence[str], gaps: Sequence[str], known: Container[str]
) -> Iterator[list[Token]]:
    """Cut words and gaps into sentences of tokens."""
    sentence: list[Token] = []
    for position, gap in enumerate(gaps):
        for mark in _MARK.findall(gap) if gap != " " else ():
            is_markup = mark.startswith("<") and len(mark) > 1
            if not (is_markup or mark == "\n"):
                sentence.append((mark, None))
            if (is_markup or mark in _SENTENCE_ENDS) and sentence:
                yield sentence
                sentence = []
        if position < len(words):
            sentence += _tokens(words[position], position, known)
    if sentence:
        yield sentence


def _tokens(word: str, position: int, known: Container[str]) -> list[Token]:
    if word.isalpha():
        # The lexicon is in lower case; a shouted word is the same word.
        is_shouted = len(word) > 1 and word.isupper() and word not in known
        return [(word.lower() if is_shouted else word, position)]
    plain = word.replace("’", "'")
    contraction = _CONTRACTION.fullmatch(plain)
    if contraction:
        return [(contraction[1], position), (contraction[2].lower(), None)]
    return [(plain, position)]
