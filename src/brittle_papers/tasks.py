"""The functions of the papers' tasks: train, score, attack, transfer, compare nearest words.

Each is called with a context and arguments, and returns a result that JSON can hold (see
workflow/tasks.py). Its arguments `data`, `target` and `run` are names of tasks whose results it
needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from brittle.data import Dataset, Example
from brittle.goals import is_reached
from brittle.inside.nearest import edited_words, embed_vocabulary
from brittle.runs.run import Run
from brittle.runs.runner import attack as run_attack
from brittle.studies.transfer.scoring import predict_labels, transfer_labels
from brittle.targets.protocols import Classifies
from brittle.targets.zoo.target import load_folder
from brittle.text import Text
from brittle.training import is_trained_on, train_on
from brittle.training.adversarial.methods import AdversarialTraining, by_attack
from brittle.workflow.running import throttle
from brittle.workflow.tasks import TaskContext
from brittle.zoo.folder import load_card, models_folder
from brittle.zoo.names import grid
from brittle.zoo.names.changes import with_former_names
from brittle_papers.data import limit_below, load_split, load_training_splits
from brittle_papers.planning import TaskResult, task_function


def model_folders(folder: Path, result: TaskResult) -> list[Path]:
    """Return the folder of the model that a task trained."""
    return [models_folder() / result["folder"]]


def describe_model(folder: Path) -> TaskResult:
    """Return what the result of every task that trains a model says of it."""
    card = load_card(folder)
    return {
        "folder": folder.name,
        "name": card.full_name,
        "fingerprint": card.fingerprint,
        "settings": with_former_names(card.settings),  # as in stored results
    }


def is_trained(context: TaskContext, **arguments: Any) -> bool:
    """Tell whether the model of a train task is in the cache of this machine."""
    return is_trained_on(**_training(context, **arguments))


def _training(
    context: TaskContext,
    *,
    model: str,
    data: str,
    size: str,
    changed_settings: Mapping[str, Any],
    adversarial: str | None = None,
    attack_settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Return what trains a model on the splits of a data task."""
    method: str | AdversarialTraining | None = adversarial
    if adversarial is not None and attack_settings is not None:
        method = by_attack(adversarial, **attack_settings)
    return {
        "name": model,
        "splits": load_training_splits(context.folder, context.needs[data]),
        "seed": seed,
        "size": size,
        "settings": grid.settings(grid.design(model), size, **changed_settings),
        "adversarial": method,
    }


@task_function("brittle.papers.tasks:train", "data", leaves=model_folders, here=is_trained)
def train(
    context: TaskContext,
    *,
    model: str,
    data: str,
    size: str,
    changed_settings: Mapping[str, Any],
    adversarial: str | None = None,
    attack_settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> TaskResult:
    """Train a model on the splits of a data task, or load it from the cache.

    With `attack_settings` the model is hardened by the attack called `adversarial`, also where a
    method of adversarial training has that name.
    """
    report_seldom = throttle(context.report)

    def report(progress: Any) -> None:
        is_epoch = progress.dev_accuracy is not None
        message = str(progress).removeprefix(f"{progress.model}: ")
        (context.report if is_epoch else report_seldom)(message)

    training = _training(
        context,
        model=model,
        data=data,
        size=size,
        changed_settings=changed_settings,
        adversarial=adversarial,
        attack_settings=attack_settings,
        seed=seed,
    )
    folder = train_on(**training, progress=report)
    card = load_card(folder)
    assert card.dev_accuracy is not None, "a classifier has one"
    return describe_model(folder) | {
        "hardening": dict(card.hardening),
        "examples": card.examples,
        "epochs": card.epochs,
        "batches": card.epochs
        * -(-card.examples // card.settings.get("batch_size", card.examples)),
        "dev_accuracy": card.dev_accuracy,
        "message": f"dev accuracy {card.dev_accuracy:.3f} after {card.epochs} epochs",
    }


def open_model(result: TaskResult) -> Classifies:
    """Load the model of a train task."""
    return load_folder(models_folder() / result["folder"])


@task_function("brittle.papers.tasks:score_split", "data", "target")
def score_split(context: TaskContext, *, target: str, data: str, split: str) -> TaskResult:
    """Return, for every text of a split, whether a target is right, as a string of 0 and 1."""
    dataset = load_split(context.folder, context.needs[data], split)
    model = open_model(context.needs[target])
    labels = predict_labels(model, [Text.of(dict(example.fields)) for example in dataset])
    bits = [int(label == example.label) for label, example in zip(labels, dataset)]
    accuracy = sum(bits) / len(bits)
    message = f"right on {accuracy:.1%} of {len(bits):,}"
    return {"right": "".join(map(str, bits)), "message": message}


def run_files(folder: Path, result: TaskResult) -> list[Path]:
    """Return the file of the run of an attack task."""
    return [folder / result["run"]]


@task_function("brittle.papers.tasks:attack", "data", "target", leaves=run_files)
def attack(
    context: TaskContext,
    *,
    target: str,
    data: str,
    attack: str,
    limit: int | None,
    confidence: float | None = None,
    seed: int = 0,
    settings: Mapping[str, Any],
    texts: Sequence[str] = (),
) -> TaskResult:
    """Attack a target on the test split, or on `texts`, which keep the class that it gives them.

    `learn_from` of the settings names a split of the data.
    """
    dataset = load_split(context.folder, context.needs[data], "test")
    if texts:
        examples = tuple(Example.of(text) for text in texts)
        dataset, limit = Dataset("examples", "test", examples, dataset.labels), None
    settings = dict(settings)
    if "learn_from" in settings:
        folder = context.folder / context.needs[data]["folder"]
        settings["learn_from"] = str(folder / f"{settings['learn_from']}.csv")
    return run_as_task(
        context,
        open_model(context.needs[target]),
        dataset,
        attack,
        limit=limit,
        seed=seed,
        confidence=confidence,
        **settings,
    )


def run_as_task(
    context: TaskContext,
    target: Any,
    dataset: Dataset,
    attack: str,
    *,
    limit: int | None,
    won: str = "broken",
    **settings: Any,
) -> TaskResult:
    """Attack a target in a run that has the name of the task; `won` names what it looks for."""
    report_seldom = throttle(context.report)

    def report(progress: Any) -> None:
        broken = progress.counts.get("broken", 0)
        report_seldom(f"{progress.done:,} of {progress.planned:,} cases, {broken:,} {won}")

    run = run_attack(
        target,
        dataset,
        attack,
        limit=limit_below(limit, len(dataset)),
        name=context.unique_name,
        folder=context.folder,
        progress=report,
        **settings,
    )
    statuses = Counter(row.status for row in run.as_stored().results())
    message = ", ".join(f"{status} {count:,}" for status, count in sorted(statuses.items()))
    return {"run": run.path.name, "warnings": run.manifest["warnings"], "message": message}


def open_task_run(folder: Path, result: TaskResult) -> Run:
    """Open the run of an attack task; no page shows the similarity that a reader would measure."""
    return Run(folder / result["run"]).as_stored()


@task_function("brittle.papers.tasks:transfer", "target", "run")
def transfer(context: TaskContext, *, run: str, target: str) -> TaskResult:
    """Let another target answer the texts of a run, before and after the attack, by case."""
    rows = open_task_run(context.folder, context.needs[run]).results()
    labels = transfer_labels(open_model(context.needs[target]), rows)
    right = {row.case: row.label for row in rows}
    was_right = {case: after for case, (before, after) in labels.items() if before == right[case]}
    fooled = sum(is_reached(after, right[case], None) for case, after in was_right.items())
    return {"labels": labels, "message": f"{fooled:,} of {len(rows):,} texts fool this target too"}


@task_function("brittle.papers.tasks:nearest", "target", "run")
def nearest(
    context: TaskContext,
    *,
    target: str,
    layer: str,
    run: str | None = None,
    max_pairs: int | None = None,
    pairs: Sequence[str] = (),
    k: int = 5,
) -> TaskResult:
    """Return the nearest words of words before and after an edit of one character.

    The words are those that a run changed, or `pairs`, each as "past → pas!t".
    """
    words = embed_vocabulary(open_model(context.needs[target]), layer)
    edits = [(old, new) for old, _, new in (pair.partition(" → ") for pair in pairs)]
    if run is not None:
        rows = open_task_run(context.folder, context.needs[run]).results()
        edits += edited_words(rows, max_pairs)
    changes = [words.change(old, new, k) for old, new in edits]
    lost = sum(change.is_lost for change in changes)
    return {
        "layer": layer,
        "words": len(words.words),
        "k": k,
        "changes": [asdict(change) | {"is_lost": change.is_lost} for change in changes],
        "message": f"{lost:,} of {len(changes):,} edited words are no longer near themselves",
    }
