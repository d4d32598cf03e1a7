"""What the tasks about pictures do: train, search, measure robustness, rebuild, draw a curve."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from brittle import data as datasets
from brittle.data import Dataset
from brittle.errors import RunStopped
from brittle.runs.runner import attack as run_attack
from brittle.studies.pools import Member, Pool
from brittle.studies.robustness.case import CASES_FILE
from brittle.studies.robustness.robustness import robustness
from brittle.studies.robustness.study import SUFFIX
from brittle.training import train
from brittle.workflow.running import throttle
from brittle.workflow.tasks import TaskContext
from brittle.zoo.folder import load_card
from brittle_papers.natural.curve import distance_to_curve, find_adversaries
from brittle_papers.natural.searches import (
    SearchSettings,
    items_of,
    labels_kept,
    of_each_class,
    rebuild,
    run_search,
    run_searches,
)
from brittle_papers.planning import stays_here, task_function
from brittle_papers.tasks import describe_model, model_folders

Result = dict[str, Any]
DIGITS_OF_POINTS = 4


def model_spec(model: str, data: str, size: str, seed: int, settings: str = "") -> str:
    """Name a model of the zoo.

    >>> model_spec("MLP", "mnist", "tiny", 0, "hidden=4")
    'MLP@mnist#0?hidden=4,size=tiny'
    """
    parts = [settings, "" if size == "default" else f"size={size}"]
    changed = ",".join(filter(None, parts))
    return f"{model}@{data}#{seed}{'?' if changed else ''}{changed}"


@task_function(
    "brittle.papers.natural.stages:train_generator", leaves=model_folders, here=stays_here
)
def train_generator(
    context: TaskContext,
    *,
    data: str,
    size: str,
    seed: int,
    changed: Sequence[str] = (),
    digests: Any = None,
) -> Result:
    """Train the generator and its inverter, or find them in the cache.

    `digests` are those of a file of data: with another content it is another task.
    """
    report = throttle(context.report)
    folder = train(
        "WGAN", data, seed, size=size, changed=changed, progress=lambda p: report(str(p))
    )
    card = load_card(folder)
    return describe_model(folder) | {
        "measures": dict(card.measures),
        "seconds": card.seconds,
        "message": str(card.measures.get("summary", "trained")),
    }


def digits(data: str, per_class: int, seed: int) -> Dataset:
    """Take so many test pictures of each class, without their labels."""
    return of_each_class(datasets.load(data), per_class, seed)


def run_files(folder: Path, result: Result) -> list[Path]:
    """Return the files of the runs."""
    return [folder / name for name in result["runs"].values()]


@task_function("brittle.papers.natural.stages:compare_searches", leaves=run_files, here=stays_here)
def compare_searches(
    context: TaskContext,
    *,
    target: str,
    data: str,
    per_class: int,
    uniform_per_class: int,
    search: Mapping[str, Any],
) -> Result:
    """Run hybrid, iterative and uniform search on the same pictures."""
    settings = SearchSettings(**search)
    chosen, fewer = (digits(data, n, settings.seed) for n in (per_class, uniform_per_class))
    started = time.process_time()
    runs = run_searches(
        target,
        chosen,
        settings,
        context.folder,
        context.unique_name,
        for_uniform=fewer,
        report=throttle(context.report),
    )
    return {
        "runs": {name: run.path.name for name, run in runs.items()},
        "digits": len(chosen),
        "samples": settings.samples,
        "step": settings.step,
        "for_uniform": len(fewer),
        "seconds": round(time.process_time() - started, 1),
        "message": f"{len(chosen)} pictures searched around",
    }


@task_function("brittle.papers.natural.stages:search_around", leaves=run_files, here=stays_here)
def search_around(
    context: TaskContext,
    *,
    targets: Mapping[str, str],
    data: str,
    per_class: int,
    label: str | None,
    search: Mapping[str, Any],
) -> Result:
    """Run hybrid search on some pictures of each class, or of one, against several models."""
    settings = SearchSettings(**search)
    chosen = datasets.load(data)
    if label in chosen.labels:
        own = tuple(example for example in chosen if example.label == label)
        chosen = replace(chosen, examples=own, labels=(str(label),))
    chosen = of_each_class(chosen, per_class, settings.seed)
    runs = {}
    for number, (name, spec) in enumerate(targets.items()):
        run = run_search(spec, chosen, settings, context.folder, f"{context.unique_name}-{number}")
        runs[name] = run.path.name
        context.report(f"{number + 1} of {len(targets)} models")
    return {"runs": runs, "message": f"{len(chosen)} pictures, {len(targets)} models"}


@task_function("brittle.papers.natural.stages:fgsm", leaves=run_files, here=stays_here)
def fgsm(context: TaskContext, *, target: str, data: str, per_class: int, seed: int) -> Result:
    """Attack a network by FGSM, with the least ε that wins, on the same pictures."""
    run = run_attack(
        target,
        digits(data, per_class, seed),
        "fgsm",
        seed=seed,
        name=context.unique_name,
        folder=context.folder,
        progress=False,
    )
    return {"runs": {"fgsm": run.path.name}, "message": f"{len(run.results())} pictures"}


def study_file(folder: Path, result: Result) -> list[Path]:
    """Return the file of a study."""
    return [folder / result["study"]]


@task_function(
    "brittle.papers.natural.stages:measure_robustness", leaves=study_file, here=stays_here
)
def measure_robustness(
    context: TaskContext,
    *,
    targets: Mapping[str, str],
    data: str,
    per_class: int,
    search: Mapping[str, Any],
) -> Result:
    """Measure how far all models keep their predictions, in one cloud a picture.

    `seconds_a_case` are those of the processor, over the cases that this call measured.
    """
    dataset = datasets.load(data)
    settings = dict(search)
    journal = context.folder / context.unique_name / CASES_FILE
    before, started = _lines(journal), time.process_time()
    study = robustness(
        Pool("targets", tuple(Member(name, spec) for name, spec in targets.items())),
        dataset,
        settings.pop("generator"),
        limit=per_class * len(dataset.labels),
        per_class=per_class,
        name=context.unique_name,
        folder=context.folder,
        progress=throttle(context.report),
        **settings,
    )
    if study.failures:
        raise RunStopped(
            f"Models failed: {dict(study.failures)}. Run the same command again to resume."
        )
    fresh = len(study.cases) - max(0, before - 1)
    seconds = time.process_time() - started
    return {
        "study": f"{study.name}{SUFFIX}",
        "digits": len(study.cases),
        "samples": settings["samples"],
        "decoded": sum(case.decoded for case in study.cases),
        "seconds_a_case": round(seconds / fresh, 3) if fresh > 0 else None,
        "message": f"{len(study.cases)} pictures, {len(study.targets)} models",
    }


def _lines(file: Path) -> int:
    return file.read_text("utf-8").count("\n") if file.is_file() else 0


@task_function("brittle.papers.natural.stages:rebuild_digits", here=stays_here)
def rebuild_digits(
    context: TaskContext,
    *,
    targets: Mapping[str, str],
    data: str,
    generator: str,
    limit: int,
    refine: Sequence[int],
    per_class: int,
    seed: int,
) -> Result:
    """Compare the predictions for pictures and for their reconstructions, by steps of descent.

    `rebuilt` has the reconstructions of the pictures that are searched around, by their encoding.
    """
    dataset = datasets.load(data)
    taken = dataset.take(min(limit, len(dataset)), seed)
    kept = {}
    for steps in refine:
        context.report(f"{len(taken)} pictures, {steps} steps of descent")
        found = labels_kept(targets, taken, generator, steps)
        kept[str(steps)] = {
            name: "".join("01"[same] for same in bits) for name, bits in found.kept.items()
        }
    items = items_of(digits(data, per_class, seed))
    _, copies = rebuild(items, generator)
    shares = {name: bits.count("1") / len(bits) for name, bits in kept[str(refine[0])].items()}
    message = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    return {
        "kept": kept,
        "rebuilt": {item.encode(): copy.encode() for item, copy in zip(items, copies)},
        "message": f"labels kept: {message}",
    }


@task_function("brittle.papers.natural.stages:draw_curve", here=stays_here)
def draw_curve(context: TaskContext, *, count: int, shown: int, steps: int, seed: int) -> Result:
    """Train on a curve in the plane, and find natural and nearest adversaries of points."""
    folder = context.folder / context.unique_name
    found = find_adversaries(folder, count=count, shown=shown, steps=steps, seed=seed)
    points = {
        name: value.round(DIGITS_OF_POINTS).tolist()
        for name, value in asdict(found).items()
        if name != "skipped"
    }
    off = {
        name: distance_to_curve(getattr(found, name)).round(DIGITS_OF_POINTS).tolist()
        for name in ("data", "rebuilt", "natural", "nearest")
    }
    message = f"{len(found.natural)} natural adversaries"
    return {**points, "off_curve": off, "skipped": found.skipped, "message": message}
