"""Word attacks on sentiment models (IMDb) as steps: three targets, three kinds of adversary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.english.vectors import GLOVE
from brittle.papers import tasks as work
from brittle.papers.data import Limits, data_task
from brittle.papers.order import PaperRequest
from brittle.workflow.tasks import Task

LSTM = "LSTM"
TARGETS = ("naive-bayes", "linear-svm", LSTM)

BLACK_BOX: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "tack-on": ("tack-on", {}),
    "1 swap": ("strongest-swap", {"n": 1}),
    "3 swaps": ("strongest-swap", {"n": 3}),
    "5 swaps": ("strongest-swap", {"n": 5}),
}
DIRECTIONS = ("gradient", "sign")
JSMA = {direction: f"JSMA, {direction}" for direction in DIRECTIONS}
"""The white-box attack in both directions: the paper's Figure 4 shows one, its text the other."""

SWEEP: Mapping[str, Mapping[str, Any]] = {
    "32 units": {"hidden": 32, "dropout": 0.25},
    "64 units": {"hidden": 64, "dropout": 0.25},
    "128 units": {"hidden": 128, "dropout": 0.25},
    "64 units, dropout 50%": {"hidden": 64, "dropout": 0.5},
}
CHOSEN = "64 units"
"""The LSTM of the sweep that is attacked: the paper's, whichever of ours does best."""

FEATURES = (GLOVE, "words")

WORDS = 250
WHOLE = Limits(words=WORDS)


PLAIN = {"tuned": False, "forget": 0.0, "batch": 24, "rate": 2e-3, "clip": 1.0}
"""The paper's batch, and its vectors as they are. Without clipping such an LSTM learns by luck."""


@dataclass(frozen=True)
class Scale:
    """How large things are: the LSTM by the grid's size and what is changed, and cases a cell."""

    size: str
    cases: int | None
    changed: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = WHOLE


SCALES: Mapping[str, Scale] = {
    "tiny": Scale("tiny", 10, {"epochs": 2}, Limits(240, 60, 60, 40)),
    "small": Scale("default", 500, {**PLAIN, "epochs": 8}),
    "full": Scale("default", None, {**PLAIN, "epochs": 40, "patience": 10}),
}


def plan(order: PaperRequest) -> Sequence[Task]:
    """List the steps: train the models, attack them, carry texts over, look at the data."""
    scale = SCALES[order.scale]
    return [
        data_task(order.data, scale.limits, "data", order.seed),
        *_trainings(order, scale),
        *_attacks(order, scale),
        *(
            Task(f"components, {features}", work.principal_components, given, ("data",))
            for features in FEATURES
            for given in ({"data": "data", "features": features},)
        ),
    ]


def trained(target: str) -> str:
    """Name the step that trains a target."""
    return f"train {target if target != LSTM else CHOSEN}"


def _trainings(order: PaperRequest, scale: Scale) -> list[Task]:
    steps = []
    for name, settings in SWEEP.items():
        changed = {"reads": scale.limits.words, **scale.changed, **settings}
        steps.append(_training(order, name, "LSTM-W-GloVe-1", scale.size, changed))
    for name in TARGETS:
        if name != LSTM:
            steps.append(_training(order, name, name, "default", {}))
    for name in SWEEP:
        given = {"target": f"train {name}", "data": "data", "split": "dev"}
        steps.append(Task(f"dev {name}", work.score_split, given, ("data", f"train {name}")))
    for name in TARGETS:
        given = {"target": trained(name), "data": "data", "split": "test"}
        steps.append(Task(f"clean {name}", work.score_split, given, ("data", trained(name))))
    return steps


def _training(
    order: PaperRequest, name: str, model: str, size: str, changed: Mapping[str, Any]
) -> Task:
    given: dict[str, Any] = {"model": model, "data": "data", "size": size, "changed": dict(changed)}
    given["seed"] = order.seed
    return Task(f"train {name}", work.train, given, ("data",), work.model_exists)


def _attacks(order: PaperRequest, scale: Scale) -> list[Task]:
    steps = []
    for direction, name in JSMA.items():
        steps.append(_attack(order, scale, name, LSTM, "jsma", {"direction": direction}))
    for target in TARGETS:
        for name, (attack, settings) in BLACK_BOX.items():
            chosen = {"learn_from": "train", **settings}
            steps.append(_attack(order, scale, name, target, attack, chosen))
    for name in JSMA.values():
        for target in TARGETS:
            if target != LSTM:
                given = {"run": f"{name} on {LSTM}", "target": trained(target)}
                needs = (f"{name} on {LSTM}", trained(target))
                steps.append(Task(f"{name} carried to {target}", work.transfer, given, needs))
    return steps


def _attack(
    order: PaperRequest,
    scale: Scale,
    name: str,
    target: str,
    attack: str,
    settings: Mapping[str, Any],
) -> Task:
    given = {
        "target": trained(target),
        "data": "data",
        "attack": attack,
        "limit": order.cases or scale.cases,
        "seed": order.seed,
        "settings": dict(settings),
    }
    return Task(
        f"{name} on {target}", work.attack, given, ("data", trained(target)), work.run_exists
    )
