"""The attacks of a grid: names with settings, for all attacks that have them or for one alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.asks import Embed
from brittle.attacks import Setting, recipe, settings
from brittle.attacks.stored_settings import changed_settings
from brittle.data import Dataset
from brittle.errors import BrittleError, UsageError, unknown
from brittle.runs.job import Job
from brittle.studies.grid.row_names import split_row
from brittle.values import parse_values, split_settings


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
    chosen = [_choose(row.strip(), shared) for row in rows if row.strip()]
    if not chosen:
        raise UsageError("Got no attack. Name one or more, separated by commas: pwws,random-swap.")
    names = [attack.row for attack in chosen]
    twice = next((row for n, row in enumerate(names) if row in names[:n]), None)
    if twice is not None:
        raise UsageError(f"The attack {twice!r} is there twice. Name each once.")
    known = dict.fromkeys(name for attack in chosen for name in _settings_of(attack.name))
    for name in shared:
        if name not in known:
            raise unknown(f"setting of {', '.join(names)}", name, known)
    return tuple(chosen)


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
