"""The choice of candidates by the settings of an attack."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from brittle.candidates import Proposal
from brittle.errors import UsageError, unknown
from brittle.levels import CHARACTER_CLASSES, REWRITE

if TYPE_CHECKING:
    from brittle.candidates.entities import Entities
    from brittle.data.columns import Columns

DEFAULT_NEIGHBOURS = 8  # how many neighbours Alzantot et al. (2018) take on IMDb
PAPER, CAREFUL, STRICT, LOOSE, ANY, TYPO = WORD_PRESETS = (
    *("paper", "careful", "strict", "loose", "any", "typo"),
)
PRESETS = (*WORD_PRESETS, *CHARACTER_CLASSES)
"""Names of candidates: as published; what a person would write; the same, if the text also keeps
meaning and fluency (`brittle.goals.constraints`); what a person might write; another name of the
first; words with one typing error; and classes of edited characters."""
LIKELY = "likely"
CANDIDATES = (
    "careful, loose, any (or paper), typo, strict, look-alike (or another class of characters), or "
    "a JSON file {word: [substitutes]}"
)
SENSES = "senses of a word to use: the first N, or likely (default: depends on --candidates)"


@dataclass(frozen=True)
class CandidateSettings:
    """Where candidates come from: the settings that attacks with candidates share.

    `candidates` is a preset or a table; `senses` says which senses of a word count: the first so
    many, or the likely ones. With a source of its own every preset means the same.
    Without `stop_words` no stop word has candidates, whatever the source; nor have the `spare` most
    frequent words of the data to learn from.
    """

    inflect: Annotated[bool, "inflect synonyms like the word they replace"] = True
    wordnet: Annotated[str | None, "your own folder of WordNet files"] = None
    candidates: Annotated[str, CANDIDATES] = PAPER
    senses: Annotated[str | None, SENSES] = None
    neighbours: Annotated[
        str | None, "use near words in word vectors instead (a file, glove, counterfitted)"
    ] = None
    k: Annotated[int, "with --neighbours: how many words"] = DEFAULT_NEIGHBOURS
    within: Annotated[float | None, "with --neighbours: largest squared distance"] = None
    stop_words: Annotated[bool, "replace stop words too"] = True
    spare: Annotated[int, "leave this many of the most frequent words unchanged (Alzantot: 26)"] = 0
    learn_from: Annotated[str | None, "with --spare: data to count words in"] = None


SYNONYMS = ("inflect", "wordnet", "candidates", "senses", "stop_words")
SynonymSettings = Annotated[CandidateSettings, SYNONYMS]
"""The settings that attacks with synonyms have."""
ListSettings = Annotated[CandidateSettings, (*SYNONYMS, "neighbours", "k", "within")]
"""The same, and the settings of word vectors."""


def choose_proposal(settings: CandidateSettings, columns: Columns | None = None) -> Proposal:
    """Build the proposal: WordNet's synonyms, unless a table or word vectors are named.

    `columns` are those of the data attacked, in which frequent words are counted.
    """
    candidates, wordnet, senses = settings.candidates, settings.wordnet, settings.senses
    neighbours, k, within = settings.neighbours, settings.k, settings.within
    spare, learn_from = settings.spare, settings.learn_from
    table = None if candidates in PRESETS else candidates
    if candidates == REWRITE:
        raise UsageError(
            "Got --candidates rewrite. Rewrites change phrases; this attack swaps single words. "
            "Use the attack rewrite, or auto with --levels rewrite."
        )
    if table is not None and not Path(table).suffix and not Path(table).exists():
        raise unknown("candidates", table, PRESETS, "Or use a JSON file {word: [substitutes]}.")
    sources = [name for name in (wordnet, table, neighbours) if name is not None]
    if len(sources) > 1:
        raise UsageError(
            f"Got several sources of candidates ({', '.join(sources)}); expected one of --wordnet, "
            "--candidates and --neighbours."
        )
    if within is not None and neighbours is None:
        raise UsageError(
            "--within limits the distance of --neighbours. Set --neighbours too, or leave out "
            "--within."
        )
    if within is not None and not (isinstance(within, int | float) and 0 < within < math.inf):
        raise UsageError(
            f"Got --within {within!r}; expected a squared distance above 0, such as 0.5. "
            "Without the flag brittle takes all nearest words."
        )
    if k != DEFAULT_NEIGHBOURS and neighbours is None:
        raise UsageError(
            "--k is the number of --neighbours. Set --neighbours too, or leave out --k."
        )
    if not isinstance(k, int) or k < 1:
        raise UsageError(
            f"Got --k {k!r}; expected how many neighbours to take, a whole number, 1 or more."
        )
    if not isinstance(spare, int) or spare < 0:
        raise UsageError(
            f"Got --spare {spare!r}; expected how many of the most frequent words have no "
            "candidates, a whole number, 0 or more."
        )
    if learn_from is not None and not spare:
        raise UsageError(
            "--learn-from is the data that --spare counts words in. Set --spare too, or leave "
            "out --learn-from."
        )
    if senses is not None and (table or neighbours) is not None:
        raise UsageError("--senses selects WordNet's synonyms. Leave it out with other candidates.")
    return _spared(_source(settings, table), settings, columns)


def _source(settings: CandidateSettings, table: str | None) -> Proposal:
    """Return where candidates come from, before any word is spared."""
    from brittle.candidates.characters import EditedCharacters
    from brittle.candidates.neighbours import Neighbours
    from brittle.candidates.synonyms import SubstituteTable
    from brittle.candidates.typos import KeyTypos

    if table is not None:
        return SubstituteTable.load(table)
    if settings.candidates == TYPO:
        return KeyTypos()
    if settings.candidates in CHARACTER_CLASSES:
        return EditedCharacters(settings.candidates)
    if settings.neighbours is not None:
        return Neighbours(settings.neighbours, k=settings.k, within=settings.within)
    senses, preset = settings.senses, settings.candidates or PAPER
    return _synonyms(preset, _sense_count(senses), senses, settings.inflect, settings.wordnet)


def _spared(proposal: Proposal, settings: CandidateSettings, columns: Columns | None) -> Proposal:
    """Return a proposal that has no candidates for the words to spare."""
    from brittle.candidates import sparing
    from brittle.candidates.careful import Careful
    from brittle.english.words import STOP_WORDS

    frequent: frozenset[str] = frozenset()
    if settings.spare:
        frequent = sparing.learn_frequent_words(settings.learn_from, settings.spare, columns)
    if isinstance(proposal, Careful):
        return replace(proposal, spared=frequent if settings.stop_words else frequent | STOP_WORDS)
    if settings.spare:
        proposal = sparing.SparingFrequentWords(proposal, frequent)
    return proposal if settings.stop_words else sparing.SparingStopWords(proposal)


def _synonyms(
    preset: str, count: int | None, senses: str | None, inflect: bool, folder: str | None
) -> Proposal:
    from brittle.candidates.careful import LOOSE_MIN_SCORE, Careful
    from brittle.candidates.synonyms import Synonyms

    if preset == LOOSE:
        return Careful(folder=folder, senses=count, min_score=LOOSE_MIN_SCORE, usual=False)
    if preset not in (PAPER, ANY):
        return Careful(folder=folder, senses=count)
    if senses == LIKELY:
        return Careful(folder=folder, listed=False, protects=False, usual=False)
    return Synonyms(inflect=inflect, folder=folder, senses=count)


def _sense_count(senses: str | None) -> int | None:
    """Return how many senses are used, None for all, or where others decide."""
    if senses is None or senses == LIKELY:
        return None
    if not senses.isdecimal() or int(senses) < 1:
        raise UsageError(
            f"Got --senses {senses!r}; expected how many senses of a word are used, a whole number "
            f"from 1, or {LIKELY!r}."
        )
    return int(senses)


def choose_entities(
    entities: bool,
    table: str | None,
    learn_from: str | None,
    labels: Sequence[str],
    label_map: Mapping[str, str] | None,
    columns: Columns | None = None,
) -> Entities | None:
    """Build the named entities to try: none, those of a JSON file, or those of labelled data."""
    if not entities:
        if table is not None or learn_from is not None:
            flag = "--learn-from" if table is None else "--entity-table"
            raise UsageError(
                f"{flag} is the source of --entities. Add --entities, or leave it out."
            )
        return None
    from brittle.candidates.entities import Entities
    from brittle.candidates.training_data import learn_once

    if not labels:
        raise UsageError(
            "Got --entities for a target without labels: it answers with texts, and "
            "entities depend on the class of a text. Leave --entities out."
        )
    if table is not None:
        if learn_from is not None:
            raise UsageError("Got --entity-table and --learn-from; expected one of them.")
        return Entities.load(table, labels, label_map)
    return learn_once(Entities.learn, "entities", learn_from, labels, label_map, columns)
