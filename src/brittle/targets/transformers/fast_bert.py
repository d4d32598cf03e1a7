"""BERT sequence classifiers on the CPU, scored without the work that no logit depends on.

The products of the feed-forward layers take nearly all the time, so the way to be faster is to
multiply fewer rows, not to call them otherwise. Three kinds of rows are saved. Padding: the tokens
of a batch stand in one flat list, and attention runs over texts of one length at a time. In the
last layer, all but the first token of each text, the only one the classifier reads. In the first
layer, keys, queries and values of a token seen before at its place: an attack's candidates differ
in a word or two. The model's own modules do the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

# A model made of other parts than these (adapters, quantized layers) answers for itself.
PARTS = {
    *("BertForSequenceClassification", "BertModel", "BertEmbeddings", "BertEncoder", "BertLayer"),
    *("BertAttention", "BertSelfAttention", "BertSelfOutput", "BertIntermediate", "BertOutput"),
    *("BertPooler", "GELUActivation"),
    *("Embedding", "LayerNorm", "Linear", "Dropout", "Tanh", "ModuleList"),
}
SETTINGS = {
    "hidden_act": "gelu",
    "is_decoder": False,
    "add_cross_attention": False,
    "chunk_size_feed_forward": 0,
    "output_attentions": False,
    "output_hidden_states": False,
    "position_embedding_type": "absolute",
}


@dataclass(frozen=True, eq=False)
class FastBert:
    """The logits of a `BertForSequenceClassification` in evaluation mode, to rounding."""

    model: Any

    def logits(self, arrays: dict[str, NDArray[np.int64]]) -> Tensor:
        """Score a batch as `Tokens` pads it: on the right, best sorted by length."""
        inside = arrays["attention_mask"].astype(bool)
        length = inside.sum(axis=1)
        runs, heads = _runs(length), self.model.config.num_attention_heads
        *layers, last = self.model.bert.encoder.layer
        with torch.inference_mode():
            x, again = self._embedded(arrays, inside)
            for number, layer in enumerate(layers):
                own = layer.attention.self
                rows = [x, own.query(x), own.key(x), own.value(x)]
                if number == 0:
                    rows = [part.index_select(0, again) for part in rows]
                x = _rest(layer, rows[0], _attention(rows[1], rows[2], rows[3], runs, heads))
            own, first = last.attention.self, torch.from_numpy(np.cumsum(length) - length)
            x_first = x.index_select(0, first)
            seen = _attention(own.query(x_first), own.key(x), own.value(x), runs, heads)
            pooler = self.model.bert.pooler
            pooled = pooler.activation(pooler.dense(_rest(last, x_first, seen)))
            logits: Tensor = self.model.classifier(pooled)
        return logits

    def _embedded(
        self, arrays: dict[str, NDArray[np.int64]], inside: NDArray[np.bool_]
    ) -> tuple[Tensor, Tensor]:
        """Embed every token once per place and type; and say which of them stands where."""
        ids, table = arrays["input_ids"], self.model.bert.embeddings
        types = arrays.get("token_type_ids", np.zeros_like(ids))
        # By the types in use: one that the model does not know must not pass for another word.
        kinds, width = int(types.max()) + 1, ids.shape[1]
        numbers = (ids * kinds + types) * width + np.arange(width)
        distinct, again = np.unique(numbers[inside], return_inverse=True)
        rest, position = np.divmod(distinct, width)
        word, kind = np.divmod(rest, kinds)
        x = table.word_embeddings(torch.from_numpy(word))
        x = x + table.token_type_embeddings(torch.from_numpy(kind))
        x = x + table.position_embeddings(torch.from_numpy(position))
        return table.LayerNorm(x), torch.from_numpy(again)


def fast_bert(model: Any) -> FastBert | None:
    """Give the fast way to score this model; None where only the model itself is sure to do it."""
    parts = list(model.modules())
    plain = all(
        type(part).__name__ in PARTS
        and type(part).__module__.startswith(("torch.nn.modules.", "transformers."))
        and not ("forward" in vars(part) or part._forward_hooks or part._forward_pre_hooks)
        for part in parts
    )
    if type(model).__name__ != "BertForSequenceClassification" or not plain or model.training:
        return None
    config = model.config
    if any(getattr(config, name, value) != value for name, value in SETTINGS.items()):
        return None
    if config._attn_implementation not in ("sdpa", "eager") or len(model.bert.encoder.layer) < 2:
        return None
    weights = model.parameters()
    if any(w.dtype != torch.float32 or w.device.type != "cpu" for w in weights):
        return None
    return FastBert(model)


def _runs(length: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut a batch into stretches of texts of one length, which need no mask: how many, how long."""
    return [(len(list(texts)), n) for n, texts in groupby(length.tolist())]


def _attention(q: Tensor, k: Tensor, v: Tensor, runs: list[tuple[int, int]], heads: int) -> Tensor:
    """Attend within each text: from all its tokens or, where `q` has one row a text, from one."""
    seen: list[Tensor] = []
    alone = len(q) == sum(texts for texts, _ in runs)
    parts = [texts * n for texts, n in runs]
    queries = torch.split_with_sizes(q, [texts for texts, _ in runs] if alone else parts)
    keys, values = (torch.split_with_sizes(part, parts) for part in (k, v))
    for (texts, _), *rows in zip(runs, queries, keys, values):
        shape = (texts, -1, heads, q.shape[1] // heads)
        q_run, k_run, v_run = (part.view(shape).transpose(1, 2) for part in rows)
        out = scaled_dot_product_attention(q_run, k_run, v_run)
        seen.append(out.transpose(1, 2).reshape(-1, q.shape[1]))
    return torch.cat(seen)


def _rest(layer: Any, x: Tensor, seen: Tensor) -> Tensor:
    out: Tensor = layer.feed_forward_chunk(layer.attention.output(seen, x))
    return out
