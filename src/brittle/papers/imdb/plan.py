"""Word attacks on sentiment models (IMDb) as tasks: three targets, three kinds of adversary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.english.vectors import GLOVE
from brittle.papers import tasks
from brittle.papers.components import principal_components
from brittle.papers.data import Limits, data_task
from brittle.papers.request import PaperRequest
from brittle.papers.tasks import build_task
from brittle.workflow.tasks import Task

LSTM, SVM = "LSTM", "linear-svm"
TARGETS = ("naive-bayes", SVM, LSTM)

BLACK_BOX: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "tack-on": ("tack-on", {}),
    "1 swap": ("strongest-swap", {"n": 1}),
    "3 swaps": ("strongest-swap", {"n": 3}),
    "5 swaps": ("strongest-swap", {"n": 5}),
}
JSMA = {direction: f"JSMA, {direction}" for direction in ("gradient", "sign")}
"""The white-box attack in both directions: the paper's Figure 4 shows one, its text the other."""

ATTACKS = (*BLACK_BOX, *JSMA.values())

SWEEP: Mapping[str, Mapping[str, Any]] = {
    "32 units": {"hidden": 32, "dropout": 0.25},
    "64 units": {"hidden": 64, "dropout": 0.25},
    "128 units": {"hidden": 128, "dropout": 0.25},
    "64 units, dropout 50%": {"hidden": 64, "dropout": 0.5},
}
ATTACKED_LSTM = "64 units"
"""The LSTM of the sweep that is attacked: the paper's, whichever of ours does best."""

FEATURES = (GLOVE, "words")

# The names of the tasks, for the plan and for the page. JSMA needs gradients and is run on the
# LSTM only; the other targets answer its texts.
DATA = "data"
TRAINING = {name: f"train {name}" for name in (*SWEEP, "naive-bayes", SVM)}
TRAINING[LSTM] = TRAINING[ATTACKED_LSTM]
DEV = {name: f"dev {name}" for name in SWEEP}
CLEAN = {target: f"clean {target}" for target in TARGETS}
RUN = {(LSTM, attack): f"{attack} on {LSTM}" for attack in JSMA.values()}
RUN |= {(target, attack): f"{attack} on {target}" for target in TARGETS for attack in BLACK_BOX}
TRANSFER = {
    (target, attack): f"{attack} carried to {target}"
    for attack in JSMA.values()
    for target in TARGETS
    if target != LSTM
}
COMPONENTS = {features: f"components, {features}" for features in FEATURES}

MAX_WORDS = 250

PLAIN = {"tuned": False, "forget": 0.0, "batch": 24, "rate": 2e-3, "clip": 1.0}
"""The paper's batch, and its vectors without tuning. Without clipping, such an LSTM often fails."""


@dataclass(frozen=True)
class Scale:
    """The size of the LSTM (of the grid, with changed settings), of attacks and of data."""

    size: str
    cases: int | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=lambda: Limits(words=MAX_WORDS))


SCALES: Mapping[str, Scale] = {
    "tiny": Scale("tiny", 10, {"epochs": 2}, Limits(240, 60, 60, 40)),
    "small": Scale("default", 500, {**PLAIN, "epochs": 8}),
    "full": Scale("default", None, {**PLAIN, "epochs": 40, "patience": 10}),
}


def plan(request: PaperRequest) -> Sequence[Task]:
    """List the tasks: train the models, attack them, transfer texts, look at the data."""
    scale = SCALES[request.scale]
    return [
        data_task(DATA, request.data, scale.limits, request.seed),
        *_trainings(request, scale),
        *_scores(),
        *_attacks(request, scale),
        *(
            build_task(name, principal_components, data=DATA, features=features)
            for features, name in COMPONENTS.items()
        ),
    ]


def _trainings(request: PaperRequest, scale: Scale) -> list[Task]:
    shared = {"data": DATA, "seed": request.seed}
    settings = {"reads": scale.limits.words, **scale.settings}
    models: dict[str, dict[str, Any]] = {
        name: {
            "model": "LSTM-W-GloVe-1",
            "size": scale.size,
            "changed_settings": {**settings, **units},
        }
        for name, units in SWEEP.items()
    }
    for name in TARGETS:
        if name != LSTM:
            models[name] = {"model": name, "size": "default", "changed_settings": {}}
    return [
        build_task(TRAINING[name], tasks.train, **model, **shared) for name, model in models.items()
    ]


def _scores() -> list[Task]:
    scores = [(TRAINING[name], "dev", task) for name, task in DEV.items()]
    scores += [(TRAINING[target], "test", task) for target, task in CLEAN.items()]
    return [
        build_task(task, tasks.score_split, target=target, data=DATA, split=split)
        for target, split, task in scores
    ]


def _attacks(request: PaperRequest, scale: Scale) -> list[Task]:
    attacks: dict[str, tuple[str, dict[str, Any]]] = {
        name: (attack, {"learn_from": "train", **settings})
        for name, (attack, settings) in BLACK_BOX.items()
    }
    attacks |= {name: ("jsma", {"direction": direction}) for direction, name in JSMA.items()}
    shared = {"data": DATA, "limit": request.cases or scale.cases, "seed": request.seed}
    plan = []
    for (target, name), task in RUN.items():
        attack, settings = attacks[name]
        arguments = {"target": TRAINING[target], "attack": attack, "settings": settings}
        plan.append(build_task(task, tasks.attack, **arguments, **shared))
    for (target, name), task in TRANSFER.items():
        names = {"run": RUN[LSTM, name], "target": TRAINING[target]}
        plan.append(build_task(task, tasks.transfer, **names))
    return plan
