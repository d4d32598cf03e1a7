"""A robustness study as its report shows it."""

from __future__ import annotations

from brittle.formatting import plural
from brittle.reports.robustness import ReportedRobustness
from brittle.studies.robustness.case import TargetRow
from brittle.studies.robustness.study import RobustnessStudy

MAX_EXAMPLES = 20


def reported(study: RobustnessStudy) -> ReportedRobustness:
    """Return what the page and the terminal show of a study."""
    settings, decoded = study.settings, sum(case.decoded for case in study.cases)
    facts = [
        f"{plural(len(study.cases), 'cases')} of {study.data} ({study.split}), seed {study.seed}",
        f"generator {study.generator}",
        f"{plural(settings['samples'], 'samples')} a shell, steps of {settings['step']:g}, radius "
        f"{settings['radius']:g}",
        f"{plural(decoded, 'samples')} decoded for all targets together",
    ]
    if study.scored:
        facts.append(f"accuracy on {plural(study.scored, 'examples')}")
    notes = [
        f"Left out, {plural(count, 'examples')}: {why}." for why, count in study.left_out.items()
    ]
    notes += [f"Missing: {name}. {why}" for name, why in study.failures.items()]
    names = [figure.target for figure in study.figures]
    shown = [case for case in study.cases if any(case.rows[n].adversarial for n in names)]
    examples = [[case.text, *(_cell(case.rows[n]) for n in names)] for case in shown[:MAX_EXAMPLES]]
    return ReportedRobustness(
        name=study.name,
        generator=study.generator,
        facts=facts,
        figures=study.figures,
        lost={name: study.lost(name) for name in names},
        tests={test.first: test for test in study.sign_tests},
        correlation=study.correlation,
        notes=notes,
        example_heads=["original", *names],
        examples=examples,
    )


def _cell(row: TargetRow) -> str:
    if row.distance is None:
        return row.reason
    return f"{row.adversarial} ({row.predicted} → {row.became}, Δz {row.distance:.3f})"
