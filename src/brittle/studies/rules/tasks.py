"""Mine rules on an ensemble, task by task.

Mining as tasks: the replacements are listed once, then every member is measured by itself.

What a member has measured is a file of its own, named by the member's fingerprint and the data's.
It is written every few seconds, so that a task that was stopped goes on from there.

Mine rules from an ensemble and some data, in one call.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from brittle.candidates.rules import Rules
from brittle.data import Dataset
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.opening import as_target
from brittle.progress import Progress, listener, shows_progress
from brittle.safety import files
from brittle.safety.files import DAMAGED_ARCHIVE, make_private_folder
from brittle.safety.schema import Count, reader
from brittle.studies.pool_tasks import ZOO, is_portable, train_name, train_tasks
from brittle.studies.rules.measuring import (
    MeasuredReplacements,
    labelled_texts,
    load_replacements,
    measure,
    save_replacements,
)
from brittle.studies.rules.mining import (
    Effects,
    Material,
    Split,
    check_method,
    combine,
    load_material,
    mean_by_rule,
    measure_member,
    sample_splits,
)
from brittle.targets.ensemble import check_members
from brittle.targets.fingerprints import hash_parts
from brittle.targets.protocols import declared_by
from brittle.training.splits import TrainingSplits, check_splits, hold_out, load_splits
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Report, Task, TaskContext
from brittle.zoo.names.parsing import parse_members

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
            log.warning("%s cannot be read (%s), so its content is measured again.", file, error)
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

    def _add(self, number: int, part: MeasuredReplacements) -> None:
        self.effect[number][part.start : part.start + len(part.effect)] = part.effect
        self.done[number] = part.texts
        self.computed += part.computed


PREFIX = "ensemble:"


@shows_progress("mining rules")
def mine(
    ensemble: Any,
    data: str | Dataset,
    *,
    method: str = "uawr",
    limit: int | None = None,
    min_support: int = 1,
    seed: int = 0,
    device: str = "auto",
    progress: Progress[str] = True,
) -> Rules:
    """Mine rules in this process.

    `ensemble` is a target with logits, by name or live, or a list of such targets; the method "pmi"
    needs none. `data` is a name, a file, or a loaded data set; a tenth of it is held out. `limit`
    takes a random sample of the train split, given by `seed`.
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
        effects = []
        for n, member in enumerate(members, 1):
            listener(progress)(f"{member.name}, {n} of {plural(len(members), 'members')}")
            effects.append(measure_member(member, material))
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
