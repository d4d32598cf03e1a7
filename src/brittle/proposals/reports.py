"""Which texts are reports: news takes no opener, and few of its words may read otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from brittle.english.stop_words import is_stop_word
from brittle.proposals.rewrite_tokens import Sentence, Tokens
from brittle.text import Text

HEADLINE_WORDS = 4
"""The capitals of so many words after the first tell a title from a sentence."""
NEWS_MARKS = frozenset({"(", "--", "-", "#", ":", "|"})
MANY_NAMES = 5
"""With so many capitals inside its sentences a text is a report even if somebody speaks in it."""
SPEAKERS = frozenset(
    {"i", "me", "my", "mine", "we", "us", "our", "ours", "you", "your", "yours", "let's"}
)
"""A writer who uses one of these speaks to somebody, so an opener fits."""
COUNTRY = "US"
"""Written so it is a name, not a speaker."""
QUOTES = frozenset({'"', "“", "”", "quot", "&quot;"})
_DATELINE = re.compile(r"\([A-Z][\w. ]{1,30}\)\s*--?\s|\b[A-Z]{3,}[A-Z, ]*\s--?\s")
"""The agency or the town before the dash of a report: "(Reuters) - ", "LONDON -- "."""


def report_fields(text: Text, tags: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the first position of every field that is a report, and the one after its last."""
    found = []
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        words = [word for word in text.words[start:stop] if isinstance(word, str)]
        # Names show by capitals: a text without needs no closer look.
        may_be = len(words) == stop - start and any(word[0].isupper() for word in words[1:])
        if may_be and is_report(Tokens.of(words, field.gaps, tags[start:stop])):
            found.append((start, stop))
    return tuple(found)


def is_report(tokens: Tokens) -> bool:
    """Tell whether a text reports on names and nobody speaks, or is news by its look.

    Text without capitals shows no names, so none of it counts as a report.
    """
    if tokens.is_lower or tokens.raw.isupper():
        return False
    return is_news(tokens) or (
        has_names(tokens, tokens.sentences) and not has_speaker(tokens, tokens.sentences)
    )


def is_news(tokens: Tokens) -> bool:
    """Tell whether a text is news whoever speaks: by a dateline, a title in front, or many names.

    Most of the first words of a title have capitals. Where a title runs into the first sentence, a
    word such as "The" has one after a word without punctuation.
    """
    if tokens.is_lower or tokens.raw.isupper() or not tokens.sentences:
        return False
    first = tokens.sentences[0]
    return (
        _DATELINE.search(tokens.raw) is not None
        or is_title(tokens, first)
        or any(is_glued(tokens, n) for n in range(first.start + 1, first.stop))
        or sum(_is_name(tokens, n, s) for s in tokens.sentences for n in range(s.start, s.stop))
        >= MANY_NAMES
    )


def is_headline(tokens: Tokens, sentence: Sentence) -> bool:
    """Tell whether a sentence is, or begins with, the title or the dateline of a piece of news."""
    if tokens.is_lower or tokens.raw.isupper():
        return False
    span = range(sentence.start + 1, sentence.stop)
    return (
        not NEWS_MARKS.isdisjoint(tokens.forms[n] for n in span)
        or any(is_glued(tokens, n) for n in span)
        or is_title(tokens, sentence)
    )


def is_title(tokens: Tokens, sentence: Sentence) -> bool:
    """Tell whether most of the first words of a sentence have capitals."""
    words = [tokens.written(n) for n in range(sentence.start + 1, sentence.stop) if tokens.tags[n]]
    longer = [word for word in words if not is_stop_word(word)][:HEADLINE_WORDS]
    return sum(word[0].isupper() for word in longer) * 2 > len(longer)


def has_names(tokens: Tokens, sentences: Iterable[Sentence]) -> bool:
    """Tell whether a word has a capital that does not come from its place in a sentence."""
    return any(
        tokens.tags[n] and tokens.written(n)[0].isupper()
        for sentence in sentences
        for n in range(sentence.start + 1, sentence.stop)
    )


def has_speaker(tokens: Tokens, sentences: Iterable[Sentence]) -> bool:
    """Tell whether the writer speaks of himself or to somebody; what others say does not count."""
    is_quoted, quoted = False, set()
    for n, form in enumerate(tokens.forms):
        is_quoted ^= form in QUOTES
        quoted |= {n} if is_quoted else set()
    return any(
        tokens.forms[n] in SPEAKERS and tokens.written(n) != COUNTRY and n not in quoted
        for sentence in sentences
        for n in range(sentence.start, sentence.stop)
    )


def is_glued(tokens: Tokens, n: int) -> bool:
    """Tell whether a function word has a capital right after another word."""
    return (
        tokens.tags[n - 1] != ""
        and tokens.forms[n] != "i"
        and is_stop_word(tokens.forms[n])
        and tokens.written(n).istitle()
    )


def _is_name(tokens: Tokens, n: int, sentence: Sentence) -> bool:
    is_inside = n > sentence.start and tokens.tags[n] != "" and tokens.forms[n] != "i"
    return is_inside and tokens.written(n)[0].isupper()
