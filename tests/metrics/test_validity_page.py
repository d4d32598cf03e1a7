"""The page on validity prints what it says, and has the figures of the simulation."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

from brittle.validity.questionnaire import PRESETS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "validity.md").read_text("utf-8")


def test_the_example_prints_what_the_page_says() -> None:
    ((code, printed),) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "docs/how-to/validity.md", "exec"), {})
    assert out.getvalue() == printed


def test_the_coverage_is_that_of_the_simulation() -> None:
    content = json.loads((ROOT / "benchmarks" / "validity_simulation.json").read_text("utf-8"))
    lowest, highest = content["lowest"], content["highest"]
    assert 0.93 <= lowest <= highest <= 0.97
    assert f"{100 * lowest:.1f} to {highest:.1%}" in PAGE
    assert f"{len(content['kinds'])} kinds" in PAGE
    assert f"{content['studies_of_each_kind']:,} studies" in PAGE
    judged = [kind for kind in content["kinds"] if kind["sensitivity"] is not None]
    assert {bool(kind["calibrated_on"]) for kind in judged} == {True, False}


def test_every_preset_is_on_the_page_with_the_paper_it_is_from() -> None:
    for name, one in PRESETS.items():
        (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGE, re.MULTILINE)
        assert one.source.partition(",")[0] in row
