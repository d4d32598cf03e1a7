"""What the tasks of the self-attention paper do: a grid of attacks, a look inside, Theorem 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from brittle.data import Dataset
from brittle.errors import RunStopped, UsageError
from brittle.inside import inside_path
from brittle.inside.file import save_inside
from brittle.inside.looking import broken_cases
from brittle.inside.looking import look_inside as inside_of
from brittle.runs.run import Run
from brittle.runs.target_words import TargetWords
from brittle.safety.files import write_whole
from brittle.studies.grid.grid import grid
from brittle.studies.grid.study import SUFFIX, GridStudy
from brittle.studies.pools import Member, Pool
from brittle.targets.zoo.target import load_folder
from brittle.workflow.tasks import TaskContext
from brittle.zoo.folder import models_folder
from brittle_papers.attention.bound import CONSTANT, check_family, slope
from brittle_papers.data import load_split
from brittle_papers.planning import stays_here, task_function

Result = dict[str, Any]
MAX_GAP = 0.1
"""An optional model is attacked if its accuracy is at most so far below that of the first one."""
HEADS = (*CONSTANT, "64 wide, worst direction")
"""The families of matrices that Theorem 1 is checked on."""


def grid_files(folder: Path, result: Result) -> list[Path]:
    """Return what the attacks leave: the study, and the folder of its runs."""
    words = [folder / result["words_file"]] if result.get("words_file") else []
    return [folder / result["study"], folder / result["folder"], *words]


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
    one_list: bool = False,
) -> Result:
    """Run all attacks on all models, on the cases that all of them get right.

    `members` has for every model the tasks that trained it and that measured its accuracy. With
    `one_list` all models have the same words to choose from: those that all of them know, in the
    order of the first.
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
    dataset = load_split(context.folder, needs[data], "test")
    chosen, words_file = dict(settings), None
    if one_list:
        words_file = f"{context.unique_name}-words.txt"
        words = shared_words([_words_of(member, dataset) for member in pool.members])
        write_whole(context.folder / words_file, "".join(f"{word}\n" for word in words))
        chosen["vocabulary_file"] = str(context.folder.absolute() / words_file)
    study = grid(
        pool,
        dataset,
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
        **chosen,
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
        "words": min(len(words), settings["vocabulary"]) if one_list else settings["vocabulary"],
        "words_file": words_file,
        "message": f"{len(study.cases)} cases that {len(pool.members)} targets get right",
    }


def _words_of(member: Member, dataset: Dataset) -> tuple[str, ...]:
    target = load_folder(Path(member.spec))
    try:
        return TargetWords(target, dataset)()
    finally:
        target.close()


def shared_words(lists: Sequence[Sequence[str]]) -> list[str]:
    """Return the words that stand in all lists, in the order of the first; case is no difference.

    >>> shared_words([["the", "Film", "plot"], ["film", "plot", "cast"]])
    ['Film', 'plot']
    """
    others = [{word.casefold() for word in words} for words in lists[1:]]
    return [word for word in lists[0] if all(word.casefold() in known for known in others)]


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


def layer_files(folder: Path, result: Result) -> list[Path]:
    """Return the files that keep what was seen of a layer."""
    return [folder / file for file in result["inside"].values()]


@task_function("brittle.papers.attention.stages:look_at_layer", leaves=layer_files, here=stays_here)
def look_at_layer(
    context: TaskContext, *, attack: str, limit: int, targets: Sequence[str], layer: str
) -> Result:
    """Look at the attention of another layer in the cases that an attack breaks.

    The file next to a run holds one layer, so what is seen here has files of its own.
    """
    (attacked,) = context.needs.values()
    study = load_grid(context.folder, attacked)
    seen: dict[str, str] = {}
    for name in targets:
        if name not in study.cells[attack]:
            continue
        run = Run(context.folder / attacked["folder"] / study.cells[attack][name].run)
        spec = next(member.spec for member in study.targets if member.name == name)
        target = load_folder(Path(spec))
        try:
            rows = broken_cases(run, limit=limit)
            seen[name] = f"{context.unique_name}-{name}.inside.json"
            save_inside(inside_of(run, target, rows, layer), context.folder / seen[name])
        except UsageError as error:  # nothing is broken, or the target shows nothing
            seen.pop(name, None)
            context.report(f"{name}: {error}")
        finally:
            target.close()
    return {"inside": seen, "layer": layer, "message": f"{len(seen)} runs looked into"}


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
