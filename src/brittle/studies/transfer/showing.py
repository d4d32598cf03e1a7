"""The figures of a transfer study that its page, the terminal and comparisons show.

Every table is there twice: over all texts, and over those that a target had right before the
attack. An empty cell is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from brittle.formatting import attack_in_words
from brittle.reports.rate_matrix import WAYS, Counts, MatrixModel, RateMatrix, Rates
from brittle.studies.pool_tasks import ENSEMBLE, models_in
from brittle.studies.pools import Member, named_pool
from brittle.studies.transfer import factors
from brittle.studies.transfer.factors import FactorRow, StudyTables, study_tables
from brittle.studies.transfer.study import RESAMPLES, TransferStudy, counted_texts, counts_of

AVERAGE = "average"
MAX_TEXTS = 20
FACTS = (
    "pool",
    "attack",
    "settings",
    "data",
    "split",
    "locked",
    "seed",
    "attacked",
    "labels",
    "defaults",
)


@dataclass(frozen=True, eq=False)
class ClassRates:
    """Mean rates by the class of the source and of the target, base rates included.

    `without` are the means without base rates. `low` and `high` may be missing.
    """

    by: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    mean: Rates
    without: Rates
    low: Rates | None = None
    high: Rates | None = None
    of_right: bool = False


@dataclass(frozen=True)
class FoolingText:
    """An adversarial text and how many of the targets that read it are wrong."""

    source: str
    case: str
    label: str
    original: tuple[tuple[str, str], ...]
    adversarial: tuple[tuple[str, str], ...]
    fooled: int
    targets: int


@dataclass(frozen=True, eq=False)
class TransferFigures:
    """All figures of a study.

    `texts` are those that fool most targets, `fooling_all` counts all that fool every target.
    """

    name: str
    facts: Mapping[str, object]
    matrix: RateMatrix
    classes: Sequence[ClassRates] = ()
    factors: Sequence[FactorRow] = ()
    factors_of_right: Sequence[FactorRow] = ()
    texts: Sequence[FoolingText] = ()
    fooling_all: int = 0
    winners: int = 0
    failures: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()

    @property
    def attack(self) -> str:
        """The attack with the settings that somebody chose."""
        return self._in_words("settings")

    @property
    def attack_in_full(self) -> str:
        """The attack with all its settings."""
        return self._in_words("settings", "defaults")

    def _in_words(self, *names: str) -> str:
        facts = [self.facts.get(name) for name in names]
        shown = {k: v for fact in facts if isinstance(fact, Mapping) for k, v in fact.items()}
        return attack_in_words(str(self.facts.get("attack", "")), shown)


def figures_of(study: TransferStudy, resamples: int = RESAMPLES) -> TransferFigures:
    """Compute the figures of a study."""
    texts, counts = fooling_texts(study), counts_of(study)
    tables, of_right = (
        study_tables(study, of_right, resamples, counts=counts) for of_right in (False, True)
    )
    facts = {name: getattr(study.facts, name) for name in FACTS}
    if not study.facts.defaults:
        del facts["defaults"]  # of a study that was stored without them
    return TransferFigures(
        study.name,
        facts | {"pool": named_pool(study.facts.pool)},
        rate_matrix(study),
        [*_class_rates(tables, False), *_class_rates(of_right, True)],
        _factors(tables),
        _factors(of_right),
        texts=texts[:MAX_TEXTS],
        fooling_all=sum(text.fooled == text.targets for text in texts),
        winners=sum(map(len, study.results.winners.values())),
        failures=study.failures,
        warnings=study.warnings,
    )


def rate_matrix(study: TransferStudy) -> RateMatrix:
    """Return the matrix of a study with the number of texts behind every cell."""
    matrix = study.matrix()
    names = {target.spec: target.name for target in study.targets}
    right: Counts = np.zeros(matrix.rate.shape, dtype=np.int64)
    for i, j in np.argwhere(np.isfinite(matrix.rate)).tolist():
        right[i, j] = study.was_right(study.sources[i].name, study.targets[j].name).sum()
    return RateMatrix(
        tuple(_model(source, names) for source in study.sources),
        tuple(_model(target, names) for target in study.targets),
        matrix.rate,
        matrix.rate_of_right,
        matrix.count,
        right,
    )


def _model(member: Member, names: Mapping[str, str]) -> MatrixModel:
    """Describe a member; `names` are those of the targets by their specs."""
    is_ensemble = member.spec.startswith(ENSEMBLE)
    specs = models_in(member.spec) if is_ensemble else ()
    members = tuple(names[spec] for spec in specs if spec in names)
    return MatrixModel(member.name, {by: getattr(member, by) for by in WAYS}, members)


def _class_rates(tables: StudyTables, of_right: bool) -> list[ClassRates]:
    """Return the tables of classes, each with its averages in a last row and column."""
    return [
        ClassRates(
            by,
            (*table.rows, AVERAGE),
            (*table.columns, AVERAGE),
            _with_averages(table),
            _with_averages(tables.classes_without_diagonal[by]),
            None if table.low is None else _padded(table.low),
            None if table.high is None else _padded(table.high),
            of_right,
        )
        for by, table in tables.classes.items()
    ]


def _with_averages(table: factors.ClassTable) -> Rates:
    mean = _padded(table.mean)
    mean[:-1, -1], mean[-1, :-1], mean[-1, -1] = table.row_mean, table.column_mean, table.total
    return mean


def _padded(values: Rates) -> Rates:
    """Add a last row and column of NaN."""
    return np.pad(values, (0, 1), constant_values=np.nan)


def _factors(tables: StudyTables) -> list[FactorRow]:
    """Return the factors in which some two models differ alone."""
    return [row for row in tables.factors if row.pairs]


def fooling_texts(study: TransferStudy) -> list[FoolingText]:
    """Return every winner with the number of targets it fools; those that fool most come first."""
    return [
        FoolingText(
            text.source,
            text.winner.case,
            study.facts.labels[text.winner.label],
            text.winner.original,
            text.winner.adversarial,
            text.fooled,
            text.targets,
        )
        for text in counted_texts(study)
    ]
