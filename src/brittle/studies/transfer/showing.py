"""A transfer study as its report shows it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from brittle.reports.studies.tables import (
    WAYS,
    ClassTable,
    Counts,
    FactorRow,
    FoolingText,
    Model,
    RateMatrix,
    Rates,
    ReportedStudy,
)
from brittle.studies.pool_tasks import ENSEMBLE, models_in
from brittle.studies.pools import Member, named_pool
from brittle.studies.transfer import classes
from brittle.studies.transfer.bootstrap import RESAMPLES, counts_of
from brittle.studies.transfer.study import TransferStudy
from brittle.studies.transfer.tables import StudyTables, study_tables
from brittle.studies.transfer.universal import counted_texts

AVERAGE = "average"
MAX_TEXTS = 20
FACTS = ("pool", "attack", "settings", "data", "split", "locked", "seed", "attacked", "labels")


def reported_study(study: TransferStudy, resamples: int = RESAMPLES) -> ReportedStudy:
    """Return what the report of a study shows."""
    texts, counts = fooling_texts(study), counts_of(study)
    tables, of_right = (
        study_tables(study, of_right, resamples, counts=counts) for of_right in (False, True)
    )
    return ReportedStudy(
        study.name,
        {name: getattr(study, name) for name in FACTS} | {"pool": named_pool(study.pool)},
        rate_matrix(study),
        [*_class_tables(tables, False), *_class_tables(of_right, True)],
        _factors(tables),
        _factors(of_right),
        texts=texts[:MAX_TEXTS],
        fooling_all=sum(text.fooled == text.targets for text in texts),
        winners=sum(map(len, study.winners.values())),
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


def _model(member: Member, names: Mapping[str, str]) -> Model:
    """Describe a member; `names` are those of the targets by their specs."""
    is_ensemble = member.spec.startswith(ENSEMBLE)
    specs = models_in(member.spec) if is_ensemble else ()
    members = tuple(names[spec] for spec in specs if spec in names)
    return Model(member.name, {by: getattr(member, by) for by in WAYS}, members)


def _class_tables(tables: StudyTables, of_right: bool) -> list[ClassTable]:
    """Return the tables of classes, each with its averages in a last row and column."""
    return [
        ClassTable(
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


def _with_averages(table: classes.ClassTable) -> Rates:
    mean = _padded(table.mean)
    mean[:-1, -1], mean[-1, :-1], mean[-1, -1] = table.row_mean, table.column_mean, table.total
    return mean


def _padded(values: Rates) -> Rates:
    """Add a last row and column of NaN."""
    return np.pad(values, (0, 1), constant_values=np.nan)


def _factors(tables: StudyTables) -> list[FactorRow]:
    """Return the factors in which some two models differ alone."""
    return [
        FactorRow(
            row.factor,
            row.mean,
            row.pairs,
            *(np.nan if bound is None else bound for bound in (row.low, row.high)),
        )
        for row in tables.factors
        if row.pairs
    ]


def fooling_texts(study: TransferStudy) -> list[FoolingText]:
    """Return every winner with the number of targets it fools; those that fool most come first."""
    return [
        FoolingText(
            text.source,
            text.winner.case,
            study.labels[text.winner.label],
            text.winner.original,
            text.winner.adversarial,
            text.fooled,
            text.targets,
        )
        for text in counted_texts(study)
    ]
