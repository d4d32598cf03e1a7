"""Random swaps: the baseline that every word attack has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from brittle.asks import Case, Search, Tag, Try
from brittle.attacks.edit_limits import max_words
from brittle.attacks.registry import registered
from brittle.attacks.requests import substitutes
from brittle.attacks.setting_checks import check_share
from brittle.proposals import Proposal
from brittle.proposals.choice import CandidateSettings, SynonymSettings, choose_proposal
from brittle.text import Text


@dataclass(frozen=True)
class RandomSwap:
    """Swap random words for random synonyms, one after another, up to a share of the words.

    One word is always allowed, however short the text.

    Random draws, in order: a `shuffle` of the positions that have substitutes, then a `choice` of
    one substitute for each position used.
    """

    proposal: Proposal
    share: float = 0.2
    asks: ClassVar = (Tag, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        text = case.text
        options = yield from substitutes(case, self.proposal)
        positions = [i for i, words in enumerate(options) if words]
        rng.shuffle(positions)
        path = []
        for i in positions[: max_words(text, self.share)]:
            text = text.swap(i, rng.choice(options[i]))
            path.append(text)
        yield from Try(path, in_order=True)


@registered("random-swap")
def random_swap(
    *,
    share: Annotated[float, "at most this share of the words is replaced"] = 0.2,
    source: SynonymSettings = CandidateSettings(),
) -> RandomSwap:
    """Swap random words for random synonyms: the floor for every word attack."""
    check_share(share=share)
    return RandomSwap(
        choose_proposal(source),
        share,
    )
