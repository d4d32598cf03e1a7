"""The protocol of the zoo's models, and how a model is opened from its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.text import Text
from brittle.zoo import folder as folders
from brittle.zoo.bilm.folder import PART as BILM
from brittle.zoo.bilm.folder import find_bilm
from brittle.zoo.families import family_of, no_target, open_checked
from brittle.zoo.folder import Card
from brittle.zoo.tokenizers.words import UNKNOWN


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
    family = family_of(card)
    if family.no_target:
        raise no_target(family, card.full_name)
    if family.open is None or family.answers != "scores":
        raise UsageError(
            f"The model in {folder} is a {card.kind}, which this function does not open. Open it "
            "with brittle.as_target."
        )
    if BILM in card.parts:
        find_bilm(card.parts, folder.parent)  # here, where its errors are not those of weights
    model: Model = open_checked(folder, card, device, hole_id)
    return card, model
