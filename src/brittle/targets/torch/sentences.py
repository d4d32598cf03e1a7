"""A user's network that shows the vector of a text: what its head reads. This file needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from brittle.inside import Embedding
from brittle.targets.fingerprints.hashing import hash_parts
from brittle.targets.torch.target import TOKENS_PER_PASS, TorchTarget
from brittle.text import Text


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
