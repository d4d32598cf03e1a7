"""Mining as tasks: the replacements are listed once, then every member is measured by itself.

What a member has measured is a file of its own, named by the member's fingerprint and the data's.
It is written every few seconds, so that a task that was stopped goes on from there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from brittle import files
from brittle.formatting import plural
from brittle.opening import as_target
from brittle.schema import Count, reader
from brittle.studies.pool_tasks import ZOO, is_portable, train_name, train_tasks
from brittle.studies.rules.measuring import Measured, measure
from brittle.studies.rules.mining import (
    Effects,
    Material,
    Split,
    load_material,
    mean_by_rule,
    sample_splits,
)
from brittle.studies.rules.replacements import (
    labelled_texts,
    load_replacements,
    save_replacements,
)
from brittle.targets.fingerprints.hashing import hash_parts
from brittle.training.splits import TrainingSplits, load_splits
from brittle.unpacking import DAMAGED_ARCHIVE
from brittle.workflow.tasks import Report, Task, TaskContext

log = logging.getLogger(__name__)
SECONDS_BETWEEN_SAVES = 10.0
LIST = "list replacements"


@dataclass(frozen=True)
class MemberName:
    """A member of an ensemble as a task knows it."""

    spec: str
    name: str
    fingerprint: str


@dataclass(frozen=True)
class MiningData:
    """The data that rules are mined from; `labels` are in the order of the members."""

    data: str
    limit: int | None = None
    seed: int = 0
    text: tuple[str, ...] | None = None
    label: str | None = None
    labels: tuple[str, ...] = ()

    def splits(self) -> TrainingSplits:
        return load_splits(self.data, text=self.text, label=self.label)


def mining_tasks(
    members: Sequence[MemberName], data: MiningData, device: str = "auto"
) -> list[Task]:
    """Return the tasks that mine from some data: its replacements, then every member.

    A member of the zoo is trained before, or sent to where it is mined.
    """
    training = train_tasks([m.spec for m in members if m.spec.startswith(ZOO)])
    trained = {task.name for task in training}
    splits = data.splits()
    parts = sample_splits(splits, data.limit, data.seed)
    # The content of the data decides, and not only its name.
    arguments = {**asdict(data), "content": [part.fingerprint for part in parts]}
    is_file = files.is_path(data.data)
    here = stays_here if is_file else None
    tasks = [Task(LIST, list_all, arguments, leaves=listed_files, here=here), *training]
    for member in members:
        own = {"spec": member.spec, "fingerprint": member.fingerprint, "device": device}
        mine = {**own, **arguments}
        name = f"mine {member.spec}"
        needs = (LIST, *({train_name(member.spec)} & trained))
        stays = stays_here if is_file or not is_portable(member.spec) else None
        tasks.append(Task(name, mine_member, mine, needs, measured_files, here=stays))
    return tasks


def stays_here(context: TaskContext, **arguments: Any) -> bool:
    """Tell that a task stays: it needs data or a member that only this machine has."""
    return True


def listed_files(folder: Path, result: Mapping[str, Any]) -> list[Path]:
    """Return the files that the listing leaves."""
    return [folder / result["train"], folder / result["held_out"]]


def measured_files(folder: Path, result: Mapping[str, Any]) -> list[Path]:
    """Return the file that the measurement of a member leaves."""
    return [folder / result["file"]]


def list_all(context: TaskContext, *, content: Sequence[str], **data: Any) -> dict[str, Any]:
    """List the replacements of both splits, and leave them as two files."""
    source = MiningData(**data)
    material = load_material(source.splits(), source.labels, source.limit, source.seed)
    result: dict[str, Any] = {}
    for name, split in (("train", material.train), ("held_out", material.held_out)):
        key = hash_parts(split.fingerprint, *source.labels)[:16]
        result[name] = f"replacements-{key}.npz"
        save_replacements(split.replacements, context.folder / result[name])
    replacements = plural(len(material.train.replacements), "replacements")
    texts = plural(len(material.train.texts), "texts")
    return result | {"message": f"{replacements}, {texts}"}


def load_listed(folder: Path, listed: Mapping[str, Any], source: MiningData) -> Material:
    """Load the material whose replacements were listed before."""
    splits = source.splits()
    parts = []
    for name, part in zip(("train", "held_out"), sample_splits(splits, source.limit, source.seed)):
        texts = labelled_texts(part, source.labels)
        replacements = load_replacements(folder / listed[name])
        parts.append(Split(part.split, part.fingerprint, texts, replacements))
    return Material(splits.name, tuple(source.labels), *parts)


def mine_member(
    context: TaskContext,
    *,
    spec: str,
    fingerprint: str,
    device: str,
    content: Sequence[str],
    **data: Any,
) -> dict[str, Any]:
    """Measure one member, from where it was stopped; leave its effects as a file."""
    material = load_listed(context.folder, context.needs[LIST], MiningData(**data))
    splits = (material.train, material.held_out)
    name = hash_parts(fingerprint, *content, *material.labels)[:16]
    file = context.folder / f"effects-{name}.npz"
    kept = _Kept.load(file, splits)
    if kept.done != [len(split.texts) for split in splits]:
        target: Any = as_target(spec, device=device)
        try:
            for number, split in enumerate(splits):
                kept.measure(target, number, split, file, context.report)
        finally:
            if hasattr(target, "close"):
                target.close()
    return {"file": file.name, "message": f"{plural(kept.computed, 'texts')} computed"}


def load_effects(
    folder: Path, result: Mapping[str, Any], member: MemberName, material: Material
) -> Effects:
    """Load what a member has measured, by the result of its task."""
    kept = _Kept.load(folder / result["file"], (material.train, material.held_out))
    salience = mean_by_rule(material.train.replacements, kept.effect[0])
    return Effects(member.name, member.fingerprint, salience, kept.effect[1], kept.computed)


@dataclass
class _Kept:
    """The effects measured so far in each split, how many of its texts are done, and the cost."""

    effect: list[Any]
    done: list[int]
    computed: int = 0
    saved: float = 0.0

    @staticmethod
    def load(file: Path, splits: Sequence[Split]) -> _Kept:
        if not file.exists():
            return _Kept([np.zeros(len(split.replacements)) for split in splits], [0, 0])
        try:
            with file.open("rb") as opened, np.load(opened) as arrays:
                effect = [np.array(arrays[name], np.float64) for name in ("train", "held_out")]
                done = reader(tuple[Count, Count])(arrays["done"].tolist())
                computed = int(arrays["computed"])
            for values, count, split in zip(effect, done, splits):
                if values.shape != (len(split.replacements),) or count > len(split.texts):
                    raise ValueError(f"effects of shape {values.shape}, {plural(count, 'texts')}")
            return _Kept(effect, list(done), computed)
        except DAMAGED_ARCHIVE as error:
            log.warning("%s cannot be read (%s); what it had is measured anew.", file, error)
            return _Kept([np.zeros(len(split.replacements)) for split in splits], [0, 0])

    def save(self, file: Path) -> None:
        with files.replacing(file, private=True) as new, new.open("wb") as out:
            train, held_out = self.effect
            np.savez(out, train=train, held_out=held_out, done=self.done, computed=self.computed)
        self.saved = time.monotonic()

    def measure(self, target: Any, number: int, split: Split, file: Path, report: Report) -> None:
        """Measure what is left of a split; save now and then, and at its end."""
        self.saved = time.monotonic()
        for part in measure(target, split.texts, split.replacements, self.done[number]):
            self._add(number, part)
            if time.monotonic() - self.saved > SECONDS_BETWEEN_SAVES:
                self.save(file)
                report(
                    f"{self.done[number]:,} of {plural(len(split.texts), 'texts')} ({split.name})"
                )
        self.done[number] = len(split.texts)
        self.save(file)

    def _add(self, number: int, part: Measured) -> None:
        self.effect[number][part.start : part.start + len(part.effect)] = part.effect
        self.done[number] = part.texts
        self.computed += part.computed
