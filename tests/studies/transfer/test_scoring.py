"""Rows of a second target, from its answers to the texts of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from brittle.edits import diff
from brittle.metrics.samples import sample_results
from brittle.results import Result
from brittle.studies.transfer.scoring import predict_labels, transfer_labels, transferred_rows
from brittle.text import Text


class ByLength:
    """A target that calls texts of up to four words short."""

    labels = ("short", "long")

    def scores(self, texts: list[Text]) -> Any:
        return np.array([[4.5 - len(text), len(text) - 4.5] for text in texts])


TARGET: Any = ByLength()


def row(case: str, words: int, words_after: int | None) -> Result:
    original = "word " * words
    final = "word " * (words if words_after is None else words_after)
    return replace(
        sample_results()[0],
        case=case,
        fields=(("text", original),),
        original=original,
        adversarial=None if words_after is None else final,
        edits=diff(Text.of(original), Text.of(final)),
        label="long",
    )


def test_pairs_keep_their_fields() -> None:
    seen: list[dict[str, str]] = []

    class Seeing(ByLength):
        def scores(self, texts: list[Text]) -> Any:
            seen.extend(text.fields() for text in texts)
            return super().scores(texts)

    fields = {"premise": "a man sits", "hypothesis": "he rests"}
    after = fields | {"hypothesis": "he sleeps"}
    joined = ["\n".join(part.values()) for part in (fields, after)]
    pair = replace(
        row("a", 1, 1),
        fields=tuple(fields.items()),
        original=joined[0],
        adversarial=joined[1],
        edits=diff(Text.of(fields), Text.of(after)),
    )
    target: Any = Seeing()
    transfer_labels(target, [pair])
    assert seen == [fields, after]


def test_predictions_come_in_the_order_of_the_texts() -> None:
    texts = [Text.of("word " * n) for n in (7, 1, 5, 2)]
    assert predict_labels(TARGET, texts) == ["long", "short", "long", "short"]


def test_a_case_is_broken_if_the_second_target_was_right_and_is_wrong_afterwards() -> None:
    rows = [row("a", 9, 8), row("b", 7, 3), row("c", 2, 3), row("d", 6, None)]
    labels = transfer_labels(TARGET, rows)
    assert labels == {
        "a": ("long", "long"),
        "b": ("long", "short"),
        "c": ("short", "short"),
        "d": ("long", "long"),
    }
    second = transferred_rows(rows, labels)
    assert [row.status for row in second] == ["held", "broken", "skipped", "held"]
    assert [row.reason for row in second] == ["", "", "already wrong", ""]
    assert [row.predicted for row in second] == ["long", "long", "short", "long"]
    assert [row.adversarial_label for row in second] == ["long", "short", "short", "long"]
    assert {(row.confidence, row.adversarial_confidence) for row in second} == {(None, None)}
