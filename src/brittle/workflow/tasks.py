"""Work in steps: each is done once, its result kept as JSON, and the rest goes on after any end.

A step is kept under a key over its function, what it is given, and the results it needs: with other
settings or other data it is another step. Steps that need nothing of each other run side by side,
each in a process of its own, which ends with its parent.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brittle.errors import unknown

Say = Callable[[str], None]


@dataclass(frozen=True)
class Work:
    """What a step finds when it is done: where to write, what it needs, and who hears of it.

    `label` is a name for its files that no step of other settings has.
    """

    place: Path
    label: str
    needs: Mapping[str, Any]
    say: Say


@dataclass(frozen=True)
class Step:
    """One thing to do: `does` is a function of a module, called with the work and what is `given`.

    It gives a result that JSON can hold. `stands` says of a kept result whether the files it speaks
    of are still there.
    """

    name: str
    does: Callable[..., Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    stands: Callable[[Path, Any], bool] | None = None

    def key(self, results: Mapping[str, Any]) -> str:
        """Hash what decides the result."""
        needed = {name: results[name] for name in self.needs}
        told = [f"{self.does.__module__}:{self.does.__qualname__}", dict(self.given), needed]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]

    def file(self, place: Path) -> Path:
        """Give where the result is kept."""
        return place / "steps" / f"{slug(self.name)}.json"


def slug(name: str) -> str:
    """Make a file's name of a step's.

    >>> slug("train LSTM, 64 units")
    'train-LSTM-64-units'
    """
    return re.sub(r"[^\w.+]+", "-", name).strip("-")


def wanted(steps: Sequence[Step], only: str | None) -> list[Step]:
    """Give all steps, or one of them with those that it needs, in order."""
    if only is None:
        return list(steps)
    by_name = {step.name: step for step in steps}
    if only not in by_name:
        raise unknown("step", only, by_name)
    needed = {only}
    for step in reversed(steps):
        if step.name in needed:
            needed |= set(step.needs)
    return [step for step in steps if step.name in needed]


def kept(step: Step, place: Path, results: Mapping[str, Any]) -> Any | None:
    """Read a step's result, or None where it is not there, of other settings, or not whole."""
    try:
        told = json.loads(step.file(place).read_text("utf-8"))
        result = told["result"]
        if told["key"] != step.key(results):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return result if step.stands is None or step.stands(place, result) else None


def do(step: Step, place: Path, needs: Mapping[str, Any], say: Say) -> Any:
    """Do a step and keep its result; a file is whole or not there."""
    key = step.key(needs)
    started = time.perf_counter()
    result = step.does(Work(place, f"{slug(step.name)}-{key[:6]}", needs, say), **step.given)
    seconds = round(time.perf_counter() - started, 1)
    told = {"step": step.name, "key": key, "seconds": seconds, "result": result}
    file = step.file(place)
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")
    os.replace(fresh, file)
    # As it will be read again: JSON has neither tuples nor keys that are no strings.
    return json.loads(json.dumps(result))


@dataclass
class Course:
    """How far the steps are: what is done, what is left, and what can begin now."""

    steps: Sequence[Step]
    place: Path
    results: dict[str, Any] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)

    def ready(self) -> Iterator[Step]:
        """Give the steps that can begin, in order; those done before are noted on the way."""
        for step in self.steps:
            if step.name in self.begun or not set(step.needs) <= set(self.results):
                continue
            self.begun.add(step.name)
            result = kept(step, self.place, self.results)
            if result is None:
                yield step
            else:
                self.results[step.name] = result

    def needed(self, step: Step) -> dict[str, Any]:
        return {name: self.results[name] for name in step.needs}

    @property
    def is_over(self) -> bool:
        return len(self.results) == len(self.steps)
