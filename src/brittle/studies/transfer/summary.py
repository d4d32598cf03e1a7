"""The tables of a study as rows for a terminal, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from brittle.formatting import NO_VALUE
from brittle.studies.transfer.classes import ClassTable
from brittle.studies.transfer.factors import FactorRow
from brittle.studies.transfer.study import TransferStudy
from brittle.studies.transfer.tables import StudyTables
from brittle.studies.transfer.universal import fooled_histogram, universal_texts


def rate_text(value: float) -> str:
    """Format a rate as the paper does, with three digits.

    >>> rate_text(0.3526), rate_text(float("nan"))
    ('.353', '–')
    """
    return NO_VALUE if math.isnan(value) else f"{value:.3f}".replace("0.", ".", 1)


def class_rows(table: ClassTable, others: ClassTable) -> list[dict[str, str]]:
    """Return the rows of a table; where `others` has another value, it stands in brackets."""
    rows = []
    for n, name in enumerate(table.rows):
        values = zip(table.columns, table.mean[n], others.mean[n])
        row = {"source": name} | {column: _beside(a, b) for column, a, b in values}
        rows.append(row | {"average": _beside(table.row_mean[n], others.row_mean[n])})
    means = zip(table.columns, table.column_mean, others.column_mean)
    last = {"source": "average"} | {column: _beside(a, b) for column, a, b in means}
    return [*rows, last | {"average": _beside(table.total, others.total)}]


def factor_rows(
    factors: Sequence[FactorRow], of_right: Sequence[FactorRow]
) -> list[dict[str, str]]:
    """Return a row for each factor."""
    return [
        {
            "factor": row.factor,
            "|r − base|": rate_text(row.mean),
            "interval": _interval(row),
            "of right": rate_text(right.mean),
            "its interval": _interval(right),
            "pairs": str(row.pairs),
        }
        for row, right in zip(factors, of_right)
    ]


def study_json(study: TransferStudy, tables: StudyTables, of_right: StudyTables) -> dict[str, Any]:
    """Return the figures of a study as JSON can hold them; what is empty is null."""
    matrix = study.matrix()
    return {
        "name": study.name,
        "pool": study.pool,
        "attack": study.attack,
        "attacked": study.attacked,
        "sources": [source.name for source in study.sources],
        "targets": [target.name for target in study.targets],
        "winners": matrix.count.tolist(),
        "rate": _nested(matrix.rate),
        "rate_of_right": _nested(matrix.rate_of_right),
        "tables": _tables_json(tables),
        "tables_of_right": _tables_json(of_right),
        "fool_all": len(universal_texts(study)),
        "fooled": {str(count): texts for count, texts in fooled_histogram(study).items()},
        "failures": dict(study.failures),
        "warnings": list(study.warnings),
    }


def _tables_json(tables: StudyTables) -> dict[str, Any]:
    def table_json(table: ClassTable) -> dict[str, Any]:
        names = ("mean", "low", "high", "row_mean", "column_mean")
        values = {name: _nested(getattr(table, name)) for name in names}
        return {"rows": table.rows, "columns": table.columns} | values

    return {
        "factors": [
            {
                "factor": row.factor,
                "mean": _plain(row.mean),
                "low": _plain(row.low),
                "high": _plain(row.high),
                "pairs": row.pairs,
            }
            for row in tables.factors
        ],
        "classes": {by: table_json(table) for by, table in tables.classes.items()},
        "classes_without_diagonal": {
            by: table_json(table) for by, table in tables.classes_without_diagonal.items()
        },
    }


def _nested(values: Any) -> Any:
    if values is None:
        return None
    rows = values.tolist()
    return [[_plain(v) for v in row] if isinstance(row, list) else _plain(row) for row in rows]


def _plain(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 4)


def _beside(value: float, other: float) -> str:
    texts = rate_text(value), rate_text(other)
    return texts[0] if texts[0] == texts[1] else f"{texts[0]} ({texts[1]})"


def _interval(row: FactorRow) -> str:
    if row.low is None or row.high is None or math.isnan(row.low):
        return NO_VALUE
    return f"{rate_text(row.low)} to {rate_text(row.high)}"
