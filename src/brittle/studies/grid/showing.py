"""A grid as its report shows it."""

from __future__ import annotations

from collections import Counter

from brittle.metrics.summary import ATTACKED, rate
from brittle.reports.studies.grid_tables import BrokenText, GridCell, PairRow, ReportedGrid
from brittle.studies.grid.figures import (
    PairedTest,
    best_attention,
    mean_queries,
    paired_tests,
    success,
)
from brittle.studies.grid.study import Cell, GridStudy
from brittle.studies.pools import named_pool

FACTS = ("pool", "data", "split", "seed", "limit", "budget")


def reported_grid(study: GridStudy) -> ReportedGrid:
    """Return what the report of a grid shows."""
    names = tuple(target.name for target in study.targets)
    best = {name: best_attention(study, name) for name in names}
    settings = {row: dict(values) for row, values in study.settings.items()}
    runs = [cell.run for cells in study.cells.values() for cell in cells.values()]
    facts = {name: getattr(study, name) for name in FACTS}
    facts |= {"pool": named_pool(study.pool), "settings": settings, "runs": runs}
    return ReportedGrid(
        study.name,
        facts,
        study.attacks,
        names,
        len(study.cases),
        study.scored,
        study.all_right,
        {
            row: {name: _cell(cell) for name, cell in cells.items()}
            for row, cells in study.cells.items()
        },
        {name: found for name, found in best.items() if found is not None},
        {name: rate(count, study.scored, "texts") for name, count in study.right.items()},
        [_pair(test) for test in paired_tests(study)],
        broken_texts(study),
        study.failures,
        study.refusals,
        study.warnings,
        settings,
    )


def _cell(cell: Cell) -> GridCell:
    skipped = Counter(row.reason for row in cell.rows if row.status not in ATTACKED)
    return GridCell(success(cell), dict(skipped), mean_queries(cell), cell.sent, cell.run)


def _pair(test: PairedTest) -> PairRow:
    about = (test.attack, test.a, test.b, test.of, test.difference, test.low, test.high)
    if test.contrast is None:
        return PairRow(*about)
    return PairRow(*about, test.contrast.only_a, test.contrast.only_b, test.contrast.p, test.p_holm)


def broken_texts(study: GridStudy) -> list[BrokenText]:
    """Return one text of every attack: the first of those that it breaks on most targets."""
    cases = {case.case: case for case in study.cases}
    texts = []
    for attack, cells in study.cells.items():
        broken: dict[str, list[tuple[str, tuple[tuple[str, str], ...]]]] = {}
        for target, cell in cells.items():
            for row in cell.rows:
                if row.adversarial is not None:
                    broken.setdefault(row.case, []).append((target, row.adversarial))
        if not broken:
            continue
        in_order = [case for case in cases if case in broken]
        case = max(in_order, key=lambda name: len(broken[name]))
        target, adversarial = broken[case][0]
        about = (attack, target, cases[case].label, len(broken[case]), len(cells))
        texts.append(BrokenText(*about, cases[case].fields, adversarial))
    return texts
