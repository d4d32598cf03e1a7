"""The protocol of targets, and the capabilities that a target may offer beside its scores.

`capabilities.py` asks a target for these capabilities and builds a desk for every question that the
target answers. What else a target may declare stands in `TargetDeclarations`, with its default.

What a model shows of its inside comes per word, or per character, of the user's text: the adapter
aligns words with the tokens that the model reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from brittle.answers import Attention, Embedding
from brittle.errors import BrittleError, TargetError
from brittle.moves import EditRequest, GradientAnswer, Level, ScoredMoves
from brittle.spaces import Bounded, BoundRequest
from brittle.text import Text

Scores = NDArray[np.float64]


class OpenTarget(Protocol):
    """Anything that is attacked."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...


class TargetDeclarations:
    """What a target may declare beside its answers, as an attribute or a property, with defaults.

    A target does not inherit from this class. `declared_by` looks the attribute up.
    """

    labels: Sequence[str] = ()
    """The names of its classes; () if it answers with texts."""
    item_kind: str = "text"
    """The kind of items it reads."""
    parallel: int = 1
    """How many threads may call it at once."""
    costly: bool = False
    """Whether its answers are stored before they are used."""
    batch: int | None = None
    """The rows of one call; None chooses automatically."""
    in_process: bool = True
    """Whether a watchdog guards the call, because nothing else can end it."""
    label_only: bool = False
    """Whether it returns only hard labels, as one-hot scores."""
    mixes_texts: bool = False
    """Whether the translation of a text may depend on the other texts of the call."""
    trained_fields: Sequence[str] = ()
    """The fields it was trained on, in order."""
    repeats: int = 1
    """How often every item is asked, because answers vary; each answer is kept and counted."""
    join_repeats: Callable[[Sequence[Any]], Any] | None = None
    """A method that makes one answer of those on one item."""
    silent: Sequence[str] = ()
    """Labels which say that there was no answer: a candidate that gets one does not win."""
    spent: Callable[[], tuple[int, int]] | None = None
    """A method that returns the tokens read and written by this thread since it was last called."""
    price: tuple[float, float] | None = None
    """What a million tokens read and written cost."""
    prompt_size: Callable[[Text], int] | None = None
    """A method that returns how many characters it is sent with a text, where tokens are paid."""
    max_written: int | None = None
    """The most tokens of an answer, where a request says it."""
    max_answer: int | None = None
    """The characters that are kept of a text that it answers; None: by the length of its source."""
    vocabulary: Any = None
    """The words it knows, the most frequent first; None if unknown."""
    precision: str = "float32"
    """The precision of candidates; `candidate_scores(keys)` if it is not float32."""
    reads_zero_vectors: bool = False
    """Whether it reads a masked word as a zero vector or as nothing."""
    members: Sequence[Any] | None = None
    """The targets that it combines, if it is an ensemble."""
    check_item: Callable[[Any], None] | None = None
    """A method that rejects data it cannot read, before a run is stored."""
    close: Callable[[], None] | None = None
    """A method that frees the target's resources."""


def declared_by(target: Any, name: str) -> Any:
    """Return what a target declares under a name of `TargetDeclarations`."""
    return getattr(target, name, getattr(TargetDeclarations, name))


def close(target: Any) -> None:
    """Free what a target holds, if it holds anything."""
    method = declared_by(target, "close")
    if method is not None:
        method()


@contextmanager
def failing_as(who: str) -> Iterator[None]:
    """Raise whatever a model raises as an error of this case; `who` names the model."""
    try:
        yield
    except BrittleError:
        raise
    except Exception as error:
        raise TargetError(f"{who} raised {type(error).__name__}: {error}") from error


class Classifies(OpenTarget, Protocol):
    """A target that gives a probability to each of its labels."""

    @property
    def labels(self) -> Sequence[str]: ...

    def scores(self, items: Sequence[Any]) -> Scores:
        """Return probabilities of shape (items, labels), one row per item, in order.

        The items are of the target's kind: texts or pictures.
        """
        ...


@runtime_checkable
class Translates(Protocol):
    """Answers every text by a text."""

    def translate(self, items: Sequence[Text]) -> list[str]:
        """Return a text for every item, in order."""
        ...


@runtime_checkable
class KnowsItsWords(Protocol):
    """A translator that knows what it can write."""

    def can_write(self, word: str) -> bool:
        """Tell whether the pieces of its vocabulary can spell a word, or a phrase."""
        ...


class Translator(OpenTarget, Translates, Protocol):
    """A target that translates; it has no labels, or () as its labels."""


# The capabilities below are checked at run time. They have methods only: a check for a property
# computes it, and a fingerprint may cost queries.


@runtime_checkable
class HasScores(Protocol):
    """Scores texts."""

    def scores(self, items: Sequence[Text]) -> Scores: ...


@runtime_checkable
class HasCanonicalKeys(Protocol):
    """Knows which texts it cannot tell apart: these have equal keys."""

    def canonical(self, items: Sequence[Text]) -> list[bytes]: ...


@runtime_checkable
class HasCanonicalScores(HasCanonicalKeys, Protocol):
    """Scores texts from their keys, which are its encoded input: nothing is encoded twice."""

    def canonical_scores(self, keys: Sequence[bytes]) -> Scores: ...


@runtime_checkable
class HasCanonicalDigests(HasCanonicalKeys, Protocol):
    """Knows short stand-ins of the keys of long texts, and finds them faster than the keys."""

    def canonical_digests(self, items: Sequence[Text]) -> list[bytes | None]:
        """Return for every text a digest, equal if the keys are equal; None for a short text."""
        ...


@runtime_checkable
class HasLogits(Protocol):
    """Shows the raw scores of texts, before the softmax: an ensemble averages them."""

    def logits(self, items: Sequence[Text]) -> Scores: ...


@runtime_checkable
class HasCanonicalLogits(HasCanonicalKeys, HasLogits, Protocol):
    """Computes raw scores from keys, which are its encoded input."""

    def canonical_logits(self, keys: Sequence[bytes]) -> Scores: ...


@runtime_checkable
class HasCanonicalSwaps(HasCanonicalKeys, Protocol):
    """Knows the keys of a text with one word swapped from the key of the text, at little cost."""

    def canonical_swaps(
        self, text: Text, key: bytes, swaps: Sequence[tuple[int, str]]
    ) -> list[bytes]:
        """Return the key of `text.swap(i, word)` for every pair (i, word)."""
        ...


@runtime_checkable
class ReadsWords(Protocol):
    """Knows which words of a text it reads."""

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        """Return for every text the positions of the words that the target reads, in order."""
        ...


@runtime_checkable
class HasFlips(ReadsWords, Protocol):
    """Ranks the edits of a text by its gradient."""

    def flips(self, requests: Sequence[EditRequest]) -> list[ScoredMoves]:
        """Return every text's scores and best edits: one forward and one backward pass each."""
        ...


@runtime_checkable
class HasGradients(Protocol):
    """Computes gradients by its input: the vectors of a text, the pixels of a picture."""

    def gradients(self, requests: Sequence[Any]) -> list[Any]:
        """Return the gradient of every request's objective, in the shape of its item."""
        ...


@runtime_checkable
class Embeds(Protocol):
    """Gives one vector to every text."""

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        """Return for every text what the last layer reads, and the scores of the same pass."""
        ...


@runtime_checkable
class HasCanonicalEmbeddings(HasCanonicalKeys, Embeds, Protocol):
    """Embeds texts from their keys, which are its encoded input: nothing is encoded twice."""

    def canonical_embeddings(self, keys: Sequence[bytes]) -> list[Embedding]: ...


@runtime_checkable
class HasAttention(Protocol):
    """Shows how it attends to words."""

    def attention(self, items: Sequence[Text]) -> list[Attention]:
        """Return the attention of every text, from word to word and from its summary position."""
        ...


@runtime_checkable
class HasBounds(Protocol):
    """Knows something of all texts of a space at once."""

    def bounds(self, requests: Sequence[BoundRequest]) -> list[Bounded]:
        """Return for every space what is proved of it, and what is left open."""
        ...


@runtime_checkable
class Encodes(Protocol):
    """Finds the latent point of an item."""

    def encode(self, items: Sequence[Any]) -> Sequence[Any]: ...


@runtime_checkable
class Decodes(Protocol):
    """Builds the item at a latent point."""

    def decode(self, points: Sequence[Any]) -> Sequence[Any]: ...


@runtime_checkable
class Generator(Encodes, Decodes, Protocol):
    """Encodes items as points of a latent space, and decodes points: a GAN with an inverter, a VAE.

    `size` is the number of dimensions of its latent space, `item_kind` the kind of its items. What
    it answers must not depend on what else is in a batch: networks are in evaluation mode. It may
    have `check_item(item)`, which refuses what it cannot read, `unfit(item)`, which returns why one
    item is passed over, `doubt(items)`, which returns a warning if items seem to be no data of its
    own, and `refined(steps)`, a generator whose latent points are improved by descent.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def item_kind(self) -> str: ...


@runtime_checkable
class Tags(Protocol):
    """Knows the part of speech of every word."""

    def tags(self, items: Sequence[Text]) -> Sequence[Any]: ...


@runtime_checkable
class HasMeanings(Protocol):
    """Knows what texts mean: texts that mean the same have nearly the same vector."""

    def meanings(self, items: Sequence[Text]) -> Sequence[Any]:
        """Return a vector of length 1 for every text."""
        ...


@runtime_checkable
class HasFluency(Protocol):
    """Knows how likely texts are."""

    def fluencies(self, items: Sequence[Text]) -> Sequence[float]:
        """Return log10 of the probability of every text."""
        ...


@runtime_checkable
class HasEmbeddings(Protocol):
    """Shows how it represents words, layer by layer; `layers` names the layers."""

    def embeddings(self, items: Sequence[Text], layer: str, level: Level = "words") -> list[Any]:
        """Return for every text an array of words × dimensions; NaN for words not read.

        For characters: a list with an array of characters × dimensions for every word.
        """
        ...


class WhiteBox(HasEmbeddings, Embeds, HasAttention, HasGradients, Protocol):
    """Everything that a network shows of its inside."""

    @property
    def layers(self) -> tuple[str, ...]: ...

    def flips(self, requests: Sequence[EditRequest]) -> list[ScoredMoves]: ...

    def canonical_embeddings(self, keys: Sequence[bytes]) -> list[Embedding]: ...


class ShowsInside(Protocol):
    """Answers what its white box, `inside`, answers."""

    @property
    def inside(self) -> WhiteBox: ...

    @property
    def layers(self) -> tuple[str, ...]:
        return self.inside.layers

    def flips(self, requests: Sequence[EditRequest]) -> list[ScoredMoves]:
        return self.inside.flips(requests)

    def gradients(self, requests: Sequence[EditRequest]) -> list[GradientAnswer]:
        return self.inside.gradients(requests)

    def embeddings(self, items: Sequence[Text], layer: str, level: Level = "words") -> list[Any]:
        return self.inside.embeddings(items, layer, level)

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        return self.inside.sentence_embeddings(items)

    def canonical_embeddings(self, keys: Sequence[bytes]) -> list[Embedding]:
        return self.inside.canonical_embeddings(keys)


class ShowsAttention(ShowsInside, Protocol):
    """Answers what its white box answers, and shows its attention, which not every network has."""

    def attention(self, items: Sequence[Text]) -> list[Attention]:
        return self.inside.attention(items)


def positions_read(target: object, text: Text) -> Sequence[int] | None:
    """Return the positions of the words that a target reads, or None where it does not say."""
    return target.words_read([text])[0] if isinstance(target, ReadsWords) else None
