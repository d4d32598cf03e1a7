"""One cloud of decoded samples around an item, about which every target is asked.

First comes a cloud of balls, each half as wide as the one before, which finds the boundary of every
target roughly. Then each boundary is refined by thin shells, from outside in, as in the second
phase of the hybrid search (Algorithm 2 of Zhao et al., 2018). The shells lie on one grid, and a
shell is decoded once for all targets that look into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.attacks.natural import placed_all
from brittle.errors import message_of
from brittle.latent import LatentPoint, draw_shell

FIRST_ASKED = 64  # samples of a shell that are asked about before the others
BALLS = 3  # a ball has so many times the samples of a shell: a boundary found well needs few shells
Floats = NDArray[np.float64]
Predict = Callable[[Sequence[Any]], NDArray[np.int64]]
"""Returns the index of the predicted label for every item."""


@dataclass(frozen=True)
class CloudSettings:
    """The paper's N, Δr and B, and the radius of the widest ball."""

    samples: int = 500
    step: float = 0.01
    radius: float = 10.0
    misses: int = 5


@dataclass(frozen=True)
class Shell:
    """Decoded samples, sorted by their distance from the middle of the cloud.

    `first` has for every sample the number of the first one that is equal: near a sentence most
    samples are.
    """

    distance: Floats
    points: list[LatentPoint]
    items: Sequence[Any]
    first: NDArray[np.int64]

    def parts(self, count: int) -> Iterator[NDArray[np.int64]]:
        """Yield the numbers of the nearest samples, then of the others; equal ones once."""
        for start, end in ((0, min(FIRST_ASKED, count)), (FIRST_ASKED, count)):
            part = np.arange(start, max(start, end))
            yield part[self.first[part] == part]

    def chosen(self, part: NDArray[np.int64]) -> Sequence[Any]:
        """Return the samples of a part; where nothing is left out, without a copy."""
        start, end = int(part[0]), int(part[-1]) + 1
        if end - start == len(part):
            return self.items[start:end]
        return [self.items[n] for n in part]


@dataclass
class Cloud:
    """The samples around `origin`, the latent point of `original`; each part is drawn by its name.

    `decoded` counts the samples.
    """

    generator: Any
    original: Any
    origin: LatentPoint
    settings: CloudSettings
    seed: str
    decoded: int = 0

    def balls(self) -> Iterator[Shell]:
        """Yield samples of ever smaller balls, down to the width of a shell."""
        radius = self.settings.radius
        while radius >= self.settings.step:
            yield self._draw(0.0, radius, f"ball {radius:.6g}", BALLS * self.settings.samples)
            radius /= 2

    def shell(self, number: int) -> Shell:
        """Return samples of the shell (number · Δr, (number + 1) · Δr]."""
        step = self.settings.step
        name = f"shell {number}"
        return self._draw(number * step, (number + 1) * step, name, self.settings.samples)

    def _draw(self, low: float, high: float, name: str, count: int) -> Shell:
        numbers = np.random.default_rng(Random(f"{self.seed}:{name}").getrandbits(64))
        origin = self.origin.vector
        offset, distance = draw_shell(numbers, count, origin.size, low, high)
        order = np.argsort(distance)
        points = LatentPoint.rows(origin + offset[order])
        self.decoded += count
        items = placed_all(self.original, self.generator.decode(points))
        seen: dict[bytes, int] = {}
        first = [seen.setdefault(item.key, n) for n, item in enumerate(items)]
        return Shell(distance[order], points, items, np.array(first))


@dataclass
class Boundary:
    """What is known of one target: the nearest samples that it predicts otherwise.

    `winners` are distances and points, the nearest last. A target that fails is asked no more;
    `failure` says why.
    """

    predict: Predict
    reference: int
    queries: int = 0
    missed: int = 0
    winners: list[tuple[float, LatentPoint]] = field(default_factory=list)
    failure: str = ""

    @property
    def nearest(self) -> float:
        return self.winners[-1][0] if self.winners else np.inf

    def look(self, shell: Shell) -> bool:
        """Ask about samples nearer than the nearest winner, until one wins; tell whether one did.

        The nearest are asked about first, so those after a winner are of no use.
        """
        for part in shell.parts(int(np.searchsorted(shell.distance, self.nearest))):
            if self.failure or not len(part):
                continue
            self.queries += len(part)
            try:
                labels = self.predict(shell.chosen(part))
            except Exception as error:
                self.failure = message_of(error)
                return False
            won = part[labels != self.reference]
            self.winners += [(float(shell.distance[n]), shell.points[n]) for n in won[::-1]]
            if len(won):
                return True
        return False


def find_boundaries(cloud: Cloud, boundaries: Mapping[str, Boundary]) -> None:
    """Find the nearest adversary of every target in one cloud."""
    for ball in cloud.balls():
        for boundary in boundaries.values():
            boundary.look(ball)
    step = cloud.settings.step
    looking = {
        name: ceil(boundary.nearest / step - 1e-9) - 1
        for name, boundary in boundaries.items()
        if boundary.winners
    }
    while looking:
        # The outermost shell first, so that each is decoded once and none is kept.
        number = max(looking.values())
        shell = cloud.shell(number)
        for name in [name for name, at in looking.items() if at == number]:
            boundary = boundaries[name]
            boundary.missed = 0 if boundary.look(shell) else boundary.missed + 1
            looking[name] = number - 1
            if boundary.missed == cloud.settings.misses or number == 0:
                del looking[name]
