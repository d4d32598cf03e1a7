"""Salient swaps: mask the words, then try the synonyms of the most salient ones first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from brittle.asks import Case, Probe, Search, Tag, Try
from brittle.attacks.edit_limits import max_words
from brittle.attacks.requests import Substitutes, rank_by_saliency, substitutes
from brittle.attacks.setting_checks import check_share
from brittle.proposals import Proposal
from brittle.proposals.choice import CANDIDATES, CAREFUL, SENSES, choose_proposal
from brittle.text import Text

AT_ONCE = 2
"""How many substitutes of a word are tried before the next word has its turn."""


@dataclass(frozen=True)
class SalientSwap:
    """Mask the words, then try the synonyms of the most salient ones, one word after another.

    For black boxes with few queries. Only words that have substitutes are masked, each once; under
    a budget at most half of it is spent on masks, and words that were not masked come last. Then,
    from the most salient word on, the first two substitutes of each word are tried in the text as
    it is by then, and the better one stays if it gains; then the next two of each word, and so on.
    The most salient `share` of the words have their turn, but always one.

    While the loss is zero, as it is for a target that answers labels only, a swap stays though it
    gains nothing: otherwise the search would never leave the original. Ties go to the first.
    """

    proposal: Proposal
    share: float = 1.0
    asks: ClassVar = (Tag, Probe, Try)
    uses_budget: ClassVar = True

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        options = yield from substitutes(case, self.proposal)
        positions = [i for i, words in enumerate(options) if words]
        most = len(positions) if case.budget is None else case.budget // 2
        ranked = yield from rank_by_saliency(case, positions, most)
        yield from try_in_turn(case, options, ranked[: max_words(case.text, self.share)])


def try_in_turn(case: Case[Text], options: Substitutes, ranked: Sequence[int]) -> Search[None]:
    """Try the first substitutes of each position, then the next ones, and keep what gains."""
    text, loss = case.text, case.start_loss
    for first in range(0, max(map(len, options)), AT_ONCE):
        for i in ranked:
            words = options[i][first : first + AT_ONCE]
            if not words:
                continue
            texts = text.swaps(i, words)
            answer = yield from Try(texts)
            best = int(answer.loss.argmax())
            if answer.loss[best] > loss or not loss:
                text, loss = texts[best], float(answer.loss[best])


def salient_swap(
    *,
    inflect: Annotated[bool, "inflect synonyms like the word they replace"] = True,
    wordnet: Annotated[str | None, "a folder of WordNet files instead of the shipped table"] = None,
    candidates: Annotated[str, CANDIDATES] = CAREFUL,
    senses: Annotated[str | None, SENSES] = None,
    stop_words: Annotated[bool, "replace stop words too"] = True,
    share: Annotated[float, "at most this share of the words is replaced"] = 1.0,
) -> SalientSwap:
    """Try synonyms of the most salient words first: for endpoints, where queries are few."""
    check_share(share=share)
    return SalientSwap(
        choose_proposal(
            inflect=inflect,
            wordnet=wordnet,
            candidates=candidates,
            senses=senses,
            stop_words=stop_words,
        ),
        share,
    )
