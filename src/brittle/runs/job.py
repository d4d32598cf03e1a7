"""What a run does: target, examples, attack and goal, checked and ready to run."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from brittle.answers import SCORES, AnswerKind, find_label
from brittle.asks import Attack, Case, Decode, Encode, Probe, declared, helpers_of
from brittle.attacks import RunContext, default_settings, resolve_attack, wanted_mask
from brittle.candidates.choice import STRICT
from brittle.data.dataset import Dataset
from brittle.engine.broker import Broker
from brittle.engine.desks import Desk
from brittle.engine.engine import Engine
from brittle.errors import UsageError, unknown
from brittle.formatting import percent
from brittle.generators import open_generator
from brittle.goals import Goal, needs_answer, needs_other_class
from brittle.goals.parsing import (
    check_goal,
    check_repeats,
    goal_name,
    make_goal,
    no_classes,
    own_code,
    split_toward,
)
from brittle.kinds import Kind, kind_named
from brittle.metrics.intervals import wilson
from brittle.runs.measuring import Measuring
from brittle.runs.options import Keep, Limits
from brittle.runs.target_words import TargetWords
from brittle.safety.files import named_files, versions
from brittle.targets.capabilities import (
    answers_of,
    check_asks,
    helpers_for,
    make_desks,
    offered,
)
from brittle.targets.fingerprints import code_of, hash_parts
from brittle.targets.labels import match_labels, unknown_labels
from brittle.targets.options import FLOAT32, Labels
from brittle.targets.protocols import OpenTarget, declared_by, positions_read
from brittle.zoo.names.changes import former_name

PACKAGES = ("brittle", "numpy", "torch", "transformers", "scikit-learn", "nlpaug")


@dataclass(frozen=True)
class Job:
    """What is run. `index` maps the labels of the data to indices of the target's labels.

    `only` is the target's label of the examples that `dataset` was reduced to, None if it was not.
    `labels` are the target's, () if it answers texts. `helpers` are those that the attack brings
    and that are asked, by question. `keywords` are those of cases, where the goal draws them;
    `normalised` are the classes of edits that the target undoes; `notes` say where the attack had
    to make do with less. `measuring` is what is measured of texts, and what they must keep.
    """

    target: OpenTarget
    dataset: Dataset
    attack: Attack
    attack_name: str
    settings: Mapping[str, Any]
    goal: Goal
    toward: str | None
    confidence: float | None
    seed: int
    index: Mapping[str, int]
    desks: Mapping[str, Desk]
    only: str | None = None
    labels: Sequence[str] = ()
    helpers: Mapping[str, Any] = field(default_factory=dict)
    keywords: Mapping[str, str] = field(default_factory=dict)
    normalised: Sequence[str] = ()
    notes: Sequence[str] = ()
    measuring: Measuring = field(default_factory=Measuring)

    @property
    def kind(self) -> Kind:
        """The kind of the data's items."""
        return kind_named(self.dataset.kind)

    @staticmethod
    def of(
        target: OpenTarget,
        dataset: Dataset,
        attack: str | Attack,
        settings: Mapping[str, Any],
        *,
        goal: str | Goal | None = None,
        toward: str | None = None,
        confidence: float | None = None,
        seed: int = 0,
        labels: Labels = None,
        only: str | None = None,
        keep: Keep = Keep(),
    ) -> Job:
        """Check everything that can be checked before the first query, and build the job."""
        own: Sequence[str] = tuple(declared_by(target, "labels"))
        answers = answers_of(target)
        # Where the target answers texts, the label of an example is the text that is expected.
        if answers == SCORES and dataset.skips_bad:
            unknown_to_target = unknown_labels(dataset.labels, own, labels)
            dataset = dataset.without(unknown_to_target, "a label that the target does not have")
        index = match_labels(dataset.labels, own, labels) if answers == SCORES else {}
        names = {label: own[i] for label, i in index.items()}
        open_named = partial(open_generator, data=dataset.name)
        target_words = TargetWords(target, dataset)
        silent = declared_by(target, "silent")
        spoken = [label for label in own if label not in silent]  # nobody aims at the others
        goal, toward = _resolve_goal(goal, toward, only, confidence, answers, spoken)
        check_repeats(goal, declared_by(target, "repeats"))
        offers = offered(target, needs_other_class(goal))
        context = RunContext(own, names, dataset.open_columns, open_named, target_words, offers)
        search, name, resolved = resolve_attack(attack, settings, dataset.name, context)
        check_kinds(search, name, target, dataset)
        for reader in (target, search):
            check_items(reader, dataset)
        helpers = helpers_of(search)
        is_strict = resolved.get("candidates") == STRICT
        measuring = Measuring.of(dataset.kind, keep, is_strict)
        desks = make_desks(target, (*helpers, *measuring.helpers))
        check_asks(search, name, target, desks)
        check_helpers(helpers, name)
        check_goal(goal, answers, target.name, toward, own)
        if only is not None:
            only, dataset = _take_class(only, dataset, index, own, toward)
        brought = _brought_helpers(search, target)
        notes = [target_words.note] if target_words.note else []
        notes += notes_on_holes(search, target) + notes_on_helpers(brought, target)
        notes += notes_on_precision(target) + notes_on_repeats(target)
        return Job(
            target=target,
            dataset=dataset,
            attack=search,
            attack_name=name,
            settings=resolved,
            goal=goal,
            toward=toward,
            confidence=confidence,
            seed=seed,
            index=index,
            desks=desks,
            only=only,
            labels=own,
            helpers=brought,
            notes=notes,
            measuring=measuring,
        )

    @property
    def all_helpers(self) -> tuple[Any, ...]:
        """The helpers that the attack brings, and those that measure."""
        return (*helpers_of(self.attack), *self.measuring.helpers)

    @property
    def label_map(self) -> dict[str, str]:
        """Return the target's label for every label of the data."""
        return {name: self.labels[i] for name, i in self.index.items()}

    @property
    def precision(self) -> str:
        """What the target scores candidates in."""
        return str(declared_by(self.target, "precision"))

    @property
    def goal_name(self) -> str:
        return goal_name(self.goal, self.toward)

    @cached_property
    def fixed(self) -> dict[str, Any]:
        """What decides the results, apart from limit and budget; computed once: files are hashed.

        A target that is known only by its answers is asked here for the first time.
        """
        return {
            "target": self.target.name,
            "fingerprint": self.target.fingerprint,
            "attack": self.attack_name,
            "settings": dict(self.settings),
            "goal": self.goal_name,
            "data": self.dataset.name,
            "split": self.dataset.split,
            "seed": self.seed,
            "content": self.dataset.fingerprint,
            "label_map": self.label_map,
            "files": named_files(self.settings),
            # Only where they are set, so that they change no other run's name.
            **({} if self.only is None else {"only": self.only}),
            **({} if self.dataset.kind == "text" else {"kind": self.dataset.kind}),
            **({} if not self.helpers else {"helpers": self._helper_fingerprints}),
            **({} if self._goal_code is None else {"goal_code": self._goal_code}),
            **({} if not self.measuring.constraints else {"keep": self.measuring.kept}),
            **({} if self.precision == FLOAT32 else {"precision": self.precision}),
        }

    @property
    def _goal_code(self) -> str | None:
        """Hash the code of the functions that the goal calls; None if it is one of our own."""
        codes = [code_of(part) for part in own_code(self.goal)]
        return hash_parts(*codes) if codes else None

    @property
    def _columns(self) -> dict[str, Any] | None:
        """Return the columns of the table that the examples were read from, if they were."""
        columns = self.dataset.table_columns
        return None if columns is None else {"text": list(columns.text), "label": columns.label}

    @property
    def _helper_fingerprints(self) -> dict[str, str]:
        return {q: f"{helper.name} {helper.fingerprint}" for q, helper in self.helpers.items()}

    def default_name(self) -> str:
        """Build the run's name from what is run; other settings give another name.

        Settings at their defaults do not count, so that a new setting changes no name.
        """
        name = self.attack_name
        unnamed = default_settings(name).items()
        changed = {key: v for key, v in self.settings.items() if (key, v) not in unnamed}
        target = former_name(self.target.name)  # a run keeps its name when settings are renamed
        fixed = self.fixed | {"target": target, "settings": changed}
        digest = hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:6]
        words = f"{target}-{self.attack_name}-{Path(self.dataset.name).name}"
        return f"{re.sub(r'[^A-Za-z0-9.@]+', '-', words).strip('-.')[:80]}-{digest}"

    def manifest(self, taken: Dataset, limits: Limits) -> dict[str, Any]:
        """Return everything that is needed to understand the rows and to run this again."""
        labelled = sum(example.label is not None for example in taken.examples)
        reference = "mixed" if labelled else "predictions"
        return self.fixed | {
            "only": self.only,
            "helpers": self._helper_fingerprints or None,
            "goal_code": self._goal_code,
            "keep": self.measuring.kept or None,
            "precision": None if self.precision == FLOAT32 else self.precision,
            "measures": self.measuring.sources,
            "unmeasured": list(self.measuring.missing),
            "toward": self.toward,
            "confidence": self.confidence,
            "limit": limits.limit,
            "budget": limits.budget,
            "examples": len(taken.examples),
            "labels": list(self.labels),
            "answers": self.goal.answers.noun,
            "cost_name": declared(self.attack, "cost_name"),
            "kind": self.dataset.kind,
            "shape": self.dataset.shape,
            "columns": self._columns,
            "left_out": dict(self.dataset.left_out) or None,
            "attacks": declared(self.attack, "attack_names"),
            "locked": sorted({name for e in taken.examples for name in e.locked}),
            "reference": "labels" if labelled == len(taken.examples) else reference,
            "warnings": [],
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": versions(*PACKAGES),
        }

    def cases(self, taken: Dataset, ids: Sequence[str], done: set[str]) -> Iterator[Case[Any]]:
        """Yield the cases that are still to be attacked, one at a time."""
        toward = None if self.toward is None else list(self.labels).index(self.toward)
        for case, example in zip(ids, taken.examples):
            if case not in done:
                is_class = self.goal.answers == SCORES and example.label is not None
                item = self.kind.item(dict(example.fields), example.locked)
                yield Case(
                    case,
                    item,
                    label=self.index[str(example.label)] if is_class else None,
                    toward=toward,
                    read_positions=positions_read(self.target, item),
                    reference=None if is_class else example.label,
                    keyword=self.keywords.get(case),
                    normalised=self.normalised,
                )


def build_engine(job: Job, broker: Broker, budget: int | None = None) -> Engine:
    """Build the engine that attacks the cases of a job."""
    settings: dict[str, Any] = {"name": job.attack_name, "budget": budget, "seed": job.seed}
    goal = needs_answer(job.goal, job.labels, declared_by(job.target, "silent"))
    settings |= {"longest": job.kind.largest, "constraints": job.measuring.constraints}
    return Engine(job.attack, goal, broker, **settings)


def check_helpers(helpers: Sequence[Any], attack: str) -> None:
    """Refuse a helper that does not say who it is: a run could not be told from another."""
    for helper in helpers:
        missing = [name for name in ("name", "fingerprint") if not hasattr(helper, name)]
        if missing:
            raise UsageError(
                f"Attack {attack!r} has the helper {helper!r} without "
                f"{' and '.join(missing)}. Expected both, as strings: runs store them."
            )


def notes_on_holes(attack: Attack, target: OpenTarget) -> list[str]:
    """Tell if holes should be zero vectors to an attack that masks words, and are not."""
    masks = wanted_mask(attack) is not None and Probe in attack.asks
    if not masks or declared_by(target, "reads_zero_vectors"):
        return []
    return [
        f"An erased word is no zero vector here: {target.name!r} reads the text of --mask there, "
        "or else its mask token, its unknown word, or nothing."
    ]


def notes_on_helpers(helpers: Mapping[str, Any], target: OpenTarget) -> list[str]:
    """Tell which questions a helper answers in place of the target, if targets answer them."""
    return [
        f"The {question} come from the helper {helper.name}, because {target.name!r} has none."
        for question, helper in helpers.items()
        if question not in (Encode.question, Decode.question)
    ]


def notes_on_precision(target: OpenTarget) -> list[str]:
    """Tell what a lower precision decides, and what it does not."""
    precision = declared_by(target, "precision")
    if precision == FLOAT32:
        return []
    return [
        f"Candidates are scored in {precision}. Originals, winners and all reported "
        "confidences are in float32, and no case counts as proved."
    ]


def notes_on_repeats(target: OpenTarget) -> list[str]:
    """Tell how sure the label of most answers is, where a target is asked several times."""
    repeats = declared_by(target, "repeats")
    if repeats == 1:
        return []
    counts = (repeats, repeats // 2 + 1)
    shares = [
        f"{k} of {repeats} alike are a share of {percent(wilson(k, repeats)[0], 0)} to "
        f"{percent(wilson(k, repeats)[1], 0)}"
        for k in dict.fromkeys(counts)
    ]
    return [
        f"Each text is asked {repeats} times and most answers decide, because answers vary "
        f"(95% interval: {'; '.join(shares)}). A tie is neither a pass nor a break."
    ]


def check_kinds(attack: Attack, name: str, target: OpenTarget, dataset: Dataset) -> None:
    """Refuse data of a kind that the target does not read, or the attack does not edit."""
    check_reads(target, dataset)
    _check_kind(f"attack {name!r} edits", attack, dataset)


def check_reads(target: OpenTarget, dataset: Dataset) -> None:
    """Refuse data of a kind that the target does not read."""
    _check_kind(f"target {target.name!r} reads", target, dataset)


def _check_kind(what: str, obj: object, dataset: Dataset) -> None:
    if item_kind_of(obj) != dataset.kind:
        raise UsageError(
            f"The data {dataset.name!r} contains {dataset.kind}s, but {what} "
            f"{item_kind_of(obj)}s. Choose data, target and attack of one kind (brittle "
            "list attacks)."
        )


def check_items(reader: OpenTarget | Attack, dataset: Dataset) -> None:
    """Have a target or an attack that can do so refuse data, by the first example."""
    check = getattr(reader, "check_item", None)
    if check is not None and dataset.examples:
        example = dataset.examples[0]
        check(kind_named(dataset.kind).item(dict(example.fields), example.locked))


def item_kind_of(obj: object) -> str:
    """Return the kind of items that a target reads or an attack edits; texts if it says nothing."""
    return str(getattr(obj, "item_kind", "text"))


def _resolve_goal(
    goal: str | Goal | None,
    toward: str | None,
    only: str | None,
    confidence: float | None,
    answers: AnswerKind,
    labels: Sequence[str],
) -> tuple[Goal, str | None]:
    """Return the goal of a run, and the target's label that is aimed at, if any."""
    goal, toward = split_toward(goal, toward)
    for label, flag in ((toward, "toward"), (only, "only")):
        if label is not None and answers != SCORES:
            raise no_classes(f"--{flag} {label!r}", answers)
    if toward is not None:
        number = find_label(toward, labels)
        if number is None:
            raise unknown("label", toward, list(labels))
        toward = labels[number]
    return make_goal(goal, toward, confidence, answers, labels), toward


def _brought_helpers(search: Attack, target: OpenTarget) -> dict[str, Any]:
    """Return the attack's helpers that answer what it asks, by question."""
    helpers = helpers_of(search)
    asked = {ask.question for ask in search.asks}
    return {
        question: helper
        for question, (helper, _) in helpers_for(target, helpers).items()
        if question in asked and helper in helpers
    }


def _take_class(
    only: str,
    dataset: Dataset,
    index: Mapping[str, int],
    labels: Sequence[str],
    toward: str | None,
) -> tuple[str, Dataset]:
    """Return the target's label that `only` means, and the examples of that class.

    A name of the data's labels goes before one of the target's.
    """
    if not index:
        raise UsageError(
            f"Got --only {only!r}, but the examples have no labels. Name the label column "
            "with --label, or leave out --only."
        )
    name = find_label(only, list(index))
    number = find_label(only, labels) if name is None else list(index.values())[name]
    if number is None:
        raise unknown("label", only, list(dict.fromkeys([*index, *labels])), "(of --only)")
    if labels[number] == toward:
        raise UsageError(
            f"Got --only {only!r} and --toward {toward!r}: these examples already have "
            "that class, so there is nothing to attack. Choose another class."
        )
    indices = array(
        "Q",
        (
            n
            for n, example in enumerate(dataset.examples)
            if example.label is not None and index[example.label] == number
        ),
    )
    if not indices:
        raise UsageError(f"Got --only {only!r}, but no example of the data has this label.")
    return labels[number], dataset.select(indices)
