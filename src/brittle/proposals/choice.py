"""The choice of a proposal by the settings of an attack."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from brittle.data.columns import Columns
from brittle.errors import UsageError
from brittle.proposals import Proposal
from brittle.proposals.entities import Entities, learn_entities
from brittle.proposals.neighbours import Neighbours
from brittle.proposals.sparing import SparingFrequentWords, SparingStopWords, learn_frequent_words
from brittle.proposals.synonyms import SubstituteTable, Synonyms

DEFAULT_NEIGHBOURS = 8  # how many neighbours Alzantot et al. (2018) take on IMDb


def choose_proposal(
    *,
    inflect: bool = True,
    wordnet: str | None = None,
    candidates: str | None = None,
    neighbours: str | None = None,
    k: int = DEFAULT_NEIGHBOURS,
    within: float | None = None,
    stop_words: bool = True,
    spare: int = 0,
    learn_from: str | None = None,
    columns: Columns | None = None,
) -> Proposal:
    """Build the proposal: WordNet's synonyms, unless a table or word vectors are named.

    Without `stop_words` no stop word has candidates, whatever the source; nor have the `spare` most
    frequent words of the data to learn from, whose `columns` are those of the data attacked.
    """
    sources = [name for name in (wordnet, candidates, neighbours) if name is not None]
    if len(sources) > 1:
        raise UsageError(
            f"Got several sources of candidates ({', '.join(sources)}); expected one of --wordnet, "
            "--candidates and --neighbours."
        )
    if within is not None and neighbours is None:
        raise UsageError("--within limits the distance of --neighbours; name word vectors there.")
    if within is not None and not (isinstance(within, int | float) and 0 < within < math.inf):
        raise UsageError(
            f"Got --within {within!r}; expected a squared distance above 0, such as 0.5. Without "
            "the flag all of the nearest words are taken."
        )
    if k != DEFAULT_NEIGHBOURS and neighbours is None:
        raise UsageError("--k counts the words of --neighbours; name word vectors there.")
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
        raise UsageError("--learn-from names the data of --spare; say how many words to spare.")
    proposal: Proposal = Synonyms(inflect=inflect, folder=wordnet)
    if candidates is not None:
        proposal = SubstituteTable.load(candidates)
    elif neighbours is not None:
        proposal = Neighbours(neighbours, k=k, within=within)
    if spare:
        frequent = learn_frequent_words(learn_from, spare, columns)
        proposal = SparingFrequentWords(proposal, frequent)
    return proposal if stop_words else SparingStopWords(proposal)


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
            raise UsageError(f"{flag} says where --entities come from; add --entities.")
        return None
    if not labels:
        raise UsageError(
            "Got --entities for a target without labels: it answers texts, and entities are chosen "
            "by the class of a text. Leave --entities out."
        )
    if table is not None:
        if learn_from is not None:
            raise UsageError("Got --entity-table and --learn-from; expected one of them.")
        return Entities.load(table, labels, label_map)
    return learn_entities(learn_from, labels, label_map, columns)
