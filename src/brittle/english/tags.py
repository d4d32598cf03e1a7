"""Part-of-speech tags: one Penn tag for every editable word.

Words keep their boundaries: nothing is split or joined. The tagger sees what a reader sees: each
field by itself, cut into sentences, with the punctuation of the gaps, and contractions in two
tokens ("do n't"; the word has the tag of its first token). The lexicon tags each token by itself,
then contextual rules correct the tags.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence

from brittle.english.lexicon import load_lexicon
from brittle.english.tagging_rules import apply_rules
from brittle.text import LONG, SwappedText, Text, Word

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
