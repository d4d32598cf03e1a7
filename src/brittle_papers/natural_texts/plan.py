"""The tasks about texts: their names, how much is done at each scale, and what needs what.

One generator of sentences serves both parts. The data are pairs of premise and hypothesis; probes
of translators are there if the request names pairs of languages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.workflow.tasks import Task
from brittle_papers import tasks as shared
from brittle_papers.attention import plan as attention
from brittle_papers.attention import translation
from brittle_papers.data import SplitSizes, data_task, source_digest
from brittle_papers.natural_texts import probes, stages
from brittle_papers.planning import build_tasks, stays_here
from brittle_papers.request import PaperRequest

AVERAGE, LSTM, TREE = CLASSIFIERS = ("average", "LSTM", "TreeLSTM")
"""The classifiers in the paper's order: the stronger, the later."""
MODELS: Mapping[str, str] = {
    AVERAGE: "Average-W-Random-pair-plain",
    LSTM: "LSTM-W-Random-1-pair-plain",
    TREE: "TreeLSTM-W-GloVe-pair",
}
PARSER = "spacy"
PREMISE, HYPOTHESIS = PAIR_FIELDS = ("premise", "hypothesis")
TRANSLATOR_MODEL = attention.SEQ2SEQ[attention.TRANSFORMER]

# The names of the tasks, for the plan and for the page.
DATA = "data for entailment"
SENTENCES = "sentences for the generator"
GENERATOR = "train ARAE"
NEIGHBOURS = "neighbours of sentences"
TRAINING = {name: f"train {name} for entailment" for name in CLASSIFIERS}
CLEAN = {name: f"accuracy of {name} for entailment" for name in CLASSIFIERS}
ROBUSTNESS = "robustness for entailment"
TRANSLATOR = attention.TRANSLATOR[attention.TRANSFORMER]
PROBES = {
    (name, probe): f"{probe}, {name}" for name in probes.TRANSLATORS for probe in probes.PROBES
}

TABLE_9 = (
    "Some dogs are running on a deserted beach.",
    "A man playing an electric guitar on stage.",
)
"""The sentences whose neighbours the paper shows."""


@dataclass(frozen=True)
class Scale:
    """How much is done with texts.

    `size` is that of the classifiers, `generator` that of the generator; `changed` are its settings
    that differ. Our translator is that of the self-attention paper at this scale, so that it is
    trained once. `cases` are compared on all classifiers, `sentences` are probed on each
    translator. `search` and `probing` are the settings of the two searches, `radius` and `count`
    those of Table 9.
    """

    size: str
    generator: str
    cases: int
    sentences: int
    search: Mapping[str, Any]
    probing: Mapping[str, Any]
    radius: float = 5.0
    count: int = 200
    changed: Mapping[str, Any] = field(default_factory=dict)
    limits: SplitSizes = field(default_factory=SplitSizes)


SCALES: Mapping[str, Scale] = {
    "tiny": Scale(
        *("tiny", "tiny", 6, 4),
        {"samples": 10, "step": 1.0, "radius": 8.0},
        {"samples": 10, "step": 1.0, "radius": 8.0},
        limits=SplitSizes(240, 40, 40),
    ),
    # The paper's N, in coarser steps: translators are slow, and so is the parser.
    "small": Scale(
        *("default", "default", 200, 30),
        {"samples": 100, "step": 0.05, "radius": 10.0},
        {"samples": 50, "step": 0.2, "radius": 10.0, "misses": 2},
    ),
    "full": Scale(
        *("default", "paper", 1260, 100),
        {"samples": 100, "step": 0.01, "radius": 10.0},
        {"samples": 100, "step": 0.01, "radius": 10.0},
    ),
}


def plan(request: PaperRequest) -> Sequence[Task]:
    """List the tasks; those on data that the request does not name are left out."""
    scale = SCALES[request.scale]
    planned = [_data(request, scale), *_generator(request, scale), *_entailment(request, scale)]
    if request.translations:
        planned += _translation(request, scale, request.translations)
    return planned


def _data(request: PaperRequest, scale: Scale) -> Task:
    columns: dict[str, Any] = {"text": PAIR_FIELDS, "locked": (PREMISE,), "joined": True}
    return data_task(DATA, request.data, scale.limits, request.seed, **columns)


def _generator(request: PaperRequest, scale: Scale) -> list[Task]:
    """Plan the sentences, their generator, and neighbours of two sentences of the paper."""
    sources = [source for source in (request.data, request.translations) if source]
    digests = "".join(map(source_digest, sources))
    about = {
        "pairs": DATA,
        "translations": request.translations,
        "content": hashlib.sha256(digests.encode()).hexdigest()[:16],
    }
    trained = {"sentences": SENTENCES, "size": scale.generator, "changed": dict(scale.changed)}
    near: dict[str, Any] = {"generator": GENERATOR, "sentences": list(TABLE_9), "samples": 12}
    near |= {"radius": scale.radius, "count": scale.count, "seed": request.seed}
    here = stays_here
    return [
        Task(
            *(SENTENCES, stages.write_sentences, about, (DATA,), stages.sentence_files),
            here=here,
        ),
        Task(
            *(GENERATOR, stages.train_generator, trained | {"seed": request.seed}, (SENTENCES,)),
            leaves=stages.model_folders,
            here=here,
        ),
        Task(NEIGHBOURS, stages.show_neighbours, near, (GENERATOR,), here=here),
    ]


def classifiers() -> list[str]:
    """List the classifiers that can be trained here: one reads parses."""
    return [name for name in CLASSIFIERS if name != TREE or translation.is_installed(PARSER)]


def _entailment(request: PaperRequest, scale: Scale) -> list[Task]:
    """Plan the classifiers, their accuracy, and the comparison of their distances."""
    names = classifiers()
    models = {
        TRAINING[name]: {"model": MODELS[name], "size": scale.size, "changed_settings": {}}
        for name in names
    }
    clean = {CLEAN[name]: {"target": TRAINING[name], "split": "test"} for name in names}
    compared = {
        "data": DATA,
        "generator": GENERATOR,
        "members": {name: TRAINING[name] for name in names},
        "limit": request.cases or scale.cases,
        "seed": request.seed,
        "settings": dict(scale.search),
    }
    needs = (DATA, GENERATOR, *models)
    return [
        *build_tasks(shared.train, models, data=DATA, seed=request.seed),
        *build_tasks(shared.score_split, clean, data=DATA),
        Task(
            *(ROBUSTNESS, stages.compare_classifiers, compared, needs, stages.study_files),
            here=stays_here,
        ),
    ]


def _translation(request: PaperRequest, scale: Scale, source: str) -> list[Task]:
    """Plan our translator, as the self-attention paper trains it, and the probes of all."""
    about: dict[str, Any] = {"source": source, "content": source_digest(source)}
    about["seed"] = request.seed
    sizes = attention.SCALES[request.scale].translating
    changed = dict(sizes.changed.get(attention.TRANSFORMER, {}))
    trained = about | {"model": TRANSLATOR_MODEL, "size": sizes.size, "changed": changed}
    here = stays_here
    planned = [
        Task(
            *(TRANSLATOR, translation.train_translator, trained),
            leaves=translation.model_folders,
            here=here,
        )
    ]
    about |= {"generator": GENERATOR, "limit": request.cases or scale.sentences}
    about["settings"] = dict(scale.probing)
    for name in stages.installed_translators():
        target = TRANSLATOR if name == probes.OURS else None
        for probe, goal in probes.LANGUAGES[name].goals().items():
            arguments = about | {"name": name, "target": target, "goal": goal}
            needs = (GENERATOR, target) if target else (GENERATOR,)
            planned.append(
                Task(
                    *(PROBES[name, probe], stages.probe_translator, arguments, needs),
                    leaves=shared.run_files,
                    here=here,
                )
            )
    return planned
