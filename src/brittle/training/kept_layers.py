"""The layers of a frozen biLM for the texts of a training, computed once for all epochs.

This file needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from brittle.zoo.batches import Tokenizer, make_row_batch, split_rows
from brittle.zoo.networks import Classifier

MAX_BYTES = 1 << 29  # the layers of texts beyond these are computed again in every epoch


class KeptLayers:
    """The layers of the texts met so far, in half precision, up to `max_bytes`."""

    def __init__(
        self, network: Classifier, tokenizer: Tokenizer, device: str, max_bytes: int = MAX_BYTES
    ) -> None:
        self.network, self.tokenizer, self.device = network, tokenizer, device
        self._bytes_left = max_bytes
        self._kept: dict[bytes, Tensor] = {}

    def logits(self, keys: Sequence[bytes]) -> Tensor:
        """Compute the logits of encoded texts from the layers of the biLM."""
        rows = split_rows(keys, self.tokenizer)
        new = [row for row in dict.fromkeys(rows) if row not in self._kept]
        computed = dict(zip(new, self._compute(new))) if new else {}
        layers = [self._kept[row] if row in self._kept else computed[row] for row in rows]
        for row, layer in computed.items():
            size = layer.numel() * layer.element_size()
            if size <= self._bytes_left:
                self._kept[row] = layer
                self._bytes_left -= size
        padded = torch.nn.utils.rnn.pad_sequence(layers, batch_first=True).to(self.device).float()
        length = torch.tensor([len(layer) for layer in layers], device=self.device)
        return self.network.classify(self.network.mixed(padded.unbind(dim=2)), length)

    def _compute(self, rows: Sequence[bytes]) -> list[Tensor]:
        """Compute the layers of each text: words × layers × width."""
        network, batch = self.network, make_row_batch(rows, self.tokenizer, self.device)
        assert network.bilm is not None
        with torch.no_grad():
            vectors = network.vectors(network.embed(batch), batch)
            layers = torch.stack(network.bilm.layers(vectors, batch.length), dim=2)
        whole = layers.half().cpu()
        return [text[:length].clone() for text, length in zip(whole, batch.length.tolist())]
