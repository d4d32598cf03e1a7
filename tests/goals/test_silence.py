"""An answer without a label is neither a pass nor a break: goals, the engine, and its statuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import brittle
from brittle.answers import SILENT_LABELS
from brittle.asks import Case
from brittle.goals import Candidates, Untargeted, needs_answer
from brittle.text import Text

LABELS = ("no", "yes", *SILENT_LABELS)
NO, YES, UNPARSED, REFUSED, TIED = ([float(n == m) for m in range(5)] for n in range(5))
TEXT = "a good film with a funny plot and a great cast"


def test_an_answer_without_a_label_neither_wins_nor_gains() -> None:
    goal = needs_answer(Untargeted(), LABELS, SILENT_LABELS)
    case = Case("one", Text.of(TEXT), label=1)
    rows = [NO, YES, UNPARSED, REFUSED, [0.3, 0.2, 0.5, 0.0, 0.0], [0.3, 0.5, 0.2, 0.0, 0.0]]
    loss, won = goal.judge(Candidates((case,), (6,), [case.item] * 6, rows))
    assert won.tolist() == [True, False, False, False, False, False]
    assert loss.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.3]
    assert needs_answer(Untargeted(), ("no", "yes"), ()) == Untargeted()


@dataclass
class Talker:
    """Answers the original with `first`, and a text with another word with what `others` say."""

    first: list[float]
    others: Any
    name: str = "talker"
    fingerprint: str = "talker"
    labels: tuple[str, ...] = LABELS
    silent: tuple[str, ...] = SILENT_LABELS
    asked: list[str] = field(default_factory=list)

    def scores(self, items: Sequence[Text]) -> Any:
        self.asked += map(str, items)
        return [self.first if str(i) == TEXT else self.others(str(i)) for i in items]


def ended(first: list[float], others: Any, attack: str = "salient-swap") -> Any:
    talker = Talker(first, others)
    run = brittle.attack(talker, [(TEXT, "yes")], attack, budget=200, measures="none", new=True)
    (row,) = run.results()
    return row


@pytest.mark.parametrize(
    ("first", "status", "reason"),
    [
        (UNPARSED, "unparsed", ""),
        (REFUSED, "refused", ""),
        (TIED, "skipped", "tied answers"),
        (NO, "skipped", "already wrong"),
    ],
)
def test_an_original_without_a_label_is_not_attacked(
    first: list[float], status: str, reason: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row = ended(first, lambda _: NO)
    assert (row.status, row.reason, row.queries) == (status, reason, 1)


def test_candidates_without_a_label_are_neither_a_pass_nor_a_break(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ended(YES, lambda _: UNPARSED).status == "unparsed"
    row = ended(YES, lambda _: REFUSED, "pwws")
    assert (row.status, row.reason) == ("refused", "no candidate got a label")
    some = ended(YES, lambda text: REFUSED if len(text) % 2 else YES)
    assert (some.status, some.reason) == ("held", "some candidates got no label")
    assert ended(YES, lambda text: NO if "film" not in text else UNPARSED).status == "broken"
    run = brittle.attack(
        Talker(YES, lambda _: UNPARSED), [(TEXT, "yes")], "exhaustive", words=1, new=True
    )
    assert run.results()[0].status == "unparsed", "nothing is proved by answers that say nothing"
