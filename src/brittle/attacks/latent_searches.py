"""How a latent space is searched for the nearest adversary: shells around a point, ever closer.

These are parts of attacks, to be used with `yield from`. A search looks into one shell after
another; `look(low, high)` returns the distance of the nearest adversary in it, None if there is
none. All of them end: what they look at is bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Protocol

from brittle.asks import Search

Look = Callable[[float, float], Search[float | None]]
SMALLEST_RADIUS = 1e-4  # where the authors' code gives up


class LatentSearch(Protocol):
    """Looks into shells of at most `radius`, in steps of `step`."""

    def __call__(self, look: Look) -> Search[None]: ...


@dataclass(frozen=True)
class Iterative:
    """Algorithm 1 of Zhao et al. (2018): shells of one width outward, until one has an adversary.

    The paper's loop has no end; here the last shell ends at `radius`.
    """

    step: float
    radius: float

    def __call__(self, look: Look) -> Search[None]:
        for n in range(ceil(self.radius / self.step - 1e-9)):
            nearest = yield from look(n * self.step, min((n + 1) * self.step, self.radius))
            if nearest is not None:
                return


@dataclass(frozen=True)
class Hybrid:
    """Algorithm 2 of Zhao et al. (2018): halve a wide shell, then go inward in steps.

    `misses` is the paper's B: so many shells of the second phase may be empty in a row.
    """

    step: float
    radius: float
    misses: int

    def __call__(self, look: Look) -> Search[None]:
        low, high = 0.0, self.radius
        while high - low >= self.step:
            nearest = yield from look(low, high)
            if nearest is None:
                low = (low + high) / 2
            else:
                low, high = 0.0, nearest
        missed = 0
        while missed < self.misses and high > 0:
            nearest = yield from look(max(0.0, high - self.step), high)
            if nearest is None:
                missed, high = missed + 1, high - self.step
            else:
                missed, high = 0, nearest


@dataclass(frozen=True)
class AuthorsHybrid:
    """The hybrid search as the authors' published code has it, which is not Algorithm 2.

    After a find it looks between half its distance and its distance, not from 0. A find that is no
    nearer halves the shell from outside, and counts as a miss. In the second phase a miss looks
    into the same shell again, and a find goes on below that shell.
    """

    step: float
    radius: float
    misses: int

    def __call__(self, look: Look) -> Search[None]:
        low, high, missed = 0.0, self.radius, 0
        best: float | None = None
        while missed < self.misses:
            nearest = yield from look(low, high)
            middle = (low + high) / 2
            if nearest is None:
                if high - low < self.step:
                    break
                low, missed = middle, 0
                continue
            if best is None or nearest < best:
                best, low, high, missed = nearest, nearest / 2, nearest, 0
            else:
                high, missed = middle, missed + 1
            if high - low < self.step:
                break
        high, missed = (high if best is None else best), 0
        while missed < self.misses and high > SMALLEST_RADIUS:
            low = max(0.0, high - self.step)
            nearest = yield from look(low, high)
            if nearest is None:
                missed += 1
            else:
                high, missed = low, 0


@dataclass(frozen=True)
class Uniform:
    """No search: `shells` looks into the whole ball, the baseline that a search has to beat."""

    radius: float
    shells: int

    def __call__(self, look: Look) -> Search[None]:
        for _ in range(self.shells):
            yield from look(0.0, self.radius)
