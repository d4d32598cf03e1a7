"""Which words are changed, and by what: questions of several attacks for substitutes and edits.

Questions of several attacks: for the substitutes of words, and for the best edits of a text. Where
a text is weak: its positions in the order in which an attack should change them.

These are parts of attacks, to be used with `yield from`. They rank only positions that they are
given, so that a word that the target does not read is never chosen.

What a word is replaced by: words of a vocabulary, in random order or by embedding distance.

These are parts of attacks, to be used with `yield from`. A winner ends the search; without one
they return the text with which the search may go on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from brittle.asks import (
    NO_CANDIDATES,
    NORMALISED,
    Ask,
    Attend,
    Case,
    EditClass,
    Embed,
    Probe,
    Search,
    Tag,
    Try,
    Unfit,
)
from brittle.candidates import ContextProposal, Proposal
from brittle.errors import UsageError, unknown
from brittle.formatting import plural
from brittle.moves import EditRequest, EditSpace
from brittle.text import Text, Word, is_word

if TYPE_CHECKING:
    from brittle.candidates.entities import Entities

Substitutes = Sequence[tuple[str, ...]]
"""The words that may replace the word at each position."""


def substitutes(
    case: Case[Text], proposal: Proposal, entities: Entities | None = None
) -> Search[Substitutes]:
    """List for every position the words that may replace the word there.

    Words that the target does not read have none. Tags are asked for only if the proposal needs
    them; one that looks at the sentence has its substitutes tagged there, and may drop them. An
    entity comes after the words of the proposal. A text without any substitute is unfit for the
    attack; so is every text if the target undoes what the proposal does.
    """
    if isinstance(proposal, EditClass) and proposal.name in case.normalised:
        raise Unfit(NORMALISED)
    text, read_positions = case.text, set(case.positions)
    tags: Sequence[str] = ("",) * len(text)
    if proposal.needs_tags:
        tags = (yield from Tag([text]))[0]
    if isinstance(proposal, ContextProposal):
        options = proposal.in_context(text, tags)
        options = [words if i in read_positions else () for i, words in enumerate(options)]
        options = yield from _with_fitting_tags(text, tags, proposal, options)
    else:
        proposal.prepare(word for word in text.words if isinstance(word, str))
        options = [
            proposal.of(word, tag) if i in read_positions and isinstance(word, str) else ()
            for i, (word, tag) in enumerate(zip(text.words, tags))
        ]
    if entities is not None:
        assert case.label is not None
        for i, word in entities.of(text, case.label).items():
            if i in read_positions and word not in options[i]:
                options[i] = (*options[i], word)
    if not any(options):
        raise Unfit(NO_CANDIDATES)
    return options


def _with_fitting_tags(
    text: Text, tags: Sequence[str], proposal: ContextProposal, options: Substitutes
) -> Search[list[tuple[str, ...]]]:
    """Keep the substitutes with which the tags of the edited text are as the proposal wants."""
    swaps = [text.swap(i, word) for i, words in enumerate(options) for word in words]
    edited = iter((yield from Tag(swaps)) if swaps else ())
    return [
        tuple(word for word in words if proposal.fits(i, tags, next(edited)))
        for i, words in enumerate(options)
    ]


def rank_by_saliency(case: Case[Text], positions: Sequence[int]) -> Search[list[int]]:
    """Mask words one by one; return the positions, the most salient first."""
    answer = yield from Probe([case.text.mask(i) for i in positions])
    return [positions[n] for n in np.argsort(-answer.loss, kind="stable").tolist()]


def growing_parts(positions: Sequence[int]) -> list[Sequence[int]]:
    """Cut positions into parts of 2, 4, 8, … for a search under a budget, whatever its size.

    Such a search masks one part after another, and in between tries candidates: the order of its
    questions is the same for every budget, so that a larger one never breaks fewer cases.

    >>> growing_parts(range(9))
    [range(0, 2), range(2, 6), range(6, 9)]
    """
    parts, start, size = [], 0, 2
    while start < len(positions):
        parts.append(positions[start : start + size])
        start, size = start + size, 2 * size
    return parts


def most_salient(saliency: Mapping[int, float], had_turn: Collection[int] = ()) -> list[int]:
    """List the positions that have not had their turn, the most salient first."""
    return sorted((i for i in saliency if i not in had_turn), key=lambda i: (-saliency[i], i))


def try_single_swaps(case: Case[Text], options: Substitutes) -> Search[None]:
    """Under a constraint, offer every single swap, from the left; without one, do nothing.

    A search that swaps word after word tries most swaps in a text that has changed already, and
    there a constraint may refuse what it allows in the original. So a case that is held under a
    constraint has no single swap that reaches the goal and keeps enough.
    """
    if case.is_constrained:
        swaps = [case.text.swaps(i, words) for i, words in enumerate(options)]
        yield from Try([text for texts in swaps for text in texts], in_order=True)


def edit_request(
    case: Case[Text], space: EditSpace, positions: Sequence[int], text: Text
) -> EditRequest:
    """Build the request for the best edits of a text of this case, at some of its positions."""
    assert case.label is not None
    return EditRequest(text, case.label, case.toward, space, positions)


Asks = tuple[type[Ask[Any]], ...]
FIRST, LAST = "first", "last"
SUMMARY, WORDS = "summary", "words"
"""Whose attention counts: the position that the classifier reads, or all words."""


class Select(Protocol):
    """Ranks positions of a case's text, the weakest first; `asks` is what it asks."""

    asks: ClassVar[Asks]

    def __call__(self, case: Case[Text], positions: Sequence[int]) -> Search[list[int]]: ...


@dataclass(frozen=True)
class ByErasure:
    """Erase the words one by one: the weakest is the one whose erasure changes the output most.

    For a classifier that is the highest loss, for a translator the translation that is least like
    the original's, by chrF. Ties go to the first word.
    """

    asks: ClassVar[Asks] = (Probe,)

    def __call__(self, case: Case[Text], positions: Sequence[int]) -> Search[list[int]]:
        answer = yield from Probe([case.text.mask(i) for i in positions])
        change = answer.loss
        if case.start is not None and isinstance(case.start.answers[0], str):
            from brittle.goals.bleu import sentence_chrf

            before = case.start.answers[0]
            change = np.array([100.0 - sentence_chrf(text, before) for text in answer.answers])
        return _ranked(positions, -change)


@dataclass(frozen=True)
class ByAttention:
    """The weakest word is the one with the highest attention or, if `lowest`, with the lowest.

    The attention of a word is the mean over the heads of one `layer` (first, last, or its number
    from 1) of what the summary position gives it or, with `of` words, the mean of what all words
    give it. Ties go to the first word.
    """

    lowest: bool = False
    layer: str = FIRST
    of: str = SUMMARY
    asks: ClassVar[Asks] = (Attend,)

    def __call__(self, case: Case[Text], positions: Sequence[int]) -> Search[list[int]]:
        (attention,) = yield from Attend([case.text])
        # A network that attends only where it reads the text has a summary of one layer.
        layers = attention.weights if self.of == WORDS else attention.summary
        weight = layers[layer_index(self.layer, len(layers))].mean(axis=0)
        if self.of == WORDS:
            weight = weight.mean(axis=0)
        weight = weight[list(positions)]
        return _ranked(positions, weight if self.lowest else -weight)


def layer_index(layer: str, count: int) -> int:
    """Return the index of a layer that is named first, last, or by its number from 1."""
    number = {FIRST: 1, LAST: count}.get(layer) or int(layer)
    if number > count:
        raise UsageError(
            f"Got --layer {layer}, but the target's attention has {plural(count, 'layers')}. "
            f"Expected {FIRST}, {LAST}, or a number up to {count}."
        )
    return number - 1


def check_attention(layer: str, attention_of: str) -> None:
    """Refuse a layer, or a kind of attention, that cannot be meant."""
    if layer not in (FIRST, LAST) and not (layer.isdecimal() and int(layer) > 0):
        raise UsageError(f"Got --layer {layer!r}; expected {FIRST}, {LAST}, or a number from 1.")
    if attention_of not in (SUMMARY, WORDS):
        kinds = (SUMMARY, WORDS)
        raise unknown("kind of attention", attention_of, kinds, "It is set by --attention-of.")


def _ranked(positions: Sequence[int], strength: NDArray[np.float64]) -> list[int]:
    return [positions[n] for n in np.argsort(strength, kind="stable")]


TEXTS_PER_ASK = 256
"""How many candidates of a case are built at once; all their embeddings are in memory."""


class Best(NamedTuple):
    """The text to go on with, and its loss."""

    text: Text
    loss: float


class Replace(Protocol):
    """Replaces the word at a position of a text; `asks` is what it asks."""

    asks: ClassVar[Asks]

    @property
    def vocabulary(self) -> Sequence[str]: ...

    def __call__(self, case: Case[Text], best: Best, i: int, rng: Random) -> Search[Best]: ...


@dataclass(frozen=True)
class InRandomOrder:
    """Try the words of a vocabulary in random order, until one wins.

    Random draws: a `sample` of all words that may stand at the position.
    """

    vocabulary: Sequence[str]
    asks: ClassVar[Asks] = (Try,)

    def __call__(self, case: Case[Text], best: Best, i: int, rng: Random) -> Search[Best]:
        words = replacements(self.vocabulary, case.text.words[i])
        return (yield from try_in_order(best, i, rng.sample(words, len(words))))


@dataclass(frozen=True)
class ByEmbeddingDistance:
    """Try the words of a vocabulary that change the embedding of the text least, nearest first.

    The distance is L1, between the embeddings of the original and of the candidate; ties go to the
    more frequent word. Only the `nearest` words are tried, all if it is None.
    """

    vocabulary: Sequence[str]
    nearest: int | None = None
    asks: ClassVar[Asks] = (Embed, Try)

    def __call__(self, case: Case[Text], best: Best, i: int, rng: Random) -> Search[Best]:
        words = replacements(self.vocabulary, case.text.words[i])
        (original,) = yield from Embed([case.text])
        distance: list[float] = []  # L1
        for part in _parts(words):
            embeddings = yield from Embed(best.text.swaps(i, part))
            vectors = np.array([embedding.vector for embedding in embeddings])
            distance += np.abs(vectors - original.vector).sum(axis=1).tolist()
        order = np.argsort(distance, kind="stable")[: self.nearest]
        # Where the target gives the embeddings, it has given the answers too, and none is computed.
        return (yield from try_in_order(best, i, [words[n] for n in order]))


def replacements(vocabulary: Sequence[str], old: Word) -> list[str]:
    """List the words of a vocabulary that may replace a word: all but itself, whatever its case."""
    own = str(old).casefold()
    return [word for word in vocabulary if word.casefold() != own]


@dataclass(frozen=True)
class VocabularySettings:
    """Which words are tried: the settings that attacks with a vocabulary share.

    Targets that are compared need one list: their own most frequent words differ.
    """

    vocabulary: Annotated[int, "choose from this many of the target's most frequent words"] = 2000
    vocabulary_file: Annotated[str | None, "file of words to choose from, one a line"] = None

    def words(self, target_words: Callable[[], Sequence[str]]) -> tuple[str, ...]:
        """Take the first words of the file, or else of what the target knows."""
        own = read_words(self.vocabulary_file) if self.vocabulary_file else target_words()
        return take_words(own, self.vocabulary)


def read_words(file: str | Path) -> tuple[str, ...]:
    """Read a list of words, one a line; a word that differs by case alone is listed once."""
    try:
        lines = Path(file).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"--vocabulary-file {str(file)!r} cannot be read: {error}. It is a text file in UTF-8 "
            "with one word a line."
        ) from error
    odd = next((line for line in map(str.strip, lines) if line and not is_word(line)), None)
    if odd is not None:
        raise UsageError(
            f"--vocabulary-file {str(file)!r} has {odd!r}; expected one word a line. Remove it."
        )
    words: dict[str, str] = {}
    for line in map(str.strip, lines):
        if line:
            words.setdefault(line.casefold(), line)
    if not words:
        raise UsageError(f"--vocabulary-file {str(file)!r} has no words. Write one a line.")
    return tuple(words.values())


def take_words(target_words: Sequence[str], size: int) -> tuple[str, ...]:
    """Take the first words of a vocabulary; without one, the most common English words."""
    if not (isinstance(size, int) and size >= 2):
        raise UsageError(
            f"Got --vocabulary {size!r}; expected a whole number, 2 or more: a word "
            "cannot replace itself. Leave the flag out for the default."
        )
    from brittle.english.words import common_words

    words = tuple(target_words or common_words())[:size]
    if len(replacements(words, words[0] if words else "")) < 1:
        raise UsageError(
            f"The vocabulary has {plural(len(words), 'words')} to choose from; expected "
            "at least two. Use a target with a larger vocabulary, or another attack."
        )
    return words


def try_in_order(best: Best, i: int, words: Sequence[str]) -> Search[Best]:
    """Try words at a position, until one wins; return the text with which to go on.

    That is the candidate with the highest loss, the first of several, unless its loss is lower than
    that of the text so far.
    """
    highest = Best(best.text, -np.inf)
    for part in _parts(words):
        texts = best.text.swaps(i, part)
        answer = yield from Try(texts, in_order=True)
        n = answer.best
        if n is not None and answer.loss[n] > highest.loss:
            highest = Best(texts[n], float(answer.loss[n]))
    return highest if highest.loss >= best.loss else best


def _parts(words: Sequence[str]) -> list[Sequence[str]]:
    starts = range(0, len(words), TEXTS_PER_ASK)
    return [words[start : start + TEXTS_PER_ASK] for start in starts]
