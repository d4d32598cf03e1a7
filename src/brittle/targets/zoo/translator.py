"""Trained translators of the zoo as targets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brittle.answers import Attention, Embedding
from brittle.errors import UsageError, require, unknown
from brittle.moves import Level
from brittle.targets.alignment import Alignment, TokenizedText, align, at_level, sum_and_mean
from brittle.targets.fingerprints import hash_parts
from brittle.targets.options import PADDING, UNKNOWN, render_single
from brittle.targets.zoo.target import check_mask
from brittle.text import Text
from brittle.zoo.families import family_of
from brittle.zoo.folder import Card, load_card
from brittle.zoo.seq2seq import pieces
from brittle.zoo.seq2seq.pieces import HOLE_PIECE, Encoded

if TYPE_CHECKING:
    from brittle.zoo.seq2seq.model import TranslationModel

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CrossAttention:
    """How much every piece of a translation attends to the words of its source.

    `weights` are layers × heads × pieces × words, `elsewhere` what a piece gives to punctuation
    and to the end of the source: with it a row adds up to 1. The last piece is the end.
    """

    pieces: tuple[str, ...]
    weights: Array
    elsewhere: Array


class ZooTranslator:
    """A translator of the zoo; `mask` is how a hole reads, where it is not the unknown piece.

    Its embedding of a text is the mean of the encoder's states. Where texts are ranked by it, no
    translation is computed: that takes far longer, and is needed of few texts.
    """

    labels: tuple[str, ...] = ()
    in_process = True

    def __init__(self, card: Card, model: TranslationModel, mask: str | None = None) -> None:
        self.card, self.model = card, model
        beam = f"beam={model.beam}" if model.beam > 1 else ""
        joint = "," if "?" in card.full_name else "?"
        self.name = f"{card.full_name}{joint}{beam}" if beam else card.full_name
        ways = [way for way in (mask, beam) if way]
        self.fingerprint = hash_parts(card.fingerprint, *ways) if ways else card.fingerprint
        self.reads_zero_vectors = mask == PADDING
        self.trained_fields = card.fields
        self.parallel = model.parallel
        self.vocabulary = model.vocabulary

    def __repr__(self) -> str:
        return f"ZooTranslator({self.name!r})"

    def check_item(self, item: Any) -> None:
        """Refuse a text of several fields."""
        self._encode([item])

    def translate(self, items: Sequence[Text]) -> list[str]:
        return self.model.translate(self._encode(items))

    def can_write(self, word: str) -> bool:
        """Tell whether the pieces can spell a word."""
        return self.model.pieces.can_spell(word)

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        return [alignment.read for alignment in self._align(items)]

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        """Compute the mean of the encoder's states; there are no scores."""
        return [Embedding(vector, []) for vector in self.model.mean_states(self._encode(items))]

    @cached_property
    def layers(self) -> tuple[str, ...]:
        """Name the layers of the encoder."""
        return ("embedding", *(f"layer {n + 1}" for n in range(self.card.settings["layers"])))

    def embeddings(self, items: Sequence[Text], layer: str, level: Level = "words") -> list[Any]:
        """Compute the states of words at a layer of the encoder, the mean over their pieces."""
        if layer not in self.layers:
            raise unknown(f"layer of {self.name}", layer, self.layers)
        states = self.model.states(self._encode(items), self.layers.index(layer))
        return [at_level(level, a, state) for a, state in zip(self._align(items), states)]

    def attention(self, items: Sequence[Text]) -> list[Attention]:
        """Compute what words of the source attend to, and what the translation attends to.

        The summary is the cross-attention, layers × heads × words, the mean over the pieces of the
        translation and its end. The weights are the self-attention of the encoder. An LSTM has
        none: they are its cross-attention, in one row.
        """
        answers = []
        attended = self.model.attend(self._encode(items))
        for alignment, shown in zip(self._align(items), attended):
            summary, summary_elsewhere = to_words(shown.cross.mean(axis=2), alignment)
            weights, elsewhere = summary[:, :, None], summary_elsewhere[:, :, None]
            if len(shown.own):
                from_words = sum_and_mean(alignment)[1] @ shown.own
                weights, elsewhere = to_words(from_words, alignment)
            answers.append(Attention(weights, summary, elsewhere, summary_elsewhere))
        return answers

    def cross_attention(self, items: Sequence[Text]) -> list[CrossAttention]:
        """Compute what every piece of the translation attends to."""
        answers = []
        attended = self.model.attend(self._encode(items))
        for alignment, shown in zip(self._align(items), attended):
            names = self.model.pieces.names((*shown.translation.ids, pieces.END))
            answers.append(CrossAttention(tuple(names), *to_words(shown.cross, alignment)))
        return answers

    def close(self) -> None:
        self.model.close()

    def _encode(self, items: Sequence[Text]) -> list[Encoded]:
        render_single(items, "", f"Target {self.name!r}")  # refuses several fields
        return self.model.encode(items)

    def _align(self, items: Sequence[Text]) -> list[Alignment]:
        return [align_pieces(item, one) for item, one in zip(items, self._encode(items))]


def align_pieces(item: Text, encoded: Encoded) -> Alignment:
    """Find the word of every piece; END belongs to none."""
    field = np.zeros(len(encoded.ids), dtype=np.int64)
    field[-1] = -1
    start = encoded.start.copy()
    # The space before a word is part of its first piece, but not of the word.
    text = pieces.render(item)
    for n, (low, high) in enumerate(zip(encoded.start.tolist(), encoded.stop.tolist())):
        piece = text[low:high]
        if piece.strip():
            start[n] += len(piece) - len(piece.lstrip())
    tokens = TokenizedText(b"", encoded.ids, field, start, encoded.stop)
    return align(item, tokens, HOLE_PIECE)


def to_words(weight: Array, alignment: Alignment) -> tuple[Array, Array]:
    """Sum weights over the pieces of each word; return them, and what goes to no word.

    Rows of words that are not read are zeros.
    """
    by_word = weight @ sum_and_mean(alignment)[0].T
    return by_word, weight.sum(axis=-1) - by_word.sum(axis=-1)


def holds_translator(folder: Path) -> bool:
    """Tell whether a folder holds a translator; False if its card cannot be read."""
    try:
        return family_of(load_card(folder)).answers == "texts"
    except UsageError:
        return False


def load_translator(
    path: str | os.PathLike[str], *, device: str = "auto", mask: str | None = None, beam: int = 1
) -> ZooTranslator:
    """Load a target from the folder of a trained translator.

    With the mask "pad" a hole reads as a zero vector, with "unknown" as the unknown piece. With a
    `beam` above 1 it follows as many translations side by side.
    """
    check_mask(mask)
    require("torch", "torch", "A translator of the zoo")
    from brittle.zoo.seq2seq.model import open_translator

    hole_id = pieces.PAD if mask == PADDING else pieces.UNKNOWN
    card, model = open_translator(Path(path), device, hole_id, beam)
    return ZooTranslator(card, model, None if mask == UNKNOWN else mask)
