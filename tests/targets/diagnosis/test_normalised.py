"""A class of edits that the target undoes is found before a run, and is never robustness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.asks import NORMALISED, Case
from brittle.candidates.characters import CLASSES, EditedCharacters
from brittle.engine.broker import Broker
from brittle.metrics.ladder import ladder
from brittle.metrics.paired import paired
from brittle.reports.card import card
from brittle.reports.ladder import rung_lines
from brittle.reports.side_by_side import side_by_side_page
from brittle.reports.summaries import summary_json, summary_text
from brittle.reports.verdict import verdict_markdown
from brittle.runs.trying import try_text
from brittle.safety.characters import plain
from brittle.targets.capabilities import make_desks
from brittle.targets.diagnosis.normalised import probe_classes
from brittle.testing import FakeTarget
from brittle.text import Text

TEXTS = ["a good film", "lovely story", "the bad plot", "very good indeed", "an awful tale"]
WEIGHTS = {"good": 1.0, "lovely": 1.2, "bad": -0.9, "awful": -2.0, "story": 0.3}
SOURCES = {name: EditedCharacters(name) for name in CLASSES}


class Filter(FakeTarget):
    """A fake that normalises what it reads, and says nothing of its keys."""

    read: Any = staticmethod(plain)

    def scores(self, items: Any) -> Any:
        return super().scores([Text.of(self.read(str(item))) for item in items])


class Labels(Filter):
    label_only = True

    def scores(self, items: Any) -> Any:
        return np.eye(len(self.labels))[super().scores(items).argmax(axis=1)]


def probed(target: Any, texts: Any = TEXTS, most_sent: int | None = None) -> dict[str, Any]:
    broker = Broker(make_desks(target), most_sent=most_sent)
    cases = [Case(str(n), Text.of(text)) for n, text in enumerate(texts)]
    try:
        return probe_classes(target, SOURCES, cases, broker)
    finally:
        broker.close()


def test_a_filter_undoes_classes_and_its_answers_show_it() -> None:
    found = probed(Filter(WEIGHTS))
    undone = {name for name, one in found.items() if one.is_normalised}
    assert undone == {"look-alike", "invisible", "reorder", "backspace", "full-width", "case"}
    assert found["invisible"].same == found["invisible"].texts == 5
    assert found["invisible"].by == "answers" and found["leet"].same < found["leet"].texts
    bare = probed(FakeTarget(WEIGHTS))
    assert {name for name, one in bare.items() if one.is_normalised} == {"case"}


def test_answers_that_could_not_change_show_nothing() -> None:
    """Labels alone, one answer for all texts, or few texts are no evidence."""
    for target in (Labels(WEIGHTS), Filter({}, spread=0.0)):
        assert not any(one.is_normalised for one in probed(target).values())
    assert not any(one.is_normalised for one in probed(Filter(WEIGHTS), TEXTS[:2]).values())


def test_keys_are_enough_and_cost_nothing() -> None:
    class Keyed(Filter):
        def canonical(self, items: Any) -> list[bytes]:
            return [plain(str(item)).encode() for item in items]

    target = Keyed(WEIGHTS)
    found = probed(target, TEXTS[:1])
    assert found["invisible"].is_normalised and found["invisible"].by == "keys"
    assert not found["leet"].is_normalised and not target.calls


def test_nothing_is_asked_that_the_limit_does_not_allow() -> None:
    target = Filter(WEIGHTS)
    assert probed(target, most_sent=20) == {} and not target.calls


EXAMPLES = [(text, "yes" if "good" in text or "lovely" in text else "no") for text in TEXTS * 2]


@pytest.fixture
def run_of(tmp_path: Path) -> Any:
    def attack(name: str, target: Any = None, **settings: Any) -> brittle.Run:
        opened = target or Filter(WEIGHTS, labels=("no", "yes"))
        return brittle.attack(opened, EXAMPLES, name, folder=tmp_path, **settings)

    return attack


def test_a_run_says_that_a_class_is_normalised_and_has_no_rate(run_of: Any) -> None:
    run = run_of("invisible")
    rows = list(run.results())
    right = [row for row in rows if row.predicted == row.label]
    assert right and {(row.status, row.reason) for row in right} == {("skipped", NORMALISED)}
    data = summary_json(run)
    assert data["success"]["value"] is None and data["success"]["of"] == 0
    assert run.manifest["normalisation"]["invisible"]["is_normalised"]
    assert data["accuracy_after"]["value"] is None and data["accuracy_before"]["of"] == len(rows)
    words = " ".join(summary_text(run).split())
    assert "invisible: normalised by the target. Before the run, such edits" in words
    assert "everywhere in 5 texts; 5 got the answer of the original" in words
    # The probe is counted: originals, a text of each edited, and a few originals again.
    assert run.totals["sent"] > len({text for text, _ in EXAMPLES})
    again = run_of("invisible")
    assert [row.case for row in again.results()] == [row.case for row in rows]


def test_nothing_compares_with_what_was_not_attacked(tmp_path: Path) -> None:
    """Neither `compare` nor the gate takes undone edits for robustness, in either direction."""
    raw, undone = (
        brittle.attack(
            *(kind(WEIGHTS, ("no", "yes"), spread), EXAMPLES, "invisible"),
            name=name,
            folder=tmp_path,
        )
        for name, kind, spread in (("raw", FakeTarget, 0.3), ("undone", Filter, 0.31))
    )
    assert raw.counts()["broken"] > 0
    for one, other in ((raw, undone), (undone, raw)):
        found = paired(one.results(), other.results())
        assert found.before.of == 10 and found.accuracy.of == found.robustness.of == 0
        verdict = brittle.gate(one, other)
        assert verdict.outcome == "cannot tell"
        for text in (str(verdict), verdict_markdown(verdict)):
            assert "undone: invisible: normalised by the target" in text
            assert "0.0%" not in text.split("robustness")[1].split("under attack")[0]
    assert not brittle.gate(undone, raw).newly_broken
    assert "In the new run, invisible: normalised by the target." in side_by_side_page(raw, undone)
    assert "In the old run, invisible: normalised by the target." in side_by_side_page(undone, raw)
    page = undone.report(tmp_path / "page.html").read_text("utf-8")
    assert "normalised by the target" in page and "normalised by the target" in card(undone)
    assert "accuracy under invisible" in card(raw)
    assert "accuracy under invisible" not in card(undone)


def test_another_class_is_attacked_all_the_same(run_of: Any) -> None:
    run = run_of("leet")
    assert not run.manifest["normalisation"]["leet"]["is_normalised"]
    assert "normalised" not in summary_text(run)
    assert {row.status for row in run.results()} & {"broken", "held"}


def test_the_ladder_leaves_a_normalised_level_out(run_of: Any) -> None:
    run = run_of("auto", levels="typo,look-alike", max_space=1)
    climbed = ladder(list(run.results()))
    assert climbed is not None and climbed.rungs[-1].level == "look-alike"
    rung = climbed.rungs[-1]
    assert rung.tried == 0 and rung.normalised > 0
    assert rung.standing.value is None and climbed.after == climbed.rungs[0].standing
    line = rung_lines(climbed)[-1]
    assert line.validity == NORMALISED and line.accuracy == "–"
    assert "look-alike: normalised by the target" in " ".join(summary_text(run).split())


def test_one_text_is_not_attacked_with_what_the_target_undoes_by_its_keys() -> None:
    class Keyed(Filter):
        def canonical(self, items: Any) -> list[bytes]:
            return [plain(str(item)).encode() for item in items]

    attacks = [("auto", {"levels": level}) for level in ("typo", "look-alike")]
    rows = [row for row, _ in try_text(Keyed(WEIGHTS), "a good film", attacks)]
    assert [row.reason for row in rows] != [NORMALISED] * 2 and rows[1].reason == NORMALISED
    others = [row for row, _ in try_text(Filter(WEIGHTS), "a good film", attacks)]
    assert NORMALISED not in [row.reason for row in others]
