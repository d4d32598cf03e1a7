"""The key of a plan: models that are already in a user's cache must be found again."""

from __future__ import annotations

import pytest

from brittle.data import Dataset, Example
from brittle.errors import UsageError
from brittle.training.adversarial.methods import parse_method
from brittle.training.plan import TrainingPlan, choose_settings
from brittle.training.splits import TrainingSplits
from brittle.zoo.folder import content_key
from brittle.zoo.names.grid import as_json, design, settings

EXAMPLES = (
    Example((("text", "a warm film"),), "positive"),
    Example((("text", "a dull film"),), "negative"),
)
DATA = Dataset("toy", "train", EXAMPLES, ("negative", "positive"))


@pytest.mark.parametrize(
    ("model", "method", "key"),
    [
        ("LSTM-W-Random-1", "", "60ff3e7f3d39"),
        ("CNN-W-Random-1", "hotflip,share=0.1", "da9fedbd1691"),
        ("naive-bayes", "key-any,copies=7", "eacac6ddab65"),
        ("MiniLM", "", "c5ef8856c1d3"),
        ("hf:bert-base-uncased", "", "6dc4f83ded20"),
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


def test_the_layer_of_joined_sides_counts_for_pairs_only() -> None:
    splits = TrainingSplits("toy", DATA, DATA)
    for name, count in (("BiLSTM-W-Random-1", 1), ("BiLSTM-W-Random-1-pair", 2)):
        chosen = design(name)
        plans = [
            TrainingPlan(chosen, settings(chosen, joined=joined), "default", 3, splits)
            for joined in (0, 64)
        ]
        assert len({plan.key for plan in plans}) == count


def test_models_of_characters_with_former_initial_vectors_are_not_found() -> None:
    chosen = design("CNN-C-Random-1")
    splits = TrainingSplits("toy", DATA, DATA)
    keys = {
        TrainingPlan(chosen, settings(chosen, **changed), "default", 3, splits).key
        for changed in ({}, {"character_scale": 2.0})
    }
    former = {k: v for k, v in as_json(settings(chosen)).items() if k != "character_scale"}
    former_key = content_key(
        name=chosen.name, size="default", settings=former, seed=3, data=splits.fingerprint
    )
    assert len(keys | {former_key}) == 3


@pytest.mark.parametrize(
    ("model", "name", "value", "used_by"),
    [
        ("LSTM-W-Random-1", "joined", 64, "-pair or -pair-plain"),
        ("LSTM-W-Random-1-pair", "character_scale", 2.0, "that read characters"),
    ],
)
def test_a_setting_without_use_is_refused(
    model: str, name: str, value: float, used_by: str
) -> None:
    chosen = design(model)
    for changed in ([f"{name}={value}"], {name: value}):
        with pytest.raises(UsageError, match=f"setting {name} for {model}, .*{used_by}"):
            choose_settings(chosen, "tiny", changed)
    assert choose_settings(chosen, "tiny", ["hidden=8"]) == settings(chosen, "tiny", hidden=8)
    assert choose_settings(design("CNN-C-Random-1-pair"), "tiny", {name: value})
