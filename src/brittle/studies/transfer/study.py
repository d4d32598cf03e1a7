"""A study of transfer: its facts, its results, the matrix of rates, and intervals.

A transfer study as it is stored: who was attacked, by which texts, and what all targets say. The
transfer matrix r(s, t): the share of a source's adversarial texts that a target gets wrong. Rows
are sources, columns are targets; an empty cell is NaN. Texts that fool every target (Table 1 of the
paper), and how many targets each text fools. Intervals by bootstrap over texts: all cells of a text
are drawn together.

The cells of a study are not independent: every source is attacked on the same texts. So texts are
drawn with replacement, and every resample gives a whole matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.formatting import plural
from brittle.safety.schema import Count, FileName, Malformed
from brittle.studies.pools import Member
from brittle.studies.study import SUFFIX as SUFFIX
from brittle.studies.study import Study, check_known


@dataclass(frozen=True)
class Winner:
    """One adversarial text of a source; `label` is the index of the right label."""

    case: str
    label: Count
    original: tuple[tuple[str, str], ...]
    adversarial: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TransferFacts:
    """What a transfer study is about.

    `max_winners` is how many texts of a source may count; None in studies that were stored without
    it. No attack has edited the fields that are `locked`. `defaults` are the settings that nobody
    chose, as they were; older studies have none.
    """

    pool: str
    attack: str
    settings: Mapping[str, Any]
    data: str
    split: str
    seed: int
    labels: tuple[str, ...]
    attacked: Count
    max_winners: Count | None = None
    locked: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TransferResults:
    """The winners of every source, and the labels that every target predicts, by index.

    `after[target][source]` has one label for every winner of the source. Where both are the same
    member, they are those of its twin: the diagonal of the matrix is the base rate. `before` has
    the labels of the original texts by target and case, `twin_before` those of the twins. `runs`
    names the file of every source's run, in the folder of the study.
    """

    sources: tuple[Member, ...]
    targets: tuple[Member, ...]
    winners: Mapping[str, tuple[Winner, ...]]
    before: Mapping[str, Mapping[str, int]]
    after: Mapping[str, Mapping[str, tuple[int, ...]]]
    twin_before: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    runs: Mapping[str, FileName] = field(default_factory=dict)

    def matrix(self) -> TransferMatrix:
        """Compute the transfer matrix."""

        return transfer_matrix(self)

    def fooled(self, source: str, target: str) -> NDArray[np.bool_] | None:
        """Tell for every winner of a source whether a target is wrong; None for an empty cell."""
        after = self.after.get(target, {}).get(source)
        if after is None:
            return None
        right = np.array([winner.label for winner in self.winners[source]], dtype=np.int64)
        fooled: NDArray[np.bool_] = np.asarray(after, dtype=np.int64) != right
        return fooled

    def was_right(self, source: str, target: str) -> NDArray[np.bool_]:
        """Tell for every winner of a source whether a target was right on the original."""
        before = (self.twin_before if source == target else self.before)[target]
        winners = self.winners[source]
        return np.array([before[winner.case] == winner.label for winner in winners], dtype=bool)


TransferStudy = Study[TransferFacts, TransferResults]


def restricted(study: TransferStudy, names: Collection[str]) -> TransferStudy:
    """Return a study without the members that are not named."""

    def own(by_member: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in by_member.items() if name in names}

    whole = study.results
    results = TransferResults(
        tuple(member for member in whole.sources if member.name in names),
        tuple(member for member in whole.targets if member.name in names),
        own(whole.winners),
        own(whole.before),
        {target: own(by_source) for target, by_source in own(whole.after).items()},
        own(whole.twin_before),
        own(whole.runs),
    )
    return replace(study, results=results, failures=own(study.failures))


def check_transfer(study: TransferStudy) -> None:
    """Refuse a study whose parts do not fit together."""
    results, labels = study.results, study.facts.labels
    sources = {member.name for member in results.sources}
    targets = {member.name for member in results.targets}
    if (len(sources), len(targets)) != (len(results.sources), len(results.targets)):
        raise Malformed("members of different names", sorted(sources | targets), "sources, targets")
    check_known("winners", results.winners, sources)
    check_known("after", results.after, targets)
    for source, winners in results.winners.items():
        for winner in winners:
            if winner.label >= len(labels):
                expected = f"the number of one of {plural(len(labels), 'labels')}"
                raise Malformed(expected, winner.label, f"winners.{source}.{winner.case}.label")
    for target, by_source in results.after.items():
        check_known(f"after.{target}", by_source, results.winners)
        for source, predicted in by_source.items():
            winners = results.winners[source]
            if len(predicted) != len(winners):
                expected = f"one label for each of {plural(len(winners), 'winners')}"
                raise Malformed(expected, len(predicted), f"after.{target}.{source}")
            name = "twin_before" if source == target else "before"
            before = getattr(results, name).get(target, {})
            check_known(f"{name}.{target}", {winner.case for winner in winners}, before)


Array = NDArray[np.float64]


@dataclass(frozen=True)
class TransferMatrix:
    """`rate` counts all texts, as the paper does; `rate_of_right` those that a target had right.

    `count` is the number of texts of each source.
    """

    sources: tuple[Member, ...]
    targets: tuple[Member, ...]
    rate: Array
    rate_of_right: Array
    count: NDArray[np.int64]


def transfer_matrix(study: TransferResults) -> TransferMatrix:
    """Compute the matrix of the results of a study."""
    shape = (len(study.sources), len(study.targets))
    rate, rate_of_right = np.full(shape, np.nan), np.full(shape, np.nan)
    for row, source in enumerate(study.sources):
        for column, target in enumerate(study.targets):
            fooled = study.fooled(source.name, target.name)
            if fooled is None or not len(fooled):
                continue
            rate[row, column] = fooled.mean()
            right = study.was_right(source.name, target.name)
            if right.any():
                rate_of_right[row, column] = fooled[right].mean()
    count = np.array([len(study.winners.get(source.name, ())) for source in study.sources])
    return TransferMatrix(study.sources, study.targets, rate, rate_of_right, count)


@dataclass(frozen=True)
class CountedText:
    """A winner of a source, and how many of the targets that saw it it fools.

    The source itself counts, where it is a target: the text was made to fool it. Its twin does not.
    """

    source: str
    winner: Winner
    fooled: int
    targets: int

    @property
    def fools_all(self) -> bool:
        """Whether it fools every target that saw it."""
        return self.fooled == self.targets


def counted_texts(study: TransferStudy) -> list[CountedText]:
    """Count the targets that every winner fools; those that fool most come first."""
    names = {target.name for target in study.targets}
    texts = []
    for source, winners in study.winners.items():
        columns = [
            fooled
            for name in names - {source}
            if (fooled := study.fooled(source, name)) is not None
        ]
        own = int(source in names)
        total = np.sum(columns, axis=0) if columns else np.zeros(len(winners), dtype=int)
        texts += [
            CountedText(source, winner, int(count) + own, len(columns) + own)
            for winner, count in zip(winners, total)
        ]
    return sorted(texts, key=lambda text: (-text.fooled, text.targets, text.source))


def universal_texts(study: TransferStudy) -> list[CountedText]:
    """Return the texts that fool every target."""
    return [text for text in counted_texts(study) if text.fools_all]


RESAMPLES = 1000
RESAMPLES_PER_BLOCK = 100
LEVEL = 0.95


@dataclass(frozen=True)
class Counts:
    """What is counted, by text and cell: texts × (sources · targets), as 0 and 1.

    `fooled` and `of` give the paper's rate; `fooled_of_right` and `right` that over the texts that
    a target had right.
    """

    shape: tuple[int, int]
    fooled: NDArray[np.float32]
    of: NDArray[np.float32]
    fooled_of_right: NDArray[np.float32]
    right: NDArray[np.float32]

    def rates(self, weight: NDArray[np.float32], of_right: bool = False) -> Array:
        """Return the matrices of resamples: resamples × sources × targets, NaN where empty."""
        parts = (self.fooled_of_right, self.right) if of_right else (self.fooled, self.of)
        won, of = ((weight @ part).astype(np.float64) for part in parts)
        rate = np.divide(won, of, out=np.full_like(won, np.nan), where=of > 0)
        return rate.reshape(-1, *self.shape)


def counts_of(study: TransferStudy, cases: Sequence[str] | None = None) -> Counts:
    """Count every text in every cell of a study; with `cases`, texts are in their order.

    Counts of several studies can be resampled together where all have the same `cases`.
    """
    cases = cases_of(study) if cases is None else cases
    number = {case: n for n, case in enumerate(cases)}
    shape = (len(study.sources), len(study.targets))
    parts = [np.zeros((len(cases), *shape), dtype=np.float32) for _ in range(4)]
    fooled_all, of, fooled_of_right, right_all = parts
    for row, source in enumerate(study.sources):
        index = np.array([number[w.case] for w in study.winners.get(source.name, ())], dtype=int)
        for column, target in enumerate(study.targets):
            fooled = study.fooled(source.name, target.name)
            if fooled is None:
                continue
            right = study.was_right(source.name, target.name)
            fooled_all[index, row, column], of[index, row, column] = fooled, 1
            fooled_of_right[index, row, column] = fooled & right
            right_all[index, row, column] = right
    cells = shape[0] * shape[1]
    return Counts(shape, *(part.reshape(len(cases), cells) for part in parts))


def cases_of(*studies: TransferStudy) -> list[str]:
    """Return the cases whose texts broke a source in any of some studies."""
    rows = (winners for study in studies for winners in study.winners.values())
    return list(dict.fromkeys(winner.case for winners in rows for winner in winners))


def paired_intervals(
    a: tuple[Counts, Callable[[Array], Array]],
    b: tuple[Counts, Callable[[Array], Array]],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> tuple[Array, Array, Array]:
    """Return b's statistic less a's, with bounds: every resample draws the same texts for both.

    The bounds are those of `intervals`. Both counts must be of the same cases in the same order.
    """
    (counts_a, of_a), (counts_b, of_b) = a, b
    texts = len(counts_a.of)
    if texts != len(counts_b.of):
        others = plural(len(counts_b.of), "texts")
        raise ValueError(f"counts of {texts} and of {others} cannot be paired")

    def difference(weight: NDArray[np.float32]) -> Array:
        return of_b(counts_b.rates(weight)) - of_a(counts_a.rates(weight))

    value = difference(np.ones((1, texts), dtype=np.float32))[0]
    drawn = [difference(w) for w in _weights(texts, resamples if texts else 1, seed)]
    tail = (1 - level) / 2
    low, high = _quantiles(np.concatenate(drawn), (tail, 1 - tail))
    return value, 2 * value - high, 2 * value - low


def intervals(
    counts: Counts,
    statistics: Sequence[Callable[[Array], Array]],
    *,
    of_right: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> list[tuple[Array, Array, Array]]:
    """Return value, lower and upper bound of statistics of the matrix, from the same resamples.

    A statistic maps matrices (resamples × sources × targets) to values (resamples × …). The bounds
    are those of the basic bootstrap, 2·value − quantile. Noise raises a mean of absolute
    differences, in the data and once more in every resample; plain quantiles would lie above the
    value, these correct for it. Where differences are mostly noise they lie below the value.
    """
    everything = np.ones((1, len(counts.of)), dtype=np.float32)
    values = [statistic(counts.rates(everything, of_right))[0] for statistic in statistics]
    drawn: list[list[Array]] = [[] for _ in statistics]
    # Without texts there is nothing to draw: the one resample is empty too.
    for weight in _weights(len(counts.of), resamples if len(counts.of) else 1, seed):
        rate = counts.rates(weight, of_right)
        for rows, statistic in zip(drawn, statistics):
            rows.append(statistic(rate))
    tail = (1 - level) / 2
    bounds = []
    for value, rows in zip(values, drawn):
        low, high = _quantiles(np.concatenate(rows), (tail, 1 - tail))
        bounds.append((value, 2 * value - high, 2 * value - low))
    return bounds


def _weights(texts: int, resamples: int, seed: int) -> Iterator[NDArray[np.float32]]:
    """Yield how often each text is drawn, a block of resamples at a time."""
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, RESAMPLES_PER_BLOCK):
        rows = min(RESAMPLES_PER_BLOCK, resamples - start)
        drawn = rng.integers(0, texts, size=(rows, texts)) + texts * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * texts)
        yield counts.reshape(rows, texts).astype(np.float32)


def _quantiles(values: Array, at: tuple[float, float]) -> tuple[Array, Array]:
    """Return two quantiles over the resamples; NaN where all of them are."""
    some = ~np.isnan(values).all(axis=0)
    low, high = (np.full(values.shape[1:], np.nan) for _ in at)
    if some.any():
        low[some], high[some] = np.nanquantile(values[:, some], at, axis=0)
    return low, high
