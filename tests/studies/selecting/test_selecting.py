"""Every method against brute force, on random pools."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.studies.pools import Member
from brittle.studies.selecting.search import (
    EXPERT_LIST,
    EnsembleCandidates,
    GeneticSettings,
    candidates_of,
    exhaustive,
    expert,
    genetic,
    greedy,
    listed,
)
from brittle.studies.selecting.selecting import PAPER_LIST, default_held_out, select
from brittle.studies.transfer.study import TransferMatrix
from brittle.zoo.names.grid import pool_models

SIZES = (2, 3, 4)


def member(name: str) -> Member:
    parts = name.split("-")
    if len(parts) != 4:
        return Member(name, f"zoo:{name}@mr#0", None, {"architecture": "BERT", "reads": "BERT"})
    architecture, reads, embedding, layers = parts
    return Member(
        name,
        f"zoo:{name}@mr#0",
        None,
        {
            "architecture": architecture,
            "input": reads,
            "embedding": embedding,
            "layers": int(layers),
            "reads": "Character" if reads == "C" else embedding,
        },
    )


SMALL = tuple(map(member, pool_models("small")))


def random_pool(seed: int, count: int = 12) -> EnsembleCandidates:
    """Rates in 0…1 with strong and weak sources, easy and hard targets, and high base rates."""
    rng = np.random.default_rng(seed)
    rate = 0.4 * rng.random((count, count)) + 0.2 * rng.random((count, 1)) + 0.2 * rng.random(count)
    np.fill_diagonal(rate, 0.6 + 0.3 * rng.random(count))
    members = tuple(Member(f"m{n}", f"zoo:m{n}@mr#0") for n in range(count))
    return EnsembleCandidates(members, members, rate)


def plain_objective(pool: EnsembleCandidates, ensemble: tuple[int, ...]) -> float:
    best = []
    for column in range(len(pool.targets)):
        cells = [pool.rate[row, column] for row in ensemble]
        best.append(max((cell for cell in cells if not np.isnan(cell)), default=0.0))
    return sum(best) / len(best)


def test_genetic_selection_finds_the_optimum_and_is_not_below_greedy() -> None:
    quick = GeneticSettings(population=40, generations=20)  # fewer than by default
    for size in SIZES:
        found, genetic_sum, greedy_sum = 0, 0.0, 0.0
        for seed in range(100):
            pool = random_pool(seed)
            best = plain_objective(pool, exhaustive(pool, size))
            ours = plain_objective(pool, genetic(pool, size, seed, quick))
            found += ours >= best - 1e-12
            genetic_sum += ours
            greedy_sum += plain_objective(pool, greedy(pool, size))
        assert found >= 95, (size, found)
        assert genetic_sum >= greedy_sum


def test_exhaustive_selection_is_brute_force() -> None:
    for seed in range(3):
        pool = random_pool(seed, 8)
        for size in SIZES:
            best = max(combinations(range(8), size), key=lambda e: plain_objective(pool, e))
            assert exhaustive(pool, size) == best
    with pytest.raises(UsageError, match=r"63; .*at most 1,000,000.*genetic or greedy"):
        exhaustive(random_pool(0, 63), 5)


def test_greedy_selection_adds_the_best_each_time() -> None:
    pool = random_pool(5, 9)
    chosen: tuple[int, ...] = ()
    for size in range(1, 10):
        rest = [row for row in range(9) if row not in chosen]
        chosen += (max(rest, key=lambda row: plain_objective(pool, (*chosen, row))),)
        assert greedy(pool, size) == chosen


def test_genetic_selection_is_seeded_and_takes_any_size() -> None:
    pool = random_pool(1)
    assert genetic(pool, 12) == tuple(range(12))
    assert genetic(pool, 4, seed=3) == genetic(pool, 4, seed=3)
    assert len(set(genetic(pool, 7))) == 7


def test_empty_cells_are_no_advantage() -> None:
    full = random_pool(0, 6)
    rate = full.rate.copy()
    rate[2, 4] = rate[3, 3] = np.nan
    pool = EnsembleCandidates(full.sources, full.targets, rate)
    ensembles = np.array(list(combinations(range(6), 2)))
    expected = [plain_objective(pool, tuple(row)) for row in ensembles.tolist()]
    np.testing.assert_allclose(pool.objective(ensembles), expected)
    outside = np.nanmax(rate[[2, 3]], axis=0)[[0, 1, 4, 5]].mean()
    assert pool.outside((2, 3)) == pytest.approx(outside)
    assert pool.outside(range(6)) is None
    np.testing.assert_allclose(pool.mean_rates()[3], np.delete(rate[3], 3).mean())


def test_failed_and_held_out_models_are_not_seen() -> None:
    rate = random_pool(0, 5).rate.copy()
    rate[1, :] = rate[:, 1] = np.nan
    members = random_pool(0, 5).sources
    matrix = TransferMatrix(members, members, rate, rate, np.full(5, 10))
    pool = candidates_of(matrix, held_out=("m4",))
    assert [m.name for m in pool.sources] == [m.name for m in pool.targets] == ["m0", "m2", "m3"]
    np.testing.assert_array_equal(pool.rate, rate[np.ix_([0, 2, 3], [0, 2, 3])])
    with pytest.raises(UsageError, match="1 source to choose from; expected 2"):
        candidates_of(matrix, held_out=("m4", "m3", "m2"))


def test_the_expert_takes_the_best_source_and_then_the_most_different() -> None:
    rng = np.random.default_rng(0)
    rate = rng.random((27, 27))
    pool = EnsembleCandidates(SMALL, SMALL, rate)
    mean = [np.delete(rate[row], row).mean() for row in range(27)]
    chosen = expert(pool, 6)
    assert chosen[0] == int(np.argmax(mean))

    def aspects(row: int) -> tuple[object, ...]:
        parts = SMALL[row].parts
        return tuple(parts.get(name, "BERT") for name in ("input", "architecture", "embedding"))

    for n in range(1, 6):

        def rank(row: int, before: tuple[int, ...] = chosen[:n]) -> tuple[int, int, float]:
            differing = [sum(a != b for a, b in zip(aspects(row), aspects(o))) for o in before]
            return min(differing), sum(differing), mean[row]

        rest = set(range(27)) - set(chosen[:n])
        assert chosen[n] == max(rest, key=rank)
    # Four input forms, and three architectures and BERT: the first three share no aspect.
    assert len({part for row in chosen[:3] for part in enumerate(aspects(row))}) == 9


def test_a_list_says_what_is_missing() -> None:
    pool = EnsembleCandidates(SMALL, SMALL, np.ones((27, 27)))
    rows, notes = listed(pool, EXPERT_LIST)
    assert [SMALL[row].name for row in rows][:4] == [*EXPERT_LIST[:3], "MiniLM"]
    assert notes == ["MiniLM is used in place of BERT."]
    paper = tuple(map(member, pool_models("paper")))
    rows, notes = listed(EnsembleCandidates(paper, paper, np.ones((63, 63))), EXPERT_LIST)
    assert notes == [] and paper[rows[3]].name == "hf:bert-base-uncased"
    ensembles, notes = select(pool, (2, 3), [PAPER_LIST], names=("CNN-C-Random-1", "GPT"))
    assert [(e.method, e.size) for e in ensembles] == [(PAPER_LIST, 2), (PAPER_LIST, 3)]
    assert "The list: left out, because they are not candidates: GPT." in notes
    assert ensembles[0].spec == "ensemble:zoo:CNN-C-Random-1@mr#0,zoo:LSTM-W-Random-1@mr#0"


def test_bad_sizes_and_methods_are_refused() -> None:
    pool = random_pool(0)
    with pytest.raises(UsageError, match="size 13; expected 1 to 12"):
        select(pool, (2, 13))
    with pytest.raises(UsageError, match=r"Unknown method 'gready'\. Did you mean 'greedy'"):
        select(pool, (2,), ["gready"])
    with pytest.raises(UsageError, match="at most 1,000,000"):
        select(random_pool(0, 63), (6,), ["exhaustive"])
    ensembles, notes = select(random_pool(0, 63), (2, 6), ["exhaustive", "greedy"])
    assert [(e.method, e.size) for e in ensembles] == [
        ("exhaustive", 2), ("greedy", 2), ("greedy", 6)
    ]  # fmt: skip
    assert len(notes) == 1


def test_the_held_out_are_of_all_classes_and_in_no_list() -> None:
    held_out = default_held_out(SMALL, spared=EXPERT_LIST)
    assert len(held_out) == 4 and not set(held_out) & set(EXPERT_LIST)
    classes = {m.reads for m in SMALL if m.name in held_out}
    assert len(classes) >= 3
    assert default_held_out(SMALL[:9]) == ()
