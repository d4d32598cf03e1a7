"""`brittle.robustness`: compare targets by how far in latent space their predictions hold."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from brittle.attacks.natural import open_part, unfit
from brittle.data import Dataset, as_dataset, case_ids
from brittle.errors import UsageError, message_of
from brittle.formatting import plural
from brittle.generators import open_generator, refine_generator
from brittle.kinds import kind_named
from brittle.opening import as_target
from brittle.progress import Progress, listener, shows_progress
from brittle.runs.job import check_reads
from brittle.studies.pools import Member, Pool
from brittle.studies.robustness.case import (
    CASES_FILE,
    CaseJournal,
    CaseRow,
    CloudSettings,
    Predictor,
    measure_case,
)
from brittle.studies.robustness.study import RobustnessFacts, RobustnessResults, RobustnessStudy
from brittle.studies.study import Study
from brittle.studies.study_files import carry_out, default_name
from brittle.studies.transfer.scoring import locked_fields
from brittle.studies.transfer.transfer import open_pool
from brittle.targets.labels import match_labels
from brittle.values import former_keywords

log = logging.getLogger(__name__)
DOUBTED = 100  # items that a generator looks at before anything is asked
MAX_SCORED = 1_000
"""The number of examples for measuring the accuracy of a target."""
WRONG, FULL = "a target is wrong on it", "its class has enough cases"
Report = Callable[[str], None]


@dataclass(frozen=True)
class Selection:
    """Which examples become cases: how many, how many of a class, and whether all must be right."""

    limit: int = 100
    per_class: int | None = None
    all_right: bool = False


@former_keywords(report="progress")
@shows_progress("robustness")
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
    progress: Progress[str] = True,
    new: bool = False,
) -> RobustnessStudy:
    """Measure the distance to the nearest natural adversary for every target, case by case.

    `targets` is a pool (`pool:NAME`, `pool:FILE`), specs separated by commas, or a list of specs
    and live targets; `generator` is a spec (`ARAE@imdb`) or a generator. No labels are needed: the
    reference is each target's own prediction. The cases are the first `limit` examples, in a random
    order given by `seed`, that the generator can encode; `per_class` limits the number of each
    class, and `all_right` takes only examples that all targets get right. Every sample is decoded
    once and sent to all targets. The study is stored as FOLDER/NAME.study.json, finished cases in
    FOLDER/NAME/cases.jsonl; the same call resumes it.
    """
    settings = _checked(CloudSettings(samples, step, radius, misses))
    dataset = as_dataset(examples)
    if isinstance(generator, str):
        maker = open_generator(generator, refine, device=device)
    else:
        maker = refine_generator(generator, refine)
    _check_items(maker, dataset)
    fields = tuple(name for name, _ in dataset.examples[0].fields)
    options: dict[str, Any] = {"fields": fields, "shape": dataset.shape, "device": device}
    pool, members, live = open_pool(targets, dataset.name, 1, **options)
    with _opened(members, live, dataset, options) as (opened, failures):
        search = RobustnessSearch(
            dataset, maker, opened, settings, Selection(limit, per_class, all_right), seed
        )
        words = ("robustness", pool, Path(dataset.name).name)
        facts = RobustnessFacts(
            pool=pool,
            data=dataset.name,
            split=dataset.split,
            generator=maker.name,
            seed=seed,
            settings=asdict(settings) | asdict(search.selection) | {"refine": refine},
            locked=locked_fields(dataset),
        )

        def measure(own_folder: Path) -> RobustnessStudy:
            cases, left_out = search.run(own_folder / CASES_FILE, listener(progress))
            failed = failures | _never_answered(cases, opened)
            accuracy, scored = measure_accuracy(dataset, opened, search.indices, seed)
            results = RobustnessResults(tuple(opened), tuple(cases), accuracy, scored, left_out)
            return Study("robustness", chosen, facts, results, failed)

        chosen = name or default_name(words, search.about)
        return carry_out("robustness", chosen, Path(folder), measure, facts=None if new else facts)


@dataclass(frozen=True)
class RobustnessSearch:
    """What decides the cases of a study, and the loop over them."""

    dataset: Dataset
    generator: Any
    targets: Mapping[str, Any]
    settings: CloudSettings
    selection: Selection
    seed: int

    @cached_property
    def indices(self) -> dict[str, Mapping[str, int]]:
        """The index of every label of the data in the labels of each target."""
        labels = self.dataset.labels
        return {n: match_labels(labels, tuple(t.labels)) for n, t in self.targets.items()}

    @property
    def about(self) -> dict[str, Any]:
        """Everything that decides the rows of a case; the limit does not."""
        return {
            "data": self.dataset.fingerprint,
            "generator": self.generator.fingerprint,
            "targets": {name: target.fingerprint for name, target in self.targets.items()},
            "settings": asdict(self.settings),
            "choice": [self.selection.per_class, self.selection.all_right],
            "seed": self.seed,
        }

    def run(self, path: Path, report: Report) -> tuple[list[CaseRow], dict[str, int]]:
        """Measure the cases that are not in the journal yet; return all, and what was left out."""
        _ = self.indices  # labels that do not match are an error before anything is searched
        journal = CaseJournal(path, self.about)
        left_out: Counter[str] = Counter()
        rows: list[CaseRow] = []
        about = (self.generator, self.targets, self.settings, self.seed)
        for case, item, label in self._cases(left_out):
            if case not in journal.rows:
                journal.add(measure_case(case, item, label, *about))
            rows.append(journal.rows[case])
            last = rows[-1].decoded
            planned = plural(min(self.selection.limit, len(self.dataset)), "cases")
            report(f"{len(rows)}/{planned}, {plural(last, 'samples')} for the last")
        if not rows:
            reasons = "; ".join(f"{count}: {reason}" for reason, count in left_out.items())
            raise UsageError(f"No example of {self.dataset.name!r} can be a case: {reasons}.")
        return rows, dict(left_out)

    def _cases(self, left_out: Counter[str]) -> Iterator[tuple[str, Any, str | None]]:
        """Yield the id, item and label of every case; count what is passed over, by reason."""
        selection, dataset = self.selection, self.dataset
        if (selection.all_right or selection.per_class) and not dataset.labels:
            raise UsageError(
                "--all-right and --per-class need labels. Name the label column with "
                "--label, or leave them out."
            )
        taken = dataset.take(len(dataset), self.seed)
        kind = kind_named(dataset.kind)
        classes: Counter[str | None] = Counter()
        for case, example in zip(case_ids(taken.examples), taken.examples):
            if classes.total() == selection.limit:
                return
            item = kind.item(dict(example.fields), example.locked)
            reason = unfit(self.generator, open_part(item))
            if reason is None and classes[example.label] == selection.per_class:
                reason = FULL
            if reason is None and selection.all_right and not self._is_right(example.label, item):
                reason = WRONG
            if reason is None:
                classes[example.label] += 1
                yield case, item, example.label
            else:
                left_out[reason] += 1

    def _is_right(self, label: str | None, item: Any) -> bool:
        """Tell whether every target predicts the label of an item."""
        return label is not None and all(
            Predictor(target).one_by_one([item]) == [self.indices[name][label]]
            for name, target in self.targets.items()
        )


@contextmanager
def _opened(
    members: Sequence[Member], live: Mapping[str, Any], dataset: Dataset, options: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Open the targets of a pool, and close them in the end; say why one cannot be opened."""
    opened: dict[str, Any] = {}
    failures: dict[str, str] = {}
    try:
        for member in members:
            try:
                own = live.get(member.spec)
                target = as_target(member.spec, **options) if own is None else own
                opened[member.name] = target
                check_reads(target, dataset)
            except Exception as error:
                failures[member.name] = message_of(error)
        if len(failures) == len(members):
            first = next(iter(failures.values()))
            raise UsageError(f"No target could be opened. The first: {first}")
        yield {name: t for name, t in opened.items() if name not in failures}, failures
    finally:
        for member in members:
            target = opened.get(member.name)
            if target is not None and member.spec not in live and hasattr(target, "close"):
                target.close()


def _never_answered(cases: Sequence[CaseRow], targets: Iterable[str]) -> dict[str, str]:
    """Tell why targets that failed on every case did; if all of them did, that is an error."""
    reasons = {
        name: cases[0].rows[name].reason
        for name in targets
        if all(not case.rows[name].predicted for case in cases)
    }
    if cases and len(reasons) == len(cases[0].rows):
        first = next(iter(reasons.values()))
        raise UsageError(f"All targets failed on all cases, so nothing was measured: {first}")
    return {name: f"It failed on every case. The first: {why}" for name, why in reasons.items()}


def measure_accuracy(
    dataset: Dataset,
    targets: Mapping[str, Any],
    indices: Mapping[str, Mapping[str, int]],
    seed: int,
) -> tuple[dict[str, float], int]:
    """Return the accuracy of every target on the first labelled examples; {} without labels.

    `indices` map the labels of the data to those of each target. An example on which a target fails
    is one that it does not get right.
    """
    if not dataset.labels:
        return {}, 0
    taken = dataset.take(min(MAX_SCORED, len(dataset)), seed)
    known = [example for example in taken if example.label is not None]
    kind = kind_named(dataset.kind)
    items = [kind.item(dict(example.fields), example.locked) for example in known]
    accuracy = {}
    for name, target in targets.items():
        right = [indices[name][str(example.label)] for example in known]
        predicted = Predictor(target).one_by_one(items)
        hits = [one == other for one, other in zip(predicted, right, strict=True)]
        accuracy[name] = float(np.mean(hits)) if hits else 0.0
    return accuracy, len(known)


def _checked(settings: CloudSettings) -> CloudSettings:
    if settings.samples < 1 or settings.misses < 1:
        raise UsageError(
            f"Got {settings.samples} samples and {settings.misses} misses; expected 1 or more."
        )
    if not 0 < settings.step <= settings.radius < float("inf"):
        raise UsageError(
            f"Got a step of {settings.step:g} and a radius of {settings.radius:g}; "
            "expected a step above 0 and a finite radius that is at least as large."
        )
    return settings


def _check_items(generator: Any, dataset: Dataset) -> None:
    """Refuse items that the generator cannot read; warn where it doubts the first of them."""
    if generator.item_kind != dataset.kind:
        raise UsageError(
            f"The data {dataset.name!r} contains {dataset.kind}s, but the generator "
            f"{generator.name!r} makes {generator.item_kind}s. Choose another generator "
            "(brittle list generators)."
        )
    kind = kind_named(dataset.kind)
    items = [open_part(kind.item(dict(e.fields), e.locked)) for e in dataset.examples[:DOUBTED]]
    check = getattr(generator, "check_item", None)
    if check is not None and items:
        check(items[0])
    doubt = getattr(generator, "doubt", None)
    reason = doubt(items) if doubt is not None and items else None
    if reason:
        log.warning("%s", reason)
