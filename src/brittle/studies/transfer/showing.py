"""A transfer study as the tables of its report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from brittle.reports.studies.tables import (
    WAYS,
    ClassTable,
    Counts,
    FoolingText,
    Model,
    RateMatrix,
    Rates,
    ReportedStudy,
)
from brittle.studies.pools import Member
from brittle.studies.transfer.matrix import transfer_matrix
from brittle.studies.transfer.study import TransferStudy

MAX_TEXTS = 20
FACTS = ("pool", "attack", "settings", "data", "split", "seed", "attacked", "labels")


def reported_study(study: TransferStudy) -> ReportedStudy:
    """Return what the report of a study shows."""
    matrix = rate_matrix(study)
    texts = fooling_texts(study)
    return ReportedStudy(
        study.name,
        {name: getattr(study, name) for name in FACTS},
        matrix,
        [class_means(matrix, by, of_right) for of_right in (False, True) for by in WAYS],
        texts=texts[:MAX_TEXTS],
        fooling_all=sum(text.fooled == text.targets for text in texts),
        winners=sum(map(len, study.winners.values())),
        failures=study.failures,
        warnings=study.warnings,
    )


def rate_matrix(study: TransferStudy) -> RateMatrix:
    """Return the matrix of a study with the number of texts behind every cell."""
    matrix = transfer_matrix(study)
    right: Counts = np.zeros(matrix.rate.shape, dtype=np.int64)
    for i, j in np.argwhere(np.isfinite(matrix.rate)).tolist():
        right[i, j] = study.was_right(study.sources[i].name, study.targets[j].name).sum()
    return RateMatrix(
        tuple(map(_model, study.sources)),
        tuple(map(_model, study.targets)),
        matrix.rate,
        matrix.rate_of_right,
        matrix.count,
        right,
    )


def _model(member: Member) -> Model:
    return Model(member.name, {by: getattr(member, by) for by in WAYS})


def class_means(matrix: RateMatrix, by: str, of_right: bool) -> ClassTable:
    """Return the mean of the cells by the class of the source and that of the target."""
    rows, columns = _classes(matrix.sources, by), _classes(matrix.targets, by)
    of_row = np.array([rows.index(model.classes[by]) for model in matrix.sources])
    of_column = np.array([columns.index(model.classes[by]) for model in matrix.targets])
    rates = matrix.rates(of_right)
    with_base, without = np.full((2, len(rows), len(columns)), np.nan)
    for i, j in np.ndindex(with_base.shape):
        block = np.ix_(of_row == i, of_column == j)
        with_base[i, j] = _mean(rates[block])
        without[i, j] = _mean(rates[block][~matrix.is_base[block]])
    return ClassTable(by, rows, columns, with_base, without, of_right=of_right)


def _classes(models: Sequence[Model], by: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(model.classes[by] for model in models))


def _mean(rates: Rates) -> float:
    finite = rates[np.isfinite(rates)]
    return float(finite.mean()) if len(finite) else np.nan


def fooling_texts(study: TransferStudy) -> list[FoolingText]:
    """Return every winner with the number of targets it fools; those that fool most come first.

    The target of the same name as the source is its twin. Targets with an empty cell are not
    counted; a winner that no target has read is left out.
    """
    texts = []
    for source in study.sources:
        cells = [study.fooled(source.name, target.name) for target in study.targets]
        read = [cell for cell in cells if cell is not None]
        winners = study.winners.get(source.name, ())
        if not read or not winners:
            continue
        fooled = np.sum(read, axis=0)
        texts += [
            FoolingText(
                source.name,
                winner.case,
                study.labels[winner.label],
                winner.original,
                winner.adversarial,
                count,
                len(read),
            )
            for winner, count in zip(winners, fooled.tolist())
        ]
    return sorted(texts, key=lambda text: (text.fooled < text.targets, -text.fooled))
