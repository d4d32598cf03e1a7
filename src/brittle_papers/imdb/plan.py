"""Word attacks on sentiment models (IMDb) as tasks: three targets, three kinds of adversary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.english.vectors import GLOVE
from brittle.workflow.tasks import Task
from brittle_papers import tasks
from brittle_papers.components import principal_components
from brittle_papers.data import SplitSizes, data_task, source_digest
from brittle_papers.planning import build_task, build_tasks
from brittle_papers.request import PaperRequest
from brittle_papers.spec import load_spec
from brittle_papers.words import strongest_words

NAIVE_BAYES, SVM, LSTM = TARGETS = ("naive-bayes", "linear-svm", "LSTM")

BLACK_BOX: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "tack-on": ("tack-on", {}),
    "1 swap": ("strongest-swap", {"n": 1}),
    "3 swaps": ("strongest-swap", {"n": 3}),
    "5 swaps": ("strongest-swap", {"n": 5}),
}
JSMA = {direction: f"JSMA, {direction}" for direction in ("gradient", "sign")}
"""The white-box attack in both directions: the paper's Figure 4 shows one, its text the other."""

ONCE = "JSMA, gradient taken once"
"""Not the paper's: every swap follows the gradient at the original review."""

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
DATA, STRONGEST, EXAMPLES = "data", "strongest words", "example"
TRAINING = {name: f"train {name}" for name in (*SWEEP, NAIVE_BAYES, SVM)}
TRAINING[LSTM] = TRAINING[ATTACKED_LSTM]
DEV = {name: f"dev {name}" for name in SWEEP}
CLEAN = {target: f"clean {target}" for target in TARGETS}
RUN = {(LSTM, attack): f"{attack} on {LSTM}" for attack in (*JSMA.values(), ONCE)}
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
    limits: SplitSizes = field(default_factory=lambda: SplitSizes(words=MAX_WORDS))


SCALES: Mapping[str, Scale] = {
    "tiny": Scale("tiny", 10, {"epochs": 2}, SplitSizes(240, 60, 60, 40)),
    "small": Scale("default", 500, {**PLAIN, "epochs": 8}),
    "full": Scale("default", None, {**PLAIN, "epochs": 40, "patience": 10}),
}


def plan(request: PaperRequest) -> Sequence[Task]:
    """List the tasks: train the models, attack them, transfer texts, look at the data."""
    scale = SCALES[request.scale]
    dev = {task: {"target": TRAINING[name], "split": "dev"} for name, task in DEV.items()}
    test = {task: {"target": TRAINING[name], "split": "test"} for name, task in CLEAN.items()}
    source = {"source": request.data, "content": source_digest(request.data)}
    components = {name: {"features": features} for features, name in COMPONENTS.items()}
    return [
        data_task(DATA, request.data, scale.limits, request.seed),
        *_trainings(request, scale),
        *build_tasks(tasks.score_split, dev | test, data=DATA),
        *_attacks(request, scale),
        *build_tasks(principal_components, components, data=DATA),
        build_task(STRONGEST, strongest_words, data=DATA, count=5, **source),
    ]


def _trainings(request: PaperRequest, scale: Scale) -> list[Task]:
    settings = {"reads": scale.limits.words, **scale.settings}
    models: dict[str, dict[str, Any]] = {
        TRAINING[name]: {
            "model": "LSTM-W-GloVe-1",
            "size": scale.size,
            "changed_settings": {**settings, **units},
        }
        for name, units in SWEEP.items()
    }
    for name in (NAIVE_BAYES, SVM):
        models[TRAINING[name]] = {"model": name, "size": "default", "changed_settings": {}}
    return build_tasks(tasks.train, models, data=DATA, seed=request.seed)


def _attacks(request: PaperRequest, scale: Scale) -> list[Task]:
    attacks: dict[str, dict[str, Any]] = {
        name: {"attack": attack, "settings": {"learn_from": "train", **settings}}
        for name, (attack, settings) in BLACK_BOX.items()
    }
    for direction, name in JSMA.items():
        attacks[name] = {"attack": "jsma", "settings": {"direction": direction}}
    attacks[ONCE] = {"attack": "jsma", "settings": {"once": True}}
    runs = {
        task: {"target": TRAINING[target], **attacks[name]} for (target, name), task in RUN.items()
    }
    example = {"target": TRAINING[LSTM], "texts": [*load_spec("imdb").examples["jsma"]]}
    runs[EXAMPLES] = attacks[JSMA["gradient"]] | example
    seeded = {"data": DATA, "seed": request.seed}
    carried = {
        task: {"run": RUN[LSTM, name], "target": TRAINING[target]}
        for (target, name), task in TRANSFER.items()
    }
    return [
        *build_tasks(tasks.attack, runs, limit=request.cases or scale.cases, **seeded),
        *build_tasks(tasks.transfer, carried),
    ]
