"""A field as rules of rewriting read it: tokens, sentences, and the habits of its writer.

A contraction is two tokens whether it is written "it's" or "it 's", so one rule serves ordinary
text and tokenized text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_CONTRACTION = re.compile(r"(?i)(.+?)(n['’]t|['’](?:s|re|ve|ll|d|m))")
_MARK = re.compile(r"<[^<>]*>|&#?\w{1,32};|\.\.\.|--|\n|[^\w\s]")
_APART = re.compile(r"\s[,.;!?](?:\s|$)")
_TOGETHER = re.compile(r"\w[,.;!?](?:\s|$)")
_CLITIC_APART = re.compile(r"\s(?:n['’]t|['’](?:s|re|ve|ll|d|m))(?:\s|$)")
_CLITICS = frozenset({"s", "re", "ve", "ll", "d", "m"})
_ENDS = frozenset({".", "!", "?", "...", "…", "\n"})
_CLOSING = frozenset({'"', "”", "''", "'", "’", ")", "]", "!", "?", "."})
_ABBREVIATED = frozenset(
    {"mr", "mrs", "ms", "dr", "st", "jr", "sr", "vs", "prof", "gen", "sen", "rep", "lt", "col"}
    | {"sgt", "inc", "corp", "co", "ltd", "no"}
)
_SHORT = 1  # a single letter before a full stop is an initial

CLITICS = frozenset({"n't", "'s", "'re", "'ve", "'ll", "'d", "'m"})
MARKS = frozenset({",", ".", ";", ":", "!", "?"})
"""Tokens without a blank before them in ordinary text."""


@dataclass(frozen=True)
class Sentence:
    """A sentence: its first token, the one after its last word or mark inside, and its end."""

    start: int
    stop: int
    end: str


@dataclass(frozen=True)
class Tokens:
    """The tokens of a field, in parallel rows; `tags` is empty for marks and clitics.

    `forms` are in lower case with straight apostrophes, `raw` is the field. `numbers` is the number
    of each token's sentence. `attached` are the tokens that this writer puts no blank before:
    tokenized text has "it 's ." or "it's .", where ordinary text has "it's.".
    """

    raw: str
    forms: Sequence[str]
    starts: Sequence[int]
    stops: Sequence[int]
    tags: Sequence[str]
    numbers: Sequence[int]
    sentences: Sequence[Sentence]
    attached: frozenset[str]
    is_lower: bool

    @staticmethod
    def of(words: Sequence[str], gaps: Sequence[str], tags: Sequence[str]) -> Tokens:
        """Cut the words and gaps of a field, with the tags of its words, into tokens."""
        rows: list[tuple[str, int, int, str]] = []
        at = 0
        parts: list[str] = []
        for n, gap in enumerate(gaps):
            word = words[n] if n < len(words) else ""
            begin = at + len(gap)
            if gap != " ":
                begin = _add_marks(rows, gap, at, word)
            at += len(gap)
            parts += (gap, word)
            if word:
                _add_word(rows, word, begin, at, tags[n])
                at += len(word)
        raw = "".join(parts)
        forms = [row[0] for row in rows]
        ends = [raw[row[2] : row[2] + 1] for row in rows]
        numbers, sentences = _sentences(forms, [not end.isalnum() for end in ends])
        return Tokens(
            raw,
            forms,
            [row[1] for row in rows],
            [row[2] for row in rows],
            [row[3] for row in rows],
            numbers,
            sentences,
            _attached(raw),
            raw == raw.lower(),
        )

    def written(self, n: int) -> str:
        """Return a token as the field has it."""
        return self.raw[self.starts[n] : self.stops[n]]

    def join(self, tokens: Sequence[str]) -> str:
        """Write tokens as this field does: contractions and marks apart, or attached."""
        blanks = (" " * (n > 0 and token not in self.attached) for n, token in enumerate(tokens))
        joined = "".join(blank + token for blank, token in zip(blanks, tokens))
        return joined.replace("'", "’") if "’" in self.raw and "'" in joined else joined


def _attached(raw: str) -> frozenset[str]:
    """Return the tokens that are written without a blank before them."""
    has_marks_apart = len(_APART.findall(raw)) > len(_TOGETHER.findall(raw))
    marks = frozenset[str]() if has_marks_apart else MARKS
    return marks if _CLITIC_APART.search(raw) else marks | CLITICS


def _add_marks(rows: list[tuple[str, int, int, str]], gap: str, at: int, word: str) -> int:
    """Add the marks of a gap; return where the next token begins."""
    stop = len(gap)
    if gap[-1:] in ("'", "’") and gap[-2:-1].isspace() and word.lower() in _CLITICS:
        stop -= 1
    for mark in _MARK.finditer(gap, 0, stop):
        rows.append((mark[0], at + mark.start(), at + mark.end(), ""))
    return at + stop


def _add_word(
    rows: list[tuple[str, int, int, str]], word: str, begin: int, at: int, tag: str
) -> None:
    """Add a word: a clitic with its apostrophe, a contraction as two tokens, any other as one."""
    stop = at + len(word)
    if begin < at:
        rows.append((f"'{word.lower()}", begin, stop, ""))
        return
    if not word.isalnum():
        parts = _CONTRACTION.fullmatch(word)
        if parts:
            middle = at + parts.end(1)
            rows.append((parts[1].lower(), at, middle, tag))
            rows.append((parts[2].lower().replace("’", "'"), middle, stop, ""))
            return
    form = word.lower().replace("’", "'")
    rows.append((form, at, stop, "" if form == "n't" else tag))


def _sentences(forms: Sequence[str], may_end: Sequence[bool]) -> tuple[list[int], list[Sentence]]:
    """Cut tokens into sentences; a full stop within "amazon.com" ends none."""
    numbers: list[int] = []
    sentences: list[Sentence] = []
    start, n = 0, 0
    while n < len(forms):
        form = forms[n]
        numbers.append(len(sentences))
        n += 1
        is_end = form in _ENDS or (len(form) > 1 and form[0] == "<")
        if (
            not is_end
            or not may_end[n - 1]
            or (form == "." and n > 1 and _is_abbreviated(forms[n - 2]))
        ):
            continue
        stop = n - 1
        while n < len(forms) and forms[n] in _CLOSING:
            numbers.append(len(sentences))
            n += 1
        end = "?" if "?" in forms[stop:n] else "..." if forms[stop:n].count(".") > 1 else form
        sentences.append(Sentence(start, stop, end))
        start = n
    if start < n:
        sentences.append(Sentence(start, n, ""))
    return numbers, sentences


def _is_abbreviated(form: str) -> bool:
    return form in _ABBREVIATED or (len(form) == _SHORT and form.isalpha() and form not in "ia")
