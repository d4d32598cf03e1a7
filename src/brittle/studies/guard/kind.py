"""Guard studies as a kind of study: how they are checked, listed, exported and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from brittle.formatting import NO_VALUE, plural
from brittle.metrics.paired import contrast
from brittle.metrics.summary import Figure
from brittle.reports.table import Column, Row, Table
from brittle.studies.grid.view import p_value, points
from brittle.studies.guard.study import (
    Flags,
    GuardFacts,
    GuardResults,
    GuardStudy,
    check_guard,
    facts_that_stay,
)
from brittle.studies.guard.view import (
    figure_cell,
    guard_view,
    length_bands,
    recall_by_level,
    recall_cells,
)
from brittle.studies.study import Listed, StudyKind

COMPARED = (
    "Recall at each study's own operating point. Change: the recall under all attacks minus that "
    "of the first study, over the attack texts of both, with McNemar's exact test."
)


def guard_rows_of(study: GuardStudy) -> list[dict[str, Any]]:
    """Return one row for every attack, and one for the guard as it is."""
    results = study.results
    rows = [_row("no attack", results.before, None)]
    for name, attack in results.attacks.items():
        after = None if attack.is_normalised else results.after(name)
        row = _row(name, after, None if attack.is_normalised else len(attack.broken))
        row |= {"normalised": attack.is_normalised, "run": attack.run}
        row |= {f"median_{c}": attack.median_of(c) for c in ("queries", *CHANGED)}
        rows.append(row | _flags("benign", attack.benign) | _flags("random", attack.floor))
    rows.append(_row("all together", results.after(), len(results.evaded())))
    keys = dict.fromkeys(key for row in rows for key in row)
    return [{key: row.get(key) for key in keys} for row in rows]


CHANGED = ("words_changed", "characters_changed")


def _row(name: str, figure: Figure | None, evaded: int | None) -> dict[str, Any]:
    value, low, high = (None,) * 3 if figure is None else (figure.value, figure.low, figure.high)
    return {"attack": name, "recall": value, "low": low, "high": high, "evaded": evaded}


def _flags(name: str, flags: Flags | None) -> dict[str, Any]:
    if flags is None:
        return {}
    return {
        f"{name}_flagged": flags.flagged,
        f"{name}_before": flags.before,
        f"{name}_of": flags.of,
    }


def text_rows(study: GuardStudy) -> list[dict[str, Any]]:
    """Return one row for every attack text, and one more for every attack on it."""
    rows: list[dict[str, Any]] = []
    for one in study.results.unscored:
        rows.append({"case": one.case, "status": one.reason, "original": one.text})
    for case in study.results.cases:
        facts = {"case": case.case, "score": case.score, "caught": case.is_caught}
        rows.append(facts | {"attack": None, "original": case.text})
        for name, attack in study.results.attacks.items():
            found = [asdict(row) for row in attack.rows if row.case == case.case]
            rows += [facts | {"attack": name, "original": case.text} | row for row in found]
    keys = dict.fromkeys(key for row in rows for key in row)
    return [{key: row.get(key) for key in keys} for row in rows]


def guard_json(study: GuardStudy, **options: Any) -> dict[str, Any]:
    """Return the figures of a study for programs."""
    results = study.results
    lost = results.lost()
    return {
        "study": study.name,
        "guard": study.facts.pool,
        "caught": study.facts.caught,
        "at_fpr": study.facts.at_fpr,
        "operating_point": asdict(results.point),
        "false_positives": asdict(results.false_positives),
        "recall": asdict(results.before),
        "recall_under_attack": asdict(results.after()),
        "change": {"value": lost.difference, "low": lost.low, "high": lost.high, "p": lost.p},
        "attacks": guard_rows_of(study),
        "levels": [{"level": name} | asdict(figure) for name, figure in recall_by_level(study)],
        "lengths": [
            {"words": name, "recall": asdict(before), "under_attack": asdict(after)}
            for name, before, after in length_bands(study)
        ],
        "no_label": {
            "attack texts": results.reasons_without_label,
            "benign texts": dict(results.benign_unscored),
        },
        "spent": None if results.spent is None else asdict(results.spent),
        "warnings": list(study.warnings),
    }


def side_by_side(studies: Sequence[GuardStudy]) -> Table:
    """Show the recall of several guards, or of one at several thresholds, attack by attack."""
    names = dict.fromkeys(name for study in studies for name in study.results.attacks)
    rows: list[Any] = [["no attack", *(figure_cell(study.results.before) for study in studies)]]
    rows += [[name, *recall_cells(studies, name)] for name in names]
    rows.append(Row(["all together", *recall_cells(studies, "")], css="apart"))
    rows.append(
        ["false positives", *(figure_cell(study.results.false_positives) for study in studies)]
    )
    rows.append(["change", *(_change(studies[0], study) for study in studies)])
    columns = [Column(study.name, "right", small=study.facts.pool, fold=True) for study in studies]
    return Table([Column("attack"), *columns], rows, notes=[COMPARED])


def _change(first: GuardStudy, other: GuardStudy) -> str:
    """Compare the recall under all attacks of two studies on the attack texts of both."""
    if other is first:
        return NO_VALUE
    kept = []
    for study in (first, other):
        texts = {one.case: one.text for one in study.results.cases}
        kept.append({texts[case]: is_kept for case, is_kept in study.results.kept().items()})
    outcomes = [(kept[0][text], kept[1][text]) for text in kept[0] if text in kept[1]]
    if not outcomes:
        return "no text of both"
    both = contrast(outcomes)
    interval = f"{points(both.low)} to {points(both.high)}"
    return (
        f"{points(both.difference)} ({interval}; p {p_value(both.p)}; {plural(both.of, 'texts')})"
    )


def _compared(studies: Sequence[GuardStudy]) -> tuple[Any, Any]:
    return list(map(guard_json, studies)), side_by_side(studies)


KIND = StudyKind(
    name="guard",
    noun="guard study",
    command="brittle guard",
    commands="brittle show, report, export and compare take it.",
    facts=GuardFacts,
    results=GuardResults,
    check=check_guard,
    fixed=facts_that_stay,
    members=lambda study: [study.facts.pool],
    listed=lambda study: Listed(", ".join(study.facts.by), len(study.results.cases), 1),
    rows=guard_rows_of,
    text_rows=text_rows,
    summary=guard_json,
    view=guard_view,
    compared=_compared,
)
