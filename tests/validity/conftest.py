"""Runs of plain rows to draw samples from, and people who answer by rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from brittle.edits import characters_changed, diff, words_changed
from brittle.results import Result
from brittle.text import Text
from brittle.validity.answers import SampleKey, key_path, load_key, save_key
from brittle.validity.sampling import DrawnSample, PageItem, Source

Answer = Callable[[PageItem], Mapping[str, Any]]
LABELS = ("negative", "positive")


def broken_row(number: int, status: str = "broken", new: str = "odd") -> Result:
    original = Text.of(f"film number {number} is good")
    adversarial = original.swap(4, new)
    edits = diff(original, adversarial)
    label, other = LABELS[number % 2], LABELS[1 - number % 2]
    return Result(
        case=f"{number:016x}",
        attack="pwws",
        target="toy",
        goal="untargeted",
        status=status,  # type: ignore[arg-type]
        reason="",
        fields=(("text", original.render()),),
        original=original.render(),
        adversarial=adversarial.render(),
        edits=edits,
        label=label,
        predicted=label,
        confidence=0.9,
        adversarial_label=other if status == "broken" else label,
        adversarial_confidence=0.8,
        queries=10 + number,
        words=5,
        words_changed=words_changed(edits),
        characters_changed=characters_changed(edits),
        seed=0,
    )


@pytest.fixture
def source() -> Source:
    """A run of 60 broken cases and 10 that held."""
    rows = [broken_row(n, "broken" if n < 60 else "held") for n in range(70)]
    return Source("demo", {"labels": list(LABELS), "fingerprint": "f"}, rows)


@pytest.fixture
def beside() -> Source:
    """Another run on the same cases; ten of them held there."""
    rows = [broken_row(n, "held" if n < 10 else "broken", "dull") for n in range(70)]
    return Source("other", {"labels": list(LABELS), "fingerprint": "g"}, rows)


@pytest.fixture
def keyed(tmp_path: Path) -> Callable[[DrawnSample], SampleKey]:
    """Save the key of a sample beside a run, and load it."""

    def save(sample: DrawnSample) -> SampleKey:
        path = key_path(tmp_path / "demo.sqlite", sample.id)
        save_key(sample, path)
        return load_key(path)

    return save


@pytest.fixture
def answer_file(tmp_path: Path) -> Callable[..., Path]:
    """Write the file of a person who answers by a function of the item, as the page saves it."""

    def write(sample: DrawnSample, answer: Answer, person: int = 1, **changes: Any) -> Path:
        path = tmp_path / f"answers-{person}.json"
        items = {item.id: item for item in sample.items}
        content = {
            "format": "brittle answers",
            "layout": 1,
            "sample": sample.id,
            "preset": sample.preset,
            "person": person,
            "answers": {number: dict(answer(items[number])) for number in sample.orders[0]},
        }
        path.write_text(json.dumps(content | changes), "utf-8")
        return path

    return write
