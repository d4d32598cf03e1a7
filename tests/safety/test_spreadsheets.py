"""No cell of a CSV file is a formula, unless the user asks for the cells as they are."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import brittle
from brittle.safety.files import write_csv
from brittle.studies.study import rows_as, write_rows

FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)", "\t=1+1", "\r=1+1"]
PLAIN = ["a = b", "", "'=1", " =1", "1-1"]


def cells(text: str) -> list[str]:
    return [row["cell"] for row in csv.DictReader(io.StringIO(text, newline=""))]


def test_formulas_get_an_apostrophe_and_nothing_else_does() -> None:
    rows = [{"cell": cell} for cell in [*FORMULAS, *PLAIN, -1.5, None]]
    safe, exact = io.StringIO(), io.StringIO()
    write_csv(safe, ["cell"], rows)
    write_csv(exact, ["cell"], rows, exact=True)
    assert cells(safe.getvalue()) == [*(f"'{cell}" for cell in FORMULAS), *PLAIN, "-1.5", ""]
    assert cells(exact.getvalue()) == [*FORMULAS, *PLAIN, "-1.5", ""]


@pytest.mark.parametrize("exact", [False, True])
def test_exports_of_runs_studies_and_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    formula, mark = FORMULAS[0], "" if exact else "'"

    def classify(texts: list[str]) -> list[list[float]]:
        return [[0.4, 0.6] for _ in texts]

    run = brittle.attack(classify, [formula], "random-swap", labels="neg,pos", budget=2)
    with run.export("run.csv", exact=exact).open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["original"] == mark + formula
    assert json.loads(run.export("run.jsonl").read_text())["original"] == formula
    study = write_rows([{"cell": formula}], "study.csv", exact)
    assert cells(study.read_text("utf-8")) == [mark + formula]
    assert cells(rows_as([{"cell": formula}], "csv", exact)) == [mark + formula]
