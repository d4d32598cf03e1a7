"""The choice of a proposal by the settings of an attack."""

from __future__ import annotations

import math

from brittle.errors import UsageError
from brittle.proposals import Proposal
from brittle.proposals.neighbours import Neighbours
from brittle.proposals.sparing import SparingStopWords
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
) -> Proposal:
    """Build the proposal: WordNet's synonyms, unless a table or word vectors are named.

    Without `stop_words` no stop word has candidates, whatever the source.
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
    proposal: Proposal = Synonyms(inflect=inflect, folder=wordnet)
    if candidates is not None:
        proposal = SubstituteTable.load(candidates)
    elif neighbours is not None:
        proposal = Neighbours(neighbours, k=k, within=within)
    return proposal if stop_words else SparingStopWords(proposal)
