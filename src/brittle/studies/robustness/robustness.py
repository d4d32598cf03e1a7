"""`brittle.robustness`: compare targets by how far in latent space their predictions hold."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from brittle.attacks.natural import open_part, unfit
from brittle.data import Dataset, as_dataset, case_ids
from brittle.errors import UsageError, message_of
from brittle.generators import open_generator
from brittle.kinds import kind_named
from brittle.opening import as_target
from brittle.studies.pools import PREFIX, Pool
from brittle.studies.robustness.case import CaseRow, Predictor, measure_case
from brittle.studies.robustness.cloud import CloudSettings
from brittle.studies.robustness.journal import Journal
from brittle.studies.robustness.study import SUFFIX, RobustnessStudy
from brittle.studies.transfer.transfer import open_pool
from brittle.targets.labels import match_labels

MAX_SCORED = 1_000
"""Examples that the accuracy of a target is measured on."""
WRONG, FULL = "a target is wrong on it", "its class has enough cases"
Report = Callable[[str], None]


@dataclass(frozen=True)
class Selection:
    """Which examples become cases: how many, how many of a class, and whether all must be right."""

    limit: int = 100
    per_class: int | None = None
    all_right: bool = False


def robustness(
    targets: str | Pool | Sequence[Any],
    examples: Any,
    generator: Any,
    *,
    limit: int = 100,
    per_class: int | None = None,
    all_right: bool = False,
    samples: int = 500,
    step: float = 0.01,
    radius: float = 10.0,
    misses: int = 5,
    refine: int = 0,
    seed: int = 0,
    name: str | None = None,
    folder: str | Path = "runs",
    device: str = "auto",
    report: Report = lambda message: None,
) -> RobustnessStudy:
    """Measure the distance of the nearest natural adversary for every target, case by case.

    `targets` is a pool (`pool:NAME`, `pool:FILE`), specs separated by commas, or a list of specs
    and live targets; `generator` is a spec (`ARAE@imdb`) or a generator. No labels are needed: the
    reference is each target's own prediction. Cases are the first `limit` examples, in an order
    drawn by `seed`, that the generator can encode; with `per_class` at most so many of each class,
    with `all_right` only those that all targets get right. Every sample is decoded once, and all
    targets are asked about it. The study is stored as FOLDER/NAME.robustness.json; finished cases
    are kept in FOLDER/NAME.cases.jsonl, and the same call goes on after them.
    """
    settings = _checked(CloudSettings(samples, step, radius, misses))
    selection = Selection(limit, per_class, all_right)
    dataset = as_dataset(examples)
    maker = open_generator(generator, refine) if isinstance(generator, str) else generator
    _check_kind(maker, dataset)
    fields = tuple(name for name, _ in dataset.examples[0].fields)
    pool, members, live = open_pool(_listed(targets), dataset.name, 1, fields)
    opened: dict[str, Any] = {}
    failures: dict[str, str] = {}
    try:
        for member in members:
            options = {"fields": fields, "shape": dataset.shape, "device": device}
            try:
                opened[member.name] = live.get(member.spec) or as_target(member.spec, **options)
            except Exception as error:
                failures[member.name] = message_of(error)
        if not opened:
            raise UsageError(
                f"No target could be opened. The first: {next(iter(failures.values()))}"
            )
        about = {
            "data": dataset.fingerprint,
            "generator": maker.fingerprint,
            "targets": {name: target.fingerprint for name, target in opened.items()},
            "settings": asdict(settings),
            "choice": [selection.per_class, selection.all_right],
            "seed": seed,
        }
        chosen = name or _default_name(pool, dataset, about)
        journal = Journal(Path(folder) / f"{chosen}.cases.jsonl", about)
        left_out: Counter[str] = Counter()
        rows: list[CaseRow] = []
        for case, item, label in _cases(dataset, maker, opened, selection, seed, left_out):
            if case not in journal.rows:
                journal.add(measure_case(case, item, label, maker, opened, settings, seed))
            rows.append(journal.rows[case])
            report(f"{len(rows)}/{limit} cases, {rows[-1].decoded} samples for the last")
        if not rows:
            raise UsageError(
                f"No example of {dataset.name!r} can be a case: "
                + "; ".join(f"{count}: {reason}" for reason, count in left_out.items())
            )
        accuracy, scored = measure_accuracy(dataset, opened, seed)
    finally:
        for key, target in opened.items():
            if key not in {m.name for m in members if m.spec in live} and hasattr(target, "close"):
                target.close()
    study = RobustnessStudy(
        name=chosen,
        pool=pool,
        data=dataset.name,
        split=dataset.split,
        generator=maker.name,
        seed=seed,
        settings=asdict(settings) | asdict(selection),
        targets=tuple(opened),
        cases=tuple(rows),
        accuracy=accuracy,
        scored=scored,
        left_out=dict(left_out),
        failures=failures,
    )
    study.save(Path(folder) / f"{chosen}{SUFFIX}")
    return study


def measure_accuracy(
    dataset: Dataset, targets: Mapping[str, Any], seed: int
) -> tuple[dict[str, float], int]:
    """Return the accuracy of every target on the first labelled examples; {} without labels."""
    if not dataset.labels:
        return {}, 0
    taken = dataset.take(min(MAX_SCORED, len(dataset)), seed)
    known = [example for example in taken if example.label is not None]
    kind = kind_named(dataset.kind)
    items = [kind.item(dict(example.fields), example.locked) for example in known]
    accuracy = {}
    for name, target in targets.items():
        index = match_labels(dataset.labels, tuple(target.labels))
        right = np.array([index[str(example.label)] for example in known])
        accuracy[name] = float(np.mean(Predictor(target)(items) == right)) if known else 0.0
    return accuracy, len(known)


def _cases(
    dataset: Dataset,
    generator: Any,
    targets: Mapping[str, Any],
    selection: Selection,
    seed: int,
    left_out: Counter[str],
) -> Iterator[tuple[str, Any, str | None]]:
    """Yield the id, the item and the label of every case; count what is passed over, by reason."""
    if (selection.all_right or selection.per_class) and not dataset.labels:
        raise UsageError(
            "Cases that all targets get right, or so many of a class, need labels. Name their "
            "column with --label, or leave --all-right and --per-class out."
        )
    taken = dataset.take(len(dataset), seed)
    kind = kind_named(dataset.kind)
    classes: Counter[str | None] = Counter()
    count = 0
    for case, example in zip(case_ids(taken.examples), taken.examples):
        if count == selection.limit:
            return
        item = kind.item(dict(example.fields), example.locked)
        reason = unfit(generator, open_part(item))
        if reason is None and selection.per_class is not None:
            reason = FULL if classes[example.label] >= selection.per_class else None
        if reason is None and selection.all_right and not _is_right(example.label, item, targets):
            reason = WRONG
        if reason is not None:
            left_out[re.sub(r"\d+", "…", reason)] += 1
            continue
        classes[example.label] += 1
        count += 1
        yield case, item, example.label


def _is_right(label: str | None, item: Any, targets: Mapping[str, Any]) -> bool:
    return label is not None and all(
        str(target.labels[Predictor(target)([item])[0]]).lower() == label.lower()
        for target in targets.values()
    )


def _checked(settings: CloudSettings) -> CloudSettings:
    if settings.samples < 1 or settings.misses < 1:
        raise UsageError(
            f"Got {settings.samples} samples and {settings.misses} misses; expected 1 or more."
        )
    if not 0 < settings.step <= settings.radius < float("inf"):
        raise UsageError(
            f"Got a step of {settings.step:g} and a radius of {settings.radius:g}; expected a step "
            "above 0 within a radius that has an end."
        )
    return settings


def _check_kind(generator: Any, dataset: Dataset) -> None:
    if generator.item_kind != dataset.kind:
        raise UsageError(
            f"The data {dataset.name!r} holds {dataset.kind}s, but the generator "
            f"{generator.name!r} makes {generator.item_kind}s. Choose another (brittle list "
            "generators)."
        )
    check = getattr(generator, "check_item", None)
    if check is not None and dataset.examples:
        example = dataset.examples[0]
        check(open_part(kind_named(dataset.kind).item(dict(example.fields), example.locked)))


def _default_name(pool: str, dataset: Dataset, about: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:6]
    words = f"robustness-{pool}-{Path(dataset.name).name}"
    return f"{re.sub(r'[^A-Za-z0-9.@]+', '-', words).strip('-.')[:80]}-{digest}"


def _listed(targets: str | Pool | Sequence[Any]) -> str | Pool | Sequence[Any]:
    """Return specs separated by commas as a list; a pool stays as it is."""
    if not isinstance(targets, str) or targets.startswith(PREFIX):
        return targets
    return [spec.strip() for spec in targets.split(",") if spec.strip()]
