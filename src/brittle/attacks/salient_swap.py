"""One word after another, the most important ones first: by masks, or by the gradient.

Salient swaps: mask the words, then try the synonyms of the most salient ones first. Gradient swaps:
the words with the largest gradient first, and no word is masked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

import numpy as np

from brittle.asks import Case, Gradient, Probe, Search, Tag, Try
from brittle.attacks.recipes import check_share, max_words
from brittle.attacks.registry import registered
from brittle.attacks.substitutes import (
    Asks,
    Substitutes,
    edit_request,
    growing_parts,
    most_salient,
    rank_by_saliency,
    substitutes,
    try_single_swaps,
)
from brittle.candidates import Proposal
from brittle.candidates.choice import CandidateSettings, SynonymSettings, choose_proposal
from brittle.moves import EditSpace
from brittle.text import Text

AT_ONCE = 2
"""How many substitutes of a word are tried before the next word."""


@dataclass(frozen=True)
class SalientSwap:
    """Mask the words, then try the synonyms of the most salient ones, one word after another.

    For black boxes with few queries. Only words that have substitutes are masked, each once. Then,
    from the most salient word on, the first two substitutes of each word are tried in the text as
    it is by then, and the better one stays if it gains; then the next two of each word, and so on.
    The most salient `share` of the words have their turn, but always one. Under a budget, however
    large, few words are masked at first, then more at a time, and the most salient ones have their
    turn in between (`growing_parts`).

    While the loss is zero, as it is for a target that answers labels only, a swap stays though it
    gains nothing: otherwise the search would never leave the original. Ties go to the first. Under
    a constraint a swap that is refused does not stay, and at last every single swap is tried.
    """

    proposal: Proposal
    share: float = 1.0
    asks: ClassVar[Asks] = (Tag, Probe, Try)
    uses_budget: ClassVar = True

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        options = yield from substitutes(case, self.proposal)
        positions = [i for i, words in enumerate(options) if words]
        if case.budget is not None:
            yield from self._under_budget(case, options, positions)
            return
        ranked = yield from rank_by_saliency(case, positions)
        yield from try_in_turn(case, options, ranked[: max_words(case.text, self.share)])

    def _under_budget(
        self, case: Case[Text], options: Substitutes, positions: Sequence[int]
    ) -> Search[None]:
        """Mask few words at a time: the order is the same for every budget."""
        way, most = Way(case.text, case.start_loss), max_words(case.text, self.share)
        yield from way.extend(positions[0], options[positions[0]][:1])
        saliency: dict[int, float] = {}
        had_turn: list[int] = []
        for masked in growing_parts(positions):
            answer = yield from Probe([case.text.mask(i) for i in masked], partial=True)
            saliency |= dict(zip(masked, answer.loss.tolist()))
            turn = most_salient(saliency, had_turn)[: max(1, len(masked) // 2)]
            for i in turn[: most - len(had_turn)]:
                had_turn.append(i)
                yield from way.extend(i, options[i][:AT_ONCE])
        others = most_salient(saliency, had_turn)[: most - len(had_turn)]
        ranked = sorted([*had_turn, *others], key=lambda i: -saliency[i])
        yield from try_in_turn(case, options, ranked, way, had_turn)


@dataclass
class Way:
    """A text on the way to the goal: what gains stays in it."""

    text: Text
    loss: float

    def extend(self, i: int, words: Sequence[str]) -> Search[None]:
        """Try some words at a position; the best one stays if it gains, or while nothing has."""
        if not words:
            return
        texts = self.text.swaps(i, words)
        answer = yield from Try(texts)
        best = answer.best
        if best is not None and (answer.loss[best] > self.loss or not self.loss):
            self.text, self.loss = texts[best], float(answer.loss[best])


def try_in_turn(
    case: Case[Text],
    options: Substitutes,
    ranked: Sequence[int],
    way: Way | None = None,
    had_turn: Collection[int] = (),
) -> Search[None]:
    """Try the first substitutes of each position, then the next ones, and keep what gains.

    The first substitutes of positions that `had_turn` are tried already.
    """
    way = way or Way(case.text, case.start_loss)
    for first in range(0, max(map(len, options)), AT_ONCE):
        for i in ranked:
            if first or i not in had_turn:
                yield from way.extend(i, options[i][first : first + AT_ONCE])
    yield from try_single_swaps(case, options)


@registered("salient-swap")
def salient_swap(
    *,
    source: SynonymSettings = CandidateSettings(),
    share: Annotated[float, "largest share of the words to replace"] = 1.0,
) -> SalientSwap:
    """Try synonyms of the most salient words first: for endpoints, where queries are few."""
    check_share(share=share)
    return SalientSwap(
        choose_proposal(source),
        share,
    )


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
    share: Annotated[float, "largest share of the words to replace"] = 1.0,
) -> GradientSwap:
    """Try synonyms of the words with the largest gradient first: few queries, and no masks."""
    check_share(share=share)
    return GradientSwap(
        choose_proposal(source),
        share,
    )
