"""Generators on disk: those in the cache, those that come with brittle, and how one is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from brittle.errors import UsageError, unknown
from brittle.zoo import folder as folders
from brittle.zoo.families import family_of, open_checked
from brittle.zoo.folder import Card, trained_models
from brittle.zoo.names import grid

if TYPE_CHECKING:
    from brittle.zoo.generators.pictures import PictureGenerator
    from brittle.zoo.generators.texts import SentenceGenerator

    ZooGenerator: TypeAlias = PictureGenerator | SentenceGenerator

SHIPPED = Path(__file__).parent / "shipped"


@dataclass(frozen=True)
class KnownGenerator:
    """A trained generator: its card, its folder, and whether it came with brittle."""

    card: Card
    folder: Path
    shipped: bool = False

    @property
    def name(self) -> str:
        return self.card.full_name


def known_generators() -> list[KnownGenerator]:
    """List the generators that need no training: those in the cache, then those of brittle."""
    cached = [KnownGenerator(m.card, m.path) for m in trained_models() if is_generator(m.card)]
    paths = sorted(path.parent for path in SHIPPED.glob(f"*/{folders.CARD_FILE}"))
    return [*cached, *(KnownGenerator(folders.load_card(path), path, True) for path in paths)]


def find_generator(name: str, command: str) -> Path:
    """Return the folder of a generator by its full name; one trained here comes before a shipped.

    `command` trains it, and is the remedy where it is not there.
    """
    known = known_generators()
    found = [generator for generator in known if generator.name == name]
    trained = [generator for generator in found if not generator.shipped]
    if len(trained) > 1:
        raise UsageError(
            f"Several generators are named {name}: they were trained on different data. Name the "
            f"folder of one: {', '.join(str(generator.folder) for generator in trained)}."
        )
    if not found:
        names = [generator.name for generator in known]
        raise unknown("generator", name, names, f"It is not trained yet. Train it with: {command}")
    return found[0].folder


def open_folder(folder: Path, device: str = "auto") -> ZooGenerator:
    """Load a generator from its folder, in evaluation mode."""
    card = folders.load_card_checked(folder)
    if not is_generator(card):
        raise UsageError(
            f"{folder} holds {card.full_name}, a {card.kind} model; expected a generator."
        )
    generator: ZooGenerator = open_checked(folder, card, device)
    return generator


def is_generator(card: Card) -> bool:
    """Tell whether a trained model encodes and decodes items."""
    return family_of(card).answers == "points"


def generator_rows() -> list[dict[str, Any]]:
    """List the generators that are there, then those that can be trained."""
    known = known_generators()
    rows = [
        {
            "generator": generator.name,
            "items": f"{generator.card.parts['item_kind']}s",
            "latent": generator.card.settings["latent"],
            "figures": generator.card.measures.get("summary", ""),
            "where": "shipped" if generator.shipped else "trained here",
        }
        for generator in known
    ]
    trained = {generator.card.name for generator in known}
    return rows + [
        {
            "generator": name,
            "items": f"{family.item_kind}s",
            "latent": "",
            "figures": about,
            "where": f"not trained: brittle train {name} --data DATA",
        }
        for name, (family, about) in grid.GENERATORS.items()
        if name not in trained
    ]
