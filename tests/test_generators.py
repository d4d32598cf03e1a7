"""Generators by name, and what is refused of a user's own."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.asks import OTHER_CLASS
from brittle.errors import TargetError, UsageError
from brittle.generators import CheckedGenerator, open_generator
from brittle.latent import LatentPoint
from brittle.text import Text

MODULE = """
import numpy as np

WORDS = ("good", "fine", "poor", "bad")

class Words:
    \"\"\"One word, by one number.\"\"\"

    size, item_kind = 1, "text"

    def encode(self, items):
        return [[WORDS.index(str(item)) if str(item) in WORDS else 0] for item in items]

    def decode(self, rows):
        return [WORDS[int(np.clip(round(float(row[0])), 0, 3))] for row in rows]

class Short(Words):
    def decode(self, rows):
        return ["good"]

class Rich(Words):
    \"\"\"Has every method that a generator may have.\"\"\"

    def __init__(self, steps=0):
        self.steps = steps

    def encode(self, items):
        return [[row[0] + self.steps] for row in super().encode(items)]

    def check_item(self, item):
        if len(str(item)) > 5:
            raise ValueError("too long")

    def doubt(self, items):
        return "strange" if "odd" in map(str, items) else None

    def refined(self, steps):
        return Rich(steps)

class Shifted(Words):
    \"\"\"Rebuilds a word as the next one.\"\"\"

    def decode(self, rows):
        return super().decode(np.asarray(rows) + 1)

class Training(Words):
    \"\"\"What it decodes depends on the others of the batch.\"\"\"

    def decode(self, rows):
        return super().decode(np.asarray(rows) - np.mean(rows, axis=0))

class Nothing:
    size = 1
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_words.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_words", raising=False)
    return "own_words"


def test_a_generator_of_ones_own_is_searched(module: str, tmp_path: Path) -> None:
    def classify(texts: list[str]) -> Any:
        return [[0.9, 0.1] if text in ("poor", "bad") else [0.1, 0.9] for text in texts]

    target = brittle.as_target(classify, labels=["negative", "positive"])
    run = brittle.attack(
        target,
        [("good", "positive"), ("fine", "positive"), ("bad", "negative")],
        "natural",
        generator=f"python:{module}:Words",
        step=0.25,
        radius=4.0,
        samples=20,
        folder=tmp_path,
    )
    rows = {row.original: row for row in run.results()}
    # The other class begins above 1.5: that far from "good", at 0, and 0.5 from "fine", at 1.
    assert [rows[word].status for word in ("good", "fine", "bad")] == ["broken"] * 3
    assert 1.5 < rows["good"].cost < 1.8 and 0.5 < rows["fine"].cost < 0.8
    assert rows["good"].adversarial == rows["fine"].adversarial == "poor"
    assert rows["bad"].adversarial == "fine" and 1.5 < rows["bad"].cost < 1.8


def test_what_is_no_generator_is_refused(module: str) -> None:
    with pytest.raises(UsageError, match="without encode, decode, item_kind"):
        open_generator(f"python:{module}:Nothing")
    with pytest.raises(UsageError, match=r"no method refined\\(steps\\)".replace("\\\\", "\\")):
        open_generator(f"python:{module}:Words", refine=10)
    with pytest.raises(UsageError, match="This needs a generator"):
        open_generator("")


def test_answers_of_the_wrong_shape_are_errors_of_the_case(module: str) -> None:
    short = open_generator(f"python:{module}:Short")
    with pytest.raises(TargetError, match="2 points as 1 items"):
        short.decode([LatentPoint([0.0]), LatentPoint([1.0])])

    class Broken:
        size, item_kind = 2, "text"

        def encode(self, items: Any) -> Any:
            return np.full((len(items), 2), np.nan)

        def decode(self, rows: Any) -> Any:
            return [1 for _ in rows]

    broken = CheckedGenerator(Broken(), "broken")
    with pytest.raises(TargetError, match="not finite"):
        broken.encode([Text.of("a")])
    with pytest.raises(TargetError, match="decoded a point as int; expected a text"):
        broken.decode([LatentPoint([0.0, 0.0])])


def test_all_methods_of_ones_own_are_used(module: str) -> None:
    plain, refined = (open_generator(f"python:{module}:Rich", steps) for steps in (0, 2))
    assert isinstance(refined, CheckedGenerator)
    assert refined.name == f"{module}:Rich refined by 2 steps"
    assert refined.fingerprint != plain.fingerprint
    assert refined.encode([Text.of("good")]) == [LatentPoint([2.0])]
    assert pickle.loads(pickle.dumps(refined)).encode([Text.of("good")]) == [LatentPoint([2.0])]
    assert refined.doubt([Text.of("odd")]) == "strange" and refined.doubt([]) is None
    with pytest.raises(ValueError, match="too long"):
        refined.check_item(Text.of("excellent"))
    with pytest.raises(UsageError, match="no method refined"):
        open_generator(f"python:{module}:Words", 2)
    with pytest.raises(UsageError, match="Got --refine -3; expected"):
        open_generator(f"python:{module}:Rich", -3)


def test_networks_in_training_mode_are_refused(module: str) -> None:
    points = LatentPoint.rows([[-9.0], [3.0], [3.0], [3.0], [3.0]])
    assert open_generator(f"python:{module}:Words").decode(points[:1])
    training = open_generator(f"python:{module}:Training")
    with pytest.raises(TargetError, match=r"when other points are in the batch\. Put its networks"):
        training.decode(points)


def test_a_reconstruction_of_another_class_is_no_case_of_a_targeted_attack(
    module: str, tmp_path: Path
) -> None:
    words = ["good", "fine", "poor", "bad"]
    target = brittle.as_target(
        lambda texts: np.eye(4)[[words.index(text) for text in texts]], labels=words
    )
    settings: dict[str, Any] = {"toward": "bad", "step": 0.25, "radius": 4.0, "samples": 20}
    for generator, status, reason in (
        ("Words", "broken", ""),
        ("Shifted", "skipped", OTHER_CLASS),
    ):
        run = brittle.attack(
            target,
            [("good", "good")],
            "natural",
            generator=f"python:{module}:{generator}",
            folder=tmp_path / generator,
            **settings,
        )
        [row] = run.results()
        assert (row.status, row.reason) == (status, reason)
    assert "another class already" in str(run)
