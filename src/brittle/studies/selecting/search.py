"""Ways to search for the best ensemble of a pool: all, greedy, genetic, and an expert's.

What a selection sees, the rates of its candidates, and what it maximises (equation 1). Every
ensemble of a size: the optimum, for pools that are small enough. The human expert of the paper: a
strategy, and the list that it led to (Table 8). The paper's genetic algorithm: it evolves sets of
members towards the best ensemble.

The paper says how parents, children and mutations are made, but no number. Ours are settings. It
does not say how fitness chooses parents: here by rank, since all rates of a pool are close to each
other. It does not say whether the best ensemble survives: here it does.

Greedy selection: the best single source, then always the one that adds most.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.studies.pools import Member
from brittle.studies.transfer.study import TransferMatrix

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
"""Ensembles as row numbers of the rate matrix, shape (ensembles, size)."""


@dataclass(frozen=True, eq=False)
class EnsembleCandidates:
    """The sources that may become members, the targets, and r(s, t); an empty cell is NaN."""

    sources: tuple[Member, ...]
    targets: tuple[Member, ...]
    rate: Array

    @cached_property
    def known_rate(self) -> Array:
        """The rates with 0 for every empty cell, so that nothing gains by a missing one."""
        return np.nan_to_num(self.rate, nan=0.0)

    def objective(self, ensembles: Rows) -> Array:
        """Compute for each ensemble the mean over all targets of the best member's rate.

        This is the paper's equation 1: its targets are all candidate models, the members of the
        ensemble and the base rates on the diagonal included.
        """
        best: Array = self.known_rate[ensembles].max(axis=1).mean(axis=1)
        return best

    def outside(self, ensemble: Sequence[int]) -> float | None:
        """Compute the same mean over the targets that are no members; None if there are none."""
        names = {self.sources[row].name for row in ensemble}
        columns = [n for n, target in enumerate(self.targets) if target.name not in names]
        if not columns:
            return None
        return float(self.known_rate[np.ix_(list(ensemble), columns)].max(axis=0).mean())

    def mean_rates(self) -> Array:
        """Compute the mean rate of each source over the targets other than itself."""
        others = np.array([[s.name != t.name for t in self.targets] for s in self.sources])
        known = others & np.isfinite(self.rate)
        total = np.where(known, self.known_rate, 0.0).sum(axis=1)
        mean: Array = total / np.maximum(known.sum(axis=1), 1)
        return mean


def candidates_of(matrix: TransferMatrix, held_out: Collection[str] = ()) -> EnsembleCandidates:
    """Leave out sources and targets without any cell, and those held out, by name."""
    is_known = np.isfinite(matrix.rate)
    rows = [
        n
        for n, source in enumerate(matrix.sources)
        if is_known[n].any() and source.name not in held_out
    ]
    columns = [
        n
        for n, target in enumerate(matrix.targets)
        if is_known[:, n].any() and target.name not in held_out
    ]
    if len(rows) < 2:
        raise UsageError(
            f"The study has {plural(len(rows), 'sources')} to choose from; expected 2 or "
            "more. Use a study with more models, or hold out fewer."
        )
    sources = tuple(matrix.sources[n] for n in rows)
    targets = tuple(matrix.targets[n] for n in columns)
    return EnsembleCandidates(sources, targets, matrix.rate[np.ix_(rows, columns)])


MAX_ENSEMBLES = 1_000_000
ENSEMBLES_PER_CALL = 20_000


def exhaustive(candidates: EnsembleCandidates, size: int) -> tuple[int, ...]:
    """Return the best ensemble; ties go to the first in the order of the pool."""
    count = comb(len(candidates.sources), size)
    if count > MAX_ENSEMBLES:
        raise UsageError(
            f"There are {count:,} ensembles of {size} out of {len(candidates.sources)}; exhaustive "
            f"selection takes at most {MAX_ENSEMBLES:,}. Use the method genetic or greedy."
        )
    ensembles = combinations(range(len(candidates.sources)), size)
    best: tuple[int, ...] = ()
    highest = -1.0
    while part := list(islice(ensembles, ENSEMBLES_PER_CALL)):
        objective = candidates.objective(np.array(part, dtype=np.int64))
        first = int(objective.argmax())
        if objective[first] > highest:
            best, highest = part[first], float(objective[first])
    return best


EXPERT_LIST = (
    *("LSTM-W-Random-1", "CNN-C-Random-1", "LSTM-WC-ELMo-1", "BERT"),
    *("CNN-W-Random-1", "LSTM-C-Random-1", "CNN-WC-ELMo-1"),
)
"""The expert's seven models in order of choice: an ensemble of m has the first m."""

ANY_BERT = "BERT"
"""In a list: the pool's BERT, or the encoder used in its place."""
BERT = (ANY_BERT, "hf:bert-base-uncased")


def expert(candidates: EnsembleCandidates, size: int) -> tuple[int, ...]:
    """Return the best source, then always the one most different from those already chosen.

    Members differ in input form, architecture and embedding. The paper does not say how the
    aspects are weighed against each other: here the next member is the one whose nearest chosen
    member differs in most aspects, then the one with most differences to all chosen members, then
    the best source.
    """
    mean = candidates.mean_rates()
    aspects = [_aspects(member) for member in candidates.sources]
    chosen = [int(mean.argmax())]
    while len(chosen) < size:
        rest = [row for row in range(len(aspects)) if row not in chosen]

        def rank(row: int) -> tuple[int, int, float]:
            differing = [_differences(aspects[row], aspects[other]) for other in chosen]
            return min(differing), sum(differing), float(mean[row])

        chosen.append(max(rest, key=rank))
    return tuple(chosen)


def listed(candidates: EnsembleCandidates, names: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the sources of a list, in its order, and notes on the names that are not there.

    BERT is the pool's own BERT; in a pool without it, the first of its encoders stands for it.
    """
    rows: list[int] = []
    notes: list[str] = []
    missing: list[str] = []
    by_name = {member.name: row for row, member in enumerate(candidates.sources)}
    for name in names:
        row = by_name.get(name)
        if row is None and name == ANY_BERT:
            row = _bert(candidates.sources)
            if row is not None and candidates.sources[row].name not in BERT:
                notes.append(f"{candidates.sources[row].name} is used in place of BERT.")
        if row is None:
            missing.append(name)
        elif row not in rows:
            rows.append(row)
    if missing:
        notes.append(f"left out, because they are not candidates: {', '.join(missing)}.")
    return rows, notes


def _bert(sources: Sequence[Member]) -> int | None:
    encoders = [row for row, member in enumerate(sources) if member.architecture == "BERT"]
    real = [row for row in encoders if sources[row].name in BERT]
    return next(iter([*real, *encoders]), None)


def _aspects(member: Member) -> tuple[str, str, str]:
    parts = member.parts
    reads, embedding = (str(parts.get(name, member.reads)) for name in ("input", "embedding"))
    return reads, member.architecture, embedding


def _differences(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(a != b for a, b in zip(one, other))


@dataclass(frozen=True)
class GeneticSettings:
    """The numbers that the paper leaves open; `mutation` is the share of children that mutate."""

    population: int = 200
    generations: int = 100
    mutation: float = 0.3


def genetic(
    candidates: EnsembleCandidates,
    size: int,
    seed: int = 0,
    settings: GeneticSettings | None = None,
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


def greedy(candidates: EnsembleCandidates, size: int) -> tuple[int, ...]:
    """Return an ensemble in the order of choice; ties go to the first in the pool.

    The objective is submodular, so the ensemble reaches at least 1 − 1/e of the optimum
    (Nemhauser et al., 1978).
    """
    chosen: list[int] = []
    best = np.zeros(len(candidates.targets))
    for _ in range(size):
        mean = np.maximum(candidates.known_rate, best).mean(axis=1)
        mean[chosen] = -1.0
        chosen.append(int(mean.argmax()))
        best = np.maximum(best, candidates.known_rate[chosen[-1]])
    return tuple(chosen)
