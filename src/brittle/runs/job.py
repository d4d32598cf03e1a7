"""What a run does: target, examples, attack and goal, checked and made ready."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brittle.asks import Attack, Case
from brittle.attacks import resolve_attack
from brittle.data.dataset import Dataset
from brittle.engine.desks import Desk
from brittle.errors import UsageError, unknown
from brittle.files import named_files, versions
from brittle.goals import Confident, Goal, Targeted, Untargeted
from brittle.targets.desks import check_asks, make_desks
from brittle.targets.labels import find_label, match_labels
from brittle.targets.protocols import Classifies, positions_read
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
    desks: Mapping[str, Desk]

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
        desks = make_desks(target)
        check_asks(made, name, target, desks)
        if toward is not None:
            position = find_label(toward, target.labels)
            if position is None:
                raise unknown("label", toward, list(target.labels))
            toward = target.labels[position]
        goal = goal_of(toward, confidence)
        return Job(
            target, dataset, made, name, resolved, goal, toward, confidence, seed, index, desks
        )

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
            "files": named_files(self.settings),
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
            "versions": versions("brittle", "numpy", "torch", "transformers", "scikit-learn"),
        }

    def cases(self, taken: Dataset, ids: Sequence[str], done: set[str]) -> Iterator[Case[Text]]:
        """Make the cases that are still to be attacked, one at a time."""
        toward = None if self.toward is None else list(self.target.labels).index(self.toward)
        for case, example in zip(ids, taken.examples):
            if case not in done:
                label = None if example.label is None else self.index[example.label]
                text = Text.of(dict(example.fields), example.locked)
                yield Case(
                    case, text, label, toward, read_positions=positions_read(self.target, text)
                )


def goal_of(toward: str | None, confidence: float | None) -> Goal:
    """Make the goal that the flags mean."""
    goal: Goal = Untargeted() if toward is None else Targeted()
    if confidence is None:
        return goal
    if not 0 < confidence <= 1:
        raise UsageError(f"Got a confidence of {confidence}; expected a number above 0, at most 1.")
    return Confident(goal, confidence)
