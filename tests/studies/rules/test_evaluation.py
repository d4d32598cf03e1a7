"""Tables of rules from the labels of prefixes; what a corpus is exposed to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brittle.candidates.rules import Rule, Rules, save_rules
from brittle.data import Dataset, Example
from brittle.errors import UsageError
from brittle.studies.rules.evaluation import (
    RuledText,
    apply_to,
    by_class,
    by_share,
    evaluate_rules,
    exposure,
    gain_of_rules,
    load_rows,
    score_paths,
    success,
    words_changed,
)
from brittle.targets.registry import Opener
from brittle.testing import FakeTarget
from brittle.workflow.tasks import TaskContext

LABELS = ("negative", "positive")
RULES = Rules(
    LABELS,
    (
        Rule("positive", "great", "outstanding", 3.0, 4),
        Rule("positive", "film", "picture", 2.0, 4),
        Rule("positive", "funny", "laughable", 1.0, 4),
        Rule("positive", "great", "nothing", 9.0, 4),
        Rule("negative", "film", "picture", 2.0, 4),
    ),
)
TEXTS = [
    ("A great film that is funny, and great to see again and again", "positive"),
    ("a film", "positive"),
    ("a film of its own kind of film", "negative"),
    ("some story or other", "negative"),
]
DATA = Dataset("films", "test", tuple(Example.of(*row) for row in TEXTS), LABELS)


def rows(*predicted: str, words: int = 10, label: str = "+") -> list[RuledText]:
    return [RuledText(str(n), label, words, tuple(text)) for n, text in enumerate(predicted)]


def test_both_ways_to_count_and_every_share() -> None:
    # Right, then prefix after prefix: - is wrong. The last one was wrong before.
    texts = rows("++-+", "+---", "++", "+", "--")
    assert [success(texts, share).count for share in (0.05, 0.1, 0.2, 0.3)] == [0, 1, 2, 2]
    counts = [success(texts, share, "limit").count for share in (0.05, 0.1, 0.2, 0.3)]
    assert counts == [0, 1, 2, 1]
    assert success(texts, 0.3).of == 4
    assert words_changed(texts, 0.3).value == pytest.approx((0.2 + 0.1) / 2)
    assert words_changed(texts, 0.3, "limit").value == pytest.approx(0.3)
    assert [figure.count for figure in by_share(texts).values()] == [0, 1, 1, 2, 2, 2]


def test_classes_and_pairs() -> None:
    targets = {"a": rows("+-", "++"), "b": rows("+-", "+-"), "c": rows("++", "-+")}
    table = by_class(targets, {"a": "word", "b": "word", "c": "BERT"})
    found = {name: success(own, 0.3) for name, own in table.items()}
    counts = {name: (figure.count, figure.of) for name, figure in found.items()}
    assert counts == {"all": (3, 5), "word": (3, 4), "BERT": (0, 1)}
    gain = gain_of_rules(targets["a"], targets["b"], 0.3)
    assert gain.value == 0.5 and gain.of == 2


def test_every_text_on_the_way_is_scored_once_per_target() -> None:
    paths = apply_to(RULES, DATA)
    texts = [[str(text) for text in path] for *_, path in paths]
    assert texts[0][1:] == [
        "A outstanding film that is funny, and great to see again and again",
        "A outstanding film that is funny, and outstanding to see again and again",
        "A outstanding picture that is funny, and outstanding to see again and again",
    ]
    # Of 8 words 2 may change; two words allow none; no rule is in the last one.
    assert [len(path) for *_, path in paths] == [4, 1, 3, 1]
    asked: list[str] = []

    class Watched(FakeTarget):
        def scores(self, items: Any) -> Any:
            asked.extend(map(str, items))
            return super().scores(items)

    scored = score_paths(Watched({"great": 1.0}), {"one": paths, "two": paths[:2]})
    assert len(asked) == len(set(asked)) == 9
    assert scored["one"][0].predicted == ("positive", "positive", "negative", "negative")
    assert scored["two"] == scored["one"][:2]


def test_as_a_task(tmp_path: Path, add_target_kind: Callable[[str, Opener], None]) -> None:
    save_rules(RULES, tmp_path / "six.rules")
    lines = [json.dumps({"text": text, "label": label}) for text, label in TEXTS]
    (tmp_path / "films.jsonl").write_text("\n".join(lines) + "\n")
    fake = FakeTarget({"great": 1.0})
    add_target_kind("fake:", lambda spec, options: fake)
    context = TaskContext(tmp_path, "x", {}, lambda message: None)
    result = evaluate_rules(
        context, spec="fake:", rules={"6": "six.rules"}, data=str(tmp_path / "films.jsonl")
    )
    loaded = load_rows(json.loads(json.dumps(result)))
    assert loaded == score_paths(fake, {"6": apply_to(RULES, DATA)})


def test_what_a_corpus_is_exposed_to() -> None:
    found = exposure(RULES, DATA)
    negative, positive = found.by_label
    assert (positive.texts, positive.exposed_texts) == (2, 2)
    assert (positive.words, positive.exposed_words) == (15, 5)
    assert (negative.texts, negative.exposed_texts, negative.exposed_words) == (2, 1, 2)
    assert [(str(rule), rule.label, count) for rule, count in found.rules] == [
        ("great → outstanding", "positive", 2),
        ("film → picture", "positive", 2),
        ("film → picture", "negative", 2),
        ("funny → laughable", "positive", 1),
    ]


def test_other_labels_are_refused() -> None:
    with pytest.raises(UsageError, match=r"'fair'.*negative, positive"):
        exposure(RULES, Dataset("x", "test", (Example.of("a film", "fair"),)))
