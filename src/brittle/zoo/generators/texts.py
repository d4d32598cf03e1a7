"""A trained generator of sentences: encodes them by encoder and inverter. This file needs torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.english.sentence_encoder import MODULE, SentenceEncoder
from brittle.errors import UsageError, require
from brittle.latent import LatentPoint, encoded_points
from brittle.ranking.top_k import ROWS, whole_rows
from brittle.text import Text
from brittle.zoo import folder as folders
from brittle.zoo.device import cores, portable_device, torch_device
from brittle.zoo.families import restore_settings
from brittle.zoo.folder import Card
from brittle.zoo.generators.arae import ARAE, parts_of
from brittle.zoo.generators.refining import refined_identity
from brittle.zoo.generators.sentences import SentenceStyle, SentenceTokenizer
from brittle.zoo.generators.vae import SentenceVAE
from brittle.zoo.restoring import ThreadUse, check_row_length, restore_weights
from brittle.zoo.tokenizers import PAD, UNKNOWN

ROWS_PER_PASS = 128
NO_WORDS = "it has no words"
REBUILT = "words rebuilt through the code"  # a figure on the card
Tensors = Mapping[str, NDArray[Any]]
Restore = Callable[[Any, int, Tensors], ARAE | SentenceVAE]
"""Builds the networks of a card's settings and of so many words, with these weights."""


class SentenceGenerator:
    """Encodes sentences as latent points and decodes points, the likeliest word at every position.

    A row is computed alike in every batch: networks are in evaluation mode, and passes have a
    multiple of 16 rows. With `refine` the latent points are improved by so many steps of descent
    towards the code of the sentence.
    """

    item_kind = "text"
    encoder = SentenceEncoder()  # of meaning; it is loaded when it is first asked

    def __init__(
        self,
        restore: Restore,
        card: Card,
        model: ARAE | SentenceVAE,
        tokenizer: SentenceTokenizer,
        device: str,
        refine: int = 0,
    ) -> None:
        self.restore, self.card, self.device, self.refine = restore, card, device, refine
        self.model, self.tokenizer = model, tokenizer
        self.name, self.fingerprint = refined_identity(card, refine)
        self.size = int(card.settings["latent"])
        on_cpu = device == "cpu"
        self.parallel = cores() if on_cpu else 1
        self._threads = ThreadUse(1) if on_cpu else None

    def __repr__(self) -> str:
        return f"SentenceGenerator({self.name!r})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Travel by content: a worker has weights and words, and no folder of the driver's."""
        tensors = {name: tensor.cpu().numpy() for name, tensor in self.model.state_dict().items()}
        words, device = self.tokenizer.words, portable_device(self.device)
        parts = (self.restore, self.card, tensors, words, device, self.refine)
        return build_sentence_generator, parts

    def unfit(self, item: Text) -> str | None:
        """Say why a text cannot be encoded: too long, no words, or none that is known."""
        ids = self.tokenizer.ids(item)
        if not ids:
            return NO_WORDS
        if len(ids) > self.tokenizer.reads:
            reads = self.tokenizer.reads
            return f"it has more than {reads} words, the most that {self.card.full_name} reads"
        if all(token == UNKNOWN for token in ids):
            return f"{self.card.full_name} knows none of its words"
        return None

    def doubt(self, items: Sequence[Text]) -> str | None:
        """Warn of texts that are rebuilt far worse than held-out sentences of the own data."""
        fitting = [item for item in items if self.unfit(item) is None]
        usual = self.card.measures.get(REBUILT)
        if not fitting or usual is None:
            return None
        inputs = self._read(fitting)
        rows = inputs[0]
        with torch.no_grad():
            again = self._passes(self.model.rebuilt, *inputs)
            asked = rows != PAD
            share = float((again[:, : rows.shape[1]] == rows)[asked].float().mean())
        if share >= usual / 2:
            return None
        return (
            f"{self.card.full_name} reconstructs {share:.0%} of the words of these texts, "
            f"but {usual:.0%} in its own data, so its sentences may differ a lot from "
            "these texts. Train a generator on texts like these."
        )

    def encode(self, items: Sequence[Text]) -> list[LatentPoint]:
        for item in items:
            reason = self.unfit(item)
            if reason is not None:
                raise UsageError(f"The text {str(item)[:60]!r} cannot be encoded: {reason}.")
        inputs = self._read(items)
        rows = inputs[0]
        with torch.no_grad():
            latent = self._passes(self.model.points, *inputs)
        if self.refine:
            refined = self.model.refined(_whole(latent).clone(), _whole(rows), self.refine)
            latent = refined[: len(rows)]
        return encoded_points(latent.cpu().numpy(), self.name)

    def decode(self, points: Sequence[LatentPoint]) -> list[Text]:
        rows: NDArray[np.float32] = np.stack([point.vector for point in points])
        if rows.shape[1] != self.size:
            raise UsageError(
                f"Got latent points of {rows.shape[1]} numbers; {self.card.full_name} decodes "
                f"points of {self.size}."
            )
        with torch.inference_mode():
            z = torch.from_numpy(rows).to(self.device)
            ids = self._passes(self.model.decode, z)
        return [Text.of(self.tokenizer.sentence(row)) for row in ids.tolist()]

    def refined(self, steps: int) -> SentenceGenerator:
        """Return the same generator with latent points that are improved by descent."""
        parts = (self.restore, self.card, self.model, self.tokenizer, self.device)
        return SentenceGenerator(*parts, steps)

    def close(self) -> None:
        """Let torch use as many threads as without this generator."""
        if self._threads is not None:
            self._threads.close()

    def _read(self, items: Sequence[Text]) -> list[Tensor]:
        """Return rows of word ids, and the meaning of each text, where it is read.

        Texts are read for it one by one: the last digits depend on what else is read.
        """
        inputs = [torch.from_numpy(self.tokenizer.rows(items))]
        if self.model.reads_meaning:
            vectors = [self.encoder.vectors([item])[0] for item in items]
            inputs.append(torch.from_numpy(np.stack(vectors).astype(np.float32)))
        return [tensor.to(self.device) for tensor in inputs]

    def _passes(self, compute: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
        parts = zip(*(parts_of(tensor, ROWS_PER_PASS) for tensor in inputs))
        return torch.cat([compute(*map(_whole, part))[: len(part[0])] for part in parts])


def _whole(rows: Tensor) -> Tensor:
    return whole_rows(rows) if len(rows) % ROWS else rows


def open_arae(folder: Path, card: Card, device: str, hole_id: int) -> SentenceGenerator:
    """Load an ARAE as its card says, with the weights and the vocabulary of its folder."""
    return _open(folder, card, device, restore_arae)


def open_vae(folder: Path, card: Card, device: str, hole_id: int) -> SentenceGenerator:
    """Load a VAE as its card says, with the weights and the vocabulary of its folder."""
    if card.settings.get("encoder") != "words":
        require(MODULE, "similarity", f"The generator {card.full_name!r}")
    return _open(folder, card, device, restore_vae)


def _open(folder: Path, card: Card, device: str, restore: Restore) -> SentenceGenerator:
    words = folders.load_words(folder / folders.VOCABULARY_FILE)
    tensors = folders.load_tensors(folder / folders.WEIGHTS_FILE)
    return build_sentence_generator(restore, card, tensors, words, device)


def restore_arae(settings: Any, words: int, tensors: Tensors) -> ARAE:
    """Build an ARAE of these weights, without its critic, which is not kept."""

    def without_critic() -> ARAE:
        model = ARAE(settings, words)
        del model.critic
        return model

    return restore_weights(
        without_critic, tensors, max(len(settings.layers), len(settings.filters))
    )


def restore_vae(settings: Any, words: int, tensors: Tensors) -> SentenceVAE:
    """Build a VAE of these weights."""
    return restore_weights(lambda: SentenceVAE(settings, words), tensors)


def build_sentence_generator(
    restore: Restore,
    card: Card,
    tensors: Tensors,
    words: Sequence[str],
    device: str,
    refine: int = 0,
) -> SentenceGenerator:
    """Build a generator as its card says, with these weights and words."""
    settings = restore_settings(card)
    style = SentenceStyle(bool(card.parts["capital"]), str(card.parts["closing"]))
    tokenizer = SentenceTokenizer(words, settings.max_length, style)
    check_row_length("max_length", settings.max_length)
    chosen = torch_device(device)
    model = restore(settings, len(tokenizer), tensors).requires_grad_(False).eval().to(chosen)
    return SentenceGenerator(restore, card, model, tokenizer, chosen, refine)
