"""`brittle.grid`: run several attacks on several targets, on the same cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from brittle.data import Dataset, as_dataset
from brittle.errors import UsageError
from brittle.studies.carry_out import backend_for, carry_out, task_runner
from brittle.studies.grid.assembling import assemble, facts_of, opened_labels
from brittle.studies.grid.cases import choose_cases, map_labels
from brittle.studies.grid.chosen_attacks import choose_attacks
from brittle.studies.grid.request import GridRequest, name_of
from brittle.studies.grid.study import GridStudy
from brittle.studies.grid.tasks import attack_tasks, label_name, label_tasks, open_tasks
from brittle.studies.pool_tasks import zoo_specs
from brittle.studies.pools import Pool
from brittle.studies.transfer.texts import check_texts
from brittle.studies.transfer.transfer import open_pool, training_tasks
from brittle.workflow.backends import Workers
from brittle.workflow.tasks import Report


def grid(
    targets: str | Pool | Sequence[Any],
    attacks: str | Sequence[str],
    examples: Any,
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
    report: Report = lambda message: None,
    overwrite: bool = False,
    **settings: Any,
) -> GridStudy:
    """Run every attack on every target, and compare the targets case by case.

    `targets` is a pool (`pool:small`, `pool:FILE`), specs separated by commas, or a list of specs
    and live targets; live ones run in this process. `attacks` are names, `gs-ec:nearest=50` with
    settings of its own; further keyword arguments are settings of all attacks that have them.
    The cases are the first `limit` texts, in an order drawn by `seed`, that all targets get right;
    with `all_right=False` they are the first `limit` texts, and each target is attacked where it is
    right. The study is stored as FOLDER/NAME.study.json, its runs in FOLDER/NAME; the same call
    resumes it. A stored study of that name that is about something else is replaced only with
    `overwrite`.
    """
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
        partial(_measure, request, backend=where, report=report),
        facts=None if overwrite else facts_of(request),
    )


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
            f"No text of {dataset.name!r} is right on every target: nothing can be attacked. "
            "Leave a target out, or attack each where it is right (--each-right)."
        )
    attacked = [member for member in members if member.name in chosen.right]
    tasks = attack_tasks(
        *(attacked, chosen.dataset, request.attacks, opening, live),
        seed=request.seed,
        budget=request.budget,
    )
    results.update(run([*opening, *tasks], known=results))
    return assemble(request, chosen, results)
