"""How a study of robustness is shown, and what kind of study it is.

A robustness study on its page, in the terminal, for programs, and side by side with others.
Robustness studies as a kind of study: how they are checked, listed, shown, and compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

from brittle.formatting import NO_VALUE, percent, plural
from brittle.metrics.robustness import TargetRobustness
from brittle.reports.kept import Drawing
from brittle.reports.page import isolate
from brittle.reports.plots import scatter_figure
from brittle.reports.study_page import Part, Plain, StudyPage, StudyView
from brittle.reports.table import Cell, Column, Table
from brittle.studies.robustness.case import TargetRow
from brittle.studies.robustness.study import (
    RobustnessFacts,
    RobustnessResults,
    RobustnessStudy,
    check_robustness,
)
from brittle.studies.study import Listed, StudyKind

HEADS = ("target", "mean Δz", "shared cases", "largest", "accuracy", "found", "held", "lost", "p")
EXPLAINED = (
    "Δz is the distance in the generator's latent space from an item to the nearest "
    "sample that gets another answer. Shared cases: mean Δz over the cases that have one "
    "for every target. Largest: the share of cases in which no other target has a larger "
    "distance. Held: no such sample within the radius. Lost: the target already answers "
    "differently on the reconstruction, so no search was made. p: sign test against the "
    "first target."
)
SIDE_BY_SIDE = (
    "Mean Δz with its interval, then the share of the study's cases in which it is the "
    "largest. Distances of two generators come from two spaces: compare the order of "
    "targets, not the sizes."
)
MAX_EXAMPLES = 20
SETTINGS = ("pool", "data", "split", "generator", "seed", "settings")
"""The facts at the end of the page."""


def robustness_view(study: RobustnessStudy, **options: Any) -> StudyView:
    """Return what the page of a study shows, and the terminal."""
    correlation = _correlation_line(study)
    above = [*_facts(study), *_notes(study), ""]
    figures = [_targets_table(study, "right"), "", Plain(correlation), EXPLAINED]
    return StudyView(_page(study, correlation), [*above, *figures])


def _page(study: RobustnessStudy, correlation: str) -> StudyPage:
    """Build the page: the targets, accuracy against distance, and examples of texts."""
    targets = _targets_table(study, "left")
    heading = "Distance to the nearest adversary"
    parts = [Part(heading, shows=[targets], lines=[correlation], below=isolate(EXPLAINED))]
    figures = study.results.figures
    known = [(f.accuracy, f.mean) for f in figures if f.accuracy is not None and f.mean is not None]
    if len(known) > 1:
        chart = Drawing(scatter_figure({"targets": known}, "accuracy", "mean Δz", is_share=True))
        parts.append(Part("Accuracy and mean Δz", shows=[chart]))
    names = [figure.target for figure in figures]
    cases = [c for c in study.results.cases if any(c.rows[name].adversarial for name in names)]
    if cases:
        rows = [[c.text, *(_nearest(c.rows[n]) for n in names)] for c in cases[:MAX_EXAMPLES]]
        table = _table(["original", *names], rows)
        parts.append(Part("Nearest adversaries", shows=[table]))
    return StudyPage(
        f"Robustness: {study.name}",
        facts=_facts(study),
        notes=_notes(study),
        notes_are="",
        parts=parts,
        settings={name: getattr(study.facts, name) for name in SETTINGS},
    )


def _facts(study: RobustnessStudy) -> list[str]:
    about, results = study.facts, study.results
    settings, decoded = about.settings, sum(case.decoded for case in results.cases)
    facts = [
        f"{plural(len(results.cases), 'cases')} of {about.data} ({about.split}), seed {about.seed}",
        f"generator {about.generator}",
        f"{plural(settings['samples'], 'samples')} a shell, steps of {settings['step']:g}, radius "
        f"{settings['radius']:g}",
        f"{plural(decoded, 'samples')} decoded once for all targets",
    ]
    scored = plural(results.scored, "examples")
    return [*facts, f"accuracy on {scored}"] if results.scored else facts


def _notes(study: RobustnessStudy) -> list[str]:
    left_out = study.results.left_out.items()
    notes = [f"Left out, {plural(count, 'examples')}: {why}." for why, count in left_out]
    return notes + [f"Missing: {name}. {why}" for name, why in study.failures.items()]


def _correlation_line(study: RobustnessStudy) -> str:
    """Say how accuracy and distance are correlated, or why there is no figure."""
    if study.results.correlation is None:
        return "No correlation with accuracy: that needs labels and at least four targets."
    value, (low, high) = study.results.correlation
    targets = plural(len(study.results.figures), "targets")
    over = f"Rank correlation of accuracy and mean Δz over {targets}"
    return f"{over}: {value:.2f} [{low:.2f}, {high:.2f}]."


def _targets_table(study: RobustnessStudy, align: Literal["left", "right"]) -> Table:
    tests = {test.first: test for test in study.results.sign_tests}
    rows = []
    for figure in study.results.figures:
        test = tests.get(figure.target)
        rows.append(
            (
                figure.target,
                _mean_cell(figure),
                "-" if figure.shared_mean is None else f"{figure.shared_mean:.3f}",
                "-" if figure.largest is None else percent(figure.largest, 0),
                "-" if figure.accuracy is None else percent(figure.accuracy),
                str(figure.found),
                str(figure.held),
                str(study.results.lost(figure.target)),
                "" if test is None else f"{test.p:.2g} ({test.smaller}:{test.larger})",
            )
        )
    return _table(HEADS, rows, align)


def _mean_cell(figure: TargetRobustness) -> Cell:
    if figure.mean is None or figure.interval is None:
        return Cell(text="-")
    low, high = figure.interval
    return Cell(figure.mean, f"{figure.mean:.3f}", [f"{low:.2f}–{high:.2f}"])


def _mean(figure: TargetRobustness) -> str:
    if figure.mean is None or figure.interval is None:
        return ""
    low, high = figure.interval
    return f"{figure.mean:.3f} [{low:.3f}, {high:.3f}]"


def _nearest(row: TargetRow) -> str:
    if row.distance is None:
        return row.reason
    return f"{row.adversarial} ({row.predicted} → {row.became}, Δz {row.distance:.3f})"


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[Any]], align: Literal["left", "right"] = "left"
) -> Table:
    first, *rest = heads
    columns = [Column(first, is_name=True, fold=True)]
    columns += [Column(head, align, is_name=True, fold=True) for head in rest]
    return Table(columns, rows)


def robustness_json(study: RobustnessStudy, **options: Any) -> dict[str, Any]:
    """Return the figures of a study for programs."""
    results = study.results
    tests = {test.first: test for test in results.sign_tests}
    return {
        "study": study.name,
        "generator": study.facts.generator,
        "cases": len(results.cases),
        "decoded": sum(case.decoded for case in results.cases),
        "targets": [
            asdict(figure)
            | {"lost": results.lost(figure.target)}
            | {"sign_test": asdict(tests[figure.target]) if figure.target in tests else None}
            for figure in results.figures
        ],
        "correlation": results.correlation,
        "scored": results.scored,
        "left_out": dict(results.left_out),
        "failures": dict(study.failures),
    }


def side_by_side(studies: Sequence[RobustnessStudy]) -> Table:
    """Show the mean Δz of every target in every study, and what each says of accuracy."""
    figures = [{figure.target: figure for figure in study.results.figures} for study in studies]
    rows = [
        [target, *(_beside(own.get(target)) for own in figures)]
        for target in dict.fromkeys(name for own in figures for name in own)
    ]
    rows.append(["correlation with accuracy", *map(_correlation, studies)])
    columns = [
        Column(study.name, "right", small=study.facts.generator, fold=True) for study in studies
    ]
    return Table([Column("target", fold=True), *columns], rows, notes=[SIDE_BY_SIDE])


def _beside(figure: TargetRobustness | None) -> str:
    if figure is None or not _mean(figure):
        return NO_VALUE
    largest = NO_VALUE if figure.largest is None else percent(figure.largest, 0)
    return f"{_mean(figure)}, {largest}"


def _correlation(study: RobustnessStudy) -> str:
    if study.results.correlation is None:
        return NO_VALUE
    value, (low, high) = study.results.correlation
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _listed(study: RobustnessStudy) -> Listed:
    return Listed("natural", len(study.results.cases), len(study.results.targets))


def _compared(studies: Sequence[RobustnessStudy]) -> tuple[Any, Any]:
    return list(map(robustness_json, studies)), side_by_side(studies)


def target_rows(study: RobustnessStudy) -> list[dict[str, Any]]:
    """Return one row for every target, the largest mean distance first."""
    tests = {test.first: test for test in study.sign_tests}
    rows = []
    for figure in study.figures:
        row = asdict(figure)
        low, high = row.pop("interval") or (None, None)
        test = tests.get(figure.target)
        rows.append(
            row
            | {"low": low, "high": high, "lost": study.lost(figure.target)}
            | {"smaller": test and test.smaller, "larger": test and test.larger}
            | {"p": test and test.p}
        )
    return rows


def case_rows(study: RobustnessStudy) -> list[dict[str, Any]]:
    """Return one row for every case of every target; of pictures there are no texts."""
    return [
        {"case": case.case, "label": case.label, "target": target, **asdict(case.rows[target])}
        | {"original": case.text}
        for target in study.targets
        for case in study.cases
    ]


KIND = StudyKind(
    name="robustness",
    noun="robustness study",
    command="brittle study robustness",
    commands="Use brittle show, report, export or compare.",
    facts=RobustnessFacts,
    results=RobustnessResults,
    check=check_robustness,
    fixed=lambda facts: {},  # its journal of cases is held to all that decides them
    members=lambda study: study.targets,
    listed=_listed,
    rows=target_rows,
    text_rows=case_rows,
    summary=robustness_json,
    view=robustness_view,
    compared=_compared,
)
