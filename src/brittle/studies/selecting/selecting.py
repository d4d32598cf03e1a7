"""Select an ensemble, see how it does on models and texts held out, and attack it.

The models that no ensemble may hold, so that all ensembles are measured on one same set. The stored
transfer study that a selection starts from. Ensembles of several sizes by several methods, with
what each is expected to reach. Figure 1: the transfer of attacked ensembles against their size,
with two lines beside it. Selected ensembles under attack: each is one source of a transfer study.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brittle.data import Dataset, case_ids
from brittle.errors import UsageError, unknown
from brittle.studies.pools import PREFIX, Member
from brittle.studies.selecting.search import (
    EXPERT_LIST,
    EnsembleCandidates,
    exhaustive,
    expert,
    genetic,
    greedy,
    listed,
)
from brittle.studies.transfer.study import (
    RESAMPLES,
    SUFFIX,
    Array,
    Counts,
    TransferMatrix,
    TransferStudy,
    intervals,
)
from brittle.studies.transfer.transfer import TransferRequest, run_study
from brittle.workflow.backends import Workers

EVERY = 5
MIN_MEMBERS = 10


def default_held_out(members: Sequence[Member], spared: Collection[str] = ()) -> tuple[str, ...]:
    """Choose every fifth member, in the order of classes; the choice knows no rate.

    Members that a fixed list names (`spared`) are not chosen. A pool of fewer than ten keeps all.
    """
    if len(members) < MIN_MEMBERS:
        return ()
    free = [member for member in members if member.name not in spared]
    by_class = sorted(free, key=lambda member: (member.reads, member.architecture))
    return tuple(member.name for member in by_class[EVERY // 2 :: EVERY])


def find_study(pool: str, folder: Path, study: Path | None = None) -> TransferStudy:
    """Load a study: the file that is named, or the newest one of a pool in the folder of runs."""
    if study is not None:
        return TransferStudy.load(study, "transfer")
    if pool.endswith(SUFFIX):
        path = Path(pool)
        return TransferStudy.load(path if path.is_file() else folder / pool, "transfer")
    if not pool.startswith(PREFIX):
        raise UsageError(
            f"Got {pool!r}; expected a pool (pool:small, pool:FILE) with a stored "
            f"transfer study, or the name or file of a study, NAME{SUFFIX}."
        )
    name = pool.removeprefix(PREFIX)
    names = {name, Path(name).stem}
    files = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: -path.stat().st_mtime)
    for path in files:
        try:
            found = TransferStudy.load(path, "transfer")
        except UsageError:
            continue  # another study, or a damaged one: it is named when it is asked for
        # A study of ensembles has the pool's targets, but its sources are no members.
        is_of_pool = {source.name for source in found.sources} <= {t.name for t in found.targets}
        if found.pool.removeprefix(PREFIX) in names and is_of_pool:
            return found
    raise UsageError(
        f"There is no transfer study of {pool} in {str(folder)!r}. Make one first: "
        f"brittle study transfer {pool} pwws --data DATA"
    )


Search = Callable[[EnsembleCandidates, int, int], tuple[int, ...]]
"""Chooses the rows of an ensemble from candidates, a size and a seed."""

SEARCHES: Mapping[str, Search] = {
    "genetic": genetic,
    "greedy": lambda candidates, size, seed: greedy(candidates, size),
    "expert": lambda candidates, size, seed: expert(candidates, size),
    "exhaustive": lambda candidates, size, seed: exhaustive(candidates, size),
}
PAPER_LIST, USER_LIST = "paper's list", "list"
METHODS = (*SEARCHES, PAPER_LIST)


@dataclass(frozen=True)
class SelectedEnsemble:
    """A selected ensemble; `objective` and `outside` come from the rates of its members.

    The objective is the mean over all targets of the best member's rate. `outside` is the mean over
    the targets that are no members; None if there are none.
    """

    method: str
    members: tuple[Member, ...]
    objective: float
    outside: float | None

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def name(self) -> str:
        """The same for the same members, in whatever order they were chosen."""
        return " + ".join(sorted(member.name for member in self.members))

    @property
    def spec(self) -> str:
        """The ensemble as one target; the same for the same members, as its name is."""
        members = sorted(self.members, key=lambda member: member.name)
        return f"ensemble:{','.join(member.spec for member in members)}"


def select(
    candidates: EnsembleCandidates,
    sizes: Sequence[int],
    methods: Sequence[str] = ("genetic",),
    seed: int = 0,
    names: Sequence[str] = (),
) -> tuple[list[SelectedEnsemble], list[str]]:
    """Select an ensemble for every size and method; return them with notes for the user.

    `names` is a list of the user's own, the best first: it is a method more. A method that cannot
    give a size says so in a note; if there is no ensemble at all, the notes are an error.
    """
    _check(candidates, sizes, methods)
    ensembles: list[SelectedEnsemble] = []
    notes: list[str] = _notes_on_rates(candidates)
    for method in methods:
        if method in SEARCHES:
            for size in sizes:
                try:
                    rows = SEARCHES[method](candidates, size, seed)
                except UsageError as error:
                    notes.append(str(error))
                    continue
                ensembles.append(_ensemble(candidates, method, rows))
    lists = {PAPER_LIST: EXPERT_LIST} if PAPER_LIST in methods else {}
    for method, entries in (lists | ({USER_LIST: tuple(names)} if names else {})).items():
        found, missing = listed(candidates, entries)
        notes += [f"The {method}: {note}" for note in missing]
        for size in sizes:
            if size <= len(found):
                ensembles.append(_ensemble(candidates, method, found[:size]))
        if max(sizes) > len(found):
            notes.append(
                f"The {method} has {len(found)} of the candidates, so there are no larger "
                "ensembles."
            )
    if not ensembles:
        raise UsageError(" ".join(notes))
    return ensembles, notes


def _notes_on_rates(candidates: EnsembleCandidates) -> list[str]:
    same = [[s.name == t.name for t in candidates.targets] for s in candidates.sources]
    if np.isfinite(candidates.rate[np.array(same)]).any():
        return []
    return [
        "The study has no base rates (it needs two seeds): if a target is a member, only "
        "the other members count."
    ]


def _check(candidates: EnsembleCandidates, sizes: Sequence[int], methods: Sequence[str]) -> None:
    for method in methods:
        if method not in METHODS:
            raise unknown("method", method, METHODS)
    count = len(candidates.sources)
    for size in sizes:
        if not 1 <= size <= count:
            raise UsageError(
                f"Got the ensemble size {size}; expected 1 to {count}, the number of candidates."
            )


def _ensemble(candidates: EnsembleCandidates, method: str, rows: Sequence[int]) -> SelectedEnsemble:
    objective = candidates.objective(np.array([rows], dtype=np.int64))
    members = tuple(candidates.sources[row] for row in rows)
    return SelectedEnsemble(method, members, float(objective[0]), candidates.outside(rows))


Interval = tuple[float, float]


@dataclass(frozen=True)
class CurvePoint:
    """How many of an attacked ensemble's texts fool models that are no members, on average.

    `outside` is over all models outside this ensemble (`of` models), `held_out` over those that
    are in no ensemble; None: nothing is known. `texts` is the number of its adversarial texts. The
    intervals are 95% intervals by bootstrap over these texts.
    """

    method: str
    size: int
    texts: int
    outside: float | None
    of: int
    held_out: float | None
    outside_interval: Interval | None = None
    held_out_interval: Interval | None = None


@dataclass(frozen=True)
class EnsembleCurves:
    """The points of every method, and what single models reach.

    `base_rate` is the mean of the diagonal, the transfer between two seeds of one model;
    `pair_rate` is the mean over all pairs of two different models.
    """

    points: tuple[CurvePoint, ...]
    base_rate: float | None
    pair_rate: float | None
    held_out: tuple[str, ...]


def ensemble_curves(
    singles: TransferMatrix,
    attacked: TransferMatrix,
    ensembles: Sequence[SelectedEnsemble],
    held_out: Collection[str] = (),
    counts: Counts | None = None,
) -> EnsembleCurves:
    """Compute the curves: `attacked` has a source for every ensemble, by the ensemble's name.

    `counts` are those of the attacked ensembles; with them every point has its intervals.
    """
    rows = {source.name: row for row, source in enumerate(attacked.sources)}
    names = [target.name for target in attacked.targets]
    points = []
    for ensemble in ensembles:
        row = rows[ensemble.name]
        members = {member.name for member in ensemble.members}
        outside = np.array([name not in members for name in names])
        never = np.array([name in held_out for name in names])
        cells = attacked.rate[row]
        points.append(
            CurvePoint(
                *(ensemble.method, ensemble.size, int(attacked.count[row])),
                outside=_mean(cells[outside]),
                of=int(np.isfinite(cells[outside]).sum()),
                held_out=_mean(cells[outside & never]),
            )
        )
    if counts is not None:
        points = _with_intervals(points, ensembles, attacked, held_out, counts)
    same = np.array([[s.name == t.name for t in singles.targets] for s in singles.sources])
    lines = (_mean(singles.rate[same]), _mean(singles.rate[~same]))
    return EnsembleCurves(tuple(points), *lines, tuple(held_out))


def _with_intervals(
    points: Sequence[CurvePoint],
    ensembles: Sequence[SelectedEnsemble],
    attacked: TransferMatrix,
    held_out: Collection[str],
    counts: Counts,
) -> list[CurvePoint]:
    """Add the intervals to the points; the resamples are the same for all of them."""
    rows = {source.name: row for row, source in enumerate(attacked.sources)}
    statistics = []
    for ensemble in ensembles:
        members = {member.name for member in ensemble.members}
        outside = np.array([target.name not in members for target in attacked.targets])
        never = np.array([target.name in held_out for target in attacked.targets])
        for columns in (outside, outside & never):
            statistics.append(partial(_row_mean, row=rows[ensemble.name], columns=columns))
    bounds = [_interval(*part[1:]) for part in intervals(counts, statistics, resamples=RESAMPLES)]
    return [
        replace(point, outside_interval=outside, held_out_interval=held_out)
        for point, outside, held_out in zip(points, bounds[::2], bounds[1::2])
    ]


def _row_mean(rate: Array, row: int, columns: NDArray[np.bool_]) -> Array:
    """Return the mean of some cells of a row for every resample; NaN where all are empty."""
    cells = rate[:, row][:, columns]
    known = np.isfinite(cells)
    total, count = np.where(known, cells, 0.0).sum(axis=1), known.sum(axis=1)
    mean: Array = np.divide(total, count, out=np.full(len(cells), np.nan), where=count > 0)
    return mean


def _interval(low: Array, high: Array) -> Interval | None:
    """Return bounds as numbers between 0 and 1; None where nothing is known."""
    if np.isnan(low):
        return None
    return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))


def _mean(cells: NDArray[np.float64]) -> float | None:
    known = cells[np.isfinite(cells)]
    return float(known.mean()) if len(known) else None


def attack_ensembles(
    study: TransferStudy,
    ensembles: Sequence[SelectedEnsemble],
    dataset: Dataset,
    folder: Path,
    backend: Workers | None = None,
    report: Callable[[str], None] = lambda message: None,
    limit: int | None = None,
) -> TransferStudy:
    """Attack every ensemble as the study attacked its sources; all its targets are asked.

    `dataset` is the split that the study's texts come from; only the first `limit` of them are
    attacked, if there is a limit. The result is stored as NAME-ensembles.study.json and resumes;
    ensembles with the same members are attacked once.
    """
    texts = dataset.take(study.attacked, study.seed)
    cases = set(case_ids(texts.examples))
    winners = study.winners.values()
    if any(winner.case not in cases for rows in winners for winner in rows):
        raise UsageError(
            f"The texts of {dataset.name!r} differ from the texts of the study "
            f"{study.name!r}, which used the split {study.split} of {study.data!r}. Name "
            "these with --data."
        )
    sources = {e.name: Member(e.name, e.spec) for e in ensembles}
    request = TransferRequest(
        name=f"{study.name}-ensembles",
        pool=study.pool,
        attack=study.attack,
        settings=study.settings,
        seed=study.seed,
        winners=study.max_winners or max(map(len, winners)),
        sources=tuple(sources.values()),
        targets=study.targets,
        dataset=texts if limit is None else dataset.take(min(limit, len(texts)), study.seed),
    )
    return run_study(request, folder, backend, report)
