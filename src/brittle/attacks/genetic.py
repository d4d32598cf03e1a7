"""A genetic algorithm over word swaps (Alzantot et al., 2018)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import compress
from operator import itemgetter
from random import Random
from typing import Annotated, ClassVar

import numpy as np

from brittle.asks import Case, Probe, Search, Tag, Try, together
from brittle.attacks.recipes import RunContext, check_count, check_positive, check_share, max_words
from brittle.attacks.registry import registered
from brittle.attacks.substitutes import Substitutes, substitutes, try_single_swaps
from brittle.candidates import Proposal
from brittle.candidates.choice import CandidateSettings, choose_proposal
from brittle.text import Text


@dataclass(frozen=True)
class Genetic:
    """Breed word swaps: perturb, cross over, keep the best (Alzantot et al., 2018).

    The sizes are Alzantot's: population 60, 20 generations, temperature 0.3 and at most 20 % of the
    words (here always one, however short the text). The candidates are those of the later study of
    transferability, which names no sizes: synonyms of the same part of speech from WordNet, and no
    language model. With `neighbours`, `k` and `within` the candidates are Alzantot's too, and
    `spare` 26 leaves out what his code does: the 26 most frequent words of the training data.

    Random draws, in order. First members, one after another: a position, by `choices` weighted by
    its number of substitutes. Then, for every further generation: all first parents, then all
    second parents, by `choices` weighted by softmax(loss / temperature); for each child, one after
    another, a coin (`random() < 0.5` takes the second parent's word) for every position where its
    parents differ, from the left, and, if the child has now changed too many words, a `sample` of
    those that go back; last, for each child, one after another, a position as above, among those
    not changed yet.

    A perturbation asks about the member and about every substitute at its position, and takes the
    best substitute if it gains. The best member survives unchanged. Under a constraint the best
    substitute is one that has not been refused in this text, and after the last generation every
    single swap is tried. Under a budget the texts of a perturbation are offered, and not only
    measured: so every query can break the case, and all of the budget is spent.

    Deviations: the limit on words holds while searching, where the authors filter afterwards, so a
    member at its limit is not perturbed; coins are thrown only where the parents differ, which
    changes no probability; no word is spared for being frequent, unless `spare` says so (articles
    and prepositions have no synonyms in WordNet, but they have neighbours); WordNet's proper nouns,
    forms of "be" and synonyms of several words are left out.
    """

    proposal: Proposal
    population: int = 60
    generations: int = 20
    share: float = 0.2
    temperature: float = 0.3
    asks: ClassVar = (Tag, Probe, Try)
    uses_budget: ClassVar = True

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        text = case.text
        options = yield from substitutes(case, self.proposal)
        limit = max_words(text, self.share)
        members = [text] * self.population
        elite: list[Text] = []
        refused: dict[Text, None] = {}
        ask = Probe if case.budget is None else Try
        for _ in range(self.generations):
            perturbed = yield from together(
                _perturb(member, text, options, limit, refused, rng, ask) for member in members
            )
            members = elite + perturbed
            answer = yield from Try(members)
            if answer.refused is not None:
                refused |= dict.fromkeys(compress(members, answer.refused))
            weights = np.exp((answer.loss - answer.loss.max()) / self.temperature).tolist()
            elite = [text if answer.best is None else members[answer.best]]
            first = rng.choices(members, weights, k=self.population - 1)
            second = rng.choices(members, weights, k=self.population - 1)
            members = [_cross(a, b, text, limit, rng) for a, b in zip(first, second)]
        yield from try_single_swaps(case, options)


def _perturb(
    member: Text,
    original: Text,
    options: Substitutes,
    limit: int,
    refused: Collection[Text],
    rng: Random,
    ask: type[Probe] | type[Try],
) -> Search[Text]:
    """Replace one word that is not changed yet by its best substitute, if that gains.

    Nothing that was `refused` is offered again.
    """
    changed = [a != b for a, b in zip(member.words, original.words)]
    positions = [i for i, words in enumerate(options) if words and not changed[i]]
    if not positions or sum(changed) >= limit:
        return member
    i = rng.choices(positions, [len(options[i]) for i in positions])[0]
    texts = member.swaps(i, options[i])
    answer = yield from ask([member, *texts])
    own, *losses = answer.loss.tolist()
    loss, new = max(
        ((loss, text) for loss, text in zip(losses, texts) if text not in refused),
        key=itemgetter(0),
        default=(own, member),
    )
    return new if loss > own else member


def _cross(a: Text, b: Text, original: Text, limit: int, rng: Random) -> Text:
    """Take every word from either parent, with at most `limit` changed words."""
    if a.words == b.words:
        return a
    words = list(a.words)
    for i, (x, y) in enumerate(zip(a.words, b.words)):
        if x != y and rng.random() < 0.5:
            words[i] = y
    changed = [i for i, (x, y) in enumerate(zip(words, original.words)) if x != y]
    for i in rng.sample(changed, max(0, len(changed) - limit)):
        words[i] = original.words[i]
    return original.with_words(tuple(words))


@registered("genetic")
def genetic(
    *,
    context: RunContext = RunContext(),
    population: Annotated[int, "texts in a generation"] = 60,
    generations: Annotated[int, "number of generations, with the first one"] = 20,
    share: Annotated[float, "largest share of the words to replace"] = 0.2,
    temperature: Annotated[
        float,
        "temperature of the choice of parents: high values choose at random, low ones the fittest",
    ] = 0.3,
    source: CandidateSettings = CandidateSettings(),
) -> Genetic:
    """Breed word swaps: perturb, cross over, keep the best (Alzantot et al., 2018)."""
    check_count(population=population, generations=generations)
    check_share(share=share)
    check_positive(temperature=temperature)
    proposal = choose_proposal(source, context.data_columns)
    return Genetic(proposal, population, generations, share, temperature)
