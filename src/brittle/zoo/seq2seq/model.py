"""A trained translator, opened from its folder. This file needs torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.ranking.top_k import WholeRows
from brittle.text import Text
from brittle.zoo import folder as folders
from brittle.zoo.device import cores, torch_device
from brittle.zoo.families import open_checked, restore_settings
from brittle.zoo.folder import Card
from brittle.zoo.restoring import ThreadUse, load_network, save_network
from brittle.zoo.seq2seq import pieces as piece_files
from brittle.zoo.seq2seq.decoding import Decoded, decode_batch
from brittle.zoo.seq2seq.network import EncodedSource, build_network
from brittle.zoo.seq2seq.pieces import BEGIN, UNKNOWN, Encoded, Pieces

MAX_PARALLEL_CALLS = 4
MAX_PIECES_PER_PASS = 4096  # of the sources, times the beam
MAX_WORDS = 20_000  # of the vocabulary
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AttendedSource:
    """What a text attends to, by pieces: `own` in the source, `cross` from the translation.

    Both are layers × heads × rows × source pieces; the rows of `cross` are the pieces of the
    translation, END included. A network without self-attention has no layers in `own`.
    """

    own: Array
    cross: Array
    translation: Decoded


@dataclass(eq=False)
class TranslationModel:
    """A network with its pieces; texts with as many pieces share a pass, so that none is padded."""

    network: Any = field(repr=False)
    pieces: Pieces = field(repr=False)
    reads: int
    vocabulary: tuple[str, ...] = field(repr=False, default=())
    beam: int = 1
    device: str = "cpu"
    parallel: int = 1
    threads: ThreadUse | None = field(default=None, repr=False)

    def encode(self, items: Sequence[Text]) -> list[Encoded]:
        """Encode texts as ids of pieces."""
        return self.pieces.encode_items(items, self.reads)

    def translate(self, encoded: Sequence[Encoded]) -> list[str]:
        """Translate encoded texts; a text without pieces has an empty translation."""
        return [self.pieces.decode(decoded.ids) for decoded in self.decode(encoded)]

    def decode(self, encoded: Sequence[Encoded]) -> list[Decoded]:
        """Translate encoded texts, in batches of texts with as many pieces."""
        decoded = [Decoded((), 0.0)] * len(encoded)
        per_pass = max(1, MAX_PIECES_PER_PASS // self.beam)
        for rows, ids in self._passes(encoded, per_pass):
            if ids.shape[1] > 1:  # more than END
                for row, translation in zip(rows, decode_batch(self.network, ids, self.beam)):
                    decoded[row] = translation
        return decoded

    def mean_states(self, encoded: Sequence[Encoded]) -> list[Array]:
        """Compute the mean of the encoder's last states over all pieces of each text."""
        return self._by_text(encoded, lambda source: source.state.mean(dim=1))

    def states(self, encoded: Sequence[Encoded], layer: int) -> list[Array]:
        """Compute the states of a layer (0: the embedding): pieces × width for each text."""
        return self._by_text(encoded, lambda source: source.layers[layer])

    def attend(self, encoded: Sequence[Encoded]) -> list[AttendedSource]:
        """Compute what the encoder attends to, and the decoder, when it writes the translation."""
        translations = self.decode(encoded)
        attended: list[AttendedSource | None] = [None] * len(encoded)
        for rows, ids in self._passes(encoded, 1):  # translations differ in length
            [row] = rows
            source = self.network.encode(ids)
            written = torch.tensor([[BEGIN, *translations[row].ids]], device=self.device)
            _, cross = self.network.decode(source, written)
            own = _stack(source.attention) if source.attention else np.zeros((0, 0, 0, 0))
            attended[row] = AttendedSource(own, _stack(cross), translations[row])
        return [one for one in attended if one is not None]

    def close(self) -> None:
        """Let torch use as many threads as without this model."""
        if self.threads is not None:
            self.threads.close()

    def _by_text(
        self, encoded: Sequence[Encoded], compute: Callable[[EncodedSource], Tensor]
    ) -> list[Array]:
        values: list[Any] = [None] * len(encoded)
        for rows, ids in self._passes(encoded, MAX_PIECES_PER_PASS):
            for row, value in zip(rows, compute(self.network.encode(ids)).cpu().double().numpy()):
                values[row] = value
        return values

    def _passes(
        self, encoded: Sequence[Encoded], max_pieces: int
    ) -> Iterator[tuple[list[int], Tensor]]:
        """Yield the rows of every pass, and their ids: the shortest texts first."""
        order = sorted(range(len(encoded)), key=lambda row: len(encoded[row].ids))
        with torch.inference_mode(), WholeRows():
            while order:
                length = len(encoded[order[0]].ids)
                count = max(1, max_pieces // length)
                rows = [row for row in order[:count] if len(encoded[row].ids) == length]
                order = order[len(rows) :]
                ids = np.stack([encoded[row].ids for row in rows])
                yield rows, torch.from_numpy(ids).to(self.device)


def write_model(folder: Path, network: Any, pieces: Pieces, vocabulary: Sequence[str]) -> None:
    """Write the weights, the pieces and the words of the source to a folder."""
    save_network(folder, network, vocabulary)
    pieces.save(folder / piece_files.FILE)


def open_translator(
    folder: Path, device: str = "auto", hole_id: int = UNKNOWN, beam: int = 1
) -> tuple[Card, TranslationModel]:
    """Load the card of a trained translator, checked against its files, and the model itself.

    It reads a hole as `hole_id`: as the unknown piece, or as `PAD`, a zero vector.
    """
    card = folders.load_card_checked(folder)
    model: TranslationModel = open_checked(folder, card, device, hole_id)
    model.beam = beam
    return card, model


def open_translation_model(folder: Path, card: Card, device: str, hole_id: int) -> TranslationModel:
    """Load a translator as its card says."""
    device = torch_device(device)
    pieces = Pieces.load(folder / piece_files.FILE, hole_id)
    settings = restore_settings(card)
    network = load_network(
        folder,
        lambda: build_network(card.parts["encoder"], settings, len(pieces)),
        settings.layers,
    )
    parallel = min(cores(), MAX_PARALLEL_CALLS) if device == "cpu" else 1
    return TranslationModel(
        network.requires_grad_(False).eval().to(device),
        pieces,
        settings.max_length,
        tuple(folders.load_words(folder / folders.VOCABULARY_FILE)),
        device=device,
        parallel=parallel,
        threads=ThreadUse(max(1, cores() // parallel)) if device == "cpu" else None,
    )


def _stack(layers: Sequence[Tensor]) -> Array:
    """Stack the weights of the layers of one text: layers × heads × rows × columns."""
    weights: Array = torch.cat(list(layers)).cpu().double().numpy()
    return weights
