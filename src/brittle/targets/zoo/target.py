"""Trained models of the zoo as targets."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from brittle.errors import UsageError
from brittle.picture import PixelGradientRequest
from brittle.spaces import Bounded, BoundRequest
from brittle.targets.fingerprints import hash_parts
from brittle.targets.options import PADDING, UNKNOWN
from brittle.targets.protocols import Scores, ShowsAttention, ShowsInside, WhiteBox
from brittle.targets.scores import bound_additive, softmax
from brittle.targets.transformers import classifier as transformers
from brittle.text import Text
from brittle.zoo import tokenizers
from brittle.zoo.families import family_of, no_target
from brittle.zoo.folder import Card, load_card, load_card_checked
from brittle.zoo.model import Model, open_model


class ZooTarget:
    """A trained model of the zoo; its canonical keys are what the model reads, as bytes.

    `mask` is how a hole reads, where that is not the model's own way.
    """

    in_process = True
    ignores_holes = False  # a hole adds nothing, as a zero vector does

    def __init__(self, card: Card, model: Model, mask: str | None = None) -> None:
        self.card = card
        self.model = model
        self.name = card.full_name
        self.fingerprint = hash_parts(card.fingerprint, mask) if mask else card.fingerprint
        self.reads_zero_vectors = mask == PADDING or self.ignores_holes
        self.labels = card.labels
        self.trained_fields = card.fields
        self.parallel = model.parallel
        self.batch: int | None = getattr(model, "batch", None)

    def __repr__(self) -> str:
        return f"ZooTarget({self.name!r})"

    def check_item(self, item: Any) -> None:
        """Refuse an item that the model cannot read, such as a picture of another size."""
        self.model.encode([item])

    def canonical(self, items: Sequence[Text]) -> list[bytes]:
        return self.model.encode(items)

    def canonical_swaps(
        self, text: Text, key: bytes, swaps: Sequence[tuple[int, str]]
    ) -> list[bytes]:
        model: Any = self.model
        if hasattr(model, "encode_swaps"):
            keys: list[bytes] = model.encode_swaps(text, key, swaps)
            return keys
        return self.canonical([text.swap(i, word) for i, word in swaps])

    def canonical_scores(self, keys: Sequence[bytes]) -> Scores:
        return softmax(self.canonical_logits(keys))

    def canonical_logits(self, keys: Sequence[bytes]) -> Scores:
        if not keys:
            return np.zeros((0, len(self.labels)))
        return np.asarray(self.model.logits(keys), dtype=np.float64)

    def scores(self, items: Sequence[Text]) -> Scores:
        return self.canonical_scores(self.canonical(items))

    def logits(self, items: Sequence[Text]) -> Scores:
        return self.canonical_logits(self.canonical(items))

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        model: Any = self.model
        if isinstance(model, TransformerModel):
            known: tuple[str, ...] = model.classifier.vocabulary
            return known
        # No word begins with "<": these entries are special, such as padding.
        return tuple(word for word in model.vocabulary.words if not word.startswith("<"))

    def close(self) -> None:
        self.model.close()


class AdditiveZooTarget(ZooTarget):
    """A model of the zoo whose logits are a sum over words: naive Bayes, the linear SVM."""

    ignores_holes = True

    def canonical_digests(self, items: Sequence[Text]) -> list[bytes | None]:
        model: Any = self.model
        digests: list[bytes | None] = model.digests(items)
        return digests

    def bounds(self, requests: Sequence[BoundRequest]) -> list[Bounded]:
        """Find the strongest swaps of every space in closed form."""
        return list(map(self._bound, requests))

    def _bound(self, request: BoundRequest) -> Bounded:
        model: Any = self.model
        space = request.space
        logits = self.logits([space.text])[0]
        words = [word for _, words in space.text.field_words() for word in words]
        scale = float(np.abs(model.word_logits(words)).sum() + np.abs(logits).sum())
        changes = [
            model.word_logits(space.options[i]) - model.word_logits([space.text.words[i]])
            for i in space.positions
        ]
        return bound_additive(request, logits, changes, scale)


class WhiteBoxZooTarget(ZooTarget, ShowsInside):
    """A network of the zoo with its white box; `build_inside` is called at first use."""

    def __init__(
        self,
        card: Card,
        model: Model,
        build_inside: Callable[[], WhiteBox],
        mask: str | None = None,
    ) -> None:
        super().__init__(card, model, mask)
        self._build_inside = build_inside

    @cached_property
    def inside(self) -> WhiteBox:
        return self._build_inside()

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        model: Any = self.model  # not the white box: black-box attacks ask for this, too
        positions: list[Sequence[int]] = model.words_read(items)
        return positions


class BoundedZooTarget(WhiteBoxZooTarget):
    """A network of the zoo through which interval bounds can be propagated."""

    @cached_property
    def _bounds(self) -> Any:
        from brittle.zoo.bounds import NetworkBounds  # imports torch, as the model does

        model: Any = self.model
        return NetworkBounds(model)

    def bounds(self, requests: Sequence[BoundRequest]) -> list[Bounded]:
        """Bound the margins over every space."""
        return [self._bounds.bound(request) for request in requests]


class AttendingZooTarget(WhiteBoxZooTarget, ShowsAttention):
    """A network of the zoo that attends."""


class PictureZooTarget(ZooTarget):
    """A model of the zoo that reads pictures; a key would only be a copy of the pixels."""

    item_kind = "picture"

    def scores(self, items: Sequence[Any]) -> Scores:
        return softmax(self.logits(items))

    def logits(self, items: Sequence[Any]) -> Scores:
        model: Any = self.model
        if not items:
            return np.zeros((0, len(self.labels)))
        return np.asarray(model.picture_logits(items), dtype=np.float64)


class PictureNetworkTarget(PictureZooTarget):
    """A network of the zoo that reads pictures; it has gradients."""

    def gradients(self, requests: Sequence[PixelGradientRequest]) -> list[Any]:
        model: Any = self.model
        gradients: list[Any] = model.gradients(requests)
        return gradients


class TransformerModel:
    """A fine-tuned transformers model, behind the protocol of the zoo's models."""

    def __init__(self, classifier: transformers.SequenceClassifier) -> None:
        self.classifier = classifier
        self.parallel = classifier.parallel

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        return self.classifier.canonical(items)

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        return self.classifier.words_read(items)

    def logits(self, keys: Sequence[bytes]) -> Scores:
        return self.classifier.canonical_logits(keys)

    def close(self) -> None:
        self.classifier.close()


class TunedEncoderTarget(AttendingZooTarget):
    """A fine-tuned encoder of transformers, which can score candidates in a lower precision."""

    model: TransformerModel

    @property
    def precision(self) -> str:
        """What candidates are scored in."""
        return self.model.classifier.precision

    def candidate_scores(self, keys: Sequence[bytes]) -> Scores:
        """Compute the scores of candidates by their keys, in the lower precision."""
        return self.model.classifier.candidate_scores(keys)

    def lower(self, precision: str) -> None:
        """Score candidates in this precision from now on."""
        self.model.classifier = self.model.classifier.lowered(precision)


def check_mask(mask: str | None) -> None:
    """Refuse a mask that no model of the zoo reads."""
    if mask not in (None, PADDING, UNKNOWN):
        raise UsageError(
            f"Got --mask {mask!r} for a zoo model. Expected {PADDING} (a zero vector) or "
            f"{UNKNOWN} (the unknown word)."
        )


def load_folder(
    path: str | os.PathLike[str], *, device: str = "auto", mask: str | None = None
) -> ZooTarget:
    """Load a target from the folder of a trained model.

    With the mask "pad" a hole reads as a zero vector, with "unknown" as the unknown word.
    """
    check_mask(mask)
    folder = Path(path)
    card = load_card(folder)
    family = family_of(card)
    if family.no_target:
        raise no_target(family, card.full_name)
    if family.target is None or family.answers != "scores":
        raise UsageError(
            f"{folder} contains a {family.kind}; expected a classifier. Open it with "
            "brittle.as_target."
        )
    target: ZooTarget = family.target(folder, device, mask)
    return target


def open_additive(folder: Path, device: str, mask: str | None) -> AdditiveZooTarget:
    """Open naive Bayes or the linear SVM; a hole adds nothing, whatever the mask."""
    return AdditiveZooTarget(*open_model(folder, device))


def open_plain(folder: Path, device: str, mask: str | None) -> ZooTarget:
    """Open a model that answers scores alone."""
    return ZooTarget(*open_model(folder, device, _hole_id(mask)))


def open_network_target(folder: Path, device: str, mask: str | None) -> WhiteBoxZooTarget:
    """Open a network with its white box, and with its bounds if it has them."""
    model: Any
    card, model = open_model(folder, device, _hole_id(mask))
    from brittle.zoo.bounds import has_bounds  # imports torch, as the model does
    from brittle.zoo.white_box import NetworkWhiteBox

    attends = card.parts["encoder"] == "Transformer" or card.parts["head"] == "attention"
    kind = AttendingZooTarget if attends else WhiteBoxZooTarget
    if has_bounds(card.parts):
        kind = BoundedZooTarget
    own_mask = None if mask == UNKNOWN else mask  # a network reads holes so in any case
    return kind(card, model, lambda: NetworkWhiteBox(model, card.full_name), own_mask)


def open_tuned_encoder(folder: Path, device: str, mask: str | None) -> TunedEncoderTarget:
    """Open a fine-tuned encoder of transformers."""
    card = load_card_checked(folder)
    classifier = transformers.load(str(folder), device=device, mask=mask)
    return TunedEncoderTarget(card, TransformerModel(classifier), lambda: classifier, mask)


def open_picture_model(folder: Path, device: str, mask: str | None) -> PictureZooTarget:
    """Open a model that reads pictures."""
    return PictureZooTarget(*_open_on_pictures(folder, device, mask))


def open_picture_network(folder: Path, device: str, mask: str | None) -> PictureNetworkTarget:
    """Open a network that reads pictures."""
    return PictureNetworkTarget(*_open_on_pictures(folder, device, mask))


def _open_on_pictures(folder: Path, device: str, mask: str | None) -> tuple[Card, Model]:
    card, model = open_model(folder, device)
    if mask is not None:
        raise UsageError(
            f"Got --mask {mask!r} for {card.name}, which reads no words. Leave it out."
        )
    return card, model


def _hole_id(mask: str | None) -> int:
    return tokenizers.PAD if mask == PADDING else tokenizers.UNKNOWN
