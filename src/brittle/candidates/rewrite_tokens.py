"""A field as rules and candidates read it: tokens, sentences, word classes, and reports.

A field as rules of rewriting read it: tokens, sentences, and the habits of its writer.

A contraction is two tokens whether it is written "it's" or "it 's", so one rule serves ordinary
text and tokenized text.

Which texts are reports: news takes no opener, and few of its words may read otherwise. Where the
tag of a word is doubtful, so that a substitute with this tag might not fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from brittle.english.forms import PART_OF_SPEECH, possible_tags
from brittle.english.words import is_stop_word
from brittle.text import Text

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
"""Tokens that have no space before them in ordinary text."""


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


HEADLINE_WORDS = 4
"""The capitals of this many words after the first show whether a sentence is a title."""
NEWS_MARKS = frozenset({"(", "--", "-", "#", ":", "|"})
MANY_NAMES = 5
"""A text with this many capitals inside its sentences is a report, even if it quotes somebody."""
SPEAKERS = frozenset(
    {"i", "me", "my", "mine", "we", "us", "our", "ours", "you", "your", "yours", "let's"}
)
"""A writer who uses one of these speaks to somebody, so an opener fits."""
COUNTRY = "US"
"""In this spelling it is a name, not a speaker."""
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


PREPOSITIONS = frozenset(
    {"of", "in", "at", "by", "with", "from", "for", "on", "into", "about", "against", "during"}
    | {"between", "under", "without", "within", "among", "amid", "despite", "through", "via"}
)
BARE = frozenset({"in", "on", "at", "by", "under", "into", "off", "out"})
"""After one of these a noun without an article is a fixed phrase: "in doubt", "on sale"."""
DETERMINERS = frozenset({"DT", "PRP$", "CD", "POS"})
FINITE = frozenset({"VB", "VBP", "VBZ", "VBD"})
GENITIVE = frozenset({"s", "'s", "’s"})
"""A genitive ending as a separate word, as in leftovers of HTML: "Blair #39;s claim"."""
OBJECTS = frozenset({"DT", "CD", "PRP", "PRP$", "JJ", "NN", "NNS", "NNP", "NNPS"})
NAMING = frozenset({"JJ", "NN", "NNS", "NNP", "NNPS", "VBG", "VBN"})
NOUN, VERB, ADJECTIVE = "n", "v", "a"
AFTER_ADJECTIVES = frozenset({"JJ", "JJR", "JJS", "CD", "VBG", "VBN", "NN", "NNS", "NNP", "NNPS"})


@dataclass(frozen=True)
class WordRun:
    """Words with nothing but blanks between them: the first position, words in lower case, tags."""

    start: int
    words: Sequence[str]
    tags: Sequence[str]


def runs(text: Text, tags: Sequence[str]) -> Iterator[WordRun]:
    """Cut a text at its marks."""
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        words = [w.lower() if isinstance(w, str) else "" for w in text.words[start:stop]]
        first = 0
        for n in range(1, len(words) + 1):
            if n == len(words) or not field.gaps[n].isspace():
                yield WordRun(start + first, words[first:n], tags[start + first : start + n])
                first = n


def is_doubtful(run: WordRun, n: int) -> bool:
    """Tell whether a word may well be of another part of speech, or is bound to its neighbour.

    A noun before a noun is part of what that names ("killer robot"). Without an article, as in
    headlines, nouns and verbs are easily mistaken for each other.
    """
    tag = run.tags[n]
    part = PART_OF_SPEECH.get(tag)
    before, before_tag = (run.words[n - 1], run.tags[n - 1]) if n else ("", "")
    after, after_tag = (run.words[n + 1], run.tags[n + 1]) if n + 1 < len(run.words) else ("", "")
    if part == VERB:
        # After a preposition, an article or a genitive, or before "of", it is a noun.
        is_nominal = before in PREPOSITIONS | GENITIVE or before_tag in DETERMINERS or after == "of"
        is_noun = tag in FINITE and is_nominal and can_be_noun(run.words[n])
        return is_noun or _has_bare_infinitive(run, n)
    if part == NOUN:
        can_be_verb = not possible_tags(run.words[n]).isdisjoint(FINITE)
        is_bare_subject = before_tag.startswith(("NN", "PRP")) and before_tag != "PRP$"
        has_object = after_tag in DETERMINERS | {"PRP"} or after == "to"
        return (
            _is_modifier(tag, after, after_tag)
            or (before == "to" and "VB" in possible_tags(run.words[n]))
            or (tag == "NN" and before in BARE)
            or (can_be_verb and (is_bare_subject or has_object))
        )
    if part == ADJECTIVE and before_tag.startswith("NN"):
        # "allies calm on shock": where no verb stands before it, it may be one.
        return not possible_tags(run.words[n]).isdisjoint(FINITE)
    if part == ADJECTIVE and before_tag in DETERMINERS | {"JJ"}:
        # "the key to", "a good": where no noun follows, it is one.
        return after_tag not in AFTER_ADJECTIVES and can_be_noun(run.words[n])
    return False


def is_bound(run: WordRun, n: int) -> bool:
    """Tell whether a noun may be part of a fixed term, of which nothing but its place tells.

    Such a noun has an adjective or another noun before it ("financial results"), or is singular and
    has no article ("see story").
    """
    if PART_OF_SPEECH.get(run.tags[n]) != NOUN:
        return False
    before_tag = run.tags[n - 1] if n else ""
    after_tag = run.tags[n + 1] if n + 1 < len(run.tags) else ""
    is_bare = run.tags[n] == "NN" and before_tag not in DETERMINERS
    return is_bare or before_tag in NAMING or after_tag.startswith("NN")


def _has_bare_infinitive(run: WordRun, n: int) -> bool:
    """Tell whether a verb has an infinitive without "to" after it: "help (them) win"."""
    rest = range(n + 1, len(run.tags))
    tag = next((run.tags[k] for k in rest if run.tags[k] not in OBJECTS), "")
    return tag == "VB"


def _is_modifier(tag: str, after: str, after_tag: str) -> bool:
    """Tell whether a noun after this one is none but a noun, not perhaps its verb."""
    own_verb = "VBZ" if tag == "NN" else "VBP"
    return after_tag.startswith("NN") and own_verb not in possible_tags(after)


def can_be_noun(word: str) -> bool:
    """Tell whether a dictionary has a word as a noun."""
    return not possible_tags(word).isdisjoint({"NN", "NNS"})
