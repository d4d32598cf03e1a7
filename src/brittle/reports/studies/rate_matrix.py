"""The matrix of a transfer study as it is shown; an empty cell is NaN.

Its rates are there twice: over all texts, and over those that a target had right before the attack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from brittle.formatting import plural

Rates = NDArray[np.float64]
Counts = NDArray[np.int64]

WAYS = {"architecture": "architecture", "reads": "what it reads"}
"""By the name of a way to group models: how a reader calls it."""


@dataclass(frozen=True)
class Model:
    """A source or target by its name; `classes` has its class by each way to group models.

    `members` are the targets that an ensemble consists of, by name.
    """

    name: str
    classes: Mapping[str, str] = field(default_factory=dict)
    members: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RateMatrix:
    """The share of every source's texts that every target gets wrong; rows are sources.

    `texts` counts the texts of each source, `right` those that each target had right.
    """

    sources: tuple[Model, ...]
    targets: tuple[Model, ...]
    rate: Rates
    rate_of_right: Rates
    texts: Counts
    right: Counts

    @property
    def size(self) -> str:
        """The number of sources and of targets, in words."""
        return f"{plural(len(self.sources), 'sources')} × {plural(len(self.targets), 'targets')}"

    def rates(self, of_right: bool) -> Rates:
        """Return the rates over all texts, or over those that a target had right."""
        return self.rate_of_right if of_right else self.rate

    @property
    def is_base(self) -> NDArray[np.bool_]:
        """Tell which cells are base rates: source and target are one model of two seeds."""
        sources, targets = (
            np.array([model.name for model in models], dtype=str)
            for models in (self.sources, self.targets)
        )
        is_base: NDArray[np.bool_] = sources[:, None] == targets
        return is_base

    @property
    def is_pair(self) -> NDArray[np.bool_]:
        """Tell which cells are of two models, neither one model nor an ensemble and its member."""
        is_member = [[t.name in source.members for t in self.targets] for source in self.sources]
        is_other = ~np.array(is_member, dtype=bool).reshape(self.rate.shape)
        is_pair: NDArray[np.bool_] = ~self.is_base & is_other
        return is_pair
