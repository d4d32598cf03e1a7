"""Adversarial training by an attack: the engine attacks the model while it is trained."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from brittle import attacks
from brittle.asks import Case
from brittle.attacks import RunContext, resolve_attack
from brittle.data.columns import Columns
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.errors import UsageError, unknown
from brittle.files import named_files
from brittle.goals import Untargeted
from brittle.targets.capabilities import check_asks, make_desks
from brittle.targets.protocols import positions_read
from brittle.targets.zoo.target import load_folder
from brittle.text import Text
from brittle.training.adversarial.methods import COUNT_SETTINGS, AttackTraining
from brittle.training.splits import LabelledTexts


def by_attack(
    name: str, *, copies: int = 200, every: int = 1, device: str = "auto", **settings: Any
) -> AttackTraining:
    """Build the method that hardens a model by an attack; `settings` are those of the attack.

    After `every` epochs the model is attacked on `copies` texts of the train split. It learns from
    the texts that fool it, with their true labels, until it is attacked again.
    """
    if attacks.item_kind(attacks.recipe(name)) != "text":
        raise UsageError(
            f"The attack {name!r} edits pictures; models are hardened by attacks on texts. Use one "
            "of those (brittle list attacks), or train plainly."
        )
    defaults = attacks.default_settings(name)
    for setting in settings:
        if setting not in defaults:
            raise unknown(f"setting of {name}", setting, [*COUNT_SETTINGS, *defaults])
    changed = {key: value for key, value in settings.items() if value != defaults[key]}
    run = partial(broken_texts, name=name, settings=settings, device=device)
    all_settings = defaults | settings
    digests = named_files(all_settings)  # other contents of these files are another training
    if digests:
        all_settings["files"] = digests
    return AttackTraining(name, run, copies, every, all_settings, changed)


def broken_texts(
    folder: Path,
    originals: LabelledTexts,
    seed: int,
    name: str,
    settings: Mapping[str, Any],
    device: str,
) -> LabelledTexts:
    """Attack the model in a folder on texts; return the adversarial texts, in order."""
    target = load_folder(folder, device=device)
    desks = make_desks(target)
    broker = Broker(desks)
    try:
        card = target.card
        columns = Columns(card.fields) if len(card.fields) > 1 else None
        context = RunContext(card.labels, data_columns=columns)
        attack, _, _ = resolve_attack(name, settings, card.data, context)
        check_asks(attack, name, target, desks)
        engine = Engine(attack, Untargeted(), broker, name=name, seed=seed)
        cases = (
            Case(str(n), text, label, read_positions=positions_read(target, text))
            for n, (text, label) in enumerate(zip(originals.texts, originals.label))
        )
        broken: dict[int, Text] = {
            int(outcome.case.id): outcome.best.item
            for outcomes in engine.run(cases)
            for outcome in outcomes
            if outcome.status == "broken" and outcome.best is not None
        }
    finally:
        broker.close()
        target.close()
    rows = sorted(broken)
    return LabelledTexts(tuple(broken[n] for n in rows), tuple(originals.label[n] for n in rows))
