"""A faster forward pass of BERT sequence classifiers on the CPU.

The matrix products of the layers take nearly all the time, so rows that no logit depends on are
left out. Padding: the tokens of a batch are one flat list, and attention runs over texts of one
length at a time. The last layer: only the first token of each text is computed, because the
classifier reads no other. The first layer: queries, keys and values are computed once for each
distinct token at a position, because an attack's candidates differ only in a word or two. The
model's own modules compute the rest.
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

from brittle.ranking.top_k import repeat_last, whole_rows

# A model with other modules than these (adapters, quantized layers) runs its own forward pass.
MODULES = {
    "BertForSequenceClassification",
    "BertModel",
    "BertEmbeddings",
    "BertEncoder",
    "BertLayer",
    "BertAttention",
    "BertSelfAttention",
    "BertSelfOutput",
    "BertIntermediate",
    "BertOutput",
    "BertPooler",
    "GELUActivation",
    "Embedding",
    "LayerNorm",
    "Linear",
    "Dropout",
    "Tanh",
    "ModuleList",
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
    """Computes the logits of a `BertForSequenceClassification`, equal up to rounding.

    A token of the id `hole_id` has a zero vector.
    """

    model: Any
    hole_id: int = -1

    def logits(self, arrays: dict[str, NDArray[np.int64]]) -> Tensor:
        """Compute the logits of a batch that is padded on the right, best sorted by length."""
        return self.pooled_and_logits(arrays)[1]

    def pooled_and_logits(self, arrays: dict[str, NDArray[np.int64]]) -> tuple[Tensor, Tensor]:
        """Compute the vectors that the classifier reads, and the logits."""
        is_token = arrays["attention_mask"].astype(bool)
        length = is_token.sum(axis=1)
        # Neighbouring texts of one length need no mask: their number, and their length.
        runs = [(len(list(texts)), n) for n, texts in groupby(length.tolist())]
        heads = self.model.config.num_attention_heads
        *layers, last = self.model.bert.encoder.layer
        with torch.inference_mode():
            x, index = self._embed_distinct(arrays, is_token)
            for number, layer in enumerate(layers):
                attention = layer.attention.self
                rows = [x, attention.query(x), attention.key(x), attention.value(x)]
                if number == 0:
                    rows = [part.index_select(0, index) for part in rows]
                x, q, k, v = rows
                x = _feed_forward(layer, x, _attend(q, k, v, runs, heads))
            attention, first = last.attention.self, torch.from_numpy(np.cumsum(length) - length)
            x_first = whole_rows(x.index_select(0, first))
            q, k, v = attention.query(x_first), attention.key(x), attention.value(x)
            pooler = self.model.bert.pooler
            context = _attend(q, k, v, runs, heads, from_first=True)
            # Not in a lower precision: rounded logits would be equal for many texts.
            state = _feed_forward(last, x_first, context).to(pooler.dense.weight.dtype)
            with torch.autocast("cpu", enabled=False):
                pooled: Tensor = pooler.activation(pooler.dense(state))
                logits: Tensor = self.model.classifier(pooled)
        return pooled[: len(length)], logits[: len(length)]

    def _embed_distinct(
        self, arrays: dict[str, NDArray[np.int64]], is_token: NDArray[np.bool_]
    ) -> tuple[Tensor, Tensor]:
        """Embed every distinct triple of token, type and column; index them for all tokens.

        Both are padded to whole rows (see `brittle.ranking.top_k`).
        """
        ids, embeddings = arrays["input_ids"], self.model.bert.embeddings
        types = arrays.get("token_type_ids", np.zeros_like(ids))
        # Count the types in use: one that the model does not know must not become another token.
        type_count, width = int(types.max()) + 1, ids.shape[1]
        triples = (ids * type_count + types) * width + np.arange(width)
        distinct, index = np.unique(triples[is_token], return_inverse=True)
        rest, column = np.divmod(distinct, width)
        token_id, token_type = np.divmod(rest, type_count)
        is_hole = token_id == self.hole_id
        x = embeddings.word_embeddings(torch.from_numpy(np.where(is_hole, 0, token_id)))
        x[torch.from_numpy(is_hole)] = 0.0
        x = x + embeddings.token_type_embeddings(torch.from_numpy(token_type))
        x = x + embeddings.position_embeddings(torch.from_numpy(column))
        return whole_rows(embeddings.LayerNorm(x)), torch.from_numpy(repeat_last(index))


def fast_bert(model: Any, hole_id: int = -1) -> FastBert | None:
    """Return the fast forward pass of a model, or None if it might differ from the model's own."""
    is_plain = all(
        type(module).__name__ in MODULES
        and type(module).__module__.startswith(("torch.nn.modules.", "transformers."))
        and not ("forward" in vars(module) or module._forward_hooks or module._forward_pre_hooks)
        for module in model.modules()
    )
    if type(model).__name__ != "BertForSequenceClassification" or not is_plain or model.training:
        return None
    config = model.config
    if any(getattr(config, name, value) != value for name, value in SETTINGS.items()):
        return None
    if config._attn_implementation not in ("sdpa", "eager") or len(model.bert.encoder.layer) < 2:
        return None
    weights = model.parameters()
    if any(w.dtype != torch.float32 or w.device.type != "cpu" for w in weights):
        return None
    return FastBert(model, hole_id)


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    runs: list[tuple[int, int]],
    heads: int,
    from_first: bool = False,
) -> Tensor:
    """Attend within each text: from all its tokens, or from one if `q` has one row per text."""
    contexts: list[Tensor] = []
    text_counts = [texts for texts, _ in runs]
    sizes = [texts * n for texts, n in runs]
    query_sizes = text_counts if from_first else sizes
    queries = torch.split_with_sizes(q[: sum(query_sizes)], query_sizes)
    keys, values = (torch.split_with_sizes(part[: sum(sizes)], sizes) for part in (k, v))
    for texts, *rows in zip(text_counts, queries, keys, values):
        shape = (texts, -1, heads, q.shape[1] // heads)
        q_run, k_run, v_run = (part.view(shape).transpose(1, 2) for part in rows)
        context = scaled_dot_product_attention(q_run, k_run, v_run)
        contexts.append(context.transpose(1, 2).reshape(-1, q.shape[1]))
    return whole_rows(torch.cat(contexts))


def _feed_forward(layer: Any, x: Tensor, context: Tensor) -> Tensor:
    """Compute the layer's output from its input and the attention's context."""
    out: Tensor = layer.feed_forward_chunk(layer.attention.output(context, x))
    return out
