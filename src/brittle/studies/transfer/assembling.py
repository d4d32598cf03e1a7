"""From the results of the tasks to a study, with what is empty in it and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from brittle.data import Dataset, case_ids
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.studies.pools import Member
from brittle.studies.transfer.member_tasks import attack_name, open_name
from brittle.studies.transfer.study import Winner
from brittle.studies.transfer.tasks import paired, score_name
from brittle.studies.transfer.texts import fields_of

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
            f"No base rate: both seeds give the same model (equal fingerprints) of "
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
            f"{', '.join(names[:MAX_NAMES])}{more}. Their rates are less certain; attack more "
            "texts (--limit)."
        )
    return tuple(warnings)
