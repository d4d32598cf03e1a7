"""Texts and labels that are empty, huge, strange, repeated or unknown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.data import Example
from brittle.errors import UsageError
from brittle.testing import FakeTarget
from brittle.text import Text
from robustness.table import WEIGHTS, attacked, row


def candidates(folder: Path, words: dict[str, list[str]]) -> dict[str, Any]:
    """Return settings with which pwws swaps these words for those."""
    path = folder / "candidates.json"
    path.write_text(json.dumps(words))
    return {"candidates": str(path)}


@row("an empty text", "`skipped`, “nothing to edit”")
def empty(folder: Path) -> None:
    (result,) = attacked(folder, ("", "negative"))
    assert (result.status, result.reason, result.queries) == ("skipped", "nothing to edit", 1)


@row("one word", "attacked like any other; with the word masked the target reads an empty text")
def one_word(folder: Path) -> None:
    (result,) = attacked(folder, ("good", "positive"))
    assert result.status == "broken" and result.words == result.words_changed == 1


@row("only punctuation", "`skipped`, “nothing to edit”")
def punctuation(folder: Path) -> None:
    (result,) = attacked(folder, ("?! … --- 😀", "negative"))
    assert (result.status, result.reason) == ("skipped", "nothing to edit")


@row("a line of 1 MB", "`skipped`, “too long (above 5000)” words; the original is asked once")
def megabyte(folder: Path) -> None:
    text = "good film " * 104_858
    target = FakeTarget(WEIGHTS)
    long, short = attacked(folder, (text, "positive"), ("good film", "positive"), target=target)
    assert (long.status, long.reason) == ("skipped", "too long (above 5000)")
    assert len(long.original) > 2**20 and long.original == text and long.queries == 1
    assert short.status == "broken"


@row("emoji", "left where they are: they lie between the words")
def emoji(folder: Path) -> None:
    (result,) = attacked(folder, ("good👩‍👩‍👧 film ❤️!", "positive"))
    assert result.status == "broken" and result.adversarial is not None
    assert result.adversarial.endswith("👩‍👩‍👧 film ❤️!")


@row("right-to-left text", "attacked like any other; only the swapped word changes")
def right_to_left(folder: Path) -> None:
    target = FakeTarget({"جيد": 2.0, "سيئ": -2.0})
    text = "\u200fفيلم جيد، جدا\u200f"
    (result,) = attacked(
        folder, (text, "positive"), target=target, **candidates(folder, {"جيد": ["سيئ"]})
    )
    assert result.status == "broken" and result.adversarial == text.replace("جيد", "سيئ")


@row("combining marks", "a mark belongs to the letter before it and is swapped with its word")
def combining(folder: Path) -> None:
    target = FakeTarget({"bue\u0301no": 2.0, "malo": -2.0})
    settings = candidates(folder, {"bue\u0301no": ["malo"]})
    (result,) = attacked(folder, ("muy bue\u0301no.", "positive"), target=target, **settings)
    assert result.words == 2 and result.adversarial == "muy malo."


@row("NUL and other control characters", "kept, stored and exported as they are; shown as symbols")
def nul(folder: Path) -> None:
    text = "good\x00 film\x1b[31m"
    run = brittle.attack(
        FakeTarget(WEIGHTS), [(text, "positive")], "pwws", folder=folder, candidates="paper"
    )
    (result,) = run.results()
    assert result.original == text and result.status == "broken"
    exported = json.loads(run.export(folder / "rows.jsonl").read_text())
    assert exported["original"] == text and "\x00" in exported["adversarial"]
    page = run.report(folder / "report.html").read_text()
    assert "\x00" not in page and "\x1b" not in page


@row("`<script>` and other markup", "never edited, and escaped in the report and in notebooks")
def markup(folder: Path) -> None:
    evil = "<script>alert(1)</script> good <img src=x onerror=alert(2)> </style></textarea> film"
    target = FakeTarget(WEIGHTS, name="<script>alert(3)</script>")
    run = brittle.attack(
        target, [(evil, "positive")], "pwws", folder=folder, name="evil", candidates="paper"
    )
    (result,) = run.results()
    assert result.adversarial is not None and "<img src=x onerror=alert(2)>" in result.adversarial
    for shown in (run.report(folder / "report.html").read_text(), run._repr_html_()):
        assert "alert(3)" in shown
        assert "<script>alert" not in shown and "<img src=x" not in shown


@row("the same example several times", "a row each; the ids of repeats end in -2, -3 …")
def duplicates(folder: Path) -> None:
    rows = attacked(folder, *[("a good film", "positive")] * 3, ("a good film", "negative"))
    first = rows[0].case
    assert [r.case for r in rows[:3]] == [first, f"{first}-2", f"{first}-3"]
    assert rows[3].case != first and rows[3].status == "skipped"
    assert len({(r.status, r.adversarial, r.queries) for r in rows[:3]}) == 1


@row("half of a surrogate pair", "an error that names the row, before anything is asked")
def surrogate(folder: Path) -> None:
    target = FakeTarget(WEIGHTS)
    with pytest.raises(UsageError, match=r"Row 1 .*surrogate"):
        attacked(folder, ("good", "positive"), ("good \ud83d", "positive"), target=target)
    assert target.calls == [] and not list(folder.iterdir())


@row("labels the target does not know", "exit 2, naming `--labels`, before anything is asked")
def unknown_labels(folder: Path) -> None:
    target = FakeTarget(WEIGHTS)
    with pytest.raises(UsageError, match=r"'pos'.*--labels"):
        attacked(folder, ("a good film", "pos"), target=target)
    assert target.calls == [] and not list(folder.iterdir())
    (result,) = attacked(folder, ("a good film", "pos"), labels={"pos": "positive"})
    assert (result.label, result.status) == ("positive", "broken")


@row("examples without labels", "attacked against the target's own prediction; reports say so")
def unlabelled(folder: Path) -> None:
    run = brittle.attack(
        FakeTarget(WEIGHTS), ["a good film", "a bad film"], folder=folder, candidates="paper"
    )
    assert [(r.label, r.status) for r in run.results()] == [
        ("positive", "broken"),
        ("negative", "held"),
    ]
    assert run.manifest["reference"] == "predictions" and "prediction" in str(run)


@row("a pair with a locked field", "the locked field is never edited")
def locked_field(folder: Path) -> None:
    pair = {"premise": "a good good film", "hypothesis": "a great story"}
    example = Example.of(pair, "positive", locked=["premise"])
    (result,) = attacked(folder, example)
    assert result.words == 3 and result.edits
    assert {edit.field for edit in result.edits} == {"hypothesis"}
    assert result.adversarial is not None and result.adversarial.startswith("a good good film\n")


@row(
    "an empty hypothesis",
    "`skipped`, “nothing to edit”, if the premise is locked; else the premise is attacked",
)
def empty_hypothesis(folder: Path) -> None:
    pair = {"premise": "a good film", "hypothesis": ""}
    locked, open_ = attacked(
        folder, Example.of(pair, "positive", locked=["premise"]), Example.of(pair, "positive")
    )
    assert (locked.status, locked.reason) == ("skipped", "nothing to edit")
    assert open_.status == "broken" and {edit.field for edit in open_.edits} == {"premise"}


class Entails:
    """Entailment if the first side has all words of the second; `order` are its labels."""

    name, fingerprint = "entails", "0"

    def __init__(self, *order: str) -> None:
        self.labels = order

    def scores(self, texts: Sequence[Text]) -> Any:
        return np.array([self._score(*text.fields().values()) for text in texts])

    def _score(self, premise: str, hypothesis: str) -> list[float]:
        is_so = set(hypothesis.split()) <= set(premise.split())
        answer = (
            "contradiction"
            if "not" in premise + hypothesis
            else "entailment"
            if is_so
            else "neutral"
        )
        return [0.8 if answer == label else 0.1 for label in NLI]


NLI = ("entailment", "neutral", "contradiction")


def nli_warnings(folder: Path, target: Any, turned: bool = False) -> list[str]:
    premise, ends = "a man {} sits here", {"": NLI[0], " tall": NLI[1], " not": NLI[2]}
    pairs = [
        (premise.format(n), f"a man {n} sits{end}", ends[end]) for n in range(12) for end in ends
    ]
    examples = [
        Example.of(dict(zip(("premise", "hypothesis"), (b, a) if turned else (a, b))), label)
        for a, b, label in pairs
    ]
    run = brittle.attack(target, examples, "random-swap", folder=folder, new=True)
    return [str(warning) for warning in run.manifest["warnings"]]


@row(
    "premise and hypothesis exchanged",
    "the warning *exchanged*, if clearly more pairs are right the other way round",
)
def exchanged(folder: Path) -> None:
    assert not nli_warnings(folder, Entails(*NLI))
    [warning] = nli_warnings(folder, Entails(*NLI), turned=True)
    assert "--text hypothesis,premise" in warning


@row(
    "labels of entailment in another order",
    "the warning *swapped*, with the `--labels` that would correct them",
)
def other_order(folder: Path) -> None:
    [warning] = nli_warnings(folder, Entails("contradiction", "neutral", "entailment"))
    assert "entailment=contradiction" in warning and "neutral=neutral" in warning


@row("single texts for a model that reads pairs", "exit 2, naming `--text FIRST,SECOND`")
def no_pair(folder: Path) -> None:
    pytest.importorskip("torch")
    from zoo.small import model

    target: Any = FakeTarget(WEIGHTS)
    target.canonical = model("Average-W-Random-pair").encode
    with pytest.raises(UsageError, match="--text FIRST,SECOND"):
        attacked(folder, ("a good film", "positive"), target=target)


@row("no examples at all", "exit 2")
def no_examples(folder: Path) -> None:
    with pytest.raises(UsageError, match="no examples"):
        attacked(folder)
