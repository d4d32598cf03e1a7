"""HotFlip (Ebrahimi et al., 2018) as tasks: four models, attacks on characters and on words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.workflow.tasks import Task
from brittle_papers import tasks
from brittle_papers.data import SplitSizes, data_task
from brittle_papers.estimates import estimates
from brittle_papers.request import PaperRequest
from brittle_papers.tasks import build_task, build_tasks
from brittle_papers.text import load_text
from brittle_papers.words import count_neighbours

CONFIDENCE = 0.9
"""The highest confidence of Figure 1; lower ones are read from the steps of the same runs."""

PLAIN, HARDENED = "plain", "hotflip"
MODELS = (PLAIN, "miyato", "key", HARDENED)
"""The models of Table 2 in the paper's order: plain, or the method that hardened them."""

BY_ATTACK = {estimate: f"by attack, {estimate}" for estimate in ("paper", "word")}
"""Two more models, hardened by the attack itself: after each epoch, on some texts, greedily."""

BEAM, GREEDY, KEY_ANY, KEY = "beam", "greedy", "key-any", "key"
Attacks = Mapping[str, tuple[str, Mapping[str, Any]]]
FIGURE_1: Attacks = {
    BEAM: ("hotflip", {}),
    GREEDY: ("hotflip", {"beam": 1}),
    KEY_ANY: ("key-any", {}),
    KEY: ("key", {}),
}
VARIANTS: Attacks = {
    "flips only": ("hotflip", {"kinds": "flip"}),
    "flips only, greedy": ("hotflip", {"kinds": "flip", "beam": 1}),
    "flips only, any edit": ("hotflip", {"kinds": "flip", "further": False}),
    "all edits, any edit": ("hotflip", {"further": False}),
    "author code": ("hotflip", {"variant": "author-code"}),
    "estimate word": ("hotflip", {"estimate": "word"}),
    "estimate word, greedy": ("hotflip", {"estimate": "word", "beam": 1}),
    "Key*, one draw": ("key-any", {"draws": 1}),
    "Key*, two draws": ("key-any", {"draws": 2}),
}
"""The attacks of Figure 1, and those that test reasons, by the name of their task."""

ALL_FOUR, NO_CONSTRAINT = "all four", "none"
THRESHOLDS = (0.8, 0.85, 0.9, 0.95)
CONSTRAINTS: Mapping[str, Mapping[str, Any]] = {
    ALL_FOUR: {},
    **{f"cosine {t:g}": {"cosine": t} for t in THRESHOLDS[1:]},
    "any cosine": {"cosine": 0.0},
    "any part of speech": {"same_tag": False},
    "stop words too": {"stop_words": True},
    "same lexeme too": {"other_lexeme": False},
    NO_CONSTRAINT: {"cosine": 0.0, "same_tag": False, "stop_words": True, "other_lexeme": False},
}
"""The word level with all constraints, stricter cosines, without each of them, and with none."""

EXAMPLE_TEXTS = load_text("hotflip").examples

# The names of the other tasks, for the plan and for the page.
DATA, NEAREST, WORDS_DATA, WORDS_TRAINING = "data", "nearest", "words data", "train words"
EXAMPLES, WORDS_EXAMPLES, NEIGHBOURS = "Table 1", "words, Table 3", "words, neighbours"
TRAINING = {model: f"train {model}" for model in (*MODELS, *BY_ATTACK.values())}
CLEAN = {model: f"clean {model}" for model in TRAINING}
FLIPS = {model: f"flips {model}" for model in TRAINING}
WORDS = {name: f"words, {name}" for name in CONSTRAINTS}
ESTIMATES = {estimate: f"estimates, {estimate}" for estimate in BY_ATTACK}


@dataclass(frozen=True)
class Scale:
    """The sizes of models (of the grid, with changed settings), of attacks and of data."""

    size: str
    cases: int | None
    beam: int = 10
    settings: Mapping[str, Any] = field(default_factory=dict)
    limits: SplitSizes = field(default_factory=SplitSizes)
    word_size: str = "default"
    word_cases: int | None = None
    edited_words: int = 200
    copies: int = 500
    texts: int = 60
    edits: int = 40


SCALES: Mapping[str, Scale] = {
    "tiny": Scale("tiny", 10, 3, {"epochs": 4}, SplitSizes(400, 80, 80), "tiny", 10, 20, 8, 4, 5),
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
    methods: dict[str, dict[str, Any]] = {
        TRAINING[name]: {"adversarial": None if name == PLAIN else name} for name in MODELS
    }
    for estimate, name in BY_ATTACK.items():
        settings = {"copies": scale.copies, "beam": 1, "estimate": estimate}
        methods[TRAINING[name]] = {"adversarial": "hotflip", "attack_settings": settings}
    return build_tasks(tasks.train, methods, data=DATA, seed=request.seed, **model)


def _attacks(request: PaperRequest, scale: Scale) -> list[Task]:
    plain = {"target": TRAINING[PLAIN]}
    attacks: dict[str, dict[str, Any]] = {
        name: {"attack": attack, "settings": settings, "confidence": CONFIDENCE, **plain}
        for name, (attack, settings) in {**FIGURE_1, **VARIANTS}.items()
    }
    for model, target in TRAINING.items():
        flips = {"attack": "hotflip", "settings": {"kinds": "flip"}}
        attacks[FLIPS[model]] = flips | {"target": target}
    texts = {"texts": [*EXAMPLE_TEXTS["table 1"]]}
    attacks[EXAMPLES] = {"attack": "hotflip", "settings": {}, **texts, **plain}
    for attack in attacks.values():
        if attack["attack"] == "hotflip":
            attack["settings"] = {"beam": scale.beam, **attack["settings"]}
    clean = {CLEAN[model]: {"target": target} for model, target in TRAINING.items()}
    estimated = {name: {"estimate": estimate} for estimate, name in ESTIMATES.items()}
    words = {"layer": "highway 1", "max_pairs": scale.edited_words}
    seeded = {"data": DATA, "seed": request.seed}
    return [
        *build_tasks(tasks.attack, attacks, limit=request.cases or scale.cases, **seeded),
        *build_tasks(tasks.score_split, clean, data=DATA, split="test"),
        *build_tasks(estimates, estimated, texts=scale.texts, edits=scale.edits, **plain, **seeded),
        build_task(NEAREST, tasks.nearest, run=BEAM, **words, **plain),
    ]


def _word_level(request: PaperRequest, scale: Scale, source: str) -> list[Task]:
    seeded, target = {"data": WORDS_DATA, "seed": request.seed}, {"target": WORDS_TRAINING}
    model = {"model": "Kim-CNN", "size": scale.word_size, "changed_settings": scale.settings}
    attacks: dict[str, dict[str, Any]] = {
        WORDS[name]: {"settings": {"beam": scale.beam, **constraints}}
        for name, constraints in CONSTRAINTS.items()
    }
    texts = {"texts": [*EXAMPLE_TEXTS["table 3"]]}
    attacks[WORDS_EXAMPLES] = {"settings": {"beam": scale.beam}, **texts}
    limit = {"attack": "hotflip-words", "limit": request.cases or scale.word_cases}
    neighbours = {"data": WORDS_DATA, "thresholds": list(THRESHOLDS)}
    return [
        data_task(WORDS_DATA, source, scale.limits, request.seed),
        build_task(WORDS_TRAINING, tasks.train, **model, **seeded),
        *build_tasks(tasks.attack, attacks, **limit, **target, **seeded),
        build_task(NEIGHBOURS, count_neighbours, **neighbours, **target),
    ]
