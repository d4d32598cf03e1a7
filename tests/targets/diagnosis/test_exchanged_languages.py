"""Texts and references that are exchanged: seen by what a translator makes of both."""

from __future__ import annotations

from typing import Any

from brittle.asks import Case
from brittle.engine.broker import Broker
from brittle.opening import as_target
from brittle.targets.capabilities import make_desks
from brittle.targets.diagnosis import diagnose
from brittle.targets.diagnosis.samples import exchanged_languages
from brittle.text import Text

GERMAN = {
    "the": "der",
    "man": "mann",
    "dog": "hund",
    "hat": "hut",
    "sleeps": "schläft",
    "runs": "läuft",
    "sees": "sieht",
    "old": "alte",
    "young": "junge",
}
SENTENCES = [
    f"the {age} {who} {verb}"
    for age in ("old", "young")
    for who in ("man", "dog", "hat")
    for verb in ("sleeps", "runs")
]
asked: list[str] = []


def translate(texts: list[str]) -> list[str]:
    """Translate from English; what is no English stays as it is."""
    asked.extend(texts)
    return [" ".join(GERMAN.get(word, word) for word in text.split()) for text in texts]


def reference(text: str) -> str:
    """Translate as a person would: otherwise than the target, in places."""
    return translate([text])[0].replace("der", "dieser")


def codes(
    pairs: list[tuple[str, str | None]], function: Any = translate, **limits: Any
) -> list[str]:
    target = as_target(function, answers="text", name="x")
    broker = Broker(make_desks(target), **limits)
    cases = [Case(str(n), Text.of(text), reference=r) for n, (text, r) in enumerate(pairs)]
    asked.clear()
    try:
        return [warning.code for warning in diagnose(target, cases, broker)]
    finally:
        broker.close()


def test_exchanged_sides_are_warned_of() -> None:
    right = [(text, reference(text)) for text in SENTENCES]
    assert codes(right) == []
    assert not any(german in asked for _, german in right)  # only what looks exchanged is asked
    exchanged = [(german, text) for text, german in right]
    assert "exchanged" in codes(exchanged)


def test_few_pairs_show_nothing() -> None:
    exchanged = [(reference(text), text) for text in SENTENCES]
    assert "exchanged" not in codes(exchanged[:6])
    assert "exchanged" in codes(exchanged[:7])
    assert "exchanged" not in codes([(text, None) for text, _ in exchanged])
    assert "exchanged" not in codes([(text, " ") for text, _ in exchanged])


def test_a_target_that_translates_nothing_is_not_blamed_on_the_data() -> None:
    pairs = [(text, reference(text)) for text in SENTENCES]
    assert codes(pairs, lambda texts: texts) == ["copied"]
    assert "exchanged" not in codes(pairs, lambda texts: ["" for _ in texts])
    assert "exchanged" not in codes(pairs, lambda texts: [t.upper() + " !" for t in texts])


def test_nothing_more_is_asked_than_may_be() -> None:
    exchanged = [(reference(text), text) for text in SENTENCES[:8]]
    assert "exchanged" in codes(exchanged, most_sent=20)  # 8, 4 repeated, 8 references
    assert "exchanged" not in codes(exchanged, most_sent=19)


def test_the_message_names_the_flags() -> None:
    warning = exchanged_languages([(0.1, 0.8)] * 9 + [(0.5, 0.5)])
    assert warning is not None and "For 9 of 10 pairs" in warning.message
    assert "--text" in warning.message and "--label" in warning.message
    assert exchanged_languages([(0.8, 0.1)] * 9) is None and exchanged_languages([]) is None
