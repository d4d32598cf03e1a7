"""What a grid is asked for: the cases, the attacks, and the whole request.

The cases of a grid: the first texts, in the seed's order, that every target gets right. The attacks
of a grid: names with settings, for all attacks that have them or for one alone. What a grid is
about, and the name that follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from brittle.answers import plain_label
from brittle.asks import Embed
from brittle.attacks import Setting, changed_settings, recipe, settings
from brittle.data import Dataset
from brittle.errors import BrittleError, UsageError, unknown
from brittle.runs.job import Job
from brittle.studies.grid.study import split_row
from brittle.studies.pools import Member
from brittle.studies.study_files import default_name
from brittle.targets.labels import match_labels
from brittle.values import parse_values, split_settings

TEXTS_PER_CASE, MIN_BLOCK = 4, 64

LabelBlock = Callable[[Dataset, str], Mapping[str, Sequence[int]]]
"""Returns for each target the label index of every text of a named block."""


@dataclass(frozen=True)
class ChosenCases:
    """The texts that are attacked, out of `scored` ones, of which each target has `right` right."""

    dataset: Dataset
    scored: int
    right: Mapping[str, int]


def choose_cases(
    dataset: Dataset,
    label_maps: Mapping[str, Mapping[str, int]],
    label_block: LabelBlock,
    *,
    limit: int,
    seed: int,
    all_right: bool,
) -> ChosenCases:
    """Label texts in blocks until `limit` of them are right on every target, or none is left.

    `label_maps` have, by target, the index of every label of the data. Without `all_right` the
    first `limit` texts are the cases. A target that is missing in an answer no longer counts.
    """
    order = dataset.take(len(dataset), seed).examples
    size = max(TEXTS_PER_CASE * limit, MIN_BLOCK) if all_right else limit
    chosen, scored, right = [], 0, dict.fromkeys(label_maps, 0)
    for name, start in _blocks(len(order), size):
        block = order[start : start + size]
        predicted = label_block(replace(dataset, examples=block), name)
        right = {target: right[target] for target in predicted}
        scored += len(block)
        for n, example in enumerate(block):
            hits = [t for t in predicted if predicted[t][n] == label_maps[t][str(example.label)]]
            for target in hits:
                right[target] += 1
            if len(hits) == len(predicted) or not all_right:
                chosen.append(example)
        if len(chosen) >= limit or not predicted:
            break
    return ChosenCases(replace(dataset, examples=tuple(chosen[:limit])), scored, right)


def _blocks(count: int, size: int) -> Iterator[tuple[str, int]]:
    for start in range(0, count, size):
        yield f"texts {start + 1} to {min(start + size, count)}", start


def map_labels(labels: Mapping[str, Sequence[str]], dataset: Dataset) -> dict[str, dict[str, int]]:
    """Return, by target, the index of every label of the data; two targets that differ are refused.

    The order of the labels may differ.
    """
    maps = {}
    first = next(iter(labels))
    for target, own in labels.items():
        if _names(own) != _names(labels[first]):
            raise UsageError(
                f"The targets of a grid need the same labels: {first!r} has "
                f"{', '.join(labels[first])}; {target!r} has {', '.join(own)}. Leave one out."
            )
        try:
            maps[target] = match_labels(dataset.labels, own)
        except UsageError as error:
            raise UsageError(
                f"The labels of the data ({', '.join(dataset.labels)}) differ from the "
                f"labels of the target {target!r} ({', '.join(own)}). Give them the same "
                "names in the data."
            ) from error
    return maps


def _names(labels: Sequence[str]) -> set[str]:
    return set(map(plain_label, labels))


@dataclass(frozen=True)
class ChosenAttack:
    """An attack as the user wrote it, `gs-ec:nearest=50`: its row, its name and its settings."""

    row: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def choose_attacks(
    attacks: str | Sequence[str], shared: Mapping[str, Any]
) -> tuple[ChosenAttack, ...]:
    """Parse attacks, separated by commas; each takes those of the `shared` settings that it has.

    A setting of one attack alone stands behind its name, and comes before a shared one. A shared
    setting that no attack has is an error. Settings at their defaults are left out.
    """
    rows = attacks.split(",") if isinstance(attacks, str) else attacks
    _refuse_objects(rows)
    chosen = [_choose(row.strip(), shared) for row in rows if row.strip()]
    if not chosen:
        raise UsageError("Got no attack. Name one or more, separated by commas: pwws,random-swap.")
    names = [attack.row for attack in chosen]
    twice = next((row for n, row in enumerate(names) if row in names[:n]), None)
    if twice is not None:
        raise UsageError(f"Got the attack {twice!r} twice. Name each attack once.")
    _refuse_equal(chosen)
    known = dict.fromkeys(name for attack in chosen for name in _settings_of(attack.name))
    for name in shared:
        if name not in known:
            raise unknown(f"setting of {', '.join(names)}", name, known)
    return tuple(chosen)


def _refuse_equal(attacks: Sequence[ChosenAttack]) -> None:
    """Refuse one attack in two spellings, such as `cosine=0` and `cosine=0.0`."""
    for n, attack in enumerate(attacks):
        for other in attacks[:n]:
            if (attack.name, attack.settings) == (other.name, other.settings):
                raise UsageError(
                    f"Got the attack {other.row!r} twice: {attack.row!r} has the same settings. "
                    "Name each attack once."
                )


def _refuse_objects(rows: Iterable[Any]) -> None:
    """Refuse an attack that is no name: the tasks of a grid are stored, and find it by its name."""
    obj = next((row for row in rows if not isinstance(row, str)), None)
    if obj is None:
        return
    kind = obj if isinstance(obj, type) or hasattr(obj, "__qualname__") else type(obj)
    module = "my_attacks" if kind.__module__ == "__main__" else kind.__module__
    name = f"python:{module}:{kind.__qualname__}"
    raise UsageError(
        f"Got the attack {kind.__name__} as an object. Expected its name, since a study stores it "
        f"and its workers look it up. Put the attack into a module, and write '{name}', with "
        f"settings after the name: '{name}:words=5'."
    )


def _choose(row: str, shared: Mapping[str, Any]) -> ChosenAttack:
    name, parts = split_row(row)
    known = _settings_of(name)
    texts = split_settings(row, parts, f"{name}:{next(iter(known), 'share')}=1")
    texts = {setting.replace("-", "_"): text for setting, text in texts.items()}
    own = parse_values(name, {s.name: s.kind for s in known.values()}, texts)
    common = {setting: value for setting, value in shared.items() if setting in known}
    return ChosenAttack(row, name, changed_settings(name, common | own))


def _settings_of(name: str) -> dict[str, Setting]:
    return {setting.name: setting for setting in settings(recipe(name))}


def embedding_first(
    attacks: Sequence[ChosenAttack], target: Any, dataset: Dataset
) -> list[ChosenAttack]:
    """Sort attacks: those that embed texts come first, since such a pass gives the scores too.

    In the other order a text that was scored would be computed again to be embedded.
    """
    return sorted(attacks, key=lambda attack: not _embeds(attack, target, dataset))


def _embeds(attack: ChosenAttack, target: Any, dataset: Dataset) -> bool:
    try:
        return Embed in Job.of(target, dataset, attack.name, attack.settings).attack.asks
    except BrittleError:  # the run itself says what is wrong with it
        return False


@dataclass(frozen=True)
class GridRequest:
    """What a grid is about; `dataset` holds the texts that cases are chosen from."""

    name: str
    pool: str
    attacks: tuple[ChosenAttack, ...]
    targets: tuple[Member, ...]
    dataset: Dataset
    seed: int
    limit: int
    all_right: bool
    budget: int | None = None
    live: Mapping[str, Any] = field(default_factory=dict)


def name_of(request: GridRequest) -> str:
    """Build the study's name from what it is about; the targets are no part of it."""
    rows = [[attack.row, dict(attack.settings)] for attack in request.attacks]
    settings = [request.seed, request.limit, request.all_right, request.budget]
    words = ("grid", request.pool, Path(request.dataset.name).name)
    return default_name(words, [rows, settings, request.dataset.fingerprint])
