"""Word importance on a page, as a figure, in the terminal, and for programs."""

from __future__ import annotations

from typing import Any

from brittle.formatting import plural
from brittle.reports.chart import Drawing
from brittle.reports.importance import (
    STYLE,
    Rows,
    WideMap,
    importance_figure,
    importance_page,
)
from brittle.reports.study_view import Plain, StudyView
from brittle.studies.importance import Importance


def importance_view(result: Importance) -> StudyView:
    """Return what the page of a sentence shows, and the terminal."""
    page = importance_page(
        _title(result),
        [result.sentence, *_facts(result)],
        result.columns,
        _rows(result),
        [f"Left out: {name}. {reason}" for name, reason in result.failures.items()],
    )
    terminal = [Plain(result.sentence), *_facts(result), WideMap(result.columns, _rows(result))]
    return StudyView(page, terminal, style=STYLE)


def importance_drawing(result: Importance) -> Drawing:
    """Draw the heat map."""
    return Drawing(importance_figure(result.columns, _rows(result), _title(result)))


def _title(result: Importance) -> str:
    return "Word importance" if result.word is None else f"Substitutes of {result.word}"


def _rows(result: Importance) -> Rows:
    rows = [(name, row.tolist()) for name, row in zip(result.models, result.drop)]
    return [*rows, ("mean", result.mean.tolist())] if len(rows) > 1 else rows


def _facts(result: Importance) -> list[str]:
    models = plural(len(result.models), "models")
    agreeing = sum(label == result.label for label in result.predicted)
    source = "what most models predict" if result.is_majority else "as you say"
    changed = "the word becomes unknown"
    if result.word is not None:
        changed = f"{result.word!r} becomes the word of the column"
    return [
        f"gold label {result.label} ({source}); {agreeing} of {models} predict it",
        f"drop of its log likelihood when {changed}",
    ]


def importance_json(result: Importance) -> dict[str, Any]:
    """Return the values for programs."""
    return {
        "sentence": result.sentence,
        "word": result.word,
        "label": result.label,
        "label_is_majority": result.is_majority,
        "columns": list(result.columns),
        "models": [
            {
                "model": name,
                "predicted": predicted,
                "log_likelihood": float(likelihood),
                "drop": drop.tolist(),
            }
            for name, predicted, likelihood, drop in zip(
                result.models, result.predicted, result.log_likelihood, result.drop
            )
        ],
        "mean": result.mean.tolist(),
        "failures": dict(result.failures),
    }
