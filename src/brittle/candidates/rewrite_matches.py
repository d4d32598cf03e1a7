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
    PREPOSITIONS,
    Sentence,
    Tokens,
    has_names,
    has_speaker,
    is_headline,
    is_news,
)
from brittle.english.forms import takes_an
from brittle.english.tags import load_lexicon
from brittle.english.words import is_stop_word

MIN_WORDS = {"question": 3, "command": 2}
MIN_STATEMENT_WORDS = 4
"""Shorter sentences are interjections, headings or names: they get no opener and no full stop."""
MANY_SENTENCES = 3
"""In a text of so many sentences the opener stands before the last statement: it sums up."""
MAX_MERGED_TOKENS = 10
MAX_NAMES = 3
"""With more capitals a sentence may be two: a title that runs into the first sentence."""
KINDS_OF_OPENERS = {
    "any": ("any",),
    "clause": ("clause", "any"),
    "opinion": ("clause", "any", "judgement"),
    "judgement": ("any", "judgement"),
    "nouns": ("nouns", "any", "judgement"),
    "verb": ("verb", "any", "judgement"),
}
JUDGING = frozenset({"JJ", "JJR", "JJS"})
PREDICATES = JUDGING | {"RB", "RBR", "RBS"}
"""Tags of what follows "is" where a sentence says what something is like."""
PRONOUNS = frozenset({"PRP", "EX", "DT", "WP", "WDT", "WRB"})
FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})
COPULAS = frozenset({"is", "are", "was", "were", "'s", "'re", "be", "been"})
RELATIVE = frozenset({"that", "which", "who", "whose", "where", "when", "what", "how", "if"})
QUESTION_WORDS = frozenset(
    {"what", "who", "whom", "whose", "which", "where", "when", "why", "how", "is", "are", "was"}
    | {"were", "do", "does", "did", "can", "could", "will", "would", "should", "has", "have", "had"}
    | {"am", "may", "might", "shall"}
)
ARTICLES = ("a", "an")
NEEDS_MORE = frozenset({"IN", "TO", "DT", "PDT", "CC", "PRP$", "MD", "WDT", "WP$"})


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


def find_matches(tokens: Tokens, rules: RewriteRules, has_opener: bool) -> list[Match]:
    """List the matches of a field, in order; any of them may be used together.

    Matches that would disturb each other are one match, of whose alternatives one is chosen.
    """
    found = list(_phrases(tokens, rules))
    opener = None if has_opener else _opener(tokens, rules)
    if opener is not None:
        found.insert(0, opener)
    if rules.full_stop:
        found += _full_stop(tokens)
    return independent(found, tokens.raw)


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


def _phrases(tokens: Tokens, rules: RewriteRules) -> Iterator[Match]:
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
    strings = [_write(tokens, output, capitals) for output in outputs]
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


def _write(tokens: Tokens, output: Sequence[str], capitals: str) -> str:
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


# Openers and the last full stop.


def _opener(tokens: Tokens, rules: RewriteRules) -> Match | None:
    """Return the place for an opener: before the first sentence, or the last of several."""
    sentences = [s for s in tokens.sentences if s.start < s.stop]
    is_long = len(sentences) >= MANY_SENTENCES
    for sentence in reversed(sentences) if is_long else sentences[:1]:
        kind = sentence_kind(tokens, sentence, rules)
        if kind is not None and (not is_long or kind not in MIN_WORDS):
            names = ("later",) if is_long else KINDS_OF_OPENERS.get(kind, (kind,))
            opener = _open_sentence(tokens, sentence, names, rules)
            if opener is not None:
                return opener
    return None


def _open_sentence(
    tokens: Tokens, sentence: Sentence, kinds: Sequence[str], rules: RewriteRules
) -> Match | None:
    present = frozenset(tokens.forms)
    options = [
        opener.say
        for kind in kinds
        for opener in rules.openers.get(kind, ())
        if present.isdisjoint(opener.content | opener.absent)
    ]
    word = tokens.written(sentence.start)
    is_lowered = False if word[:1].islower() else _loses_capital(tokens, sentence)
    if not options or is_lowered is None:
        return None
    start = tokens.starts[sentence.start]
    letter = word[:1].lower() if is_lowered else ""
    is_shouted = tokens.raw.isupper()
    capitals = "upper" if is_shouted else "lower" if word[:1].islower() else "title"
    return Match(
        *(sentence.start - 1, sentence.start - 1, (sentence.start - 1, sentence.start - 1)),
        *(start, start + len(letter)),
        tuple(f"{_write(tokens, say, capitals)} {letter}" for say in options),
        tuple(f"^ -> {' '.join(say)}" for say in options),
    )


def sentence_kind(tokens: Tokens, sentence: Sentence, rules: RewriteRules) -> str | None:
    """Return what kind of sentence it is, as far as openers go; None if it takes none."""
    first, forms = sentence.start, tokens.forms
    words = sum(tag != "" for tag in tokens.tags[first : sentence.stop])
    form, tag = forms[first], tokens.tags[first]
    follower = forms[first + 1] if first + 1 < sentence.stop else ""
    number = tokens.numbers[first]
    is_continued = number > 0 and tokens.sentences[number - 1].end == "..."
    if is_continued or is_headline(tokens, sentence):
        kind = None
    elif number >= MANY_SENTENCES - 1 and "," in forms[first : min(first + 4, sentence.stop)]:
        kind = None  # it begins with an opener of its own: "this time , …"
    elif sentence.end == "?":
        kind = "question" if form in QUESTION_WORDS else None
    elif not tag or form in rules.no_opener or (follower == "," and tag in ("RB", "UH")):
        kind = None
    elif tag == "VB" or (form in rules.commands and tag in ("NN", "VBP", "VBD", "JJ", "RB", "IN")):
        kind = "command"
    else:
        kind = _statement_kind(tokens, sentence)
    if kind is not None and _is_report(tokens, sentence, kind):
        return None
    if kind is None or words < MIN_WORDS.get(kind, MIN_STATEMENT_WORDS):
        return None
    return kind


def _is_report(tokens: Tokens, sentence: Sentence, kind: str) -> bool:
    """Tell whether a sentence reports on names and nobody speaks: news takes no opener.

    A single sentence may judge what it names ("Spielberg's film is thin ."). Of a question the rest
    of the text decides: before a report it is a headline. Text without capitals shows no names, so
    none of it counts as a report.
    """
    if tokens.is_lower or tokens.raw.isupper():
        return False
    if is_news(tokens):
        return True
    others = [s for s in tokens.sentences if s.start < s.stop and s is not sentence]
    if kind == "question":
        return has_names(tokens, others) and not has_speaker(tokens, others)
    is_opinion = kind not in ("any", "clause") and not others
    everything = [sentence, *others]
    is_named = has_names(tokens, everything) and not is_opinion
    return is_named and not has_speaker(tokens, everything)


def _statement_kind(tokens: Tokens, sentence: Sentence) -> str | None:
    """Tell clauses, judgements, noun phrases ("a good film .") and verbs ("offers little .")."""
    first, stop, forms, tags = sentence.start, sentence.stop, tokens.forms, tokens.tags
    if tags[first] == "VBZ" and forms[first] != "is":
        return "verb" if tokens.is_lower else "judgement"
    relative = next((n for n in range(first, stop) if forms[n] in RELATIVE), stop)
    finite = [n for n in range(first, stop) if tags[n] in FINITE or _is_verb_clitic(tokens, n)]
    if not finite or finite[0] > relative:
        is_noun = forms[first] in ARTICLES and tokens.is_lower and "VBN" not in tags[first:relative]
        if is_noun:
            return "nouns"
        if not tokens.is_lower:
            return None  # in ordinary text a sentence without a verb is a heading
        return "judgement" if not JUDGING.isdisjoint(tags[first:stop]) else "any"
    names = sum(tokens.written(n)[0].isupper() for n in range(first + 1, stop))
    if tags[first].startswith("NNP") and "TO" in tags[first : finite[0]] and not tokens.is_lower:
        return None  # a headline: "Cisco to acquire …"
    is_plain = "," not in forms[first : finite[0]] and names <= MAX_NAMES
    if relative == first or finite[0] == first or not is_plain:
        return "any"
    return "opinion" if _says_what_it_is_like(tokens, finite[0], stop) else "clause"


def _is_verb_clitic(tokens: Tokens, n: int) -> bool:
    """Tell whether a token is a contracted verb; the "'s" after a noun mostly is a genitive."""
    form = tokens.forms[n]
    return form in CLITICS and (form != "'s" or tokens.tags[n - 1] in PRONOUNS)


def _says_what_it_is_like(tokens: Tokens, verb: int, stop: int) -> bool:
    """Tell whether a verb is a form of "be" with an adjective: "is thin", "is a very good film"."""
    if tokens.forms[verb] not in COPULAS or tokens.tags[verb - 1] == "EX":
        return False
    follower = tokens.tags[verb + 1] if verb + 1 < stop else ""
    if follower == "DT":
        return not JUDGING.isdisjoint(tokens.tags[verb + 2 : min(verb + 4, stop)])
    return follower in PREDICATES


def _loses_capital(tokens: Tokens, sentence: Sentence) -> bool | None:
    """Tell whether the first word has its capital from its place alone; None if it is not clear."""
    first = sentence.start
    word, form, tag = tokens.written(first), tokens.forms[first], tokens.tags[first]
    if form == "i" or tokens.raw.isupper() or not word[:1].isupper():
        return False
    if word[1:] != word[1:].lower():
        return False
    if is_stop_word(form):
        return True
    known = load_lexicon().tags
    if form not in known:
        return False
    follower = tokens.written(first + 1)[:1] if first + 1 < sentence.stop else ""
    if follower.isupper() or (tag.startswith("NNP") and known[form] in ("NN", "JJ", "VB")):
        return None
    return True


def _full_stop(tokens: Tokens) -> list[Match]:
    """Return the last full stop as a match that drops it, or the place where one may be added."""
    if not tokens.sentences:
        return []
    sentence, last = tokens.sentences[-1], len(tokens.forms) - 1
    words = sum(tag != "" for tag in tokens.tags[sentence.start : sentence.stop])
    if words < MIN_STATEMENT_WORDS:
        return []
    if sentence.end == "." and sentence.stop == last:
        start, stop = tokens.stops[last - 1], tokens.stops[last]
        return [Match(last, last, (last, last), start, stop, ("",), ("full stop dropped",))]
    if sentence.end == "" and tokens.tags[last] and not _breaks_off(tokens, last):
        at, mark = tokens.stops[last], "." if "." in tokens.attached else " ."
        return [
            Match(last + 1, last + 1, (last + 1, last + 1), at, at, (mark,), ("full stop added",))
        ]
    return []


def _breaks_off(tokens: Tokens, last: int) -> bool:
    """Tell whether a text ends with a word that needs another: "a drop in net profit for"."""
    return tokens.tags[last] in NEEDS_MORE or tokens.forms[last] in PREPOSITIONS
