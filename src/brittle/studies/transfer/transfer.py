"""Attack every member of a pool, and try what breaks it on all others.

From the results of the tasks to a study, with what is empty in it and why. `brittle.transfer`:
attack every member of a pool, and ask all others about what breaks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from brittle.attacks import changed_settings, unchosen_settings
from brittle.data import Dataset, as_dataset, case_ids
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.opening import as_target
from brittle.progress import Progress, listener, shows_progress
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
from brittle.studies.study_files import backend_for, carry_out, default_name, task_runner
from brittle.studies.transfer.member_tasks import (
    attack_name,
    open_name,
    open_tasks,
    paired,
    score_name,
    transfer_tasks,
)
from brittle.studies.transfer.scoring import (
    check_texts,
    columns_of,
    fields_of,
    locked_fields,
    pack_texts,
)
from brittle.studies.transfer.study import TransferFacts, TransferResults, TransferStudy, Winner
from brittle.targets.labels import match_labels
from brittle.values import former_keywords
from brittle.workflow.backends import Workers
from brittle.workflow.tasks import Report, Task
from brittle.zoo.names.parsing import parse

MAX_NAMES = 5


def without_idle_twins(sources: Sequence[Member], targets: Sequence[Member]) -> list[Member]:
    """Return every member once; a twin that gives no cell of the diagonal is not kept."""
    names = {member.name for member in paired(sources, targets)}
    members = {member.name: member for member in (*sources, *targets)}.values()
    return [m if m.name in names else replace(m, twin=None) for m in members]


def check_labels(members: Sequence[Member], results: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the labels that all members share; two members that differ are an error."""
    opened = [
        (spec, tuple(results[open_name(spec)]["labels"]))
        for member in members
        for spec in (member.spec, member.twin)
        if spec is not None and "labels" in results[open_name(spec)]
    ]
    if not opened:
        reasons = [results[open_name(member.spec)]["failed"] for member in members]
        raise UsageError(f"No member of the pool could be opened. The first: {reasons[0]}")
    first, labels = opened[0]
    for spec, others in opened:
        if others != labels:
            differ = "in another order" if set(others) == set(labels) else "others"
            raise UsageError(
                f"The members of a pool need the same labels in the same order: {first!r} has "
                f"{', '.join(labels)}; {spec!r} has {differ}: {', '.join(others)}. Leave one out."
            )
    return labels


def winners_of(
    sources: Sequence[Member], dataset: Dataset, results: Mapping[str, Any], winners: int
) -> dict[str, tuple[Winner, ...]]:
    """Return the first winners of every source by its name; a source that failed has no entry."""
    originals = dict(zip(case_ids(dataset.examples), (e.fields for e in dataset.examples)))
    return {
        source.name: tuple(
            Winner(case, label, originals[case], fields_of(fields))
            for case, label, fields in results[attack_name(source.spec)]["winners"][:winners]
        )
        for source in sources
        if "winners" in results[attack_name(source.spec)]
    }


def is_one_model(spec: str, other: str, results: Mapping[str, Any]) -> bool:
    """Tell whether two specs name one model: equal fingerprints, whatever their names or seeds.

    What a model says of the texts that broke it is no transfer.
    """
    fingerprints = [results[open_name(name)].get("fingerprint") for name in (spec, other)]
    return fingerprints[0] is not None and fingerprints[0] == fingerprints[1]


def labels_of(
    sources: Sequence[Member], targets: Sequence[Member], results: Mapping[str, Any]
) -> dict[str, Any]:
    """Return `before`, `after` and `twin_before` of a study.

    A cell whose source and target are one model is left out.
    """
    names = {source.spec: source.name for source in sources}
    before: dict[str, dict[str, int]] = {}
    after: dict[str, dict[str, tuple[int, ...]]] = {}
    twin_before: dict[str, dict[str, int]] = {}
    for target in targets:
        scored = results[score_name(target.spec)]
        if "failed" in scored:
            continue
        before[target.name] = scored["before"]
        after[target.name] = {
            names[spec]: tuple(labels)
            for spec, labels in scored["after"].items()
            # The diagonal is that of the twin.
            if names[spec] != target.name and not is_one_model(spec, target.spec, results)
        }
    for member in paired(sources, targets):
        if is_one_model(member.spec, str(member.twin), results):
            continue
        scored = results[score_name(str(member.twin))]
        if scored.get("after"):
            twin_before[member.name] = scored["before"]
            labels = tuple(scored["after"][member.spec])
            after.setdefault(member.name, {})[member.name] = labels
    return {"before": before, "after": after, "twin_before": twin_before}


def failures_of(
    sources: Sequence[Member], targets: Sequence[Member], results: Mapping[str, Any]
) -> dict[str, str]:
    """Tell by member why its row, its column or its cell on the diagonal is empty."""
    reasons = {}
    with_twin = paired(sources, targets)
    for member in {m.name: m for m in (*sources, *targets)}.values():
        parts = {"": open_name(member.spec)}
        if member in sources:
            parts["as a source: "] = attack_name(member.spec)
        if member in targets:
            parts["as a target: "] = score_name(member.spec)
        if member in with_twin:
            parts["its twin: "] = score_name(str(member.twin))
        failed = {how: results[name].get("failed") for how, name in parts.items()}
        if failed[""]:  # what could not be opened failed everywhere, for the same reason
            failed = {"": failed[""]}
        if any(failed.values()):
            reasons[member.name] = "; ".join(f"{how}{why}" for how, why in failed.items() if why)
    return reasons


def one_model_warnings(
    sources: Sequence[Member], targets: Sequence[Member], results: Mapping[str, Any]
) -> list[str]:
    """Return a warning about cells that are empty because source and target are one model."""
    twins = [
        member.name
        for member in paired(sources, targets)
        if is_one_model(member.spec, str(member.twin), results)
    ]
    members = list({member.name: member for member in (*sources, *targets)}.values())
    pairs = [
        f"{one.name} and {other.name}"
        for one, other in combinations(members, 2)
        if is_one_model(one.spec, other.spec, results)
    ]
    warnings = []
    if twins:
        warnings.append(
            "No base rate: both seeds give the same model (equal fingerprints) for "
            f"{', '.join(twins)}."
        )
    if pairs:
        warnings.append(
            f"One model under two names (equal fingerprints), so their cells are "
            f"empty: {'; '.join(pairs)}."
        )
    return warnings


def warnings_of(
    sources: Sequence[Member],
    targets: Sequence[Member],
    winners: Mapping[str, Sequence[Winner]],
    results: Mapping[str, Any],
    wanted: int,
    attacked: int,
) -> tuple[str, ...]:
    """Return the warnings of all attacks, of equal models, and of sources with too few winners.

    Where fewer texts were attacked than winners are wanted, no source can have so many.
    """
    warnings = [
        f"{source.name}: {warning}"
        for source in sources
        for warning in results[attack_name(source.spec)].get("warnings", ())
    ]
    warnings += one_model_warnings(sources, targets, results)
    few = {name: len(rows) for name, rows in winners.items() if len(rows) < wanted}
    if few and wanted <= attacked:
        names = [f"{name} {count:,}" for name, count in sorted(few.items(), key=lambda x: x[1])]
        more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
        warnings.append(
            f"{len(few):,} of {plural(len(sources), 'sources')} have fewer than "
            f"{plural(wanted, 'winners')} among {plural(attacked, 'texts')}: "
            f"{', '.join(names[:MAX_NAMES])}{more}. Their rates are less certain. Attack "
            "more texts (--limit)."
        )
    return tuple(warnings)


LIVE = "live:"


@former_keywords(overwrite="new", report="progress")
@shows_progress("transfer")
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
    progress: Progress[str] = True,
    new: bool = False,
    **settings: Any,
) -> TransferStudy:
    """Attack every member of a pool, and let all other members label the texts that broke it.

    `pool` is a spec (`pool:small`, `pool:FILE`) or a list of specs and live targets; live targets
    run in this process. `examples` is the name of a data set, a loaded data set, or a list; the
    first `limit` texts of a random order given by `seed` are attacked. With two `seeds` every model
    of the zoo has a twin, which gives the diagonal. Further keyword arguments are settings of the
    attack. Tasks run in `workers` processes, or on a Ray cluster (`backend="ray"`) at an `address`.
    The study is stored as FOLDER/NAME.study.json; the same call resumes it, and a new member of the
    pool costs only its own row and column. A stored study of the same name with other settings is
    replaced only with `new`.
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
    return run_study(request, folder, where, listener(progress), new=new)


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
            defaults=unchosen_settings(self.attack, self.settings),
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
    new: bool = True,
) -> TransferStudy:
    """Run the tasks of a study that have no result yet, and store it in `folder`."""
    return carry_out(
        "transfer",
        request.name,
        folder,
        partial(_measure, request, backend=backend, report=report),
        facts=None if new else request.facts(),
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
