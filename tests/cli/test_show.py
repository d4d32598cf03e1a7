"""`brittle show RUN CASE`, `brittle report` of one run and of two, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brittle.runs.run import Run
from cli.conftest import Brittle


def test_one_case_is_shown_with_its_steps(brittle: Brittle, workdir: Path) -> None:
    run = Run(workdir / "runs" / "weak.sqlite")
    broken = next(row for row in run.results() if row.status == "broken")
    shown = brittle("show", "weak", broken.case[:10])
    assert shown.code == 0 and broken.original in shown.out.replace("\n", " ")
    assert f"pwws: broken, {broken.queries} queries" in shown.out
    assert "[good→full]" in shown.out and "  query " in shown.out
    data = json.loads(brittle("show", "weak", broken.case, "--json").out)
    assert data["case"] == broken.case and data["adversarial"] == broken.adversarial
    assert [step["query"] for step in data["steps"]] == sorted(
        step.query for step in run.steps() if step.case == broken.case
    )
    held = next(row for row in run.results() if row.status != "broken")
    assert held.status in brittle("show", "weak", held.case).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "weak", "zz"), "has no case whose name begins with 'zz'. brittle export weak"),
        (("show", "weak", ""), "begins several cases"),
        (("show", "weak", "--layer", "2"), "--layer is for --inside"),
        (("show", "weak", "--out", "x.html"), "--out is for --inside"),
        (("report", "weak", "strong", "weak"), "takes one run or two, and got 3"),
        (("report", "weak", "none"), "Unknown run 'none'"),
        (("report", "weak", "strong", "--out", "x.md"), "A model card is about one run"),
        (("report", "weak", "strong", "--nearest"), "--nearest is about one run"),
        (("list", "runs", "x.rules"), "brittle list runs takes no 'x.rules'"),
        (("list", "data", "--word", "x"), "brittle list data takes no --word"),
    ],
)
def test_what_is_refused(brittle: Brittle, words: tuple[str, ...], message: str) -> None:
    output = brittle(*words)
    assert (output.code, output.out) == (2, "") and message in output.err


def test_two_runs_make_one_page(brittle: Brittle, workdir: Path) -> None:
    assert brittle("report", "strong", "weak").out == "runs/strong-and-weak.html\n"
    page = (workdir / "runs" / "strong-and-weak.html").read_text("utf-8")
    assert page.lower().startswith("<!doctype html>") and "strong" in page and "weak" in page
    assert brittle("report", "strong", "weak", "--out", "pages/two.html", "--quiet").out == (
        "pages/two.html\n"
    )
    assert (workdir / "pages" / "two.html").read_text("utf-8") == page


def test_a_study_has_no_cases_to_show(brittle: Brittle) -> None:
    both = "python:cli_models:weak,python:cli_models:strong"
    words = ("study", "grid", both, "key", "--data", "films.csv", "--limit", "3", "--workers", "1")
    made = brittle(*words, "--name", "caseless", "--quiet")
    assert (made.code, made.out) == (0, "runs/caseless.study.json\n")
    assert "is a study, which has no cases" in brittle("show", "caseless", "a").err
    assert "only two runs can be side by side" in brittle("report", "caseless", "weak").err
    assert "is about a run, but 'caseless' is a study" in (
        brittle("report", "caseless", "--out", "x.md").err
    )
