"""Attacks that change one word: at the weak spot of a text, or each in turn (LIST).

One word at the weak spot: the greedy and the attention-based attacks of Hsieh et al. (2019). LIST:
every synonym of every word, one word at a time, from the left.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Annotated, Any, ClassVar

from brittle.asks import NO_CANDIDATES, Case, Search, Tag, Try, Unfit
from brittle.attacks.recipes import RunContext, check_count
from brittle.attacks.registry import registered
from brittle.attacks.substitutes import (
    FIRST,
    SUMMARY,
    Asks,
    Best,
    ByAttention,
    ByEmbeddingDistance,
    ByErasure,
    InRandomOrder,
    Replace,
    Select,
    VocabularySettings,
    check_attention,
    replacements,
    substitutes,
)
from brittle.candidates import Proposal
from brittle.candidates.choice import CandidateSettings, ListSettings, choose_proposal
from brittle.english.sentence_encoder import installed_encoders
from brittle.text import Text

Words = Annotated[int, "largest number of words to change, the most important first"]
Nearest = Annotated[int | None, "try only the k nearest words (default: all)"]
Layer = Annotated[str, "layer whose attention to use: first, last, or a number from 1"]
AttentionOf = Annotated[
    str, "whose attention to use: summary (the position the classifier reads) or words"
]


@dataclass(frozen=True)
class SpotSwap:
    """Find the weak spot, then replace its word (Hsieh et al., 2019: GS-GR, GS-EC, AS*-GR, AS*-EC).

    The weak spot is the word whose erasure changes the output most (GS), or the one with the
    highest or lowest attention (AS); its replacement is the first word of the vocabulary that
    works, at random (GR) or by the distance of sentence embeddings (EC). If none works, the
    candidate with the highest loss stays, unless its loss is below that of the text so far, and
    the word at the next weak spot is replaced as well, up to `words`. Weak spots are ranked
    once, on the original. Distances are those from the original.

    Random draws: those of InRandomOrder, for one position after another.

    The paper leaves open how large its vocabulary is (here the target's `--vocabulary` most
    frequent words), how many of the nearest words EC looks at (here all: fewer save no pass, since
    all must be embedded to be ranked), and whose attention counts (here the summary position's).
    Deviations: erasure is judged by the loss, so that a word whose erasure makes the target surer
    is no weak spot; on a translator by chrF. A target whose vectors are not known has its own hole
    in place of the zero vector. Where a target gives no embedding, that of MiniLM stands for it.
    """

    select: Select
    replace: Replace
    words: int = 1
    holes: ClassVar = "pad"  # the paper's zero vector

    @property
    def asks(self) -> Asks:
        return (*self.select.asks, *self.replace.asks)

    @property
    def helpers(self) -> tuple[Any, ...]:
        """The encoder that embeds where a target does not."""
        return installed_encoders() if isinstance(self.replace, ByEmbeddingDistance) else ()

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        words, vocabulary = case.text.words, self.replace.vocabulary
        positions = [i for i in case.positions if replacements(vocabulary, words[i])]
        if not positions:
            raise Unfit(NO_CANDIDATES)
        ranked = yield from self.select(case, positions)
        best = Best(case.text, case.start_loss)
        for i in ranked[: self.words]:
            best = yield from self.replace(case, best, i, rng)


@registered("gs-gr")
def gs_gr(
    *,
    context: RunContext = RunContext(),
    source: VocabularySettings = VocabularySettings(),
    words: Words = 1,
) -> SpotSwap:
    """Erase words to find the weak spot, then try random words there."""
    return SpotSwap(ByErasure(), _random(context, source), _checked(words))


@registered("gs-ec")
def gs_ec(
    *,
    context: RunContext = RunContext(),
    source: VocabularySettings = VocabularySettings(),
    nearest: Nearest = None,
    words: Words = 1,
) -> SpotSwap:
    """Erase words to find the weak spot, then try words by embedding distance."""
    return SpotSwap(ByErasure(), _nearest(context, source, nearest), _checked(words))


@registered("asmin-gr")
def asmin_gr(
    *,
    context: RunContext = RunContext(),
    source: VocabularySettings = VocabularySettings(),
    words: Words = 1,
    layer: Layer = FIRST,
    attention_of: AttentionOf = SUMMARY,
) -> SpotSwap:
    """Take the word with the lowest attention, then try random words there."""
    return SpotSwap(
        _attention(True, layer, attention_of), _random(context, source), _checked(words)
    )


@registered("asmin-ec")
def asmin_ec(
    *,
    context: RunContext = RunContext(),
    source: VocabularySettings = VocabularySettings(),
    nearest: Nearest = None,
    words: Words = 1,
    layer: Layer = FIRST,
    attention_of: AttentionOf = SUMMARY,
) -> SpotSwap:
    """Take the word with the lowest attention, then try words by embedding distance."""
    return SpotSwap(
        _attention(True, layer, attention_of),
        _nearest(context, source, nearest),
        _checked(words),
    )


@registered("asmax-gr")
def asmax_gr(
    *,
    context: RunContext = RunContext(),
    source: VocabularySettings = VocabularySettings(),
    words: Words = 1,
    layer: Layer = FIRST,
    attention_of: AttentionOf = SUMMARY,
) -> SpotSwap:
    """Take the word with the highest attention, then try random words there."""
    return SpotSwap(
        _attention(False, layer, attention_of), _random(context, source), _checked(words)
    )


@registered("asmax-ec")
def asmax_ec(
    *,
    context: RunContext = RunContext(),
    source: VocabularySettings = VocabularySettings(),
    nearest: Nearest = None,
    words: Words = 1,
    layer: Layer = FIRST,
    attention_of: AttentionOf = SUMMARY,
) -> SpotSwap:
    """Take the word with the highest attention, then try words by embedding distance."""
    return SpotSwap(
        _attention(False, layer, attention_of),
        _nearest(context, source, nearest),
        _checked(words),
    )


def _random(context: RunContext, source: VocabularySettings) -> InRandomOrder:
    return InRandomOrder(source.words(context.target_words))


def _nearest(
    context: RunContext, source: VocabularySettings, nearest: int | None
) -> ByEmbeddingDistance:
    if nearest is not None:
        check_count(nearest=nearest)
    return ByEmbeddingDistance(source.words(context.target_words), nearest)


def _attention(lowest: bool, layer: str, attention_of: str) -> ByAttention:
    check_attention(str(layer), attention_of)
    return ByAttention(lowest, str(layer), attention_of)


def _checked(words: int) -> int:
    check_count(words=words)
    return words


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
