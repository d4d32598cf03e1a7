"""The protocol of the zoo's models, and how a model is opened from its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from brittle.errors import UsageError, require
from brittle.text import Text
from brittle.zoo import folder as folders
from brittle.zoo.bilm.folder import KIND as LANGUAGE_MODEL
from brittle.zoo.bilm.folder import PART as BILM
from brittle.zoo.bilm.folder import find_bilm
from brittle.zoo.folder import Card
from brittle.zoo.generators.folder import KIND as GENERATOR
from brittle.zoo.linear import Linear
from brittle.zoo.pictures.forest import Forest
from brittle.zoo.tokenizers.words import UNKNOWN, WordTokenizer


class Model(Protocol):
    """A model that reads encoded texts: `encode` returns the keys that `logits` takes."""

    @property
    def parallel(self) -> int: ...

    def encode(self, items: Sequence[Text]) -> list[bytes]: ...

    def logits(self, keys: Sequence[bytes]) -> NDArray[Any]:
        """Return raw scores of shape (keys, labels), for one key or more."""
        ...

    def close(self) -> None: ...


def open_model(folder: Path, device: str = "auto", hole_id: int = UNKNOWN) -> tuple[Card, Model]:
    """Load the card of a trained model, checked against its files, and the model itself.

    A network reads a hole as `hole_id`: as the unknown word, or as `PAD`, a zero vector.
    """
    card = folders.load_card_checked(folder)
    if card.kind in (LANGUAGE_MODEL, GENERATOR):
        raise no_target(card.full_name, card.kind)
    if BILM in card.parts:
        find_bilm(card.parts, folder.parent)  # here, where its errors are not those of weights
    with folders.fitting_weights(folder, f"the model {card.name!r}"):
        if card.kind in ("linear", "network", "tree"):
            return card, _open(folder, card, device, hole_id)
        if card.kind == "picture":
            return card, _open_on_pictures(folder, card, device)
    raise UsageError(
        f"The model in {folder} is of the kind {card.kind!r}, which this version of brittle does "
        "not know. Update brittle, or train the model again."
    )


def no_target(name: str, kind: str = LANGUAGE_MODEL) -> UsageError:
    """Build the error for a language model or a generator where a classifier is expected."""
    if kind == GENERATOR:
        return UsageError(
            f"{name} is a generator: it has no labels, so it is no target. Attack a classifier "
            f"with it: brittle attack TARGET natural --generator {name}."
        )
    return UsageError(
        f"{name} is a language model: it has no labels, so it is no target. Name a network that "
        "reads it, such as zoo:LSTM-WC-ELMo-1@mr."
    )


def _open_on_pictures(folder: Path, card: Card, device: str) -> Model:
    tensors = folders.load_tensors(folder / folders.WEIGHTS_FILE)
    height, width, channels = card.parts["shape"]
    shape, labels = (height, width, channels), len(card.labels)
    if card.name == "forest":
        return Forest.built(shape, labels, tensors)
    require("torch", "torch", f"The model {card.name!r}")
    from brittle.zoo.pictures.network_model import restore_pixel_network

    return restore_pixel_network(card.name, card.settings, shape, labels, tensors, device)


def _open(folder: Path, card: Card, device: str, hole_id: int) -> Model:
    words = folders.load_words(folder / folders.VOCABULARY_FILE)
    tensors = folders.load_tensors(folder / folders.WEIGHTS_FILE)
    if card.kind == "linear":
        # The unknown word is not counted: a hole adds nothing, as a zero vector does.
        return Linear.built(WordTokenizer(words), tensors)
    vocabulary = WordTokenizer(words, hole_id)
    require("torch", "torch", f"The model {card.name!r}")
    if card.kind == "tree":
        from brittle.zoo.trees.model import restore_tree_model

        about = (card.parts, card.settings, len(card.labels))
        return restore_tree_model(*about, vocabulary, tensors, device)
    from brittle.zoo.scoring import restore_network

    reads_characters = "C" in card.parts["input"]
    alphabet = folders.load_words(folder / folders.ALPHABET_FILE) if reads_characters else []
    bilm = find_bilm(card.parts, folder.parent) if BILM in card.parts else None
    labels = len(card.labels)
    return restore_network(
        card.parts, card.settings, labels, vocabulary, alphabet, tensors, device, bilm
    )
