"""LIST: every synonym of every word, one word at a time, from the left."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from brittle.asks import Case, Search, Tag, Try
from brittle.attacks.registry import registered
from brittle.attacks.requests import substitutes
from brittle.proposals import Proposal
from brittle.proposals.choice import CandidateSettings, ListSettings, choose_proposal
from brittle.text import Text


@dataclass(frozen=True)
class ListSwap:
    """Replace the first word by each of its synonyms, then the second alone, and so on.

    This is LIST of Hsieh et al. (2019): all other words stay as they are in the original, and the
    first candidate that works ends the search.

    Deviation: the paper's list is that of Alzantot et al. (2018), neighbours in counter-fitted
    vectors of their own. Here the list is WordNet's synonyms of the same part of speech, or a table
    of one's own, or the neighbours in word vectors, such as the shipped counter-fitted ones.
    """

    proposal: Proposal
    asks: ClassVar = (Tag, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        options = yield from substitutes(case, self.proposal)
        swaps = [case.text.swaps(i, words) for i, words in enumerate(options)]
        yield from Try([text for texts in swaps for text in texts], in_order=True)


@registered("list")
def list_swap(
    *,
    source: ListSettings = CandidateSettings(),
) -> ListSwap:
    """Try every synonym of every word, one word at a time, from the left (Hsieh et al., 2019)."""
    return ListSwap(choose_proposal(source))
