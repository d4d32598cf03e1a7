"""Which proposal an attack's settings mean."""

from __future__ import annotations

from brittle.errors import UsageError
from brittle.proposals import Proposal
from brittle.proposals.synonyms import Synonyms, Table


def choose(
    *,
    inflect: bool = True,
    wordnet: str | None = None,
    candidates: str | None = None,
    neighbours: str | None = None,
    within: float | None = None,
) -> Proposal:
    """Choose WordNet's synonyms, unless a table or word vectors are named."""
    named = [name for name in (wordnet, candidates, neighbours) if name is not None]
    if len(named) > 1:
        raise UsageError(
            f"Got several sources of candidates ({', '.join(named)}); expected one of --wordnet, "
            "--candidates and --neighbours."
        )
    if within is not None and neighbours is None:
        raise UsageError("--within limits the distance of --neighbours; name word vectors there.")
    if candidates is not None:
        return Table.read(candidates)
    if neighbours is not None:
        from brittle.proposals.neighbours import Neighbours

        return Neighbours(neighbours, within=within)
    return Synonyms(inflect=inflect, folder=wordnet)
