"""What the command line does beside attacks, as functions of the same keywords."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.errors import GateFailed, UsageError
from brittle.levels import LEVELS
from brittle.testing import FakeTarget
from cli.test_select_and_importance import save_study

WEIGHTS = {"good": 1.5, "great": 1.5, "bad": -1.5}
TEXT = "a good film about the rain"


@pytest.fixture(scope="module")
def tried() -> Any:
    return brittle.ladder(FakeTarget(WEIGHTS), TEXT)


def test_a_text_is_tried_at_every_level(tried: Any, capfd: pytest.CaptureFixture[str]) -> None:
    assert len(tried.results) == len(LEVELS) and tried.is_broken
    broken = [row.status == "broken" for row in tried.results]
    assert tried.level == list(LEVELS)[broken.index(True)]
    assert tried.rows()[0]["status"] == tried.results[0].status and "steps" in tried.rows()[0]
    assert len(repr(tried)) < 200
    text = str(tried)
    assert all(title in text for title in (level.title for level in LEVELS.values()))
    assert all(line == line.rstrip() and len(line) <= 80 for line in text.splitlines())
    html = tried._repr_html_()
    assert "<table" in html and "</del>" in html and "<b><bdi>broken</bdi></b>" in html
    assert capfd.readouterr() == ("", "")


def test_a_text_is_tried_by_one_attack_with_its_settings() -> None:
    def positive(texts: Sequence[str]) -> list[float]:
        return [0.9 if "good" in text else 0.2 for text in texts]

    options: dict[str, Any] = {"labels": "neg,pos", "scores": "single"}
    tried = brittle.ladder(positive, TEXT, "pwws", candidates="paper", **options)
    [row] = tried.results
    assert (row.attack, row.predicted, row.adversarial_label) == ("pwws", "pos", "neg")
    assert tried.level is None and tried.is_broken and "pwws: broken" in str(tried)
    assert "<del" in tried._repr_html_()


def test_what_a_tried_text_cannot_have_is_refused() -> None:
    with pytest.raises(UsageError, match="Got candidates without an attack"):
        brittle.ladder(FakeTarget(WEIGHTS), TEXT, candidates="paper")
    with pytest.raises(UsageError, match=r"Got max_sent, which work only for runs"):
        brittle.ladder(FakeTarget(WEIGHTS), TEXT, max_sent=3)


def test_a_gate_takes_runs_or_names(tmp_path: Path) -> None:
    texts = [(f"a good film number {n}", "positive") for n in range(12)]
    weak, strong = FakeTarget(WEIGHTS), FakeTarget({"a": 9.0})
    settings: dict[str, Any] = {"candidates": "paper", "folder": tmp_path}
    old = brittle.attack(strong, texts, "pwws", name="old", **settings)
    brittle.attack(weak, texts, "pwws", name="new", **settings)
    verdict = brittle.gate(old, "new", folder=tmp_path)
    assert verdict.is_worse and verdict.cases == 12 and verdict.by == 1
    with pytest.raises(GateFailed, match="'new' is worse than 'old'"):
        verdict.require()
    back = brittle.gate("new", "old", folder=tmp_path)
    assert not back.is_worse and back.outcome == "cannot tell"
    assert "No drop from 'new' to 'old' is significant" in str(back)
    back.require()
    with pytest.raises(GateFailed, match="CANNOT TELL"):
        back.require(strict=True)


def test_importance_is_a_table() -> None:
    class Logits(FakeTarget):
        def logits(self, items: Any) -> Any:
            return np.log(self.scores(items))

    found = brittle.importance(Logits(WEIGHTS), "a good film")
    assert dict(zip(found.columns, found.mean))["good"] > 0.1
    assert [row["model"] for row in found.table().records()] == ["fake", "mean"]
    assert "<table" in found._repr_html_() and len(repr(found)) < 200


class Vectored(FakeTarget):
    """A target with a vector for every word: its letters."""

    layers = ("embedding",)
    vocabulary = ("film", "firm", "word", "xylem")

    def embeddings(self, items: Any, layer: str, level: str = "words") -> list[Any]:
        return [self._vector(str(item)) for item in items]

    def _vector(self, word: str) -> Any:
        counts = [word.count(chr(97 + n)) + 0.01 for n in range(26)]
        return np.array([counts])


def test_nearest_words_before_and_after_an_edit() -> None:
    found = brittle.nearest(Vectored(), "film", k=2)
    assert [one.word for one in found.near] == ["firm", "xylem"] and found.vocabulary == 4
    assert found.plain()["nearest"][0]["word"] == "firm" and "firm" in str(found)
    changed = brittle.nearest(Vectored(), "film", "fixlm", k=2)
    [change] = changed.changes
    assert (change.word, change.edited) == ("film", "fixlm")
    assert "<table" in changed._repr_html_() and "fixlm" in str(changed)
    assert changed.plain()["changes"][0]["is_lost"] is change.is_lost


class Doubling:
    """A generator of texts: a latent point is the number of words."""

    name, fingerprint, item_kind, size = "doubling", "doubling", "text", 1

    def encode(self, items: Any) -> Any:
        from brittle.latent import LatentPoint

        return LatentPoint.rows(np.array([[float(len(item))] for item in items]))

    def decode(self, points: Any) -> Any:
        return [brittle.Text.of("word " * max(1, round(float(p.vector[0])))) for p in points]


def test_perturb_reads_a_text_and_begins_with_its_reconstruction(tmp_path: Path) -> None:
    found = brittle.perturb(Doubling(), "a good film", radius=2, count=6)
    assert len(found) == 7 and found[0].distance == 0 and len(found[0].item) == 3
    distances = [one.distance for one in found]
    assert distances == sorted(distances) and distances[-1] <= 2
    picture = tmp_path / "digit.png"
    picture.write_bytes(b"")
    with pytest.raises(UsageError, match=r"is a generator of texts, but .* is a picture"):
        brittle.perturb(Doubling(), str(picture))


def test_ensembles_are_selected_from_a_stored_study(tmp_path: Path) -> None:
    study = save_study(tmp_path / "invented.study.json", "pool:small")
    chosen = brittle.select("invented", size=[2, 3], method=["greedy", "genetic"], folder=tmp_path)
    assert [(e.method, e.size) for e in chosen.ensembles] == [
        *(("greedy", 2), ("greedy", 3)),
        *(("genetic", 2), ("genetic", 3)),
    ]
    assert len(chosen.table().records()) == 4 and "greedy" in str(chosen)
    assert "<table" in chosen._repr_html_() and len(repr(chosen)) < 200
    [one] = brittle.select(
        study, size=2, list=chosen.plain()["ensembles"][0]["members"], method="greedy", held_out=()
    ).ensembles[:1]
    assert one.size == 2
    with pytest.raises(UsageError, match="model of the study"):
        brittle.select(study, held_out=["no-such-model"])


FLAGS = {
    "ladder": ("attack:TRY", set()),
    "importance": ("explain:WORDS", {"proposal"}),
    "nearest": ("explain:NEAREST", {"options"}),
    "perturb": ("latent:COMMAND", set()),
    "select": ("selecting:COMMAND", {"folder", "progress"}),
    "gate": ("gate:GATE", {"folder"}),
}
"""By function: its command, and the keywords that are no flags."""


@pytest.mark.parametrize("name", FLAGS)
def test_keywords_are_the_names_of_the_flags(name: str) -> None:
    place, others = FLAGS[name]
    module, _, command = place.partition(":")
    parser = argparse.ArgumentParser()
    getattr(import_module(f"brittle.cli.commands.{module}"), command).add_flags(parser)
    flags = {
        word.lstrip("-").replace("-", "_") for a in parser._actions for word in a.option_strings
    }
    function = getattr(brittle, name)
    parameters = inspect.signature(function).parameters.values()
    keywords = {one.name for one in parameters if one.kind is one.KEYWORD_ONLY}
    assert keywords - others - {"progress"} <= flags
    assert f"brittle.{name}(" in (inspect.getdoc(function) or ""), "an example"
