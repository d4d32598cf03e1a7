"""Where the tag of a word is doubtful, so that a substitute with this tag might not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from brittle.english.forms import PART_OF_SPEECH, possible_tags
from brittle.text import Text

PREPOSITIONS = frozenset(
    {"of", "in", "at", "by", "with", "from", "for", "on", "into", "about", "against", "during"}
    | {"between", "under", "without", "within", "among", "amid", "despite", "through", "via"}
)
BARE = frozenset({"in", "on", "at", "by", "under", "into", "off", "out"})
"""With one of these a noun without an article is a fixed phrase: "in doubt", "on sale"."""
DETERMINERS = frozenset({"DT", "PRP$", "CD", "POS"})
FINITE = frozenset({"VB", "VBP", "VBZ", "VBD"})
GENITIVE = frozenset({"s", "'s", "’s"})
"""The ending of a genitive as a word of its own, as in remains of a page: "Blair #39;s claim"."""
OBJECTS = frozenset({"DT", "CD", "PRP", "PRP$", "JJ", "NN", "NNS", "NNP", "NNPS"})
NAMING = frozenset({"JJ", "NN", "NNS", "NNP", "NNPS", "VBG", "VBN"})
NOUN, VERB, ADJECTIVE = "n", "v", "a"
AFTER_ADJECTIVES = frozenset({"JJ", "JJR", "JJS", "CD", "VBG", "VBN", "NN", "NNS", "NNP", "NNPS"})


@dataclass(frozen=True)
class Run:
    """Words with nothing but blanks between them: the first position, words in lower case, tags."""

    start: int
    words: Sequence[str]
    tags: Sequence[str]


def runs(text: Text, tags: Sequence[str]) -> Iterator[Run]:
    """Cut a text at its marks."""
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        words = [w.lower() if isinstance(w, str) else "" for w in text.words[start:stop]]
        first = 0
        for n in range(1, len(words) + 1):
            if n == len(words) or not field.gaps[n].isspace():
                yield Run(start + first, words[first:n], tags[start + first : start + n])
                first = n


def is_doubtful(run: Run, n: int) -> bool:
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


def is_bound(run: Run, n: int) -> bool:
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


def _has_bare_infinitive(run: Run, n: int) -> bool:
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
