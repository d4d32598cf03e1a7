"""Mine rules from an ensemble and some data, in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from brittle.data import Dataset
from brittle.errors import UsageError
from brittle.files import make_private_folder
from brittle.opening import as_target
from brittle.proposals.rules import Rules
from brittle.studies.rules.mining import check_method, combine, load_material, measure_member
from brittle.studies.rules.tasks import (
    LIST,
    MemberName,
    MiningData,
    load_effects,
    load_listed,
    mining_tasks,
)
from brittle.targets.ensemble import check_members
from brittle.targets.protocols import declared_by
from brittle.training.splits import TrainingSplits, check_splits, hold_out, load_splits
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Report
from brittle.zoo.names.members import parse_members

PREFIX = "ensemble:"


def mine(
    ensemble: Any,
    data: str | Dataset,
    *,
    method: str = "uawr",
    limit: int | None = None,
    min_support: int = 1,
    seed: int = 0,
    device: str = "auto",
) -> Rules:
    """Mine rules in this process.

    `ensemble` is a target with logits, by name or live, or a list of such targets; None suffices
    for the method "pmi". `data` is a name, a file, or a loaded data set, of which a tenth is held
    out. `limit` takes a sample of the train split; `seed` decides which.
    """
    check_method(method, ensemble is not None)
    if isinstance(data, Dataset):
        splits = check_splits(TrainingSplits(data.name, *hold_out(data)))
    else:
        splits = load_splits(data)
    parts = ensemble if isinstance(ensemble, list | tuple) else [ensemble]
    specs = [spec for part in parts if part is not None for spec in _member_specs(part)]
    members: list[Any] = [as_target(spec, device=device) for spec in specs]
    try:
        labels = _check(members, splits)
        material = load_material(splits, labels, limit, seed)
        effects = [measure_member(member, material) for member in members]
        return with_origin(combine(material, effects, method, min_support), seed)
    finally:
        for spec, member in zip(specs, members):
            if member is not spec and hasattr(member, "close"):
                member.close()


def mine_in_folder(
    ensemble: str | None,
    data: MiningData,
    folder: Path,
    report: Report,
    *,
    method: str = "uawr",
    min_support: int = 1,
    device: str = "auto",
    backend: Workers | None = None,
    progress: Callable[[Any], None] | None = None,
) -> Rules:
    """Mine rules by tasks whose results are kept in a folder; what is there is not done again."""
    check_method(method, ensemble is not None)
    splits = data.splits()
    specs = [] if ensemble is None else _member_specs(ensemble)
    members, labels = _describe(specs, splits, device, progress)
    data = replace(data, labels=labels)
    make_private_folder(folder)
    results = run_tasks(mining_tasks(members, data, device), folder, report, backend)
    material = load_listed(folder, results[LIST], data)
    effects = [
        load_effects(folder, results[f"mine {member.spec}"], member, material) for member in members
    ]
    return with_origin(combine(material, effects, method, min_support), data.seed)


def with_origin(rules: Rules, seed: int) -> Rules:
    """Add what a file of rules says of its making."""
    about = {**rules.about, "seed": seed, "version": metadata.version("brittle")}
    return replace(rules, about=about)


def _member_specs(ensemble: Any) -> Sequence[Any]:
    if isinstance(ensemble, str) and ensemble.startswith(PREFIX):
        return parse_members(ensemble.removeprefix(PREFIX))
    return declared_by(ensemble, "members") or [ensemble]


def _describe(
    specs: Sequence[str],
    splits: TrainingSplits,
    device: str,
    progress: Callable[[Any], None] | None,
) -> tuple[list[MemberName], tuple[str, ...]]:
    """Open all members, so that what does not fit is refused before anything is mined."""
    members: list[Any] = []
    try:
        for spec in specs:
            members.append(as_target(spec, device=device, progress=progress))
        labels = _check(members, splits)
        names = [MemberName(s, m.name, m.fingerprint) for s, m in zip(specs, members)]
        return names, labels
    finally:
        for member in members:
            if hasattr(member, "close"):
                member.close()


def _check(members: Sequence[Any], splits: TrainingSplits) -> tuple[str, ...]:
    """Return the labels in the order of the members; refuse members that do not fit."""
    if not members:
        return splits.labels
    check_members(members)
    labels = tuple(members[0].labels)
    if sorted(labels) != sorted(splits.labels):
        raise UsageError(
            f"The member {members[0].name!r} has the labels {', '.join(labels)}, but the data "
            f"{splits.name!r} has {', '.join(splits.labels)}. Mine from data with the same labels."
        )
    return labels
