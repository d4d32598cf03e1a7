"""The forward pass of MiniLM, without transformers: it loads in a fraction of a second.

Texts of one length are computed together, so that there is no padding.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.errors import require

WHAT = "The helper 'all-MiniLM-L6-v2'"
MASK = "[MASK]"
MAX_TOKENS = 512
TOKENS_PER_PASS = 2048


class MiniLM:
    """A BERT encoder in a folder: the mean of its last states, scaled to length 1."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return a row for every text; texts are cut to 512 tokens."""
        torch = require("torch", "transformers", WHAT)
        tokens = [encoded.ids for encoded in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(texts)), key=lambda n: len(tokens[n]))
        rows = np.zeros((len(texts), self._config["hidden_size"]))
        with torch.inference_mode():
            for length, group in groupby(order, key=lambda n: len(tokens[n])):
                numbers = list(group)
                at_once = max(1, TOKENS_PER_PASS // length)
                for start in range(0, len(numbers), at_once):
                    part = numbers[start : start + at_once]
                    ids = torch.tensor([tokens[n] for n in part])
                    rows[part] = self._mean_state(ids).double().numpy()
        return rows

    def _mean_state(self, ids: Any) -> Any:
        """Compute the mean of the last states of texts of one length (texts × tokens)."""
        import torch.nn.functional as functional

        texts, length = ids.shape
        x = self._embed(ids).view(texts * length, -1)
        for n in range(self._config["num_hidden_layers"]):
            layer = f"encoder.layer.{n}."
            x = self._norm(layer + "attention.output", x + self._attend(layer, x, texts))
            inner = functional.gelu(self._linear(layer + "intermediate.dense", x))
            x = self._norm(layer + "output", x + self._linear(layer + "output.dense", inner))
        return functional.normalize(x.view(texts, length, -1).mean(dim=1))

    def _embed(self, ids: Any) -> Any:
        weights = self._weights
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        return self._norm("embeddings", x + weights["embeddings.token_type_embeddings.weight"][0])

    def _attend(self, layer: str, x: Any, texts: int) -> Any:
        from torch.nn.functional import scaled_dot_product_attention

        heads = self._config["num_attention_heads"]
        names = [f"{layer}attention.self.{part}" for part in ("query", "key", "value")]
        parts = [
            self._linear(name, x).view(texts, -1, heads, x.shape[1] // heads) for name in names
        ]
        context = scaled_dot_product_attention(*(part.transpose(1, 2) for part in parts))
        flat = context.transpose(1, 2).reshape(x.shape)
        return self._linear(layer + "attention.output.dense", flat)

    def _linear(self, name: str, x: Any) -> Any:
        from torch.nn.functional import linear

        return linear(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, name: str, x: Any) -> Any:
        from torch.nn.functional import layer_norm

        weight, bias = (self._weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return layer_norm(x, weight.shape, weight, bias, self._config["layer_norm_eps"])

    @cached_property
    def _config(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "config.json").read_text("utf-8")))

    @cached_property
    def _weights(self) -> dict[str, Any]:
        from safetensors.torch import load_file

        return dict(load_file(self.folder / "model.safetensors"))

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizers = require("tokenizers", "transformers", WHAT)
        tokenizer = tokenizers.Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer
