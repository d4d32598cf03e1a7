"""The functions of the papers' tasks: train, score, attack, transfer, compare nearest words.

Each is called with a context and arguments, and returns a result that JSON can hold (see
workflow/tasks.py). Its arguments `data`, `target` and `run` are names of tasks whose results it
needs.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from brittle.data import Dataset, Example
from brittle.goals import is_reached
from brittle.runs.run import Run
from brittle.runs.runner import attack as run_attack
from brittle.studies.representation import edited_words, embed_vocabulary
from brittle.studies.transfer.labels import predict_labels, transfer_labels
from brittle.targets.protocols import Classifies
from brittle.targets.zoo.target import load_folder
from brittle.text import Text
from brittle.training import is_trained_on, train_on
from brittle.training.adversarial.by_attack import by_attack
from brittle.training.adversarial.methods import AdversarialTraining
from brittle.workflow.tasks import Task, TaskContext, stored_as
from brittle.workflow.throttling import throttle
from brittle.zoo.folder import load_card
from brittle.zoo.model_cache import models_folder
from brittle.zoo.names import grid
from brittle.zoo.names.changes import with_former_names
from brittle.zoo.names.changes import with_former_names
from brittle_papers.data import limit_below, load_split, load_training_splits

TaskResult = dict[str, Any]


def build_task(name: str, function: Callable[..., TaskResult], **arguments: Any) -> Task:
    """Build a task of one of the functions of papers.

    A misspelt argument is an error at once, not after the hours that the tasks before it take.
    """
    inspect.signature(function).bind(None, **arguments)
    needs = tuple(arguments[key] for key in ("data", "target", "run") if key in arguments)
    here = is_trained if function is train else None
    return Task(name, function, arguments, needs, _LEAVES.get(function), here=here)


def build_tasks(
    function: Callable[..., TaskResult], rows: Mapping[str, Mapping[str, Any]], **shared: Any
) -> list[Task]:
    """Build tasks of one function: the arguments of each by its name, and those that all share."""
    return [build_task(name, function, **shared, **row) for name, row in rows.items()]


@stored_as("brittle.papers.tasks:train")
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
    method = _method(adversarial, attack_settings)
    settings = grid.settings(grid.design(model), size, **changed_settings)
    splits = load_training_splits(context.folder, context.needs[data])
    report_seldom = throttle(context.report)

    def report(progress: Any) -> None:
        is_epoch = progress.dev_accuracy is not None
        message = str(progress).removeprefix(f"{progress.model}: ")
        (context.report if is_epoch else report_seldom)(message)

    folder = train_on(
        model, splits, seed, size=size, settings=settings, adversarial=method, progress=report
    )
    card = load_card(folder)
    assert card.dev_accuracy is not None, "a classifier has one"
    return {
        "folder": folder.name,
        "name": card.full_name,
        "fingerprint": card.fingerprint,
        "settings": with_former_names(card.settings),  # as in stored results
        "hardening": dict(card.hardening),
        "examples": card.examples,
        "epochs": card.epochs,
        "batches": card.epochs
        * -(-card.examples // card.settings.get("batch_size", card.examples)),
        "dev_accuracy": card.dev_accuracy,
        "message": f"dev accuracy {card.dev_accuracy:.3f} after {card.epochs} epochs",
    }


def is_trained(
    context: TaskContext,
    *,
    model: str,
    data: str,
    size: str,
    changed_settings: Mapping[str, Any],
    adversarial: str | None = None,
    attack_settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> bool:
    """Tell whether the model of a train task is in the cache of this machine."""
    settings = grid.settings(grid.design(model), size, **changed_settings)
    splits = load_training_splits(context.folder, context.needs[data])
    method = _method(adversarial, attack_settings)
    return is_trained_on(model, splits, seed, size=size, settings=settings, adversarial=method)


def _method(
    adversarial: str | None, attack_settings: Mapping[str, Any] | None
) -> str | AdversarialTraining | None:
    if adversarial is not None and attack_settings is not None:
        return by_attack(adversarial, **attack_settings)
    return adversarial


def model_folders(folder: Path, result: TaskResult) -> list[Path]:
    """Return the folder of the model of a train task."""
    return [models_folder() / result["folder"]]


def open_model(result: TaskResult) -> Classifies:
    """Load the model of a train task."""
    return load_folder(models_folder() / result["folder"])


@stored_as("brittle.papers.tasks:score_split")
def score_split(context: TaskContext, *, target: str, data: str, split: str) -> TaskResult:
    """Return, for every text of a split, whether a target is right, as a string of 0 and 1."""
    dataset = load_split(context.folder, context.needs[data], split)
    model = open_model(context.needs[target])
    labels = predict_labels(model, [Text.of(dict(example.fields)) for example in dataset])
    bits = [int(label == example.label) for label, example in zip(labels, dataset)]
    accuracy = sum(bits) / len(bits)
    message = f"right on {accuracy:.1%} of {len(bits):,}"
    return {"right": "".join(map(str, bits)), "message": message}


@stored_as("brittle.papers.tasks:attack")
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
    report_seldom = throttle(context.report)

    def report(progress: Any) -> None:
        broken = progress.counts.get("broken", 0)
        report_seldom(f"{progress.done:,} of {progress.planned:,} cases, {broken:,} broken")

    run = run_attack(
        open_model(context.needs[target]),
        dataset,
        attack,
        limit=limit_below(limit, len(dataset)),
        seed=seed,
        confidence=confidence,
        name=context.unique_name,
        folder=context.folder,
        progress=report,
        **settings,
    )
    statuses = Counter(row.status for row in run.results())
    message = ", ".join(f"{status} {count:,}" for status, count in sorted(statuses.items()))
    return {"run": run.path.name, "warnings": run.manifest["warnings"], "message": message}


def run_files(folder: Path, result: TaskResult) -> list[Path]:
    """Return the file of the run of an attack task."""
    return [folder / result["run"]]


def open_task_run(folder: Path, result: TaskResult) -> Run:
    """Open the run of an attack task."""
    return Run(folder / result["run"])


@stored_as("brittle.papers.tasks:transfer")
def transfer(context: TaskContext, *, run: str, target: str) -> TaskResult:
    """Let another target answer the texts of a run, before and after the attack, by case."""
    rows = open_task_run(context.folder, context.needs[run]).results()
    labels = transfer_labels(open_model(context.needs[target]), rows)
    right = {row.case: row.label for row in rows}
    was_right = {case: after for case, (before, after) in labels.items() if before == right[case]}
    fooled = sum(is_reached(after, right[case], None) for case, after in was_right.items())
    return {"labels": labels, "message": f"{fooled:,} of {len(rows):,} texts fool this target too"}


@stored_as("brittle.papers.tasks:nearest")
def nearest(
    context: TaskContext, *, run: str, target: str, layer: str, max_pairs: int, k: int = 5
) -> TaskResult:
    """Return the nearest words of words that an edit of one character changed in a run."""
    rows = open_task_run(context.folder, context.needs[run]).results()
    words = embed_vocabulary(open_model(context.needs[target]), layer)
    changes = [words.change(old, new, k) for old, new in edited_words(rows, max_pairs)]
    lost = sum(change.is_lost for change in changes)
    return {
        "layer": layer,
        "words": len(words.words),
        "k": k,
        "changes": [asdict(change) | {"is_lost": change.is_lost} for change in changes],
        "message": f"{lost:,} of {len(changes):,} edited words are no longer near themselves",
    }


_LEAVES = {train: model_folders, attack: run_files}
