from __future__ import annotations

from dataclasses import replace

import pytest

from brittle.errors import UsageError
from brittle.metrics import AttackedTarget, grid, wilson
from brittle.metrics.samples import sample_results

ROWS = sample_results()
ALL_LOST = [replace(r, status="held") if r.status == "broken" else r for r in ROWS]


def test_a_cell_is_the_accuracy_under_attack_and_clean_that_before() -> None:
    table = grid([AttackedTarget("a", "pwws", ROWS), AttackedTarget("b", "pwws", ALL_LOST)])
    assert (table.targets, table.attacks) == (("a", "b"), ("pwws",))
    assert [(table.clean[t].count, table.clean[t].of) for t in "ab"] == [(6, 7), (6, 7)]
    assert [table.cells[t, "pwws"].count for t in "ab"] == [3, 6]
    cell = table.cells["a", "pwws"]
    assert (cell.low, cell.high) == wilson(3, 7)
    assert (table.shared, table.uneven) == (7, ())


def test_rows_and_columns_come_in_the_order_of_the_runs() -> None:
    table = grid(
        [
            AttackedTarget("b", "y", ROWS),
            AttackedTarget("a", "x", ROWS),
            AttackedTarget("b", "x", ROWS),
        ]
    )
    assert (table.targets, table.attacks) == (("b", "a"), ("y", "x"))
    assert ("a", "y") not in table.cells


def test_the_run_over_other_examples_is_flagged() -> None:
    runs = [
        AttackedTarget("a", "x", ROWS),
        AttackedTarget("a", "y", ROWS[:4]),
        AttackedTarget("b", "x", ROWS),
    ]
    table = grid(runs)
    assert table.uneven == (("a", "y"),)
    assert table.shared == 4
    assert [table.cells[pair].of for pair in table.cells] == [7, 4, 7]
    assert (table.clean["a"].of, table.clean["b"].of) == (7, 7)


def test_over_what_all_runs_share_every_figure_has_the_same_cases() -> None:
    table = grid(
        [AttackedTarget("a", "x", ROWS), AttackedTarget("b", "x", ALL_LOST[2:5])], shared_only=True
    )
    figures = [*table.clean.values(), *table.cells.values()]
    assert [figure.of for figure in figures] == [3] * 4
    assert [figure.count for figure in figures] == [3, 3, 2, 3]
    assert table.uneven == (("b", "x"),)  # it is told all the same


def test_an_original_counts_once_however_many_attacks_met_it() -> None:
    halves = [AttackedTarget("a", "x", ROWS[:4]), AttackedTarget("a", "y", ROWS[2:])]
    assert (grid(halves).clean["a"].count, grid(halves).clean["a"].of) == (6, 7)
    assert grid(halves).uneven == (("a", "x"),)  # of as many runs the larger is the rule


def test_cells_of_failed_cases_alone_have_no_value() -> None:
    table = grid([AttackedTarget("a", "x", ROWS[-1:])])
    assert table.cells["a", "x"].value is None and table.clean["a"].value is None
    assert grid([]).targets == ()


def test_two_runs_cannot_have_one_cell() -> None:
    with pytest.raises(UsageError, match="two runs of attack 'x' on target 'a'"):
        grid(
            [
                AttackedTarget("a", "y", ROWS),
                AttackedTarget("a", "x", ROWS),
                AttackedTarget("a", "x", ROWS),
            ]
        )
