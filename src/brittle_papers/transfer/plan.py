"""The transfer paper as stages: a pool is trained and attacked, ensembles and rules are tried.

A stage runs tasks of its own, in a folder of its own: each is one command of brittle, so that what
the page shows is what these commands give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.studies.selecting.expert import EXPERT_LIST
from brittle.workflow.tasks import Task
from brittle.zoo.names import grid
from brittle.zoo.names.pools import pool_models
from brittle_papers.request import PaperRequest
from brittle_papers.transfer import stages

PWWS, GENETIC = "pwws", "genetic"
MODELS, ENSEMBLES, RULES, RULED, IMPORTANCE = (
    *("models", "ensembles", "rules", "rules on the models", "word importance"),
)
TRANSFER = {attack: f"transfer by {attack}" for attack in (PWWS, GENETIC)}

EXPERT_MEMBERS = tuple("MiniLM" if name == "BERT" else name for name in EXPERT_LIST)
"""The expert's seven of Table 8, in its order; MiniLM stands for BERT."""

RULE_MEMBERS = 6
"""The members that the rules of Tables 5 and 6 are mined from."""

SENTENCE, WORD = "the story is slow , but it is a funny film with a good cast .", "funny"


@dataclass(frozen=True)
class Scale:
    """How much is done: the models and their size, the attacks, and the numbers of texts.

    Without `mined` texts there are no rules; without `sizes`, no ensembles. Ensembles are attacked
    on the first `ensemble_cases` texts. The genetic attack runs on the first `genetic_cases` texts,
    and on `genetic_models` alone, if some are named.
    """

    models: tuple[str, ...]
    size: str
    seeds: int
    attacks: tuple[str, ...]
    cases: int
    winners: int
    sizes: tuple[int, ...] = ()
    ensemble_cases: int = 0
    mined: int | None = 0
    members: tuple[str, ...] = EXPERT_MEMBERS
    genetic_cases: int = 1000
    genetic_models: tuple[str, ...] | None = None


TINY = ("LSTM-W-Random-1", "LSTM-W-Random-2", "CNN-W-Random-1", "CNN-C-Random-1")
SCALES: Mapping[str, Scale] = {
    "tiny": Scale(
        *(TINY, "tiny", 2, (PWWS, GENETIC), 12, 10, (2,), 6, 20),
        ("LSTM-W-Random-1", "CNN-C-Random-1"),
    ),
    "small": Scale(
        *(pool_models("small"), "default", 2, (PWWS, GENETIC), 1000, 500),
        *((2, 3, 4, 5, 6, 7), 200, 1500),
        genetic_cases=300,
        genetic_models=tuple(n for n in pool_models("small") if "-W-" in n or "-C-" in n),
    ),
    "full": Scale(pool_models("offline"), "default", 1, (PWWS,), 1000, 500),
}


def plan(request: PaperRequest) -> Sequence[Task]:
    """List the stages; those that a scale leaves out are not there."""
    scale = SCALES[request.scale]
    models = {"models": list(scale.models), "size": scale.size, "data": request.data}
    pool = models | {"seeds": scale.seeds}
    seeded = {"data": request.data, "seed": request.seed}
    cases = request.cases or scale.cases
    tasks = [_stage(MODELS, stages.train_models, (), pool, stages.model_folders)]
    limits = {PWWS: cases, GENETIC: min(cases, scale.genetic_cases)}
    transfers = []
    for attack in scale.attacks:
        counts = {"attack": attack, "cases": limits[attack], "winners": scale.winners}
        arguments = pool | seeded | counts
        if attack == GENETIC and scale.genetic_models is not None:
            arguments |= {"models": list(scale.genetic_models)}
        transfer = (TRANSFER[attack], stages.transfer_by, (MODELS,), arguments)
        transfers.append(_stage(*transfer, stages.study_files))
    tasks += transfers[:1]
    if scale.sizes:
        counts = {"sizes": list(scale.sizes), "cases": min(cases, scale.ensemble_cases)}
        ensembles = (ENSEMBLES, stages.attack_ensembles_of, (TRANSFER[PWWS],), seeded | counts)
        tasks.append(_stage(*ensembles, stages.study_files))
    if scale.mined != 0:
        mined = seeded | {"members": list(scale.members), "size": scale.size, "texts": scale.mined}
        tried = models | seeded | {"cases": cases}
        tasks += [
            _stage(RULES, stages.mine_rules, (MODELS,), mined, stages.rule_files),
            _stage(RULED, stages.try_all_rules, (RULES,), tried, stages.tried_files),
        ]
    shallow = [name for name in scale.models if grid.design(name).parts.get("layers", 1) == 1]
    sentence = models | {"models": shallow, "sentence": SENTENCE, "word": WORD}
    tasks.append(_stage(IMPORTANCE, stages.importance_of, (MODELS,), sentence))
    return [*tasks, *transfers[1:]]  # the genetic attack is the dearest: all else comes first


def _stage(
    name: str,
    function: Callable[..., Any],
    needs: tuple[str, ...],
    arguments: Mapping[str, Any],
    leaves: Callable[..., Any] | None = None,
) -> Task:
    return Task(name, function, arguments, needs, leaves, is_stage=True)
