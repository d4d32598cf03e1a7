"""Random edits, which every attack on words has to beat: random swaps, and RANDOM.

Random swaps: the baseline that every word attack has to beat.

RANDOM: one random word becomes a random word of the vocabulary, many times over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from brittle.asks import NO_CANDIDATES, Case, Sample, Search, Tag, Try, Unfit
from brittle.attacks.recipes import RunContext, check_count, check_share, max_words
from brittle.attacks.registry import registered
from brittle.attacks.substitutes import (
    TEXTS_PER_ASK,
    VocabularySettings,
    replacements,
    substitutes,
)
from brittle.candidates import Proposal
from brittle.candidates.choice import CandidateSettings, SynonymSettings, choose_proposal
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
    share: Annotated[float, "largest share of the words to replace"] = 0.2,
    source: SynonymSettings = CandidateSettings(),
) -> RandomSwap:
    """Swap random words for random synonyms: the floor for every word attack."""
    check_share(share=share)
    return RandomSwap(
        choose_proposal(source),
        share,
    )


@dataclass(frozen=True)
class RandomWord:
    """Replace a random word by a random one, again and again; count how many draws work.

    This is RANDOM of Hsieh et al. (2019): its figure is the mean success of a draw. No draw ends
    the search. The paper has 100,000 draws in all: 100 texts of 1,000 draws. A case counts as
    broken if one of its draws works, which is another figure.

    Random draws, for each candidate: a `choice` among the positions that are read, then a `choice`
    among the words of the vocabulary that are not the word there.
    """

    vocabulary: Sequence[str]
    draws: int = 1000
    asks: ClassVar = (Sample,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        words = {i: replacements(self.vocabulary, case.text.words[i]) for i in case.positions}
        positions = [i for i in case.positions if words[i]]
        if not positions:
            raise Unfit(NO_CANDIDATES)
        for start in range(0, self.draws, TEXTS_PER_ASK):
            drawn = (rng.choice(positions) for _ in range(min(TEXTS_PER_ASK, self.draws - start)))
            yield from Sample([case.text.swap(i, rng.choice(words[i])) for i in drawn])


@registered("random-word")
def random_word(
    *,
    context: RunContext = RunContext(),
    source: VocabularySettings = VocabularySettings(),
    draws: Annotated[int, "random replacements to try in each text"] = 1000,
) -> RandomWord:
    """Replace one random word by a random one, many times; count how often it works."""
    check_count(draws=draws)
    return RandomWord(source.words(context.target_words), draws)
