"""`brittle show --inside` on runs of live models, and on a real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Brittle

LAYERED = """
import numpy as np
from cli_models import weak
from brittle.answers import Embedding

class Layered:
    name, fingerprint, labels = "layered", "f", ("negative", "positive")
    layers = ("embedding",)
    def scores(self, items):
        return np.array(weak([str(item) for item in items]))
    def embeddings(self, items, layer, level="words"):
        return [np.array([[float(len(str(w)))] for w in item.words]) for item in items]
    def sentence_embeddings(self, items):
        return [Embedding(rows.sum(axis=0), []) for rows in self.embeddings(items, "embedding")]

model = Layered()
"""


@pytest.fixture
def layered(workdir: Path, brittle: Brittle) -> Brittle:
    (workdir / "layered_model.py").write_text(LAYERED)
    if not (workdir / "runs" / "layered.sqlite").exists():
        target = "python:layered_model:model"
        command = ("attack", target, "pwws", "--candidates=paper", "--data", "films.csv", "--quiet")
        command += ("--name", "layered")
        assert brittle(*command).code == 0
    return brittle


def test_means_one_case_json_and_a_page(layered: Brittle, workdir: Path) -> None:
    shown = layered("show", "--inside", "layered")
    assert shown.code == 0 and "Re " in shown.out and "mean over 10 cases" in shown.out
    assert "The target 'layered' shows no attention." in shown.out
    printed = json.loads(layered("show", "--inside", "layered", "--limit", "2", "--json").out)
    assert len(printed["cases"]) == 2 and printed["relative"]["of"] == 2
    assert printed["change_by_distance"]["embedding"]["0"]["of"] == 2
    case = printed["cases"][0]["case"]
    one = layered("show", "--inside", "layered", case)
    assert one.code == 0 and case in one.out and "embedding" in one.out
    for name in ("seen/inside.html", "inside.json"):
        assert layered("show", "--inside", "layered", "--out", name, "--quiet").out == ""
    assert "Inside the target" in (workdir / "seen" / "inside.html").read_text()
    assert json.loads((workdir / "inside.json").read_text())["run"] == "layered"
    assert layered("report", "layered", "--quiet").code == 0
    assert "Inside the target" in (workdir / "runs" / "layered.html").read_text()
    assert [row for row in layered("list", "runs").out.splitlines() if "inside" in row] == []


def test_bad_input_is_named_before_a_model_is_opened(layered: Brittle) -> None:
    for argv, message in (
        (("weak",), "shows neither vectors nor attention"),
        (("layered", "nothing"), "Unknown broken case 'nothing'"),
        (("layered", "--out", "inside.png"), "expected a file that ends in .html or .json"),
        (("missing",), "Unknown run 'missing'"),
        (("layered", "--limit", "0"), "expected a number of at least 1"),
    ):
        done = layered("show", "--inside", *argv)
        assert done.code == 2 and message in done.err, argv
