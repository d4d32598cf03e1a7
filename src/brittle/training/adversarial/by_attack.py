"""Adversarial training by an attack: what fools the model in training, found by the engine.

Training does not know attacks; what is made here it calls with the folder of the model as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from brittle import attacks
from brittle.asks import Case
from brittle.attacks import ATTACKS, Setting
from brittle.engine.broker import Broker
from brittle.engine.desks import Desk, make_desks
from brittle.engine.engine import Engine
from brittle.english.tags import Tagger
from brittle.errors import UsageError, unknown
from brittle.goals import Untargeted
from brittle.runs.job import check_asks, file_digests, positions_read, resolve_attack
from brittle.targets.zoo.target import load_folder
from brittle.text import Text
from brittle.training import train as fit
from brittle.training.adversarial.methods import (
    METHODS,
    AdversarialTraining,
    AttackTraining,
    parse_method,
    split_settings,
)
from brittle.training.splits import LabelledTexts

COUNT_SETTINGS = ("copies", "every")
VALUE_PARSERS: Mapping[type, tuple[Callable[[str], Any], str]] = {
    bool: (lambda value: {"true": True, "false": False}[value.lower()], "true or false"),
    int: (int, "a whole number"),
    float: (float, "a number"),
    str: (str, "a text"),
}


def train(
    name: str,
    dataset_name: str,
    seed: int = 0,
    *,
    adversarial: str | AdversarialTraining | None = None,
    device: str = "auto",
    **options: Any,
) -> Path:
    """Train a model of the zoo, or find it trained; gives its folder.

    `adversarial` hardens it: hotflip, miyato, key or the name of an attack, as its own name may
    say too (`LSTM-W-Random-1+pwws`). `options` are those of `brittle.training.train`: size,
    changed (settings other than the model's own), text and label (columns of a file), progress,
    force.
    """
    model, plus, told = name.partition("+")
    if plus and adversarial is not None:
        raise UsageError(
            f"Got the model {name!r}, whose name says how it is hardened, and adversarial "
            f"{adversarial!r}. Give one of the two."
        )
    method = told or adversarial
    if isinstance(method, str):
        method = parse_training(method, device=device)
    return fit(model, dataset_name, seed, adversarial=method, device=device, **options)


def parse_training(told: str, *, device: str = "auto", **given: Any) -> AdversarialTraining:
    """Make what a name such as `hotflip` or `pwws,copies=50` means, with settings beside it.

    Methods of adversarial training come before attacks of the same name.
    """
    name, behind = split_settings(told)
    if name in METHODS:
        return parse_method(told, **given)
    if name not in ATTACKS and not name.startswith("python:"):
        remedy = "An attack of your own stands here as python:module:name."
        raise unknown("kind of adversarial training", name, [*METHODS, *ATTACKS], remedy)
    return by_attack(name, device=device, **_typed(name, behind), **given)


def by_attack(
    name: str, *, copies: int = 200, every: int = 1, device: str = "auto", **settings: Any
) -> AttackTraining:
    """Harden a model by an attack on itself; further arguments are the attack's settings.

    After `every` epochs it is attacked on `copies` texts of the train side; those that fool it are
    learnt from, with their true labels, until it is attacked again.
    """
    known = {setting.name: setting for setting in attacks.settings(attacks.recipe(name))}
    for setting in settings:
        if setting not in known:
            raise unknown(f"setting of {name}", setting, [*COUNT_SETTINGS, *known])
    own = {setting: known[setting].default for setting in known}
    changed = {key: value for key, value in settings.items() if value != own[key]}

    def run(folder: Path, side: LabelledTexts, seed: int) -> LabelledTexts:
        return broken_texts(folder, side, seed, name, settings, device)

    told = own | settings
    return AttackTraining(name, run, copies, every, told | _files(told), changed)


def broken_texts(
    folder: Path,
    side: LabelledTexts,
    seed: int,
    name: str,
    settings: Mapping[str, Any],
    device: str,
) -> LabelledTexts:
    """Attack the model in a folder on texts; gives those that fool it, in order."""
    target = load_folder(folder, device=device)
    broker = Broker(make_desks(target) | {"tags": Desk(Tagger().tags)})
    try:
        attack, _, _ = resolve_attack(name, settings, target.labels, target.card.data)
        check_asks(attack, name, target)
        engine = Engine(attack, Untargeted(), broker, name=name, seed=seed)
        cases = (
            Case(str(n), text, label, read=positions_read(target, text))
            for n, (text, label) in enumerate(zip(side.texts, side.label))
        )
        broken: dict[int, Text] = {
            int(outcome.case.id): outcome.best.item
            for ended in engine.run(cases)
            for outcome in ended
            if outcome.status == "broken" and outcome.best is not None
        }
    finally:
        broker.close()
        target.close()
    return LabelledTexts(
        tuple(broken[n] for n in sorted(broken)), tuple(side.label[n] for n in sorted(broken))
    )


def _typed(name: str, behind: Mapping[str, str]) -> dict[str, Any]:
    """Read settings that stand behind a name as the kinds the attack declares."""
    kinds = {setting.name: setting for setting in attacks.settings(attacks.recipe(name))}
    kinds |= {count: Setting(count, int, None, "") for count in COUNT_SETTINGS}
    typed: dict[str, Any] = {}
    for setting, value in behind.items():
        if setting not in kinds:
            raise unknown(f"setting of {name}", setting, kinds)
        read, expected = VALUE_PARSERS[kinds[setting].kind]
        try:
            typed[setting] = read(value)
        except (ValueError, KeyError) as error:
            raise UsageError(
                f"Got {value!r} for the setting {setting} of {name}; expected {expected}."
            ) from error
    return typed


def _files(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Give the digests of files that settings name: with other files it is another training."""
    found = file_digests(settings)
    return {"files": found} if found else {}
