"""The attack by rules: the text is finished before a target hears of it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import brittle
from brittle import attacks
from brittle.asks import Answer, Case, Tag, Try, Unfit
from brittle.attacks.rules import ApplyRules
from brittle.candidates.rules import Rule, Rules, save_rules
from brittle.candidates.synonyms import SubstituteTable
from brittle.errors import UsageError
from brittle.metrics.curves import success_at_limit
from brittle.testing import FakeTarget
from brittle.text import Text

LABELS = ("negative", "positive")
RULES = Rules(
    LABELS,
    (
        Rule("positive", "good", "fine", 3.0, 1),
        Rule("positive", "lovely", "fair", 2.0, 1),
        Rule("positive", "story", "tale", 1.0, 1),
        Rule("negative", "bad", "poor", 1.0, 1),
    ),
)
TEXT = Text.of("a good and lovely story with an end to remember")


def search(share: float = 0.3, text: Text = TEXT, label: int = 1, **settings: Any) -> Any:
    attack = ApplyRules(RULES, LABELS, share, **settings)
    return attack(Case("one", text, label), Random(0))


def test_the_finished_text_is_tried_first_then_its_prefixes() -> None:
    running = search()
    first = next(running)
    assert isinstance(first, Try)
    assert [str(t) for t in first.items] == ["a fine and fair tale with an end to remember"]
    assert first.cost == [3]
    answer: Any = Answer([], [], [])
    second = running.send(answer)
    assert [str(t) for t in second.items] == [
        "a fine and lovely story with an end to remember",
        "a fine and fair story with an end to remember",
    ]
    assert list(second.cost) == [1, 2]
    with pytest.raises(StopIteration):
        running.send(answer)


def test_without_prefixes_the_finished_text_is_all() -> None:
    running = search(prefixes=False)
    next(running)
    with pytest.raises(StopIteration):
        running.send(None)


def test_tags_are_asked_only_if_the_proposal_needs_them() -> None:
    class Tagged(SubstituteTable):
        needs_tags = True  # type: ignore[misc]

    table = {"good": ("fine",), "story": ("account",)}
    running = search(proposal=Tagged(table))
    assert isinstance(next(running), Tag)
    assert [str(t) for t in running.send([("X",) * len(TEXT)]).items] == [
        "a fine and lovely story with an end to remember"
    ]
    assert isinstance(next(search(proposal=SubstituteTable(table))), Try)


@pytest.mark.parametrize(
    ("text", "label", "reason"),
    [("nothing of the kind", 1, "no candidates"), ("a good one", 1, "too short")],
)
def test_what_rules_cannot_change_is_skipped(text: str, label: int, reason: str) -> None:
    with pytest.raises(Unfit, match=reason):
        next(search(text=Text.of(text), label=label))


class Watched(FakeTarget):
    """Remembers every text that it was asked about."""

    asked: list[str]

    def scores(self, items: Any) -> Any:
        self.asked.extend(map(str, items))
        return super().scores(items)


def run(tmp_path: Path, texts: list[str], share: float, **settings: Any) -> tuple[Any, Watched]:
    save_rules(RULES, tmp_path / "some.rules")
    target = Watched({"good": 1.0, "lovely": 1.5, "tale": 3.0, "fair": -2.0})
    target.asked = []
    found = brittle.attack(
        target,
        [(text, "positive") for text in texts],
        "rules",
        rules=str(tmp_path / "some.rules"),
        share=share,
        in_context=False,
        folder=tmp_path,
        **settings,
    )
    return found, target


def test_one_run_has_both_figures(tmp_path: Path) -> None:
    # The second rule wins, the third takes it back: the finished text does not work.
    texts = [str(TEXT), "a lovely and good thing it was to see again"]
    found, target = run(tmp_path, texts, 0.3)
    first, second = found.results()
    assert (first.status, first.words_changed, first.cost) == ("broken", 2, 2.0)
    assert (second.status, second.words_changed, second.queries) == ("broken", 2, 3)
    figure = success_at_limit(found.results(), found.steps())
    assert (figure.count, figure.of) == (1, 2)
    assert "of the finished text" in str(found)
    changed = [text for text in target.asked if text.startswith("a fine")]
    assert changed[0] == "a fine and fair tale with an end to remember"


def test_nothing_is_sent_before_the_text_is_finished_and_the_share_holds(tmp_path: Path) -> None:
    texts = [str(TEXT)[: len(str(TEXT)) - cut] for cut in range(0, 40, 3)]
    for number, share in enumerate((0.05, 0.15, 0.3)):
        folder = tmp_path / str(number)
        folder.mkdir()
        found, target = run(folder, texts, share, prefixes=False)
        for row in found.results():
            assert row.words_changed <= share * row.words
            assert row.queries == (1 if row.status == "skipped" else 2)
        attacked = [row for row in found.results() if row.status != "skipped"]
        # Each text is asked about as it was, and once finished; a winner once more, alone.
        changed = {text for text in target.asked if text not in texts}
        assert len(changed) <= len(attacked)


def test_rules_of_other_labels_are_refused(tmp_path: Path) -> None:
    save_rules(RULES, tmp_path / "some.rules")
    name = str(tmp_path / "some.rules")
    built: Any = attacks.build(
        "rules", {"rules": name}, attacks.RunContext(("POSITIVE", "negative"))
    )
    assert built.labels == ("positive", "negative")
    mapped = attacks.build(
        "rules", {"rules": name}, attacks.RunContext(("a", "b"), {"negative": "a", "positive": "b"})
    )
    assert mapped.labels == LABELS  # type: ignore[attr-defined]
    for labels in (("a", "b"), ("negative", "positive", "other")):
        with pytest.raises(UsageError, match="mined from the labels negative, positive"):
            attacks.build("rules", {"rules": name}, attacks.RunContext(labels))
    with pytest.raises(UsageError, match="--rules"):
        attacks.build("rules", {}, attacks.RunContext(LABELS))
    with pytest.raises(UsageError, match="--share"):
        attacks.build("rules", {"rules": name, "share": 1.5}, attacks.RunContext(LABELS))
