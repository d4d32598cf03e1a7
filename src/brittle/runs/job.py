"""What a run does: target, examples, attack and goal, checked and made ready."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from brittle import attacks
from brittle.asks import Attack, Case
from brittle.data.catalogue import CATALOGUE
from brittle.data.dataset import Dataset
from brittle.errors import UsageError, unknown
from brittle.goals import Confident, Goal, Targeted, Untargeted
from brittle.targets.labels import find_label, match_labels
from brittle.targets.protocols import Classifies
from brittle.text import Text

FIXED = (
    *("target", "fingerprint", "attack", "settings", "goal", "data", "split", "seed", "content"),
    *("label_map", "files"),
)
"""What cannot change when a run is resumed; limit and budget may be extended."""


@dataclass(frozen=True)
class Job:
    """What is run, checked and made ready."""

    target: Classifies
    dataset: Dataset
    attack: Attack
    attack_name: str
    settings: Mapping[str, Any]
    goal: Goal
    toward: str | None
    confidence: float | None
    seed: int
    index: Mapping[str, int]

    @staticmethod
    def of(
        target: Classifies,
        dataset: Dataset,
        given: str | Attack,
        settings: Mapping[str, Any],
        toward: str | None,
        confidence: float | None,
        seed: int,
        labels: Any,
    ) -> Job:
        index = match_labels(dataset.labels, target.labels, labels)
        names = {label: target.labels[i] for label, i in index.items()}
        made, name, resolved = resolve_attack(given, settings, target.labels, dataset.name, names)
        check_asks(made, name, target)
        if toward is not None:
            position = find_label(toward, target.labels)
            if position is None:
                raise unknown("label", toward, list(target.labels))
            toward = target.labels[position]
        goal = goal_of(toward, confidence)
        return Job(target, dataset, made, name, resolved, goal, toward, confidence, seed, index)

    @property
    def label_map(self) -> dict[str, str]:
        """Say which label of the target each label of the data is."""
        return {name: self.target.labels[i] for name, i in self.index.items()}

    @property
    def goal_name(self) -> str:
        """Say the goal in words."""
        name = "untargeted" if self.toward is None else f"toward {self.toward}"
        return name if self.confidence is None else f"{name} with confidence {self.confidence:g}"

    def fixed(self) -> dict[str, Any]:
        """Give what decides the results, apart from limit and budget."""
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
            "files": file_digests(self.settings),
        }

    def default_name(self) -> str:
        """Name the run after what it is; other settings give another name."""
        fixed = self.fixed()
        digest = hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:6]
        words = f"{fixed['target']}-{fixed['attack']}-{Path(fixed['data']).name}"
        return f"{re.sub(r'[^A-Za-z0-9.@]+', '-', words).strip('-.')[:80]}-{digest}"

    def manifest(self, taken: Dataset, limit: int | None, budget: int | None) -> dict[str, Any]:
        """Write down everything needed to read the rows, and to run this again."""
        known = sum(example.label is not None for example in taken.examples)
        reference = (
            "labels" if known == len(taken.examples) else "mixed" if known else "predictions"
        )
        return self.fixed() | {
            "toward": self.toward,
            "confidence": self.confidence,
            "limit": limit,
            "budget": budget,
            "examples": len(taken.examples),
            "labels": list(self.target.labels),
            "locked": sorted({name for e in taken.examples for name in e.locked}),
            "reference": reference,
            "warnings": [],
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": versions(),
        }

    def cases(self, taken: Dataset, ids: Sequence[str], done: set[str]) -> Iterator[Case[Text]]:
        """Make the cases that are still to be attacked, one at a time."""
        toward = None if self.toward is None else list(self.target.labels).index(self.toward)
        for case, example in zip(ids, taken.examples):
            if case not in done:
                label = None if example.label is None else self.index[example.label]
                text = Text.of(dict(example.fields), example.locked)
                yield Case(case, text, label, toward, read=positions_read(self.target, text))


def resolve_attack(
    given: str | Attack,
    settings: Mapping[str, Any],
    labels: Sequence[str],
    dataset: str,
    label_map: Mapping[str, str] | None = None,
) -> tuple[Attack, str, dict[str, Any]]:
    """Make the attack, its name and all its settings, defaults included."""
    if not isinstance(given, str):
        if settings:
            raise unknown("argument", next(iter(settings)), [])
        name = type(given).__name__.lower()
        return given, name, describe_settings(given)
    given = given if given.startswith("python:") else given.lower()
    known = attacks.settings(attacks.recipe(given))
    resolved = {setting.name: setting.default for setting in known} | dict(settings)
    if resolved.get("learn_from", "") is None and dataset in CATALOGUE:
        resolved["learn_from"] = dataset
    return attacks.build(given, resolved, labels, label_map), given, resolved


def describe_settings(attack: Attack) -> dict[str, str]:
    """Write down the settings of a live attack, without addresses, which no two starts share."""
    if not is_dataclass(attack):
        return {}
    told = {field.name: repr(getattr(attack, field.name)) for field in fields(attack)}
    return {name: re.sub(r" at 0x[0-9a-fA-F]+", "", value) for name, value in told.items()}


def file_digests(settings: Mapping[str, Any]) -> dict[str, str]:
    """Hash the files that settings name: with other candidates it is another run."""
    named = {value for value in settings.values() if isinstance(value, str)}
    files = sorted(value for value in named if Path(value).is_file())
    return {value: hashlib.sha256(Path(value).read_bytes()).hexdigest()[:16] for value in files}


def positions_read(target: Any, text: Text) -> Sequence[int] | None:
    """Give the positions of the words the target reads, or None where it does not say."""
    return target.read([text])[0] if hasattr(target, "read") else None


def check_asks(attack: Attack, name: str, target: Any) -> None:
    """Refuse, before anything is asked, an attack that asks what the target does not offer."""
    offered = {"scores", "tags"} | ({"flips"} if hasattr(target, "flips") else set())
    for ask in attack.asks:
        if ask.question not in offered:
            raise UsageError(
                f"Attack {name!r} asks for {ask.question}, but target {target.name!r} offers only "
                "scores. Use a target with gradients (a network of the zoo, a transformers "
                "classifier), or a black-box attack such as pwws."
            )


def goal_of(toward: str | None, confidence: float | None) -> Goal:
    """Make the goal that the flags mean."""
    goal: Goal = Untargeted() if toward is None else Targeted()
    if confidence is None:
        return goal
    if not 0 < confidence <= 1:
        raise UsageError(f"Got a confidence of {confidence}; expected a number above 0, at most 1.")
    return Confident(goal, confidence)


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("brittle", "numpy", "torch", "transformers", "scikit-learn"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
