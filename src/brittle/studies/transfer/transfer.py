"""`brittle.transfer`: attack every member of a pool, and ask all others about what breaks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from brittle.attacks.stored_settings import changed_settings
from brittle.data import Dataset, as_dataset, case_ids
from brittle.errors import UsageError
from brittle.opening import as_target
from brittle.studies.carry_out import backend_for, carry_out, default_name, task_runner
from brittle.studies.pool_tasks import train_tasks, zoo_specs
from brittle.studies.pools import (
    LISTED,
    Member,
    Pool,
    check_members,
    load_pool,
    member_of,
    named_pool,
)
from brittle.studies.study import Study
from brittle.studies.transfer.assembling import (
    check_labels,
    failures_of,
    labels_of,
    warnings_of,
    winners_of,
    without_idle_twins,
)
from brittle.studies.transfer.member_tasks import attack_name
from brittle.studies.transfer.study import TransferFacts, TransferResults, TransferStudy
from brittle.studies.transfer.tasks import open_tasks, transfer_tasks
from brittle.studies.transfer.texts import check_texts, columns_of, locked_fields, pack_texts
from brittle.targets.labels import match_labels
from brittle.workflow.backends import Workers
from brittle.workflow.tasks import Report, Task
from brittle.zoo.names.parsing import parse

LIVE = "live:"


def transfer(
    pool: str | Pool | Sequence[Any],
    examples: Any,
    attack: str = "pwws",
    *,
    limit: int | None = 1000,
    winners: int = 500,
    seeds: int = 2,
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
) -> TransferStudy:
    """Attack every member of a pool, and have every other one label the texts that broke it.

    `pool` is a spec (`pool:small`, `pool:FILE`) or a list of specs and live targets; live ones run
    in this process. `examples` is the name of a data set, a loaded data set, or a list; the first
    `limit` texts of a permutation drawn by `seed` are attacked. With two `seeds` every model of the
    zoo has a twin, which gives the diagonal. Further keyword arguments are the attack's settings.
    Tasks run in `workers` processes, or on a Ray cluster (`backend="ray"`) at an `address`.
    The study is stored as FOLDER/NAME.study.json; the same call resumes it, and a member added to
    the pool costs its own row and column. A stored study of that name that is about something else
    is replaced only with `overwrite`.
    """
    folder = Path(folder).absolute()  # a target may change the working folder
    if winners < 1:
        raise UsageError(f"Got {winners} winners a source; expected 1 or more.")
    dataset = as_dataset(examples).take(limit, seed)
    check_texts(dataset)
    fields = tuple(name for name, _ in dataset.examples[0].fields)
    pool_name, members, live = open_pool(pool, dataset.name, seeds, fields=fields)
    where = backend_for(live, backend, workers, address)
    if budget is not None:
        settings["budget"] = budget
    settings = changed_settings(attack, settings)
    name = name or _free_name(folder, pool_name, attack, settings, seed, dataset)
    request = TransferRequest(
        name, pool_name, attack, settings, seed, winners, members, members, dataset, live
    )
    return run_study(request, folder, where, report, overwrite=overwrite)


@dataclass(frozen=True)
class TransferRequest:
    """What a study is about; `dataset` holds the texts that are attacked.

    `settings` are those of the attack that differ from its defaults.
    """

    name: str
    pool: str
    attack: str
    settings: Mapping[str, Any]
    seed: int
    winners: int
    sources: tuple[Member, ...]
    targets: tuple[Member, ...]
    dataset: Dataset
    live: Mapping[str, Any] = field(default_factory=dict)

    def facts(self, labels: tuple[str, ...] = ()) -> TransferFacts:
        """Return what the study is about; the `labels` are known once a member was opened."""
        return TransferFacts(
            pool=self.pool,
            attack=self.attack,
            settings=dict(self.settings),
            data=self.dataset.name,
            split=self.dataset.split,
            seed=self.seed,
            labels=labels,
            attacked=len(self.dataset),
            max_winners=self.winners,
            locked=locked_fields(self.dataset),
        )

    def other_texts(self, stored: TransferStudy) -> str | None:
        """Name what a stored study is about, if it has texts that this one has not."""
        cases = set(case_ids(self.dataset.examples))
        winners = stored.results.winners.values()
        if all(winner.case in cases for rows in winners for winner in rows):
            return None
        return f"texts of {stored.facts.data!r}"


def run_study(
    request: TransferRequest,
    folder: Path,
    backend: Workers | None = None,
    report: Report = lambda message: None,
    overwrite: bool = True,
) -> TransferStudy:
    """Run the tasks of a study that have no result yet, and store it in `folder`."""
    return carry_out(
        "transfer",
        request.name,
        folder,
        partial(_measure, request, backend=backend, report=report),
        facts=None if overwrite else request.facts(),
        differs=request.other_texts,
    )


def _measure(
    request: TransferRequest, folder: Path, backend: Workers | None, report: Report
) -> TransferStudy:
    sources, targets, dataset = request.sources, request.targets, request.dataset
    members = without_idle_twins(sources, targets)
    training = training_tasks(zoo_specs(members), dataset)
    opening = open_tasks(members, dataset, request.live, training)
    tasks = transfer_tasks(
        *(sources, targets, opening, request.attack, request.settings),
        seed=request.seed,
        winners=request.winners,
        live=request.live,
    )
    run = task_runner(folder, backend, report)
    # Labels that differ are an error before anything is attacked.
    opened = run(opening)
    labels = check_labels(members, opened)
    match_labels(dataset.labels, labels)
    results = run(tasks, known=opened)
    failures = failures_of(sources, targets, results)
    winners = winners_of(sources, dataset, results, request.winners)
    if not winners:
        raise UsageError(f"No source could be attacked. The first: {next(iter(failures.values()))}")
    return Study(
        "transfer",
        request.name,
        request.facts(labels),
        TransferResults(
            sources,
            targets,
            winners,
            runs={
                s.name: results[attack_name(s.spec)]["run"] for s in sources if s.name in winners
            },
            **labels_of(sources, targets, results),
        ),
        failures,
        warnings_of(sources, targets, winners, results, request.winners, len(dataset)),
    )


def training_tasks(specs: Sequence[str], dataset: Dataset) -> list[Task]:
    """Build the tasks that train models; those of the study's own table read its columns."""
    columns = columns_of(pack_texts(dataset))
    tasks: dict[str, Task] = {}
    for spec in specs:
        for task in train_tasks([spec], **columns.get(parse(spec).data, {})):
            tasks.setdefault(task.name, task)
    return list(tasks.values())


def open_pool(
    pool: str | Pool | Sequence[Any], data_name: str, seeds: int, **options: Any
) -> tuple[str, tuple[Member, ...], dict[str, Any]]:
    """Return the name and the members of a pool, and its live targets by their specs.

    `options` are those of `brittle.as_target` that live ones are opened with.
    """
    if isinstance(pool, str):
        loaded = load_pool(pool, data_name, seeds)
        return loaded.name, loaded.members, {}
    if isinstance(pool, Pool):
        return pool.name, pool.members, {}
    live: dict[str, Any] = {}
    members = []
    for item in pool:
        if isinstance(item, str):
            members.append(member_of(item, data_name, seeds))
            continue
        target = as_target(item, **options)
        members.append(Member(target.name, f"{LIVE}{target.name}"))
        live[members[-1].spec] = target
    check_members(members, "The pool")
    return LISTED, tuple(members), live


def name_of(
    pool: str, attack: str, settings: Mapping[str, Any], seed: int, dataset: Dataset
) -> str:
    """Build the study's name from what it is about; the members are no part of it.

    Members that a command lists have no name of their own, so the name says what is done.
    """
    words = (named_pool(pool) or "transfer", attack, Path(dataset.name).name)
    return default_name(words, [attack, dict(settings), seed, dataset.fingerprint])


def _free_name(folder: Path, pool: str, *about: Any) -> str:
    """Return the default name, or the one that earlier versions gave, if such a study is there."""
    name = name_of(pool, *about)
    former = name.replace("transfer-", f"{LISTED}-", 1) if named_pool(pool) is None else name
    return former if (folder / former).exists() else name
