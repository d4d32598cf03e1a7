"""Theorem 1 of the self-attention paper, checked with numbers.

Scores of attention are s_ij = x_iᵀ W_Q W_Kᵀ x_j. One word j changes by Δ, of length δ. Every other
word i then has s′ − s = x_iᵀ z, with z = W_Q W_Kᵀ Δ the same for all i. If x_i is uniform on the
unit sphere of R^d, the theorem says (On the Robustness of Self-Attentive Models, Hsieh et al.,
2019, Section 7), with C = ‖W_Q‖ ‖W_K‖, the product of the spectral norms:

- E|s′ − s| ≤ C δ / √d, and
- P(|s′ − s| ≥ ε) ≤ C δ / (ε √d), which is Markov's inequality on top of the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DIMENSIONS = tuple(2**n for n in range(3, 13))
HEAD_WIDTH = 64
TAILS = (0.5, 1.0, 1.5, 2.0, 3.0)
"""Where the tail is looked at, in multiples of the bound of the mean."""
DELTAS = 8  # perturbations of every matrix
MAX_MATRICES = 64
POINTS_PER_BLOCK = 1 << 21  # numbers of a block, 16 MB
POWER_STEPS = 60


@dataclass(frozen=True)
class BoundCheck:
    """The change of scores at one dimension, beside its bound.

    `mean` is that of |s′ − s|, with its 95% interval; `tails` are the shares of changes that are at
    least so many times the bound (`TAILS`), `tail_bounds` what Markov allows there.
    """

    name: str
    d: int
    norm: float
    mean: float
    low: float
    high: float
    bound: float
    tails: tuple[float, ...]
    tail_bounds: tuple[float, ...]

    @property
    def holds(self) -> bool:
        """Tell whether the mean and every tail are under their bounds."""
        is_under = all(t <= b for t, b in zip(self.tails, self.tail_bounds))
        return self.mean <= self.bound and is_under


def check(
    name: str, z: Array, norm: float, draws: int, rng: np.random.Generator, delta: float = 1.0
) -> BoundCheck:
    """Draw points on the sphere, and measure |xᵀ z| for every column z."""
    d, columns = z.shape
    bound = norm * delta / math.sqrt(d)
    changes = (points @ z for points in sphere(d, draws, rng, max(d, columns)))
    return measured(name, changes, norm, bound, d)


def measured(name: str, blocks: Iterable[Array], norm: float, bound: float, d: int) -> BoundCheck:
    """Measure changes that come block by block, points × perturbations.

    The interval is over points: perturbations share them.
    """
    levels = np.array(TAILS) * bound
    count, total, squares, above = 0, 0.0, 0.0, np.zeros(len(levels))
    for block in blocks:
        change = np.abs(block)
        by_point = change.mean(axis=1)
        count += len(change)
        total += float(by_point.sum())
        squares += float((by_point**2).sum())
        above += [(change >= level).mean() * len(change) for level in levels]
    mean = total / count
    half = 1.96 * math.sqrt(max(0.0, squares / count - mean**2) / count)
    tails = tuple((above / count).tolist())
    return BoundCheck(
        name=name,
        d=d,
        norm=norm,
        mean=mean,
        low=mean - half,
        high=mean + half,
        bound=bound,
        tails=tails,
        tail_bounds=tuple(1 / multiple for multiple in TAILS),
    )


def sphere(d: int, draws: int, rng: np.random.Generator, width: int = 1) -> Iterator[Array]:
    """Yield points that are uniform on the unit sphere, in blocks of bounded memory.

    `width` is how many numbers the caller computes for every point.
    """
    rows = max(1, POINTS_PER_BLOCK // max(d, width))
    for start in range(0, draws, rows):
        points = rng.standard_normal((min(rows, draws - start), d))
        yield points / np.linalg.norm(points, axis=1, keepdims=True)


def expected_change(d: int) -> float:
    """Return E|xᵀ e| for a unit vector e and x uniform on the unit sphere, exactly.

    It is about √(2 / (π d)): the bound 1 / √d, which follows by Jensen, is 1.25 times that.

    >>> round(expected_change(3), 6), round(expected_change(4096) * 64, 3)
    (0.5, 0.798)
    """
    return math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / math.sqrt(math.pi)


def slope(checks: Sequence[BoundCheck]) -> float:
    """Fit log mean against log d; the theorem's rate is −0.5."""
    x, y = (np.log([getattr(check, name) for check in checks]) for name in ("d", "mean"))
    return float(np.polyfit(x, y, 1)[0])


# Families of matrices: z for some perturbations of length 1, one a column, and C.

Drawn = tuple[Array, float]
Family = Callable[[int, np.random.Generator], Drawn]


def orthogonal(d: int, rng: np.random.Generator) -> Drawn:
    """Square orthogonal matrices: the norms are 1, and ‖z‖ is δ for every perturbation."""
    return rotate(rotate(unit_columns(d, rng), rng), rng), 1.0


def gaussian(d: int, rng: np.random.Generator) -> Drawn:
    """Square matrices of entries N(0, 1/d), whose norms stay near 2."""
    w_q, w_k = (rng.standard_normal((d, d)) / math.sqrt(d) for _ in range(2))
    return w_q @ (w_k.T @ unit_columns(d, rng)), spectral_norm(w_q, rng) * spectral_norm(w_k, rng)


def head(d: int, rng: np.random.Generator) -> Drawn:
    """Gaussian matrices d × 64 of norm 1: most of a random perturbation is not read."""
    w_q, w_k = _head(d, rng), _head(d, rng)
    return w_q @ (w_k.T @ unit_columns(d, rng)), 1.0


def worst_head(d: int, rng: np.random.Generator) -> Drawn:
    """The matrices of `head`, and the perturbation that changes scores most."""
    w_q, w_k = _head(d, rng), _head(d, rng)
    return w_q @ (w_k.T @ worst_perturbation(w_q, w_k)), 1.0


def growing(d: int, rng: np.random.Generator) -> Drawn:
    """Square matrices of entries N(0, 1): their norms grow with √d, against the assumption."""
    z, norm = gaussian(d, rng)
    return z * d, norm * d


FAMILIES: dict[str, Family] = {
    "orthogonal": orthogonal,
    "Gaussian": gaussian,
    "64 wide": head,
    "64 wide, worst direction": worst_head,
    "norms that grow": growing,
}
CONSTANT = ("orthogonal", "Gaussian")
"""Families whose norms, and the share of δ that reaches z, stay about the same when d grows."""


def check_family(name: str, d: int, draws: int, seed: int = 0) -> BoundCheck:
    """Check a family at a dimension, over several matrices where they are small.

    The bound is the mean of the matrices' own: what holds for each holds for the mean.
    """
    rng = np.random.default_rng([seed, d])
    drawn = [FAMILIES[name](d, rng) for _ in range(max(1, min(MAX_MATRICES, 2048 // d)))]
    norm = math.fsum(norm for _, norm in drawn) / len(drawn)
    return check(name, np.concatenate([z for z, _ in drawn], axis=1), norm, draws, rng)


def _head(d: int, rng: np.random.Generator) -> Array:
    matrix = rng.standard_normal((d, min(d, HEAD_WIDTH)))
    return np.asarray(matrix / np.linalg.norm(matrix, 2))


def unit_columns(d: int, rng: np.random.Generator, count: int = DELTAS) -> Array:
    """Draw perturbations of length 1 in random directions, one a column."""
    columns = rng.standard_normal((d, count))
    return np.asarray(columns / np.linalg.norm(columns, axis=0))


def rotate(columns: Array, rng: np.random.Generator) -> Array:
    """Apply a random orthogonal matrix, uniform among all, that is never stored.

    A product of d reflections, each of a random vector with one entry fewer (Stewart, 1980).
    """
    rotated, d = columns.copy(), len(columns)
    for n in range(d):
        mirror = rng.standard_normal(d - n)
        sign = math.copysign(1.0, mirror[0])
        mirror[0] += sign * float(np.linalg.norm(mirror))
        mirror /= np.linalg.norm(mirror)
        rotated[n:] -= 2 * np.outer(mirror, mirror @ rotated[n:])
        rotated[n] *= -sign  # a reflection alone never turns an axis to its own side
    return rotated


def spectral_norm(matrix: Array, rng: np.random.Generator) -> float:
    """Compute the largest singular value, exactly for small matrices, else by power steps."""
    if min(matrix.shape) <= 512:
        return float(np.linalg.norm(matrix, 2))
    vectors = rng.standard_normal((matrix.shape[1], 8))
    for _ in range(POWER_STEPS):
        vectors = np.linalg.qr(matrix.T @ (matrix @ vectors))[0]
    return float(np.linalg.norm(matrix @ vectors, 2))


def norms(w_q: Array, w_k: Array) -> float:
    """Return C, the product of the spectral norms of two narrow matrices."""
    return float(np.linalg.norm(w_q, 2) * np.linalg.norm(w_k, 2))


def worst_perturbation(w_q: Array, w_k: Array) -> Array:
    """Return the perturbation of length 1, as one column, with the longest z = W_Q W_Kᵀ Δ."""
    r_q, (k, r_k) = np.linalg.qr(w_q)[1], np.linalg.qr(w_k)
    right = np.linalg.svd(r_q @ r_k.T)[2]
    return np.asarray(k @ right[:1].T)
