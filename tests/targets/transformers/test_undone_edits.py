"""Which tricks with characters a BERT tokenizer undoes: those are no robustness of the model."""

from __future__ import annotations

import pytest

from brittle.asks import Case
from brittle.candidates.characters import CLASSES, EditedCharacters
from brittle.engine.broker import Broker
from brittle.targets.capabilities import make_desks
from brittle.targets.diagnosis.normalised import probe_classes
from brittle.targets.transformers.classifier import of_model
from brittle.text import Text

pytest.importorskip("torch")
pytest.importorskip("transformers")

from targets import tiny


def test_a_bert_tokenizer_undoes_invisible_characters_and_case_by_its_keys() -> None:
    tokenizer = tiny.tokenizer("bert")
    target = of_model(tiny.model("bert", len(tokenizer)), tokenizer)
    cases = [Case(str(n), Text.of(text)) for n, text in enumerate(tiny.SENTENCES)]
    sources = {name: EditedCharacters(name) for name in CLASSES}
    found = probe_classes(target, sources, cases, Broker(make_desks(target)))
    assert {one.by for one in found.values()} == {"keys"}
    undone = {name for name, one in found.items() if one.is_normalised}
    assert undone == {"invisible", "case"}  # full-width letters stay, and so do look-alikes
