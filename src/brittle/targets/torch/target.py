"""A torch module as a target, and one that reads whole sentences.

A network of the user's own as a target: scores, edits, gradients and vectors by layer.

Only texts of equal length share a pass, so that no text is padded because of another: a network
that reads its padding, such as a plain GRU, scores every text as it would alone. This file needs
torch.

A user's network that shows the vector of a text: what its head reads. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from brittle.answers import Embedding
from brittle.errors import UsageError, unknown
from brittle.moves import EditRequest, EditSpace, GradientAnswer, Level, ScoredMoves
from brittle.ranking.moves import rank_as_needed
from brittle.ranking.subwords import SubwordEdits
from brittle.targets.alignment import Alignment, gradients_of, token_gradients, vectors_of
from brittle.targets.fingerprints import code_of, hash_parts, probe_texts
from brittle.targets.options import FLOAT32
from brittle.targets.protocols import Scores
from brittle.targets.scores import as_probabilities
from brittle.targets.torch.network import Network
from brittle.targets.torch.tokens import SequenceEdits, SequenceGradients, TokenReader
from brittle.targets.torch.weights import hash_module
from brittle.text import Text

TOKENS_PER_PASS = 1 << 14
TOKENS_PER_GRADIENT_PASS = 1 << 12  # a backward pass needs every state
EMBEDDING = "embedding"

Batch = tuple[list[int], Tensor, Tensor]
"""The numbers of the texts, their ids (texts × tokens) and their lengths."""


class TorchTarget:
    """A network and its tokens; the canonical keys are the ids it reads, as int32 bytes.

    Weights are read as they are at first use: when they change, a new target is needed. `layers`
    names the parts of the network that have a vector for every token. `precision` is what
    `candidate_scores` computes in; everything else is in float32.
    """

    parallel = 1

    def __init__(
        self,
        network: Network,
        reader: TokenReader,
        layers: Sequence[str] = (),
        min_length: int = 1,
        batch: int | None = None,
        precision: str = FLOAT32,
    ) -> None:
        self.network, self.reader = network, reader
        self.name, self.labels = network.name, network.labels
        self.layers = (EMBEDDING, *layers)
        self.min_length, self.batch, self.precision = min_length, batch, precision

    def __repr__(self) -> str:
        return f"TorchTarget({self.name!r})"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the weights, the code and settings of the network, and what it reads of texts."""
        network, reader = self.network, self.reader
        settings = [reader.unknown_id, reader.padding_id, reader.separator_id, reader.mask]
        settings += [reader.max_length, self.min_length, network.kind, network.embedding]
        code = [code_of(part) for part in (network.module, network.call, reader.tokenize) if part]
        vocabulary = repr(sorted(reader.vocabulary.items()))
        about = (repr(settings), vocabulary, *self.labels, *code)
        # A tokenizer may hold more than its code shows.
        return hash_module(network.module, *about, *reader.encode(probe_texts()))

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The words in the network's vocabulary."""
        return tuple(self.reader.words)

    def canonical(self, items: Sequence[Text]) -> list[bytes]:
        """Return the ids of texts; the network cannot distinguish texts of equal ids."""
        return self.reader.encode(items)

    def canonical_scores(self, keys: Sequence[bytes]) -> Scores:
        """Compute the probabilities of texts by their keys."""
        return self._scores(keys, FLOAT32)

    def candidate_scores(self, keys: Sequence[bytes]) -> Scores:
        """Compute the probabilities of candidates by their keys, in the target's precision."""
        return self._scores(keys, self.precision)

    def _scores(self, keys: Sequence[bytes], precision: str) -> Scores:
        scores = np.zeros((len(keys), len(self.labels)))
        for rows, logits in self._logits(keys, precision):
            scores[rows] = self._probabilities(logits)
        return scores

    def scores(self, items: Sequence[Text]) -> Scores:
        return self.canonical_scores(self.canonical(items))

    def logits(self, items: Sequence[Text]) -> Scores:
        """Compute the scores before the softmax."""
        table = np.zeros((len(items), len(self.labels)))
        for rows, logits in self._logits(self.canonical(items)):
            table[rows] = logits
        return table

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        """Return for every text the positions of the words that are read at least in part."""
        return [self.reader.align(item).read for item in items]

    def flips(self, requests: Sequence[EditRequest]) -> list[ScoredMoves]:
        """Compute every text's scores and best edits, by one forward and one backward pass each."""
        answers: dict[int, ScoredMoves] = {}
        alignments = [self.reader.align(request.text) for request in requests]
        for numbers, scores, gradient in self._gradients(requests, alignments):
            groups: dict[EditSpace, list[int]] = {}
            for row, n in enumerate(numbers):
                groups.setdefault(requests[n].space, []).append(row)
            for space, rows in groups.items():
                batch = [numbers[row] for row in rows]
                texts = [(requests[n], alignments[n], gradient[r]) for r, n in zip(rows, batch)]
                score = [scores[row] for row in rows]
                rank = partial(self._rank, space=space)
                moves = rank_as_needed([requests[n] for n in batch], score, texts, rank)
                answers.update(zip(batch, map(ScoredMoves, score, moves)))
        return [answers[n] for n in range(len(requests))]

    def gradients(self, requests: Sequence[EditRequest]) -> list[GradientAnswer]:
        """Compute the scores, and the gradient of every objective along the vectors of tokens."""
        alignments = [self.reader.align(request.text) for request in requests]
        return gradients_of(requests, alignments, self._gradients(requests, alignments))

    def embeddings(self, items: Sequence[Text], layer: str, level: Level = "words") -> list[Any]:
        """Compute the vectors of words at a layer, the mean over their tokens; NaN if not read."""
        if layer not in self.layers:
            raise unknown(f"layer of {self.name!r}", layer, self.layers)
        alignments = [self.reader.align(item) for item in items]
        batches = self._batches([a.tokens.key for a in alignments], TOKENS_PER_PASS)
        passes = (
            (numbers, self._vectors(ids, lengths, layer)) for numbers, ids, lengths in batches
        )
        return vectors_of(level, alignments, passes)

    def _vectors(self, ids: Tensor, lengths: Tensor, layer: str) -> Tensor:
        return self._table[ids] if layer == EMBEDDING else self.network.outputs(ids, lengths)[layer]

    def _rank(
        self, texts: Sequence[tuple[EditRequest, Alignment, Tensor]], space: EditSpace
    ) -> Sequence[Any]:
        if not self.reads_characters:
            return self._token_edits.rank([token_gradients(*text) for text in texts])
        if space.level == "words":
            raise UsageError(
                f"Target {self.name!r} reads characters: it has no vocabulary of words to "
                "choose from. Use an attack that edits characters, such as hotflip, or a "
                "black-box attack such as pwws."
            )
        return self._sequence_edits.rank([SequenceGradients(*text) for text in texts], space)

    @cached_property
    def reads_characters(self) -> bool:
        """Whether every token is a character."""
        tokens = [t for text in probe_texts() for t in self.reader.split(text.render())]
        return bool(tokens) and all(len(token) == 1 for token in tokens)

    @cached_property
    def _table(self) -> Tensor:
        return self.network.table()

    @cached_property
    def _token_edits(self) -> SubwordEdits:
        words = self.reader.words
        return SubwordEdits(self._table, list(words), list(words.values()), self.reader.tokens_of)

    @cached_property
    def _sequence_edits(self) -> SequenceEdits:
        return SequenceEdits(self._table, self.reader)

    def _gradients(
        self, requests: Sequence[EditRequest], alignments: Sequence[Alignment]
    ) -> Iterator[tuple[list[int], list[list[float]], Tensor]]:
        """Yield batches: numbers of requests, their scores, and the gradient at every token."""
        keys = [alignment.tokens.key for alignment in alignments]
        for numbers, ids, lengths in self._batches(keys, TOKENS_PER_GRADIENT_PASS):
            batch = [requests[n] for n in numbers]
            logits, gradient = self.network.gradients(ids, lengths, batch)
            yield numbers, self._probabilities(logits.numpy()).tolist(), gradient

    def _logits(
        self, keys: Sequence[bytes], precision: str = FLOAT32
    ) -> Iterator[tuple[list[int], Any]]:
        for rows, ids, lengths in self._batches(keys, TOKENS_PER_PASS):
            yield rows, self.network.logits(ids, lengths, precision).numpy()

    def _probabilities(self, logits: Any) -> Scores:
        return as_probabilities(logits, len(logits), self.labels, "logits", f"Target {self.name!r}")

    def _batches(self, keys: Sequence[bytes], max_tokens: int) -> Iterator[Batch]:
        """Yield texts of equal length, at most so many tokens in a pass."""
        by_length: dict[int, list[int]] = {}
        for n, key in enumerate(keys):
            by_length.setdefault(len(key) >> 2, []).append(n)
        device = self.network.device
        for length, numbers in sorted(by_length.items()):
            width = max(length, self.min_length)
            for part in _cut(numbers, width, max_tokens):
                ids = np.full((len(part), width), self.reader.padding_id or 0, dtype=np.int64)
                ids[:, :length] = [np.frombuffer(keys[n], dtype=np.int32) for n in part]
                lengths = torch.full((len(part),), length)  # on the CPU, where packing needs it
                yield part, torch.from_numpy(ids).to(device), lengths


def _cut(numbers: list[int], width: int, max_tokens: int) -> Iterator[list[int]]:
    """Cut texts of one width into passes.

    No pass is a square, of which one could not tell whether a network turns it.
    """
    start = 0
    while start < len(numbers):
        count = min(max(1, max_tokens // width), len(numbers) - start)
        count -= count == width > 1
        yield numbers[start : start + count]
        start += count


class TorchTargetWithHead(TorchTarget):
    """A target whose network has a part, `head`, that reads one vector of every text."""

    def __init__(self, head: str, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.head = head

    @cached_property
    def fingerprint(self) -> str:
        return hash_parts(super().fingerprint, self.head)

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        """Compute for every text what the head reads, and the scores of the same pass."""
        values: dict[int, Embedding] = {}
        for numbers, ids, lengths in self._batches(self.canonical(items), TOKENS_PER_PASS):
            vectors, logits = self.network.head_input(ids, lengths, self.head)
            scores = self._probabilities(logits.numpy()).tolist()
            values.update(zip(numbers, map(Embedding, vectors.numpy(), scores)))
        return [values[n] for n in range(len(items))]
