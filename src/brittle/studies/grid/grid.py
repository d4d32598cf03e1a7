"""Run several attacks on several targets, on the same cases, and put the rows together.

From the results of the tasks to a grid, with what is empty in it and why. `brittle.grid`: run
several attacks on several targets, on the same cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from brittle.attacks import ATTACKS, unchosen_settings
from brittle.data import Dataset, as_dataset, case_ids
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.progress import Progress, listener, shows_progress
from brittle.studies.grid.member_tasks import (
    REFUSED,
    attack_tasks,
    label_name,
    label_tasks,
    open_tasks,
)
from brittle.studies.grid.request import (
    ChosenCases,
    GridRequest,
    choose_attacks,
    choose_cases,
    map_labels,
    name_of,
)
from brittle.studies.grid.study import (
    GridCase,
    GridCell,
    GridFacts,
    GridResults,
    GridStudy,
    cell_of,
    split_row,
)
from brittle.studies.pool_tasks import zoo_specs
from brittle.studies.pools import Member, Pool
from brittle.studies.study import Study
from brittle.studies.study_files import backend_for, carry_out, task_runner
from brittle.studies.transfer.member_tasks import attack_name, open_name
from brittle.studies.transfer.scoring import check_texts, locked_fields
from brittle.studies.transfer.transfer import open_pool, training_tasks
from brittle.values import former_keywords, warn_of_former
from brittle.workflow.backends import Workers
from brittle.workflow.tasks import FAILED, Report


def opened_labels(
    members: Sequence[Member], results: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    """Return the labels of every member that could be opened; none is an error."""
    opened = {member.name: results[open_name(member.spec)] for member in members}
    labels = {
        name: tuple(result["labels"]) for name, result in opened.items() if "labels" in result
    }
    if not labels:
        reasons = [result[FAILED] for result in opened.values()]
        raise UsageError(f"No target could be opened. The first: {reasons[0]}")
    return labels


def assemble(request: GridRequest, chosen: ChosenCases, results: Mapping[str, Any]) -> GridStudy:
    """Build the study from the results of all tasks."""
    examples = chosen.dataset.examples
    cells: dict[str, dict[str, GridCell]] = {attack.row: {} for attack in request.attacks}
    refusals: dict[str, str] = {}
    warnings = dict.fromkeys([*request.dataset.warnings, *_too_few(request, chosen)])
    for member in request.targets:
        stored = results.get(attack_name(member.spec), {}).get("cells", {})
        for row in cells:
            cell = stored.get(row, {})
            if "run" in cell:
                cells[row][member.name] = cell_of(cell)
            elif REFUSED in cell:
                refusals[f"{row} on {member.name}"] = cell[REFUSED]
            warnings |= dict.fromkeys(f"{member.name}: {w}" for w in cell.get("warnings", ()))
    return Study(
        "grid",
        request.name,
        facts_of(request),
        GridResults(
            request.targets,
            tuple(
                GridCase(case, str(example.label), example.fields)
                for case, example in zip(case_ids(examples), examples)
            ),
            chosen.scored,
            chosen.right,
            cells,
            refusals,
        ),
        _failures(request.targets, results),
        tuple(warnings),
    )


def facts_of(request: GridRequest) -> GridFacts:
    """Return what a grid is about."""
    return GridFacts(
        pool=request.pool,
        data=request.dataset.name,
        split=request.dataset.split,
        seed=request.seed,
        limit=request.limit,
        all_right=request.all_right,
        budget=request.budget,
        attacks=tuple(attack.row for attack in request.attacks),
        settings={attack.row: dict(attack.settings) for attack in request.attacks},
        locked=locked_fields(request.dataset),
        defaults={
            attack.row: unchosen_settings(attack.name, attack.settings)
            for attack in request.attacks
        },
    )


def _failures(members: Sequence[Member], results: Mapping[str, Any]) -> dict[str, str]:
    """Tell by target why cells of it are empty: the first of its tasks that failed."""
    reasons = {}
    for member in members:
        own = [name for name in results if name.endswith(f" {member.spec}")]
        failed = [results[name][FAILED] for name in own if FAILED in results[name]]
        if failed:
            reasons[member.name] = failed[0]
    return reasons


def _too_few(request: GridRequest, chosen: ChosenCases) -> list[str]:
    cases, limit = len(chosen.dataset), request.limit
    if cases >= limit:
        return []
    right = "that all targets get right " if request.all_right else ""
    return [
        f"There are only {plural(cases, 'cases')} {right}among "
        f"{plural(chosen.scored, 'texts')} of {request.dataset.name!r}, fewer than the "
        f"limit of {limit:,}, so the intervals are wider."
    ]


@former_keywords(overwrite="new", report="progress")
@shows_progress("grid")
def grid(
    targets: str | Pool | Sequence[Any],
    examples: Any,
    attacks: str | Sequence[str],
    *,
    limit: int = 100,
    all_right: bool = True,
    seed: int = 0,
    budget: int | None = None,
    name: str | None = None,
    folder: str | Path = "runs",
    workers: int | None = 1,
    backend: str = "local",
    address: str | None = None,
    progress: Progress[str] = True,
    new: bool = False,
    **settings: Any,
) -> GridStudy:
    """Run every attack on every target, and compare the targets case by case.

    `targets` is a pool (`pool:small`, `pool:FILE`), specs separated by commas, or a list of specs
    and live targets; live targets run in this process. `attacks` are names, optionally with their
    own settings (`gs-ec:nearest=50`); further keyword arguments are settings of all attacks that
    have them. The cases are the first `limit` texts, in a random order given by `seed`, that all
    targets get right; with `all_right=False` they are the first `limit` texts, and each target is
    attacked on the texts it gets right. The study is stored as FOLDER/NAME.study.json, its runs in
    FOLDER/NAME; the same call resumes it. A stored study of the same name with other settings is
    replaced only with `new`.
    """
    examples, attacks = _in_order(examples, attacks)
    folder = Path(folder).absolute()  # a target may change the working folder
    if limit < 1:
        raise UsageError(f"Got a limit of {limit} cases; expected 1 or more.")
    dataset = as_dataset(examples)
    check_texts(dataset, "a grid")
    fields = tuple(name for name, _ in dataset.examples[0].fields)
    pool_name, members, live = open_pool(targets, dataset.name, 1, fields=fields)
    where = backend_for(live, backend, workers, address)
    chosen = choose_attacks(attacks, settings)
    about = GridRequest(
        "", pool_name, chosen, members, dataset, seed, limit, all_right, budget, live
    )
    request = replace(about, name=name or name_of(about))
    return carry_out(
        "grid",
        request.name,
        folder,
        partial(_measure, request, backend=where, report=listener(progress)),
        facts=None if new else facts_of(request),
    )


def _in_order(examples: Any, attacks: Any) -> tuple[Any, str | Sequence[str]]:
    """Return examples and attacks; they are swapped if they stand in the order of former versions.

    Only names of attacks in the place of the examples, and none in that of the attacks, are sure.
    """
    if _are_attacks(examples) and not _are_attacks(attacks):
        warn_of_former("grid(targets, attacks, examples)", "grid(targets, examples, attacks)")
        return attacks, examples
    return examples, attacks


def _are_attacks(value: Any) -> bool:
    """Tell whether a value is a text or a list of names of attacks."""
    if not isinstance(value, str) and not (
        isinstance(value, list | tuple) and value and all(isinstance(one, str) for one in value)
    ):
        return False
    rows = value.split(",") if isinstance(value, str) else value
    names = [split_row(row.strip())[0] for row in rows]
    return all(name.lower() in ATTACKS or name.startswith("python:") for name in names)


def _measure(request: GridRequest, folder: Path, backend: Workers, report: Report) -> GridStudy:
    """Run the tasks of a grid that have no result yet, in its folder."""
    members, dataset, live = request.targets, request.dataset, request.live
    run = task_runner(folder, backend, report)
    opening = open_tasks(members, dataset, live, training_tasks(zoo_specs(members), dataset))
    # Labels that differ are an error before anything is attacked.
    results = run(opening)
    label_maps = map_labels(opened_labels(members, results), dataset)

    def label_block(texts: Dataset, block: str) -> dict[str, Sequence[int]]:
        there = [member for member in members if member.name in label_maps]
        tasks = label_tasks(there, texts, block, opening, live)
        results.update(run([*opening, *tasks], known=results))
        answers = {m.name: results[label_name(m.spec, block)] for m in there}
        return {name: answer["labels"] for name, answer in answers.items() if "labels" in answer}

    chosen = choose_cases(
        dataset,
        label_maps,
        label_block,
        limit=request.limit,
        seed=request.seed,
        all_right=request.all_right,
    )
    if not len(chosen.dataset):
        raise UsageError(
            f"No text of {dataset.name!r} is right on every target, so there is nothing "
            "to attack. Leave a target out, or attack each target on its own right texts "
            "(--each-right)."
        )
    attacked = [member for member in members if member.name in chosen.right]
    tasks = attack_tasks(
        *(attacked, chosen.dataset, request.attacks, opening, live),
        seed=request.seed,
        budget=request.budget,
    )
    results.update(run([*opening, *tasks], known=results))
    return assemble(request, chosen, results)
