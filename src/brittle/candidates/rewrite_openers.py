"""What stands before a sentence or ends it: openers, and the last full stop."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.candidates.rewrite_matches import Match, write_like
from brittle.candidates.rewrite_rules import (
    RewriteRules,
)
from brittle.candidates.rewrite_tokens import (
    CLITICS,
    PREPOSITIONS,
    Sentence,
    Tokens,
    has_names,
    has_speaker,
    is_headline,
    is_news,
)
from brittle.english.tags import load_lexicon
from brittle.english.words import is_stop_word

MIN_WORDS = {"question": 3, "command": 2}
MIN_STATEMENT_WORDS = 4
"""Shorter sentences are interjections, headings or names: they get no opener and no full stop."""
MANY_SENTENCES = 3
"""In a text with this many sentences the opener goes before the last statement, which sums up."""
MAX_NAMES = 3
"""A sentence with more capitals may be a title that runs into the first sentence."""
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
"""Tags of the words after "is" in a description."""
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


def find_opener(tokens: Tokens, rules: RewriteRules) -> Match | None:
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
        tuple(f"{write_like(tokens, say, capitals)} {letter}" for say in options),
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


def full_stop(tokens: Tokens) -> list[Match]:
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
