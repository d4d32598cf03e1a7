from __future__ import annotations

from dataclasses import replace

from brittle.metrics import confusion
from brittle.metrics.samples import sample_results


def test_rows_are_references_and_columns_predictions() -> None:
    tables = confusion(sample_results(), ["negative", "positive"])
    assert tables.labels == ("negative", "positive")
    assert tables.before == ((3, 0), (1, 3))
    assert tables.after == ((2, 1), (3, 1))
    assert tables.of == 7 == sum(map(sum, tables.before)) == sum(map(sum, tables.after))


def test_labels_only_the_rows_know_are_added() -> None:
    odd = replace(sample_results()[0], adversarial_label="mixed")
    tables = confusion([odd], ["positive"])
    assert tables.labels == ("positive", "mixed")
    assert tables.after == ((0, 1), (0, 0))


def test_the_best_attempt_of_a_held_case_does_not_count() -> None:
    held = replace(sample_results()[3], adversarial_label="negative")
    tables = confusion([held], ["negative", "positive"])
    assert tables.before == tables.after


def test_nothing_gives_empty_tables() -> None:
    assert confusion([]).labels == ()
    assert confusion([], ["a"]).before == ((0,),)
