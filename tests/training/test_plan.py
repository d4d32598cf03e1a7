"""The key of a plan: models that are already in a user's cache must be found again."""

from __future__ import annotations

import pytest

from brittle.data import Dataset, Example
from brittle.training.adversarial.parsing import parse_method
from brittle.training.plan import TrainingPlan
from brittle.training.splits import TrainingSplits
from brittle.zoo.names.grid import design, settings

EXAMPLES = (
    Example((("text", "a warm film"),), "positive"),
    Example((("text", "a dull film"),), "negative"),
)
DATA = Dataset("toy", "train", EXAMPLES, ("negative", "positive"))


@pytest.mark.parametrize(
    ("model", "method", "key"),
    [
        ("LSTM-W-Random-1", "", "60ff3e7f3d39"),
        ("CNN-C-Random-1", "hotflip,share=0.1", "8b8b21af0e41"),
        ("naive-bayes", "key-any,copies=7", "eacac6ddab65"),
    ],
)
def test_the_key_is_that_of_former_versions(model: str, method: str, key: str) -> None:
    chosen = design(model)
    plan = TrainingPlan(
        chosen,
        settings(chosen),
        "default",
        3,
        TrainingSplits("toy", DATA, DATA),
        parse_method(method) if method else None,
    )
    assert plan.key[:12] == key
