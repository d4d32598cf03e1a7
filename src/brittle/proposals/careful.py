"""Substitutes that a person would write: synonyms that fit this word in this sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log1p
from typing import ClassVar

from brittle.english.bigrams import BREAK, bigrams
from brittle.english.counterfitted import counterfitted
from brittle.english.forms import (
    BASE_TAGS,
    FORMS_OF_BE,
    PART_OF_SPEECH,
    as_tagged,
    lemmas,
    match_case,
    possible_tags,
    takes_an,
)
from brittle.english.lexemes import same_lexeme
from brittle.english.names import name_positions
from brittle.english.stop_words import is_stop_word
from brittle.english.wordnet import wordnet
from brittle.text import Text, is_word

MIN_SCORE = 0.6
MIN_FLUENCY = -3.0
"""The least that log10 of the sentence's probability may fall by one substitute."""


QUANTIFIERS = frozenset({"little", "less", "least"})
"""Words that count, as in "little wit", and that the stop words do not have."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for a substitute of a word, whatever the sentence.

    `sense` is the number of the shared WordNet sense among the word's own, from 0, and
    `other_sense` among the substitute's; both are None without one. `senses` counts those of the
    word. `listed` is the similarity in GloVe if both are listed as synonyms, else None, and
    `similarity` that of their counter-fitted vectors.
    """

    form: str
    sense: int | None
    other_sense: int | None
    senses: int
    listed: float | None
    similarity: float

    def features(self, fluency: float) -> tuple[float, ...]:
        """Return the numbers that the score weighs, in the order of `WEIGHTS`."""
        return (
            float(self.sense is not None),
            log1p(self.sense or 0),
            log1p(self.other_sense or 0),
            log1p(self.senses),
            float(self.listed is not None),
            self.listed or 0.0,
            self.similarity,
            max(MIN_FLUENCY, min(1.0, fluency)),
        )

    def score(self, fluency: float) -> float:
        """Return how likely a reader accepts the substitute, from 0 to 1."""
        total = INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, self.features(fluency)))
        return 1 / (1 + exp(-total))


# Logistic regression on swaps that one reader judged: scripts/fit_careful.py prints both.
WEIGHTS = (1.24, -1.30, -0.40, -0.61, -0.99, 3.15, 1.03, 0.16)
INTERCEPT = -0.70


@dataclass(frozen=True)
class Careful:
    """Synonyms of likely senses, for words whose change leaves the sentence what it is.

    Candidates are WordNet's synonyms and the words listed as synonyms (`listed`), inflected as the
    word is. Each has a score from 0 to 1, by what speaks for it (`Evidence`) and by how well it
    fits between its neighbours; those below `min_score` are left out, the best come first. With
    `senses` only the word's first senses count. Names, numbers, auxiliaries and other function
    words have no candidates (`protects`), nor have the `spared` words, in lower case.

    In the edited sentence every word must keep its tag, an article before the word must fit, and
    the substitute must not stand there already.
    """

    folder: str | None = None
    senses: int | None = None
    listed: bool = True
    protects: bool = True
    min_score: float = MIN_SCORE
    spared: frozenset[str] = frozenset()
    needs_tags: ClassVar[bool] = True

    def prepare(self, words: Iterable[str]) -> None:
        """Do nothing: words are looked up one by one."""

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the candidates of a word in a sentence that says nothing for or against them."""
        scored = [(e.score(0.0), e.form) for e in self._evidence(word, tag)]
        return _best_first(scored, self.min_score)

    def in_context(self, text: Text, tags: Sequence[str]) -> list[tuple[str, ...]]:
        """List for every position the candidates that fit there; their tags are still to check."""
        names = name_positions(text) if self.protects else frozenset()
        present = {word.lower() for word in text.words if isinstance(word, str)}
        around = list(neighbours(text))
        return [
            ()
            if i in names or not isinstance(word, str)
            else self._fitting(word, tag, around[i], present)
            for i, (word, tag) in enumerate(zip(text.words, tags))
        ]

    def fits(self, position: int, tags: Sequence[str], edited_tags: Sequence[str]) -> bool:
        """Tell whether every word of the edited sentence has the tag that it had before."""
        return tuple(tags) == tuple(edited_tags)

    def _evidence(self, word: str, tag: str) -> tuple[Evidence, ...]:
        if word.lower() in self.spared or (self.protects and is_protected(word)):
            return ()
        return evidence_of(word.lower(), tag, self.folder, self.senses, self.listed)

    def _fitting(
        self, word: str, tag: str, around: tuple[str, str], present: set[str]
    ) -> tuple[str, ...]:
        before, after = around
        model = bigrams()
        scored = []
        for evidence in self._evidence(word, tag):
            form = evidence.form
            if form in present or (
                before in ("a", "an") and takes_an(form) != takes_an(word.lower())
            ):
                continue
            fluency = model.gain(before, word.lower(), form, after)
            if fluency >= MIN_FLUENCY:
                scored.append((evidence.score(fluency), match_case(form, word)))
        return _best_first(scored, self.min_score)


def is_protected(word: str) -> bool:
    """Tell whether a word is left alone wherever it stands: function words, and what is no word.

    >>> [is_protected(word) for word in ("has", "while", "little", "1960s", "well-made", "film")]
    [True, True, True, True, True, False]
    """
    return is_stop_word(word) or not word.isalpha() or word.lower() in FORMS_OF_BE | QUANTIFIERS


# Bounded, so that a long run over ever new words does not grow without end.
@lru_cache(maxsize=1 << 16)
def evidence_of(
    word: str, tag: str, folder: str | None = None, senses: int | None = None, listed: bool = True
) -> tuple[Evidence, ...]:
    """List what speaks for each substitute of a word in lower case with this Penn tag."""
    part = PART_OF_SPEECH.get(tag)
    if part is None:
        return ()
    table, net = counterfitted(), wordnet(folder)
    word_lemmas = lemmas(word, tag)
    shared = [row for lemma in word_lemmas for row in net.shared_senses(lemma, part)]
    count = max((sense for _, sense, _ in shared), default=-1) + 1
    known = table.listed(word) if listed else {}
    found: dict[str, Evidence] = {}
    for name, sense, other in shared:
        form = as_tagged(name, tag)
        is_proper = part == "n" and name[:1].isupper()
        if form is None or is_proper or (senses is not None and sense >= senses):
            continue
        similarity = table.similarity(word, form) or 0.0
        own = Evidence(form, sense, other, count, known.get(form), similarity)
        found.setdefault(form, own)
    for form, former in known.items():
        if tag in possible_tags(form) and (tag not in BASE_TAGS or form in lemmas(form, tag)):
            similarity = table.similarity(word, form) or 0.0
            found.setdefault(form, Evidence(form, None, None, count, former, similarity))
    return tuple(e for e in found.values() if _is_substitute(e.form, word))


def _is_substitute(form: str, word: str) -> bool:
    """Tell whether a form is another common word, not another form of the same one."""
    is_common = form in counterfitted().vectors.index
    return is_common and is_word(form) and not is_stop_word(form) and not same_lexeme(form, word)


def neighbours(text: Text) -> Iterator[tuple[str, str]]:
    """Yield for every word the tokens before and after it; punctuation is a break."""
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        words = [w.lower() if isinstance(w, str) else BREAK for w in text.words[start:stop]]
        joined = [gap.isspace() for gap in field.gaps]
        for n in range(len(words)):
            before = words[n - 1] if n and joined[n] else BREAK
            after = words[n + 1] if n + 1 < len(words) and joined[n + 1] else BREAK
            yield before, after


def _best_first(scored: Iterable[tuple[float, str]], least: float) -> tuple[str, ...]:
    kept = sorted((-score, form) for score, form in scored if score >= least)
    return tuple(dict.fromkeys(form for _, form in kept))
