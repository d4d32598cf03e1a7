"""Substitutes that a person would write: synonyms that fit this word in this sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import exp, log, log1p
from typing import ClassVar

from brittle.candidates.rewrite_rules import load_rules
from brittle.candidates.rewrite_tokens import is_bound, is_doubtful, report_fields, runs
from brittle.english.bigrams import BREAK, bigrams
from brittle.english.forms import (
    BASE_TAGS,
    FORMS_OF_BE,
    PART_OF_SPEECH,
    as_tagged,
    lemmas,
    match_case,
    possible_tags,
    same_lexeme,
    takes_an,
)
from brittle.english.names import fixed_positions, name_positions
from brittle.english.usage import kind_after, usage
from brittle.english.vectors import counterfitted
from brittle.english.wordnet import MOSTLY, NEAR, NEVER, SOMETIMES, substitutes, wordnet
from brittle.english.wordnet import senses as sense_table
from brittle.english.words import is_stop_word
from brittle.text import Text, is_word

MIN_SCORE = 0.8
REPORT_MIN_SCORE = 0.95
"""In news most words belong to a term or a phrase: few texts break, many swaps would be wrong."""
LOOSE_MIN_SCORE = 0.45
MIN_FLUENCY = -3.0
"""The largest drop of the sentence's log10 probability that one substitute may cause."""
LEAST_GAIN, MOST_GAIN = -2.0, 1.0
"""Beyond these bounds a bigram's probability says nothing more about a substitute."""
LEAST_EXPECTED = 1.0
"""A bigram expected this often, judged by its other word, that was never seen is wrong English."""
MIN_SHARE = 0.02
USUAL_SHARE = 0.1
"""Readers do not think of a sense that a substitute has less often than this."""
REPORT_SHARE = 0.2
"""In news the word itself must have the sense at least this often."""
REPORT_RANK = 20_000
"""In news a substitute must be one of this many most frequent words."""
UNKNOWN_SIMILARITY = 0.5
"""The similarity of two words if one has no vector; only pairs that people read get this far."""
QUANTIFIERS = frozenset({"little", "less", "least"})
"""Words of quantity, as in "little wit", that are missing in the stop words."""
LONGEST_ABBREVIATION = 3
SAME_FORM = (frozenset({"NN", "VB", "VBP"}), frozenset({"NNS", "VBZ"}), frozenset({"VBD", "VBN"}))
"""Tags of a word form: they tell nouns from verbs, and the past tense from the participle."""
NOUN_TAGS = frozenset({"NN", "NNS"})
BASE_TAG: Mapping[str, str] = {"n": "NN", "v": "VB", "a": "JJ", "r": "RB"}
SYNONYM = "="
"""The mark of a substitute that shares a sense with the word; `NEAR` has the other marks."""


@dataclass(frozen=True)
class Place:
    """Where a substitute stands: log10 of how much likelier it makes each of its two bigrams.

    `is_compound` tells whether the word is a noun beside a noun, as in "title race".
    """

    left: float = 0.0
    right: float = 0.0
    is_compound: bool = False

    def features(self) -> tuple[float, ...]:
        """Return the numbers that the score weighs, in the order of `PLACE_WEIGHTS`."""
        return _bounded(self.left), _bounded(self.right), float(self.is_compound)


@dataclass(frozen=True)
class Evidence:
    """What speaks for a substitute of a word, whatever the sentence.

    `mark` says how WordNet relates the two, and is empty if it does not. `share` is how often the
    word is used in the senses they share, or in which they are near, and `other_share` how often
    the substitute is. `listed` is the similarity in GloVe if both are listed as synonyms, else
    None, `common` how many words are listed as synonyms of both, `similarity` that of their
    counter-fitted vectors. `rank` and `other_rank` are the places of the two among the most
    frequent words. `grade` says how the substitute was read, None if the word was not.
    """

    form: str
    mark: str = ""
    share: float = 0.0
    other_share: float = 0.0
    listed: float | None = None
    common: int = 0
    similarity: float = 0.0
    rank: int = 0
    other_rank: int = 0
    grade: int | None = None

    def features(self) -> tuple[float, ...]:
        """Return the numbers that the score weighs, in the order of `WEIGHTS`."""
        frequency, other = log1p(self.rank), log1p(self.other_rank)
        return (
            float(self.mark == SYNONYM),
            float(self.mark in NEAR),
            log(max(MIN_SHARE, self.share)) if self.mark else 0.0,
            log(max(MIN_SHARE, self.other_share)) if self.mark else 0.0,
            float(self.listed is not None),
            self.listed or 0.0,
            log1p(self.common),
            self.similarity,
            frequency,
            max(0.0, other - frequency),
            float(self.grade == MOSTLY),
            float(self.grade == SOMETIMES),
            float(self.grade == NEVER),
        )

    @property
    def is_usual(self) -> bool:
        """Tell whether the sense that WordNet relates is a usual one of the substitute."""
        return not self.mark or self.other_share >= USUAL_SHARE

    @cached_property
    def total(self) -> float:
        """What speaks for the substitute in any sentence, as log odds."""
        return INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, self.features()))

    def score(self, place: Place) -> float:
        """Return how likely a reader accepts the substitute there, from 0 to 1."""
        return 1 / (1 + exp(-self.log_odds(place)))

    def log_odds(self, place: Place) -> float:
        """Return the logarithm of the odds that a reader accepts the substitute there."""
        return self.total + sum(w * x for w, x in zip(PLACE_WEIGHTS, place.features()))


# Logistic regression on judged swaps: scripts/fit_careful.py prints all three.
INTERCEPT = -4.62
WEIGHTS = (0.45, 0.13, 0.32, 0.12, -1.65, 2.33, 0.59, 1.79, 0.32, 0.44, 3.29, 0.65, -1.00)
PLACE_WEIGHTS = (0.30, 0.33, -1.16)
BEST_PLACE = Place(MOST_GAIN, MOST_GAIN)


@dataclass(frozen=True)
class Careful:
    """Synonyms of likely senses, for words whose change leaves the sentence what it is.

    Candidates are WordNet's synonyms and, with `listed`, its near words, the words listed as
    synonyms and those that were read (english/substitutes.txt), inflected as the word is. Each has
    a score from 0 to 1, by what speaks for it (`Evidence`) and by how well it fits between its
    neighbours (`Place`); those below `min_score` are left out, the best come first. With `senses`
    only the word's first senses count. Names, titles, idioms and other phrases, numbers,
    auxiliaries and other function words have no candidates (`protects`), nor have words whose part
    of speech is doubtful, nouns that stand before a noun, and the `spared` words, in lower case. A
    verb must allow what stands after it: an object, "to", "that". With `usual` the sense must be
    a usual one of the substitute, which must be known with the words beside it, and reports are
    much more demanding (`REPORT_MIN_SCORE`, `is_bound`). Below `min_share` the word has the sense
    too rarely, beyond `max_rank` the substitute is too rare.

    In the edited sentence every other word must keep its tag, and so must the substitute, unless
    one form has both (`SAME_FORM`); an article before it must fit, and it must not stand there
    already.
    """

    folder: str | None = None
    senses: int | None = None
    listed: bool = True
    protects: bool = True
    min_score: float = MIN_SCORE
    spared: frozenset[str] = frozenset()
    usual: bool = True
    min_share: float = 0.0
    max_rank: int | None = None
    needs_tags: ClassVar[bool] = True

    def prepare(self, words: Iterable[str]) -> None:
        """Do nothing: words are looked up one by one."""

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the candidates of a word in a sentence that says nothing for or against them."""
        evidence = [e for e in self._evidence(word, tag) if e.is_usual or not self.usual]
        scored = [(e.score(Place()), e.form) for e in evidence]
        return _best_first(scored, self.min_score)

    def in_context(self, text: Text, tags: Sequence[str]) -> list[tuple[str, ...]]:
        """List for every position the candidates that fit there; their tags are still to check."""
        fixed = self._fixed(text, tags) if self.protects else frozenset()
        present = {word.lower() for word in text.words if isinstance(word, str)}
        spelling = load_rules().spelling
        sides = {spelling[word] for word in present if word in spelling}
        around = list(neighbours(text))
        reports = report_fields(text, tags) if self.usual else ()
        found: list[tuple[str, ...]] = []
        for run in runs(text, tags):
            is_report = any(start <= run.start < stop for start, stop in reports)
            for n in range(len(run.words)):
                i, word = run.start + n, text.words[run.start + n]
                stays = i in fixed or (self.protects and is_doubtful(run, n))
                stays |= is_report and is_bound(run, n)
                if stays or not isinstance(word, str):
                    found.append(())
                    continue
                proposal = self._demanding if is_report else self
                compound = is_compound(tags, i)
                options = proposal._fitting(word, tags[i], around[i], present, sides, compound)
                kind = kind_after(run.words, run.tags, n) if self.protects else ""
                found.append(tuple(o for o in options if not kind or takes(word, o, tags[i], kind)))
        return found

    @cached_property
    def _demanding(self) -> Careful:
        """The same for reports: a higher score, a usual sense of the word, a common substitute."""
        least = max(self.min_score, REPORT_MIN_SCORE)
        return replace(self, min_score=least, min_share=REPORT_SHARE, max_rank=REPORT_RANK)

    def _fixed(self, text: Text, tags: Sequence[str]) -> frozenset[int]:
        """Return the positions of words that stay: names, titles, quotations, idioms, phrases."""
        phrases = usage().phrase_positions(text, tags)
        return name_positions(text) | fixed_positions(text) | phrases

    def fits(self, position: int, tags: Sequence[str], edited_tags: Sequence[str]) -> bool:
        """Tell whether every word of the edited sentence has the tag that it had before.

        The substitute itself may have another of those tags that its form can have as well: it was
        inflected for the old one, and the lexicon knows one tag for "disregard".
        """
        if tags is edited_tags or tuple(tags) == tuple(edited_tags):
            return True
        pair = {tags[position], edited_tags[position]}
        others = (*tags[:position], *tags[position + 1 :])
        edited = (*edited_tags[:position], *edited_tags[position + 1 :])
        return others == edited and any(pair <= alike for alike in SAME_FORM)

    def _evidence(self, word: str, tag: str) -> tuple[Evidence, ...]:
        if word.lower() in self.spared or (self.protects and is_protected(word)):
            return ()
        return evidence_of(word.lower(), tag, self.folder, self.senses, self.listed)

    def _fitting(
        self,
        word: str,
        tag: str,
        around: tuple[str, str],
        present: set[str],
        sides: set[int],
        compound: bool,
    ) -> tuple[str, ...]:
        (before, after), form = around, word.lower()
        chance = bigrams().log_probability
        left, right = chance(before, form), chance(form, after)
        spelling = load_rules().spelling
        scored = []
        for evidence in self._evidence(word, tag):
            other = evidence.form
            # The best of places comes first: most candidates fail by that, and it costs nothing.
            if evidence.score(BEST_PLACE) < self.min_score or other in present:
                continue
            if before in ("a", "an") and takes_an(other) != takes_an(form):
                continue
            if self.usual and not (evidence.is_usual and _goes_with(form, other, before, after)):
                continue
            if evidence.mark and evidence.share < self.min_share:
                continue
            if self.max_rank is not None and evidence.other_rank > self.max_rank:
                continue
            if other in spelling and sides - {spelling[other]}:
                continue  # the text has American spellings, and this one is British
            place = Place(chance(before, other) - left, chance(other, after) - right, compound)
            if place.left + place.right >= MIN_FLUENCY:
                scored.append((evidence.score(place), match_case(other, word)))
        return _best_first(scored, self.min_score)


def takes(verb: str, other: str, tag: str, kind: str) -> bool:
    """Tell whether a form of another verb may have after it what a form of this verb has there."""
    return any(
        usage().allows(lemma, other_lemma, kind)
        for lemma in lemmas(verb.lower(), tag)
        for other_lemma in lemmas(other.lower(), tag) or (other.lower(),)
    )


def is_compound(tags: Sequence[str], position: int) -> bool:
    """Tell whether a word is a noun that has a noun before or after it."""
    beside = [*tags[max(0, position - 1) : position], *tags[position + 1 : position + 2]]
    return tags[position] in NOUN_TAGS and any(tag.startswith("NN") for tag in beside)


def is_protected(word: str) -> bool:
    """Tell whether a word is left alone wherever it stands: function words, and what is no word.

    >>> [is_protected(word) for word in ("has", "while", "little", "1960s", "TV", "film", "FILM")]
    [True, True, True, True, True, False, False]
    """
    is_abbreviation = word.isupper() and 1 < len(word) <= LONGEST_ABBREVIATION
    return (
        is_stop_word(word)
        or not word.isalpha()
        or is_abbreviation
        or word.lower() in FORMS_OF_BE | QUANTIFIERS
    )


# Bounded, so that a long run over ever new words does not grow without end.
@lru_cache(maxsize=1 << 16)
def evidence_of(
    word: str, tag: str, folder: str | None = None, senses: int | None = None, listed: bool = True
) -> tuple[Evidence, ...]:
    """List what speaks for each substitute of a word in lower case with this Penn tag."""
    part = PART_OF_SPEECH.get(tag)
    if part is None:
        return ()
    word_lemmas = lemmas(word, tag)
    related = _related(word_lemmas, part, folder, senses, listed)
    known = _listed(word, word_lemmas, tag) if listed else {}
    read = {w: g for lemma in word_lemmas for w, g in substitutes().of(lemma, part).items()}
    names = [*related, *(read if listed else ())]
    forms = {form: name for name in reversed(names) if (form := as_tagged(name, tag)) is not None}
    opposites = {w for lemma in word_lemmas for w in sense_table().opposites(lemma, part)}
    found = []
    for form in dict.fromkeys([*forms, *known]):
        name = forms.get(form) or next(iter(lemmas(form, tag)), form)
        # Another form of a word that was read may be no usual one: "demises", "assented".
        is_read = name in read and name == form
        if name in opposites or not _is_substitute(form, word, is_read):
            continue
        grades = [substitutes().grade(lemma, name, part) for lemma in word_lemmas]
        grade = max((g for g in grades if g is not None), default=None)
        found.append(_weighed(word, form, related.get(name), known.get(form), grade))
    return tuple(found)


Relation = tuple[str, float, float]
"""How WordNet relates a substitute to a word: the mark, and the shares of both."""


def _related(
    word_lemmas: Sequence[str], part: str, folder: str | None, senses: int | None, near: bool
) -> dict[str, Relation]:
    """Map every word that WordNet relates to some lemmas to its relation."""
    found: dict[str, Relation] = {}

    def add(lemma: str, name: str, mark: str, sense: int, other_sense: int) -> None:
        if senses is not None and sense >= senses:
            return
        own, others = sense_table().shares(lemma, part), sense_table().shares(name, part)
        first, before, other_before = found.get(name, (mark, 0.0, 0.0))
        share = own[min(sense, len(own) - 1)]
        other_share = others[min(other_sense, len(others) - 1)]
        found[name] = first, min(1.0, before + share), min(1.0, other_before + other_share)

    for lemma in word_lemmas:
        for name, sense, other_sense in wordnet(folder).all_shared_senses(lemma, part):
            if not (part == "n" and name[:1].isupper()):
                add(lemma, name.lower(), SYNONYM, sense, other_sense)
    synonyms = set(found)
    for lemma in word_lemmas if near else ():
        for other in sense_table().near(lemma, part):
            if other.word not in synonyms:
                add(lemma, other.word, other.mark, other.sense, other.other_sense)
    return found


def _listed(word: str, word_lemmas: Sequence[str], tag: str) -> dict[str, float]:
    """Map the words listed as synonyms of a word, or of its lemmas, to their similarity."""
    table = counterfitted()
    known = {
        form: similarity
        for form, similarity in table.listed(word).items()
        if tag in possible_tags(form) and (tag not in BASE_TAGS or form in lemmas(form, tag))
    }
    base = BASE_TAG[PART_OF_SPEECH[tag]]
    for lemma in word_lemmas:
        for other, similarity in table.listed(lemma).items():
            if base in possible_tags(other) and other in lemmas(other, base):
                form = as_tagged(other, tag)
                if form is not None:
                    known.setdefault(form, similarity)
    return known


def _weighed(
    word: str, form: str, relation: Relation | None, listed: float | None, grade: int | None
) -> Evidence:
    """Collect what is known of a word and a substitute, beside their relation."""
    table = counterfitted()
    ranks = table.vectors.index
    similarity = table.similarity(word, form)
    return Evidence(
        form,
        *(relation or ("", 0.0, 0.0)),
        listed=listed,
        common=len(table.listed(word).keys() & table.listed(form).keys()),
        similarity=UNKNOWN_SIMILARITY if similarity is None else similarity,
        rank=ranks.get(word, len(ranks)),
        other_rank=ranks.get(form, len(ranks)),
        grade=grade,
    )


def _is_substitute(form: str, word: str, is_read: bool) -> bool:
    """Tell whether a form is another word, common or read, not another form of the same one."""
    is_known = is_read or form in counterfitted().vectors.index
    return is_known and is_word(form) and not is_stop_word(form) and not same_lexeme(form, word)


def _goes_with(word: str, other: str, before: str, after: str) -> bool:
    """Tell whether a substitute goes with the words beside it, as far as can be known.

    It does not if it was never seen with one, and would have been, did it go as well as the word.
    """
    return not (
        (before != BREAK and _is_missed((before, word), (before, other), word, other))
        or (after != BREAK and _is_missed((word, after), (other, after), word, other))
    )


def _is_missed(pair: tuple[str, str], other_pair: tuple[str, str], word: str, other: str) -> bool:
    table = bigrams()
    if table.count(*other_pair):
        return False
    expected = table.count(*pair) * table.frequency(other) / max(1, table.frequency(word))
    return expected >= LEAST_EXPECTED


def _bounded(gain: float) -> float:
    return max(LEAST_GAIN, min(MOST_GAIN, gain))


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
