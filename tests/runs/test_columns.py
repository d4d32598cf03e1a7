"""The columns of rows come from the fields of results and steps, at every place."""

from __future__ import annotations

from dataclasses import fields
from importlib.resources import files

from brittle.results import Result, Step
from brittle.runs.layout import RESULT_COLUMNS, STEP_COLUMNS, STORED_ELSEWHERE, _columns
from brittle.runs.run import COLUMNS, OPTIONAL_COLUMNS

LAYOUT = files("brittle.runs").joinpath("layout.sql").read_text(encoding="utf-8")


def test_the_file_has_a_column_for_every_field_that_is_stored() -> None:
    assert {name for name, _ in _columns(LAYOUT, "results")} == {*RESULT_COLUMNS}
    assert {name for name, _ in _columns(LAYOUT, "steps")} == {*STEP_COLUMNS}


def test_every_field_is_stored_or_known_to_stand_elsewhere() -> None:
    names = {field.name for field in fields(Result)}
    assert {*STORED_ELSEWHERE} <= names and len(RESULT_COLUMNS) == len({*RESULT_COLUMNS})
    assert names == {*RESULT_COLUMNS, *STORED_ELSEWHERE} - {"case_id"}
    assert {field.name for field in fields(Step)} == {*STEP_COLUMNS, "case"} - {"case_id", "number"}


def test_tables_hold_what_is_not_nested() -> None:
    nested = ("fields", "edits", "kept", "levels")
    assert tuple(field.name for field in fields(Result) if field.name not in nested) == COLUMNS
    assert {"cost", "similarity", "random_won"} <= {*OPTIONAL_COLUMNS} < {*COLUMNS}
    assert not {*OPTIONAL_COLUMNS} & {"answer", "reference", "l2", "words", "adversarial"}
