"""Where rules of rewriting hold in a field, and which of them may be used together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from brittle.candidates.rewrite_rules import (
    END,
    MARK,
    START,
    Beside,
    RewriteRule,
    RewriteRules,
    fill,
)
from brittle.candidates.rewrite_tokens import (
    CLITICS,
    MARKS,
    Sentence,
    Tokens,
)
from brittle.english.forms import takes_an

MAX_MERGED_TOKENS = 10
ARTICLES = ("a", "an")


@dataclass(frozen=True)
class Match:
    """A rule that holds at tokens `first` to `last`, and what it makes of a stretch of the field.

    `guards` are the first and the last token that the rule looked at. `names` holds the rule of
    every alternative.
    """

    first: int
    last: int
    guards: tuple[int, int]
    start: int
    stop: int
    alternatives: tuple[str, ...]
    names: tuple[str, ...]

    def disturbs(self, other: Match) -> bool:
        """Tell whether one changes what the other looked at, or both change the same."""
        return (
            (self.first <= other.guards[1] and other.guards[0] <= self.last)
            or (other.first <= self.guards[1] and self.guards[0] <= other.last)
            or (self.start < other.stop and other.start < self.stop)
        )

    def merged(self, other: Match, raw: str) -> Match:
        """Return one match for both: of their alternatives only one can be chosen."""
        start, stop = min(self.start, other.start), max(self.stop, other.stop)
        named = [
            (raw[start : match.start] + alternative + raw[match.stop : stop], name)
            for match in (self, other)
            for alternative, name in zip(match.alternatives, match.names)
        ]
        names = dict(reversed(named))  # the first rule of two with one result gives its name
        alternatives = tuple(dict.fromkeys(alternative for alternative, _ in named))
        return Match(
            min(self.first, other.first),
            max(self.last, other.last),
            (min(self.guards[0], other.guards[0]), max(self.guards[1], other.guards[1])),
            start,
            stop,
            alternatives,
            tuple(names[alternative] for alternative in alternatives),
        )


def independent(matches: Iterable[Match], raw: str) -> list[Match]:
    """Merge matches that disturb each other; leave out a match with which one grows too long."""
    chosen: list[Match] = []
    for match in matches:
        merged, rest = match, chosen
        while clashes := [other for other in rest if other.disturbs(merged)]:
            # What is merged reaches further than its parts, and may disturb others.
            rest = [other for other in rest if other not in clashes]
            for other in reversed(clashes):
                merged = other.merged(merged, raw)
        if merged is match or merged.last - merged.first < MAX_MERGED_TOKENS:
            chosen = [*rest, merged]
    return sorted(chosen, key=lambda match: (match.start, match.stop))


# Phrases.


def phrase_matches(tokens: Tokens, rules: RewriteRules) -> Iterator[Match]:
    count = len(tokens.forms)
    sides = Counter(rules.spelling[form] for form in tokens.forms if form in rules.spelling)
    for n, form in enumerate(tokens.forms):
        for offset, rule in rules.index.get(form, ()):
            if rule.side is not None and sides[rule.side] > 1:
                continue  # another word is written so, and this one has to agree with it
            first = n - offset
            if first >= 0 and first + len(rule.find) <= count:
                match = _match(tokens, rule, first, first + len(rule.find))
                if match is not None:
                    yield match


def _match(tokens: Tokens, rule: RewriteRule, first: int, after: int) -> Match | None:
    for n, element in enumerate(rule.find, first):
        if tokens.forms[n] not in element.words and tokens.tags[n] not in element.tags:
            return None
    if tokens.numbers[first] != tokens.numbers[after - 1] or not _holds(tokens, rule, first, after):
        return None
    if rule.is_mark and not _stands_apart(tokens, first):
        return None
    capitals = _capitals(tokens, first, after)
    if capitals is None:
        return None
    has_article = first > 0 and tokens.forms[first - 1] in ARTICLES
    outputs = [fill(write, lambda k: tokens.forms[first + k]) for write in rule.writes]
    if outputs == [[]]:
        start, stop, strings = _dropped(tokens, first, after, capitals)
    else:
        start, stop, strings = _placed(tokens, first, after, outputs, capitals)
    if has_article:
        start, strings = _with_article(tokens, first, after, outputs, start, strings)
    kept = [string for string in dict.fromkeys(strings) if string != tokens.raw[start:stop]]
    if not kept:
        return None
    left, right = _reach(rule, has_article)
    sentence = tokens.sentences[tokens.numbers[first]]
    # The ends of a sentence stay its ends, whatever comes before it or ends it.
    guards = (
        max(first - left, sentence.start),
        max(after - 1, min(after - 1 + right, sentence.stop - 1)),
    )
    names = (rule.name,) * len(kept)
    return Match(first, after - 1, guards, start, stop, tuple(kept), names)


def _stands_apart(tokens: Tokens, n: int) -> bool:
    """Tell whether a mark has blanks where it needs them: it is not part of a word or a sign."""
    start, stop, raw = tokens.starts[n], tokens.stops[n], tokens.raw
    has_left = tokens.forms[n] in tokens.attached or raw[start - 1 : start].isspace()
    return has_left and raw[stop : stop + 1].isspace()


def _reach(rule: RewriteRule, has_article: bool) -> tuple[int, int]:
    """Return how many tokens a rule looks at before and after its match."""
    left = 2 if rule.not_left2 else int(bool(rule.left or rule.not_left or has_article))
    is_dropped = () in rule.writes
    looks_right = rule.right or rule.not_right or is_dropped
    right = 2 if rule.right2 or rule.not_right2 else int(bool(looks_right))
    return left, right


def _holds(tokens: Tokens, rule: RewriteRule, first: int, after: int) -> bool:
    """Tell whether the conditions of a rule hold for a match from `first` up to `after`."""
    sentence = tokens.sentences[tokens.numbers[first]]
    places = (
        (rule.left, rule.not_left, first - 1),
        (None, rule.not_left2, first - 2),
        (rule.right, rule.not_right, after),
        (rule.right2, rule.not_right2, after + 1),
    )
    for wanted, unwanted, place in places:
        if wanted is not None and not _stands(tokens, wanted, place, sentence):
            return False
        if unwanted is not None and _stands(tokens, unwanted, place, sentence):
            return False
    if rule.min_words and sentence.stop - sentence.start < rule.min_words:
        return False
    if not rule.asks and sentence.end == "?":
        return False
    return not rule.absent or rule.absent.isdisjoint(tokens.forms[sentence.start : sentence.stop])


def _stands(tokens: Tokens, beside: Beside, place: int, sentence: Sentence) -> bool:
    """Tell whether one of these words or tags stands at a place."""
    if place < sentence.start:
        return START in beside.words
    if place >= sentence.stop:
        return END in beside.words
    form, tag = tokens.forms[place], tokens.tags[place]
    return (
        form in beside.words
        or (tag != "" and tag in beside.tags)
        or (MARK in beside.words and not form[-1:].isalnum())
    )


def _capitals(tokens: Tokens, first: int, after: int) -> str | None:
    """Return how a replacement is written: "lower", "title" or "upper"; None for names and titles.

    A capital at the start of a sentence says nothing; elsewhere it marks a name or a title.
    """
    if tokens.is_lower:
        return "lower"
    written = [tokens.written(n) for n in range(first, after)]
    if all(
        form == "i" or form == string for form, string in zip(tokens.forms[first:after], written)
    ):
        return "lower"
    if tokens.raw.isupper():
        return "upper"
    rest = zip(tokens.forms[first + 1 : after], written[1:])
    is_start = tokens.sentences[tokens.numbers[first]].start == first
    is_capital = written[0][:1].isupper() and written[0][1:] == written[0][1:].lower()
    if (
        is_start
        and is_capital
        and all(form in ("i", string.replace("’", "'")) for form, string in rest)
    ):
        return "title"
    has_apostrophe = [string.replace("’", "'") for string in written]
    same = all(
        form in ("i", string) for form, string in zip(tokens.forms[first:after], has_apostrophe)
    )
    return "lower" if same else None


def _placed(
    tokens: Tokens, first: int, after: int, outputs: Sequence[Sequence[str]], capitals: str
) -> tuple[int, int, list[str]]:
    """Return the stretch that changes, and what it may become, with the blanks that it needs."""
    start, stop = tokens.starts[first], tokens.stops[after - 1]
    strings = [write_like(tokens, output, capitals) for output in outputs]
    attached = [output[0] in tokens.attached for output in outputs]
    is_attached = tokens.forms[first] in tokens.attached
    if first > 0 and (any(attached) or is_attached):
        start = tokens.stops[first - 1]
        strings = [" " * (not glued) + string for string, glued in zip(strings, attached)]
    return start, stop, strings


def _dropped(tokens: Tokens, first: int, after: int, capitals: str) -> tuple[int, int, list[str]]:
    """Return the stretch that goes with a word: one of the blanks around it goes, too."""
    if after == len(tokens.forms) or tokens.forms[after] in CLITICS | MARKS:
        return tokens.stops[first - 1] if first else 0, tokens.stops[after - 1], [""]
    start, stop = tokens.starts[first], tokens.starts[after]
    if capitals == "title":
        return start, stop + 1, [tokens.raw[stop].upper()]
    return start, stop, [""]


def write_like(tokens: Tokens, output: Sequence[str], capitals: str) -> str:
    string = tokens.join([_pronoun(token) for token in output] if not tokens.is_lower else output)
    if capitals == "title":
        return string[:1].upper() + string[1:]
    return string.upper() if capitals == "upper" else string


def _pronoun(token: str) -> str:
    return token.upper() if token in ("i", "tv") else token


def _with_article(
    tokens: Tokens,
    first: int,
    after: int,
    outputs: Sequence[Sequence[str]],
    start: int,
    strings: list[str],
) -> tuple[int, list[str]]:
    """Include the article before a match where a replacement needs the other one."""
    follower = tokens.forms[after] if after < len(tokens.forms) else ""
    article = tokens.written(first - 1)
    needed = ["an" if takes_an(output[0] if output else follower) else "a" for output in outputs]
    if all(one == tokens.forms[first - 1] for one in needed):
        return start, strings
    blank = tokens.raw[tokens.stops[first - 1] : start]
    cased = [one.upper() if article.isupper() and len(article) > 1 else one for one in needed]
    cased = [one[:1].upper() + one[1:] if article[:1].isupper() else one for one in cased]
    return tokens.starts[first - 1], [one + blank + string for one, string in zip(cased, strings)]
