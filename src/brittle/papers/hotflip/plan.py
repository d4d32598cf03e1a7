"""HotFlip (Ebrahimi et al., 2018) as tasks: four models, attacks on characters and on words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.papers import tasks
from brittle.papers.data import Limits, data_task
from brittle.papers.request import PaperRequest
from brittle.papers.tasks import build_task
from brittle.workflow.tasks import Task

CONFIDENCE = 0.9
"""The highest confidence of Figure 1; lower ones are read from the steps of the same runs."""

PLAIN, HARDENED = "plain", "hotflip"
MODELS = (PLAIN, "miyato", "key", HARDENED)
"""The models of Table 2 in the paper's order: plain, or the method that hardened them."""

BEAM, GREEDY, KEY_ANY, KEY = "beam", "greedy", "key-any", "key"
ATTACKS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    BEAM: ("hotflip", {}),
    GREEDY: ("hotflip", {"beam": 1}),
    KEY_ANY: ("key-any", {}),
    KEY: ("key", {}),
}
"""The attacks of Figure 1 by the name of their task, all operations allowed."""

ALL_FOUR, NO_CONSTRAINT = "all four", "none"
CONSTRAINTS: Mapping[str, Mapping[str, Any]] = {
    ALL_FOUR: {},
    "any cosine": {"cosine": 0.0},
    "any part of speech": {"same_tag": False},
    "stop words too": {"stop_words": True},
    "same lexeme too": {"other_lexeme": False},
    NO_CONSTRAINT: {"cosine": 0.0, "same_tag": False, "stop_words": True, "other_lexeme": False},
}
"""The word level with all constraints, with each of them turned off, and with none."""

# The names of the other tasks, for the plan and for the page.
DATA, NEAREST, WORDS_DATA, WORDS_TRAINING = "data", "nearest", "words data", "train words"
TRAINING = {model: f"train {model}" for model in MODELS}
CLEAN = {model: f"clean {model}" for model in MODELS}
FLIPS = {model: f"flips {model}" for model in MODELS}
WORDS = {name: f"words, {name}" for name in CONSTRAINTS}


@dataclass(frozen=True)
class Scale:
    """The sizes of models (of the grid, with changed settings), of attacks and of data."""

    size: str
    cases: int | None
    beam: int = 10
    settings: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    word_size: str = "default"
    word_cases: int | None = None
    edited_words: int = 200


SCALES: Mapping[str, Scale] = {
    "tiny": Scale("tiny", 10, 3, {"epochs": 4}, Limits(400, 80, 80), "tiny", 10, 20),
    "small": Scale("default", 500),
    "full": Scale("paper", None, word_size="paper"),
}


def plan(request: PaperRequest) -> Sequence[Task]:
    """List the tasks: train the models, attack them, and compare words before and after edits."""
    scale = SCALES[request.scale]
    return [
        data_task(DATA, request.data, scale.limits, request.seed),
        *_trainings(request, scale),
        *_attacks(request, scale),
        *(_word_level(request, scale, request.words) if request.words else ()),
    ]


def _trainings(request: PaperRequest, scale: Scale) -> list[Task]:
    model = {"model": "CharCNN-LSTM", "size": scale.size, "changed_settings": scale.settings}
    shared = {"data": DATA, "seed": request.seed, **model}
    methods = {name: None if name == PLAIN else name for name in MODELS}
    return [
        build_task(TRAINING[name], tasks.train, adversarial=method, **shared)
        for name, method in methods.items()
    ]


def _attacks(request: PaperRequest, scale: Scale) -> list[Task]:
    beam = {"beam": scale.beam}
    shared = {"data": DATA, "limit": request.cases or scale.cases, "seed": request.seed}
    plain = {"target": TRAINING[PLAIN], "confidence": CONFIDENCE, **shared}
    flips = {"attack": "hotflip", "settings": beam | {"kinds": "flip"}, **shared}
    words = {"layer": "highway 1", "max_pairs": scale.edited_words}
    plan = []
    for name, (attack, settings) in ATTACKS.items():
        settings = {**(beam if attack == "hotflip" else {}), **settings}
        plan.append(build_task(name, tasks.attack, attack=attack, settings=settings, **plain))
    for model, target in TRAINING.items():
        clean = {"target": target, "data": DATA, "split": "test"}
        plan.append(build_task(CLEAN[model], tasks.score_split, **clean))
        plan.append(build_task(FLIPS[model], tasks.attack, target=target, **flips))
    plan.append(build_task(NEAREST, tasks.nearest, run=BEAM, target=TRAINING[PLAIN], **words))
    return plan


def _word_level(request: PaperRequest, scale: Scale, source: str) -> list[Task]:
    shared = {"data": WORDS_DATA, "seed": request.seed}
    model = {"model": "Kim-CNN", "size": scale.word_size, "changed_settings": scale.settings}
    attack = {"attack": "hotflip-words", "limit": request.cases or scale.word_cases, **shared}
    plan = [
        data_task(WORDS_DATA, source, scale.limits, request.seed),
        build_task(WORDS_TRAINING, tasks.train, **model, **shared),
    ]
    for name, constraints in CONSTRAINTS.items():
        settings = {"beam": scale.beam, **constraints}
        arguments = {"target": WORDS_TRAINING, "settings": settings, **attack}
        plan.append(build_task(WORDS[name], tasks.attack, **arguments))
    return plan
