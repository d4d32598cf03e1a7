"""The paper's genetic algorithm: it evolves sets of members towards the best ensemble.

The paper says how parents, children and mutations are made, but no number. Ours are settings. It
does not say how fitness chooses parents: here by rank, since all rates of a pool are close to each
other. It does not say whether the best ensemble survives: here it does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from brittle.studies.selecting.candidates import Candidates, Rows


@dataclass(frozen=True)
class GeneticSettings:
    """The numbers that the paper leaves open; `mutation` is the share of children that mutate."""

    population: int = 200
    generations: int = 100
    mutation: float = 0.3


def genetic(
    candidates: Candidates, size: int, seed: int = 0, settings: GeneticSettings | None = None
) -> tuple[int, ...]:
    """Return the best ensemble found, in the order of the pool; the same seed finds the same."""
    settings = settings or GeneticSettings()
    rng = np.random.default_rng(seed)
    count = len(candidates.sources)
    everyone = np.ones((settings.population, count), dtype=bool)
    population = _draw(everyone, size, rng)
    for _ in range(settings.generations):
        population = population[np.argsort(-candidates.objective(population), kind="stable")]
        weight = np.arange(len(population), 0, -1, dtype=np.float64)
        parents = rng.choice(
            len(population), size=(len(population) - 1, 2), p=weight / weight.sum()
        )
        merged = _member_masks(population[parents].reshape(len(parents), -1), count)
        children = _draw(merged, size, rng)
        if size < count:
            children = _mutate(children, count, settings.mutation, rng)
        population = np.concatenate([population[:1], children])
    best = population[int(candidates.objective(population).argmax())]
    return tuple(sorted(best.tolist()))


def _draw(allowed: np.ndarray, size: int, rng: np.random.Generator) -> Rows:
    """Draw `size` different members for every row, from those that its mask allows."""
    order = np.where(allowed, rng.random(allowed.shape), 2.0).argsort(axis=1)
    drawn: Rows = order[:, :size]
    return drawn


def _mutate(ensembles: Rows, count: int, share: float, rng: np.random.Generator) -> Rows:
    """Replace one member of some ensembles by a source that is no member."""
    added = _draw(~_member_masks(ensembles, count), 1, rng)[:, 0]
    position = rng.integers(ensembles.shape[1], size=len(ensembles))
    mutates = np.flatnonzero(rng.random(len(ensembles)) < share)
    mutated = ensembles.copy()
    mutated[mutates, position[mutates]] = added[mutates]
    return mutated


def _member_masks(ensembles: Rows, count: int) -> np.ndarray:
    masks = np.zeros((len(ensembles), count), dtype=bool)
    np.put_along_axis(masks, ensembles, True, axis=1)
    return masks
