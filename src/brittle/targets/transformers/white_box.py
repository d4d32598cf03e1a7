"""What a transformers model shows of its inside, word by word or character by character.

Gradients are taken at the model's input vectors: the rows of its embedding table, before positions
are added. The gradient of a word is the sum over its tokens, its vector their mean; a character
has those of the token that holds it. Edits are ranked by the tokens that a new word has in the
middle of a sentence (see `brittle.targets.transformers.tokenizer`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from brittle.answers import Attention, Embedding
from brittle.errors import TargetError, unknown
from brittle.moves import EditRequest, GradientAnswer, Level, ScoredMoves
from brittle.ranking.moves import rank_as_needed
from brittle.ranking.subwords import SubwordEdits, TokenGradients
from brittle.targets.alignment import (
    Alignment,
    gradients_of,
    sum_and_mean,
    token_gradients,
    vectors_of,
)
from brittle.targets.scores import as_probabilities
from brittle.targets.transformers.fast_bert import FastBert
from brittle.targets.transformers.instrumented import InstrumentedModel
from brittle.targets.transformers.tokenizer import (
    TextTokenizer,
    align_texts,
    tokens_of,
    whole_words,
)
from brittle.text import Text

TOKENS_PER_PASS_CPU, TOKENS_PER_PASS_GPU = 1024, 1 << 14  # a backward pass needs every state
TOKENS_PER_EMBEDDING_PASS = 4096  # a forward pass alone
TOKENS_PER_ATTENTION_PASS = 512  # every layer and head keeps a weight for each pair of tokens
INPUT = "embedding"

Batch = tuple[list[int], dict[str, NDArray[np.int64]]]


class TransformersWhiteBox:
    """The inside of a sequence classifier; as many threads may use it at once as may score.

    `fast` is the model's fast forward pass, if there is one.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: TextTokenizer,
        name: str,
        labels: Sequence[str],
        fast: FastBert | None = None,
    ) -> None:
        self.model, self.fast = model, fast
        self.tokenizer = tokenizer
        self.name = name
        self.labels = labels
        self.max_tokens = TOKENS_PER_PASS_CPU if model.device.type == "cpu" else TOKENS_PER_PASS_GPU

    @property
    def layers(self) -> tuple[str, ...]:
        """Name the layers: the input embeddings, then the layers of the model."""
        return (INPUT, *(f"layer {n + 1}" for n in range(self.model.config.num_hidden_layers)))

    def flips(self, requests: Sequence[EditRequest]) -> list[ScoredMoves]:
        """Compute every text's scores and best edits, by one forward and one backward pass each."""
        numbers: list[int] = []
        scores: list[list[float]] = []
        texts: list[TokenGradients] = []
        alignments = align_texts([request.text for request in requests], self.tokenizer)
        for batch, batch_scores, gradient in self._gradients(requests, alignments):
            numbers += batch
            scores += batch_scores
            texts += [
                token_gradients(requests[n], alignments[n], rows)
                for n, rows in zip(batch, gradient)
            ]
        in_order = [requests[n] for n in numbers]
        moves = rank_as_needed(in_order, scores, texts, self._token_edits.rank)
        answers = dict(zip(numbers, map(ScoredMoves, scores, moves)))
        return [answers[n] for n in range(len(requests))]

    def gradients(self, requests: Sequence[EditRequest]) -> list[GradientAnswer]:
        """Compute the scores, and the gradient of every objective along the input embeddings."""
        alignments = align_texts([request.text for request in requests], self.tokenizer)
        return gradients_of(requests, alignments, self._gradients(requests, alignments))

    def embeddings(self, items: Sequence[Text], layer: str, level: Level = "words") -> list[Any]:
        """Compute the vectors of words, or of characters, at a layer; NaN for those not read."""
        if layer not in self.layers:
            raise unknown("layer", layer, self.layers)
        alignments = align_texts(items, self.tokenizer)
        keys = [alignment.tokens.key for alignment in alignments]
        batches = self._batches(keys, self.max_tokens)
        passes = ((numbers, self._vectors(arrays, layer)) for numbers, arrays in batches)
        return vectors_of(level, alignments, passes)

    def _vectors(self, arrays: dict[str, NDArray[np.int64]], layer: str) -> Tensor:
        if layer == INPUT:
            return self.instrumented.table[arrays["input_ids"]]
        return self.instrumented.hidden(arrays, self.layers.index(layer))

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        """Compute the vector of every text that the last linear layer reads, and the scores."""
        return self.canonical_embeddings(self.tokenizer.encode(items))

    def canonical_embeddings(self, keys: Sequence[bytes]) -> list[Embedding]:
        """Compute the same of texts by their keys."""
        values: dict[int, Embedding] = {}
        max_tokens, who = max(TOKENS_PER_EMBEDDING_PASS, self.max_tokens), f"Target {self.name!r}"
        model: Any = self.fast or self.instrumented
        # Padding changes the last digits, but for the fast pass, which reads none.
        one_length = self.model.device.type == "cpu" and not self.fast
        for numbers, arrays in self._batches(keys, max_tokens, one_length):
            vectors, logits = (
                part.double().cpu().numpy() for part in model.pooled_and_logits(arrays)
            )
            scores = as_probabilities(logits, len(numbers), self.labels, "logits", who)
            values.update(zip(numbers, map(Embedding, vectors, scores.tolist())))
        return [values[n] for n in range(len(keys))]

    def attention(self, items: Sequence[Text]) -> list[Attention]:
        """Compute the attention weights from word to word, and from the summary position.

        The weight from one word to another is the mean over the tokens of the first of the sum over
        the tokens of the second. The summary position is the one from which the head reads the
        text, such as [CLS]; of several it is their mean. Words that are not read have zeros.
        """
        values: dict[int, Attention] = {}
        alignments = align_texts(items, self.tokenizer)
        keys = [alignment.tokens.key for alignment in alignments]
        for numbers, arrays in self._batches(keys, TOKENS_PER_ATTENTION_PASS):
            layers, shares = self._eager.attention(arrays)
            weights = [weight.double().cpu().numpy() for weight in layers]
            for i, (n, share) in enumerate(zip(numbers, shares.cpu().numpy())):
                total, mean = sum_and_mean(alignments[n])
                width = len(alignments[n].word)
                whole = np.stack([w[i, :, :width, :width] for w in weights])
                to_words, to_others = whole @ total.T, whole @ (alignments[n].word < 0)
                values[n] = Attention(
                    mean @ to_words,
                    share[:width] @ to_words,
                    to_others @ mean.T,
                    to_others @ share[:width],
                )
        return [values[n] for n in range(len(items))]

    def _gradients(
        self, requests: Sequence[EditRequest], alignments: Sequence[Alignment]
    ) -> Iterator[tuple[list[int], list[list[float]], Tensor]]:
        """Yield batches: numbers of requests, their scores, and the gradient at every token."""
        # Padding would change the last digits of gradients, and with them which edit is best.
        keys = [alignment.tokens.key for alignment in alignments]
        for numbers, arrays in self._batches(keys, self.max_tokens, one_length=True):
            batch = [requests[n] for n in numbers]
            logits, gradient = self.instrumented.gradients(arrays, batch)
            who = f"Target {self.name!r}"
            scores = as_probabilities(logits, len(batch), self.labels, "logits", who)
            yield numbers, scores.tolist(), gradient

    def _batches(
        self, keys: Sequence[bytes], max_tokens: int, one_length: bool = False
    ) -> Iterator[Batch]:
        if not all(keys):
            raise TargetError(f"Target {self.name!r} reads no token in an empty text.")
        return self.tokenizer.batches(keys, max_tokens, one_length)

    @cached_property
    def instrumented(self) -> InstrumentedModel:
        """The model with hooks, which also reads holes as zero vectors."""
        return InstrumentedModel(self.model, self.name, self.tokenizer.holes)

    @cached_property
    def _eager(self) -> InstrumentedModel:
        return InstrumentedModel(self.model, self.name, self.tokenizer.holes, eager=True)

    @cached_property
    def _token_edits(self) -> SubwordEdits:
        table, size = self.instrumented.table, self.instrumented.vocabulary_size
        pairs = list(zip(*whole_words(self.tokenizer)))
        # A tokenizer may have more tokens than the model has embeddings: those cannot be read.
        words = [word for word, token in pairs if token < size]
        ids = [token for _, token in pairs if token < size]
        return SubwordEdits(table, words, ids, partial(tokens_of, tokenizer=self.tokenizer))
