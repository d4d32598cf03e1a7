"""How words are used together: what may stand after a verb, and the phrases of WordNet.

The shipped table has a block of verbs (`#frames`) with the kinds of what may stand after them, as
in `help tiv`, and blocks of phrases by the part of speech of the whole (`#n`, `#v`, `#a`, `#r`),
one a line: `joint venture`, `sell off`, `at risk`.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from brittle.english.forms import FORMS_OF_BE, PART_OF_SPEECH, lemmas
from brittle.text import Text

SHIPPED = Path(__file__).with_name("usage.txt.xz")
TRANSITIVE, INTRANSITIVE, LINKING, INFINITIVE, CLAUSE, ING = "tilvcg"
"""What can follow a verb: an object; nothing or a phrase with a preposition; an adjective; "to" and
a verb; "that"; a form in -ing."""
AUXILIARIES = FORMS_OF_BE | {"get", "gets", "got", "getting"}
OBJECTS = frozenset({"DT", "PRP", "PRP$", "CD", "NN", "NNS", "NNP", "NNPS", "PDT"})
ADJECTIVES = frozenset({"JJ", "JJR", "JJS"})
PARTICLES = frozenset({"off", "up", "out", "down", "away", "back", "over"})
"""Words that go with a verb, also with its object in between: "sell it off"."""
MOST_BETWEEN = 3
NOUN, VERB = "n", "v"


class Usage:
    """Frames of verbs and phrases, by lemma."""

    def __init__(self, frames: Mapping[str, str], phrases: Iterable[tuple[str, str]]) -> None:
        self._frames = frames
        self._phrases: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for part, phrase in phrases:
            first, *rest = phrase.split()
            self._phrases.setdefault(first, []).append((part, tuple(rest)))

    @staticmethod
    def from_table(table: str) -> Usage:
        """Parse a table as it is described above."""
        frames: dict[str, str] = {}
        phrases: list[tuple[str, str]] = []
        for block in table.split("#")[1:]:
            name, *lines = block.rstrip("\n").split("\n")
            if name == "frames":
                frames.update((word, kinds) for word, _, kinds in map(_parted, lines))
            else:
                phrases += [(name, line) for line in lines]
        return Usage(frames, phrases)

    def allows(self, verb: str, other: str, kind: str) -> bool:
        """Tell whether another verb may have after it what this verb has there.

        What WordNet does not know of the verb itself says nothing, nor does an unknown verb.
        """
        others = self._frames.get(other)
        return kind not in self._frames.get(verb, "") or others is None or kind in others

    def phrase_positions(self, text: Text, tags: Sequence[str]) -> frozenset[int]:
        """Return the positions of phrases; a verb's particle may stand after its object."""
        found: set[int] = set()
        for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
            words = [w.lower() if isinstance(w, str) else "" for w in text.words[start:stop]]
            own_tags = tags[start:stop]
            ends = _ends_of_runs(field.gaps)
            for n in range(len(words)):
                for part, rest in self._beginning(words[n], own_tags[n]):
                    places = _places(words, own_tags, n, ends[n], part, rest)
                    found.update(start + place for place in places)
        return frozenset(found)

    def _beginning(self, word: str, tag: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the phrases that begin with a word, or with the verb of which it is a form."""
        yield from self._phrases.get(word, ())
        if PART_OF_SPEECH.get(tag) == VERB:
            for lemma in lemmas(word, tag):
                if lemma != word:
                    yield from (one for one in self._phrases.get(lemma, ()) if one[0] == VERB)


def kind_after(words: Sequence[str], tags: Sequence[str], position: int) -> str:
    """Return the kind of what stands after a verb, empty if that cannot be told.

    `words` are those up to the next mark, in lower case, and `tags` their Penn tags.

    >>> words = "fans fight the police".split()
    >>> kind_after(words, ["NNS", "VBP", "DT", "NN"], 1) == TRANSITIVE
    True
    """
    tag = tags[position]
    before = [n for n in range(position) if tags[n] != "RB"]
    auxiliary = words[before[-1]] if before else ""
    if PART_OF_SPEECH.get(tag) != VERB or (tag == "VBG" and auxiliary not in AUXILIARIES):
        return ""  # "rising demand" has no object
    if tag == "VBN" and auxiliary not in ("has", "have", "had", "having", "'ve"):
        return TRANSITIVE
    after = next((n for n in range(position + 1, len(words)) if tags[n] != "RB"), len(words))
    word, follower = (words[after], tags[after]) if after < len(words) else ("", "")
    second = tags[after + 1] if after + 1 < len(words) else ""
    if word == "to":
        return INFINITIVE if second.startswith("VB") else INTRANSITIVE
    if word == "that":
        return CLAUSE if second in OBJECTS else ""
    if follower in ADJECTIVES:
        return TRANSITIVE if second in OBJECTS | ADJECTIVES else LINKING
    if follower == "VBG":
        return ING
    if follower in OBJECTS:
        return TRANSITIVE
    return INTRANSITIVE if follower in ("", "IN", "TO", "CC") else ""


def _places(
    words: Sequence[str],
    tags: Sequence[str],
    first: int,
    end: int,
    part: str,
    rest: tuple[str, ...],
) -> list[int]:
    """Return where the words of a phrase stand, which begins at `first`; none if it does not."""
    last = first + len(rest)
    if last < end and tuple(words[first + 1 : last]) == rest[:-1]:
        is_plural = part == NOUN and tags[last] == "NNS"
        if words[last] == rest[-1] or (is_plural and rest[-1] in lemmas(words[last], "NNS")):
            return list(range(first, last + 1))
    if part == VERB and len(rest) == 1 and rest[0] in PARTICLES:
        stop = min(end, first + MOST_BETWEEN + 2)
        between = next((n for n in range(first + 2, stop) if words[n] == rest[0]), None)
        return [] if between is None else [first, between]
    return []


def _ends_of_runs(gaps: Sequence[str]) -> list[int]:
    """Return for every word where its run ends, in which nothing but blanks is between words."""
    count = len(gaps) - 1
    ends = [count] * count
    for n in range(count - 2, -1, -1):
        ends[n] = ends[n + 1] if gaps[n + 1].isspace() else n + 1
    return ends


def _parted(line: str) -> tuple[str, str, str]:
    return line.partition(" ")


@cache
def usage() -> Usage:
    """Load the shipped table, once per process."""
    return Usage.from_table(lzma.decompress(SHIPPED.read_bytes()).decode())
