"""The record of every family of models: it is complete, and what it names is there."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from brittle.errors import UsageError
from brittle.training.adversarial.methods import METHODS
from brittle.zoo import families
from brittle.zoo.families import ANY_METHOD, FAMILIES, Family, Later, family_of
from brittle.zoo.folder import Card
from brittle.zoo.names import grid
from brittle.zoo.names.changes import LIMIT


def card_of(name: str) -> Card:
    design = grid.design(name)
    values: dict[str, object] = {
        "name": name,
        "kind": design.kind,
        "data": "toy",
        "seed": 0,
        "size": "default",
        "labels": ("no", "yes"),
        "fields": ("text",),
        "parts": dict(design.parts),
        "settings": grid.as_json(grid.settings(design)),
        "dev_accuracy": 0.5,
        "epochs": 1,
        "examples": 4,
        "data_fingerprint": "f",
        "key": "k",
        "seconds": 0.1,
        "versions": {},
    }
    return Card(**values)  # type: ignore[arg-type]


ONE_OF_EACH = {
    "naive-bayes": families.NAIVE_BAYES,
    "linear-svm": families.LINEAR_SVM,
    "LSTM-W-Random-1": families.NETWORK,
    "TreeLSTM-W-Random-pair": families.TREE,
    "MiniLM": families.TRANSFORMER,
    "biLM": families.LANGUAGE_MODEL,
    "seq2seq-LSTM": families.TRANSLATOR,
    "LeNet": families.PICTURE_NETWORK,
    "forest": families.FOREST,
    "WGAN": families.PICTURE_GENERATOR,
    "ARAE": families.SENTENCE_GENERATOR,
    "VAE": families.SENTENCE_VAE,
}


def test_every_family_is_in_the_grid() -> None:
    assert list(ONE_OF_EACH.values()) == list(FAMILIES)
    assert {id(design.family) for design in grid.designs()} == set(map(id, FAMILIES))


@pytest.mark.parametrize(("name", "family"), ONE_OF_EACH.items())
def test_designs_and_cards_know_their_family(name: str, family: Family) -> None:
    assert grid.design(name).family is family_of(card_of(name)) is family
    assert type(grid.settings(grid.design(name))) is family.settings
    hardened = replace(card_of(name), name=f"{name}+key")
    assert family_of(hardened) is family and family.figure(hardened)


@pytest.mark.parametrize("family", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_what_a_record_names_is_there(family: Family) -> None:
    pytest.importorskip("torch")
    for one in fields(Family):
        value = getattr(family, one.name)
        if isinstance(value, Later):
            assert callable(value.function), value.name
    assert list(inspect.signature(family.fit.function).parameters) == ["job"]
    if family.open is not None:
        parameters = list(inspect.signature(family.open.function).parameters)
        assert parameters == ["folder", "card", "device", "hole_id"]
    if family.target is not None and family.answers == "scores":
        assert list(inspect.signature(family.target.function).parameters) == [
            "folder",
            "device",
            "mask",
        ]
    assert set(family.refuses) <= {ANY_METHOD, *METHODS}
    assert bool(family.no_target) == bool(family.no_member) == (family.target is None)


def test_every_number_has_a_limit() -> None:
    for family in FAMILIES:
        for one in fields(family.settings):
            assert isinstance(one.default, bool | str) or one.metadata[LIMIT], one.name


def test_a_kind_of_a_later_version() -> None:
    card = replace(card_of("naive-bayes"), kind="diffusion")
    family = family_of(card)
    assert family.kind == "diffusion" and family.answers == "nothing"
    with pytest.raises(UsageError, match="kind 'diffusion', which this version"):
        raise families.no_target(family, card.full_name)


def test_listing_models_imports_no_torch() -> None:
    code = "import sys; from brittle.zoo.names import grid; grid.designs(); print('torch' in "
    code += "sys.modules or 'brittle.training' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout.strip() == "False", printed.stderr


def test_nothing_else_asks_of_which_kind_a_model_is() -> None:
    source = Path(families.__file__).parents[1]
    asks = re.compile(
        r"(design|card|wanted)\.kind\s*(==|!=|in\b|not\b)|isinstance\([^)]*Settings\b"
    )
    places = [
        f"{path.relative_to(source)}:{number}"
        for path in sorted(source.rglob("*.py"))
        if path != Path(families.__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if asks.search(line)
    ]
    assert not places, f"{', '.join(places)}: use a field of the model's family instead"
