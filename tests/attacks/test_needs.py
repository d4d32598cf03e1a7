"""What attacks need, as a list shows it, against what they ask when they are built."""

from __future__ import annotations

import pytest

from brittle.attacks import ATTACKS, RunContext, build, default_settings
from brittle.attacks.needs import is_for_english, needs
from brittle.testing import FakeTarget

NEED_FILES = ("natural", "rules", "strongest-swap", "tack-on", "typo")


def test_needs_are_listed() -> None:
    assert needs("jsma") == ("gradients",) and needs("random-word") == ()
    assert needs("asmin-ec") == ("attention", "embeddings")
    assert needs("noise") == ("pictures",) and needs("natural") == ("a generator",)
    assert needs("tack-on") == ("labelled data",) and "--rules" in needs("rules")


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in NEED_FILES])
def test_needs_are_what_the_attack_asks(name: str) -> None:
    attack = build(name, default_settings(name), RunContext(FakeTarget().labels))
    questions = {ask.question for ask in attack.asks}
    assert ("gradients" in needs(name)) == bool(questions & {"flips", "gradient"})
    assert ("attention" in needs(name)) == ("attention" in questions)
    assert ("embeddings" in needs(name)) == ("embeddings" in questions)
    assert ("English" in needs(name)) == is_for_english(attack)
    assert ("pictures" in needs(name)) == (getattr(attack, "item_kind", "text") == "picture")
