"""The generators that come with brittle: small enough, whole, and as good as their cards say."""

from __future__ import annotations

import numpy as np
import pytest

from brittle import data as datasets
from brittle.generators import open_generator
from brittle.kinds import kind_named
from brittle.picture import Picture
from brittle.zoo.folder import load_card
from brittle.zoo.generators.folder import SHIPPED, known_generators

MAX_BYTES = 12_000_000


def test_shipped_weights_are_small_and_name_their_command() -> None:
    folders = sorted(path.parent for path in SHIPPED.glob("*/model.json"))
    assert sum(f.stat().st_size for f in SHIPPED.rglob("*") if f.is_file()) <= MAX_BYTES
    assert [folder.name for folder in folders] == ["WGAN-mnist"]
    for folder in folders:
        card = load_card(folder)
        assert card.parts["weights"] == "float16"
        assert f"brittle attack TARGET natural --generator '{card.full_name}'" in (
            folder / "README.md"
        ).read_text("utf-8")


def test_digits_have_a_generator_without_any_training() -> None:
    (shipped,) = (generator for generator in known_generators() if generator.shipped)
    assert shipped.name == "WGAN@mnist#0"
    shares = shipped.card.measures["classes"].values()
    assert len(shares) == 10 and min(shares) >= 0.04
    assert shipped.card.measures["label kept"] >= 0.95


@pytest.mark.slow
def test_digits_are_rebuilt_as_well_as_the_card_says() -> None:
    generator = open_generator(str(SHIPPED / "WGAN-mnist"))
    kind = kind_named("picture")
    digits = datasets.load("mnist").take(200, 0).examples
    items = [kind.item(dict(example.fields)) for example in digits]
    rebuilt = generator.decode(generator.encode(items))
    error = np.mean([_error(a, b) for a, b in zip(items, rebuilt)])
    expected = load_card(SHIPPED / "WGAN-mnist").measures["reconstruction error"]["mean"]
    assert error == pytest.approx(expected, rel=0.1)


def _error(one: Picture, other: Picture) -> float:
    return float(np.sqrt(np.mean((one.pixels - other.pixels) ** 2)))
