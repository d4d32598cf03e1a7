"""The stages of the transfer paper: each runs tasks of its own, on the workflow's backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from brittle import data as datasets
from brittle.data import Dataset, case_ids
from brittle.errors import RunStopped
from brittle.opening import as_target
from brittle.studies.importance import importance
from brittle.studies.pool_tasks import of_size, train_pool
from brittle.studies.pools import Pool, member_of
from brittle.studies.rules.evaluation import try_rules
from brittle.studies.rules.tasks import MiningData, mine_in_folder
from brittle.studies.selecting.search import EXPERT_LIST, candidates_of
from brittle.studies.selecting.selecting import attack_ensembles, default_held_out, select
from brittle.studies.transfer.study import SUFFIX, TransferStudy
from brittle.studies.transfer.transfer import transfer
from brittle.workflow.tasks import TaskContext
from brittle.zoo.bilm import needed_folders
from brittle.zoo.folder import load_card, models_folder
from brittle_papers.planning import task_function
from brittle_papers.tasks import run_as_task, run_files

Result = dict[str, Any]
METHODS = ("genetic", "greedy", "expert")
PMI, TRIED = "pmi", "rules-tried"


def uawr(members: int) -> str:
    """Name the rules of the first members."""
    return f"uawr-{members}"


def pool_of(models: Sequence[str], data: str, seeds: int, size: str) -> Pool:
    """Build the pool of a scale."""
    pool = Pool("paper", tuple(member_of(model, data, seeds) for model in models))
    return of_size(pool, size)


def model_folders(folder: Path, result: Result) -> list[Path]:
    """Return the folders of all models, and of what they share."""
    paths = [models_folder() / name for name in result["folders"]]
    return list(dict.fromkeys(needed for path in paths for needed in needed_folders(path)))


@task_function("brittle.papers.transfer.stages:train_models", leaves=model_folders, is_stage=True)
def train_models(
    context: TaskContext, *, models: Sequence[str], data: str, seeds: int, size: str
) -> Result:
    """Train the models that are not in the cache; one that fails ends the stage."""
    pool = pool_of(models, data, seeds, size)
    states = train_pool(pool, backend=context.backend)
    for state in states:
        if state.state == "failed":
            raise RunStopped(f"The model {state.spec!r} cannot be trained: {state.note}")
    accuracy = {state.spec: state.dev_accuracy for state in states}
    seconds = sum(state.seconds or 0 for state in states)
    folders = [str(state.folder.name) for state in states if state.folder is not None]
    prints = [load_card(models_folder() / name).fingerprint for name in folders]
    return {
        "dev_accuracy": accuracy,
        "fingerprints": prints,
        "seconds": seconds,
        "folders": folders,
        "message": f"{len(states)} models",
    }


def study_files(folder: Path, result: Result) -> list[Path]:
    """Return what a transfer leaves: the study, and the folder of its tasks."""
    return [folder / result["study"], folder / result["folder"]]


@task_function("brittle.papers.transfer.stages:transfer_by", leaves=study_files, is_stage=True)
def transfer_by(
    context: TaskContext,
    *,
    models: Sequence[str],
    data: str,
    seeds: int,
    size: str,
    attack: str,
    cases: int,
    winners: int,
    seed: int,
    name: str | None = None,
) -> Result:
    """Attack every model, and ask all others about what breaks it.

    The study has the name of the attack, unless it has a `name` of its own.
    """
    backend = context.backend
    dataset = datasets.load(data)
    study = transfer(
        pool_of(models, data, seeds, size),
        dataset,
        attack,
        limit=min(cases, len(dataset)),
        winners=winners,
        new=True,  # the key of this task knows the settings
        seed=seed,
        name=name or attack,
        folder=context.folder,
        workers=backend.count,
        backend=backend.backend,
        address=backend.address,
        progress=context.report,
    )
    if study.failures:
        raise RunStopped(
            f"Members failed: {dict(study.failures)}. Run the same command again to resume."
        )
    taken = dataset.take(study.attacked, seed)
    return {
        "study": f"{study.name}{SUFFIX}",
        "folder": study.name,
        "texts": study.attacked,
        "data": Path(study.data).name,
        "winners": winners,
        "accuracy": _right(study, taken),
        "message": f"{sum(map(len, study.winners.values())):,} winners",
    }


def _right(study: TransferStudy, taken: Dataset) -> dict[str, list[int]]:
    """Return by target how many originals it has right, and how many there are."""
    label = dict(zip(case_ids(taken.examples), (study_label(study, e) for e in taken.examples)))
    return {
        target: [sum(label[case] == found for case, found in before.items()), len(before)]
        for target, before in study.before.items()
    }


def study_label(study: TransferStudy, example: Any) -> int:
    """Return the index of an example's label."""
    return study.facts.labels.index(str(example.label))


def load_study(folder: Path, result: Result) -> TransferStudy:
    """Load the study of a stage."""
    return TransferStudy.load(folder / result["study"], "transfer")


@task_function(
    "brittle.papers.transfer.stages:attack_ensembles_of", leaves=study_files, is_stage=True
)
def attack_ensembles_of(
    context: TaskContext, *, data: str, sizes: Sequence[int], cases: int, seed: int
) -> Result:
    """Select ensembles by the matrix, and attack them; some models are never members."""
    (transferred,) = context.needs.values()
    study = load_study(context.folder, transferred)
    held_out = default_held_out(study.sources, EXPERT_LIST)
    candidates = candidates_of(study.matrix(), held_out)
    ensembles, notes = select(candidates, sizes, METHODS, seed)
    dataset = datasets.load(data)
    attacked = attack_ensembles(
        study, ensembles, dataset, context.folder, context.backend, context.report, cases
    )
    return {
        "study": f"{attacked.name}{SUFFIX}",
        "folder": attacked.name,
        "held_out": list(held_out),
        "texts": attacked.attacked,
        "ensembles": [
            asdict(e) | {"name": e.name, "members": [m.name for m in e.members]} for e in ensembles
        ],
        "notes": notes,
        "message": f"{len(attacked.sources)} ensembles attacked",
    }


def rule_files(folder: Path, result: Result) -> list[Path]:
    """Return the files of the rules."""
    return [folder / "rules" / f"{name}.rules" for name in result["rules"]]


@task_function("brittle.papers.transfer.stages:mine_rules", leaves=rule_files, is_stage=True)
def mine_rules(
    context: TaskContext,
    *,
    members: Sequence[str],
    data: str,
    size: str,
    texts: int | None,
    seed: int,
) -> Result:
    """Mine rules from the first two members, the first three and so on; and by PMI."""
    pool = pool_of(members, data, 1, size)
    specs = [member.spec for member in pool.members]
    source = MiningData(data, texts, seed)
    folder = context.folder / "rules"
    found: Result = {}
    wanted = [(uawr(n), f"ensemble:{','.join(specs[:n])}") for n in range(2, len(specs) + 1)]
    for name, ensemble in [*reversed(wanted), (PMI, None)]:
        method = PMI if name == PMI else "uawr"
        rules = mine_in_folder(
            ensemble, source, folder, context.report, method=method, backend=context.backend
        )
        rules.save(folder / f"{name}.rules")
        found[name] = len(rules)
    return {
        "rules": found,
        "texts": rules.about["texts"],
        "message": f"{found[uawr(len(specs))]:,} rules",
    }


@task_function("brittle.papers.transfer.stages:mine_quickly", leaves=rule_files, is_stage=True)
def mine_quickly(
    context: TaskContext,
    *,
    members: Sequence[str],
    data: str,
    size: str,
    texts: int | None,
    seed: int,
) -> Result:
    """Mine rules from one ensemble and some texts of the train split."""
    specs = [member.spec for member in pool_of(members, data, 1, size).members]
    source = MiningData(data, texts, seed)
    folder, name = context.folder / "rules", context.unique_name
    rules = mine_in_folder(
        f"ensemble:{','.join(specs)}", source, folder, context.report, backend=context.backend
    )
    rules.save(folder / f"{name}.rules")
    about = {"texts": rules.about["texts"], "members": list(members)}
    return {"rules": {name: len(rules)}, **about, "message": f"{len(rules):,} rules"}


@task_function(
    "brittle.papers.transfer.stages:attack_by_rules", "rules", leaves=run_files, is_stage=True
)
def attack_by_rules(
    context: TaskContext,
    *,
    rules: str,
    model: str,
    data: str,
    size: str,
    in_context: bool,
    cases: int,
    seed: int,
) -> Result:
    """Apply rules to the test split, and see which texts a model gets wrong.

    `in_context` replaces a word only where the substitute has its part of speech.
    """
    pool = pool_of([model], data, 1, size)
    train_pool(pool, backend=context.backend)
    (file,) = rule_files(context.folder, context.needs[rules])
    dataset = datasets.load(data)
    return run_as_task(
        context,
        as_target(pool.members[0].spec),
        dataset,
        "rules",
        limit=min(cases, len(dataset)),
        seed=seed,
        rules=str(file),
        in_context=in_context,
    )


def tried_files(folder: Path, result: Result) -> list[Path]:
    """Return the folder of what all models say of the rules' texts."""
    return [folder / result["folder"]]


@task_function("brittle.papers.transfer.stages:try_all_rules", leaves=tried_files, is_stage=True)
def try_all_rules(
    context: TaskContext, *, models: Sequence[str], data: str, size: str, cases: int, seed: int
) -> Result:
    """Apply all rules to the test split, and ask every model about every text on the way."""
    (mined,) = context.needs.values()
    rules = dict(zip(mined["rules"], rule_files(context.folder, mined)))
    members = pool_of(models, data, 1, size).members
    source = {"data": data, "limit": cases, "seed": seed}
    folder = context.folder / TRIED
    _, failures = try_rules(members, rules, source, folder, context.report, context.backend)
    if failures:
        raise RunStopped(f"Members failed: {failures}. Run the same command again to resume.")
    return {"folder": TRIED, "message": f"{len(members)} models asked"}


@task_function("brittle.papers.transfer.stages:importance_of", is_stage=True)
def importance_of(
    context: TaskContext,
    *,
    models: Sequence[str],
    data: str,
    size: str,
    sentence: str,
    word: str,
) -> Result:
    """Compute how much the models rely on each word of a sentence, and on substitutes of one."""
    specs = [member.spec for member in pool_of(models, data, 1, size).members]
    found = {}
    for name, chosen in (("words", None), ("substitutes", word)):
        relied = importance(specs, sentence, word=chosen, progress=False)
        if relied.failures:
            raise RunStopped(f"Models failed: {dict(relied.failures)}.")
        found[name] = {
            "columns": list(relied.columns),
            "label": relied.label,
            "drop": [[round(x, 4) for x in row] for row in relied.drop.tolist()],
        }
    return {"models": list(models), **found, "message": f"{len(specs)} models"}
