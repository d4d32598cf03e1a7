"""What a target is, and the small further things it may offer.

Beside `scores`, the broker looks for these attributes; each has a default where it is missing:

| attribute | default | meaning |
|---|---|---|
| `canonical(items) -> list[bytes]` | the items' keys | equal keys: alike to the model |
| `canonical_scores(keys) -> array` | none | scores from keys: nothing is encoded twice |
| `parallel: int` | 1 | how many threads may call the target at once |
| `costly: bool` | False | answers are journalled before they are used |
| `batch: int or None` | None | the rows of one call; None: found automatically |
| `in_process: bool` | True | a watchdog guards the call, for nothing else can end it |
| `label_only: bool` | False | only hard labels come back, as one-hot scores |
| `close()` | none | frees what the target holds |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from brittle.text import Text

Scores = NDArray[np.float64]


@runtime_checkable
class Target(Protocol):
    """Anything that is attacked."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...


@runtime_checkable
class Classifies(Target, Protocol):
    """A target that gives a probability to each of its labels."""

    @property
    def labels(self) -> Sequence[str]: ...

    def scores(self, items: Sequence[Text]) -> Scores:
        """Give probabilities of shape (items, labels), one row per item, in order."""
        ...


@runtime_checkable
class Encodes(Classifies, Protocol):
    """A target whose canonical key is its encoded input, so that nothing is encoded twice."""

    def canonical(self, items: Sequence[Text]) -> list[bytes]: ...

    def canonical_scores(self, keys: Sequence[bytes]) -> Scores: ...
