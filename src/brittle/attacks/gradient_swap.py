"""Gradient swaps: the words with the largest gradient first, and no word is masked."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

import numpy as np

from brittle.asks import Case, Gradient, Search, Tag, Try
from brittle.attacks.edit_limits import max_words
from brittle.attacks.registry import registered
from brittle.attacks.requests import edit_request, substitutes
from brittle.attacks.salient_swap import try_in_turn
from brittle.attacks.setting_checks import check_share
from brittle.moves import EditSpace
from brittle.proposals import Proposal
from brittle.proposals.choice import CandidateSettings, SynonymSettings, choose_proposal
from brittle.text import Text


@dataclass(frozen=True)
class GradientSwap:
    """Try the synonyms of the words with the largest gradient, as `salient-swap` does of salient
    words.

    The gradient is that of the loss along the vector of each word of the original, one backward
    pass; its length (L2) ranks the words. No query is spent on masks. Everything after that is
    `salient-swap`. Ties go to the first word.
    """

    proposal: Proposal
    share: float = 1.0
    asks: ClassVar = (Tag, Gradient, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        options = yield from substitutes(case, self.proposal)
        positions = [i for i, words in enumerate(options) if words]
        space = EditSpace("words")
        request = edit_request(case, space, positions, case.text)
        [gradient] = yield from Gradient([case.text], lambda text: request)
        length = np.linalg.norm(gradient.value, axis=1)
        ranked = sorted(positions, key=lambda i: -length[i])
        yield from try_in_turn(case, options, ranked[: max_words(case.text, self.share)])


@registered("gradient-swap")
def gradient_swap(
    *,
    source: SynonymSettings = CandidateSettings(),
    share: Annotated[float, "at most this share of the words is replaced"] = 1.0,
) -> GradientSwap:
    """Try synonyms of the words with the largest gradient first: few queries, and no masks."""
    check_share(share=share)
    return GradientSwap(
        choose_proposal(source),
        share,
    )
