"""HotFlip (Ebrahimi et al., 2018) as steps: four models, attacks on characters and on words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.papers import tasks as work
from brittle.papers.data import EVERYTHING, Limits, data_task
from brittle.papers.order import PaperRequest
from brittle.workflow.tasks import Task

CONFIDENCE = 0.9
"""The most that Figure 1 asks for; lower confidences are read from the steps on the way to it."""

MODELS: Mapping[str, str | None] = {
    "plain": None,
    "miyato": "miyato",
    "key": "key",
    "hotflip": "hotflip",
}
"""The models of Table 2 by what they are hardened with, in the paper's order."""

ATTACKS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "beam": ("hotflip", {}),
    "greedy": ("hotflip", {"beam": 1}),
    "key-any": ("key-any", {}),
    "key": ("key", {}),
}
"""The attacks of Figure 1, all operations allowed; the beam's width is the scale's."""

CONSTRAINTS: Mapping[str, Mapping[str, Any]] = {
    "all four": {},
    "any cosine": {"cosine": 0.0},
    "any part of speech": {"same_tag": False},
    "stop words too": {"stop_words": True},
    "same lexeme too": {"other_lexeme": False},
    "none": {"cosine": 0.0, "same_tag": False, "stop_words": True, "other_lexeme": False},
}
"""The word level with all constraints, each turned off by itself, and none at all."""


@dataclass(frozen=True)
class Scale:
    """How large things are: models by the grid's size and what is changed, and cases a cell."""

    size: str
    cases: int | None
    beam: int = 10
    changed: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = EVERYTHING
    word_size: str = "default"
    word_changed: Mapping[str, Any] = field(default_factory=dict)
    word_cases: int | None = None
    edited: int = 200


SCALES: Mapping[str, Scale] = {
    "tiny": Scale("tiny", 10, 3, {"epochs": 4}, Limits(400, 80, 80), "tiny", {"epochs": 4}, 10, 20),
    "small": Scale("default", 500),
    "full": Scale("paper", None, word_size="paper"),
}


def plan(order: PaperRequest) -> Sequence[Task]:
    """List the steps: train the models, attack them, and look at what the edits did."""
    scale = SCALES[order.scale]
    return [
        data_task(order.data, scale.limits, "data", order.seed),
        *_trainings(order, scale),
        *_attacks(order, scale),
        *(_word_level(order, scale) if order.words else ()),
    ]


def _trainings(order: PaperRequest, scale: Scale) -> list[Task]:
    steps = []
    for name, method in MODELS.items():
        given: dict[str, Any] = {
            "model": "CharCNN-LSTM",
            "data": "data",
            "size": scale.size,
            "seed": order.seed,
        }
        given |= {"changed": dict(scale.changed), "adversarial": method}
        steps.append(Task(f"train {name}", work.train, given, ("data",), work.model_exists))
    return steps


def _attacks(order: PaperRequest, scale: Scale) -> list[Task]:
    steps = []
    for name, (attack, settings) in ATTACKS.items():
        chosen = dict(settings)
        if attack == "hotflip":
            chosen = {"beam": scale.beam} | chosen
        steps.append(_attack(order, scale, name, "train plain", attack, chosen, CONFIDENCE))
    for model in MODELS:
        target = f"train {model}"
        flips = {"beam": scale.beam, "kinds": "flip"}
        test = {"target": target, "data": "data", "split": "test"}
        steps.append(Task(f"clean {model}", work.score_split, test, ("data", target)))
        steps.append(_attack(order, scale, f"flips {model}", target, "hotflip", flips))
    given = {"run": "beam", "target": "train plain", "layer": "highway 1", "most": scale.edited}
    steps.append(Task("nearest", work.nearest, given, ("train plain", "beam")))
    return steps


def _word_level(order: PaperRequest, scale: Scale) -> list[Task]:
    assert order.words is not None
    given = {
        "model": "Kim-CNN",
        "data": "words data",
        "size": scale.word_size,
        "seed": order.seed,
        "changed": dict(scale.word_changed),
    }
    steps = [
        data_task(order.words, scale.limits, "words data", order.seed),
        Task("train words", work.train, given, ("words data",), work.model_exists),
    ]
    for name, settings in CONSTRAINTS.items():
        given = _attacked(order, "train words", "hotflip-words", {"beam": scale.beam, **settings})
        given |= {"data": "words data", "limit": order.cases or scale.word_cases}
        needs = ("words data", "train words")
        steps.append(Task(f"words, {name}", work.attack, given, needs, work.run_exists))
    return steps


def _attack(
    order: PaperRequest,
    scale: Scale,
    name: str,
    target: str,
    attack: str,
    settings: Mapping[str, Any],
    confidence: float | None = None,
) -> Task:
    given = _attacked(order, target, attack, settings)
    given |= {"data": "data", "limit": order.cases or scale.cases, "confidence": confidence}
    return Task(name, work.attack, given, ("data", target), work.run_exists)


def _attacked(
    order: PaperRequest, target: str, attack: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    return {"target": target, "attack": attack, "seed": order.seed, "settings": dict(settings)}
