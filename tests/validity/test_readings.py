"""What readers said, by level: of a run itself, and as it is shipped."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import brittle
from brittle.metrics import rate
from brittle.metrics.ladder import ladder
from brittle.metrics.samples import sample_results
from brittle.reports.ladder import reading_line, run_readings, valid_estimate
from brittle.reports.summaries import summary_json
from brittle.reports.terminal import run_block
from brittle.testing import FakeTarget
from brittle.validity import figures
from brittle.validity.answers import load_key
from brittle.validity.figures import own_readings, readings

EXAMPLES = [(f"a good film of {n} scenes", "positive") for n in range(24)]


def measured(shares: dict[str, float], broken: int) -> figures.Validity:
    """The validity of a run of which two people read these cases."""
    parts = dict.fromkeys((*figures.PARTS, figures.VALID), rate(1, 2, "adversaries"))
    reading = figures.Reading("one", 2, figures.Thresholds(), parts, parts, {}, shares)
    return figures.Validity(broken, 10, reading)


def test_what_people_said_is_added_up_by_level() -> None:
    rows = [replace(row, case=str(n)) for n, row in enumerate([sample_results()[0]] * 4)]
    rows = [
        replace(row, level=level)
        for row, level in zip(rows, ("careful", "careful", "typo", None), strict=True)
    ]
    validity = measured({"0": 1.0, "1": 0.5, "2": 0.0, "3": 1.0, "gone": 1.0}, broken=4)
    said = own_readings(validity, rows)
    assert list(said) == ["careful", "typo"]
    careful = said["careful"]
    assert (careful.valid, careful.of, careful.label) == (1.5, 2, None)
    assert (careful.reader, careful.texts, careful.is_own) == (
        "2 people",
        "texts of this run",
        True,
    )
    assert (said["typo"].valid, said["typo"].of) == (0.0, 1)
    later = own_readings(replace(validity, broken=3), rows)["typo"]
    assert later.texts == "texts of this run, before it was resumed"


def test_without_readers_there_is_nothing() -> None:
    rows = [replace(sample_results()[0], level="careful")]
    assert own_readings(None, rows) == {}
    assert own_readings(measured({}, broken=1), rows) == {}
    assert not any(reading.is_own for reading in readings().values())


@pytest.fixture
def run(tmp_path: Path) -> brittle.Run:
    """A run of auto with texts broken at one level, of which two people read some."""
    target = FakeTarget({"good": 2.0, "bad": -2.0}, spread=0.3)
    found = brittle.attack(target, EXAMPLES, "auto", name="demo", folder=tmp_path / "runs")
    assert {row.level for row in found.results() if row.status == "broken"} == {"careful"}
    return found


def have_read(run: brittle.Run, folder: Path) -> None:
    """Let two people find every second adversary valid."""
    key = load_key(run.annotate(folder, people=2, count=16).key)
    files = []
    for person in (1, 2):
        said = {}
        for n, item in key.items.items():
            is_valid = item.roles[0] == "original" or int(item.case[-4:], 16) % 2 == 0
            label = "positive" if is_valid else "negative"
            said[n] = {"label": label, "natural": 5, "meaning": 5}
        content = {"format": "brittle answers", "layout": 1, "sample": key.sample}
        content |= {"preset": key.preset, "person": person, "answers": said}
        files.append(folder / f"answers-{person}.json")
        files[-1].write_text(json.dumps(content), "utf-8")
    run.validity(*files)


def shown(run: brittle.Run, everything: bool = False) -> str:
    console = Console(file=StringIO(), width=300)
    console.print(run_block(run, 1, everything))
    text: Any = console.file
    return str(text.getvalue())


def test_verdicts_on_the_run_itself_stand_in_every_view(run: brittle.Run, tmp_path: Path) -> None:
    before = summary_json(run)["ladder"]
    assert "texts of this run" not in shown(run, everything=True)
    have_read(run, tmp_path)
    results = run.results()
    climbed, read = ladder(results), run_readings(run, results)
    assert climbed is not None
    own = read["careful"]
    assert own.is_own and 0 < own.valid < own.of and read["typo"] == readings()["typo"]
    column = f"valid in {own.valid / own.of:.0%} of {own.of} read"
    line = f"2 people read texts of this run (careful synonym {own.of})"
    for text in (shown(run), shown(run, everything=True), str(run)):
        assert column in text
    assert line in shown(run) and line in " ".join(str(run).split())
    for page in (run.report(tmp_path / "report.html").read_text("utf-8"), run.card()):
        assert f"{column} (2 people, texts of this run)" in page
    content = summary_json(run)["ladder"]
    rung = next(rung for rung in content["rungs"] if rung["level"] == "careful")
    assert rung["read"]["is_own"] and rung["read"]["of"] == own.of
    estimate = valid_estimate(climbed, read)
    assert content["validly_broken"]["value"] == estimate.value
    assert before["validly_broken"]["value"] != estimate.value
    assert estimate.low is not None and estimate.high is not None
    assert estimate.low < float(estimate.value or 0) < estimate.high
    assert f"value: {estimate.value:.4f}" in run.card()


def test_the_other_levels_keep_the_shipped_readings(run: brittle.Run, tmp_path: Path) -> None:
    have_read(run, tmp_path)
    results = run.results()
    climbed = ladder(results)
    assert climbed is not None
    line = reading_line(climbed, run_readings(run, results))
    assert line is not None
    assert line.startswith("valid: 2 people read") and "; other levels judged by one" in line
