"""The attacks by name: ours register themselves where they are defined, others by entry points.

Names are known without importing an attack, so that a list or a help needs no optional package:
those of this folder are read from the decorators in its files, those of other packages from the
entry points `brittle.attacks` of what is installed:

    [project.entry-points."brittle.attacks"]
    shout = "my_package.attacks:shout"
"""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from typing import Any, TypeVar

from brittle.attacks.recipes import Recipe, flattened, settings
from brittle.attacks.user_attacks import check_recipe, import_recipe
from brittle.errors import UsageError, unknown

MODULES = (
    *("auto", "pwws", "salient_swap", "gradient_swap", "genetic", "exhaustive", "random_swap"),
    *("strongest_swap", "tack_on", "rules", "hotflip", "hotflip_words", "key", "typo", "jsma"),
    *("spot_swap", "list_swap", "random_word", "fgsm", "noise", "natural"),
)
"""The files of this folder that define attacks, in the order of lists."""
GROUP = "brittle.attacks"
DECORATOR = re.compile(r'^@registered\("([a-z0-9-]+)"\)$', re.MULTILINE)

A = TypeVar("A")

_log = logging.getLogger(__name__)
_recipes: dict[str, Any] = {}


def registered(name: str) -> Callable[[Callable[..., A]], Callable[..., A]]:
    """Register the recipe below as the attack of this name."""

    def register(recipe: Callable[..., A]) -> Callable[..., A]:
        if name in _recipes:
            raise ValueError(f"The attack {name!r} is defined twice.")
        _recipes[name] = flattened(recipe)
        return _recipes[name]  # type: ignore[no-any-return]

    return register


@cache
def own_attacks() -> Mapping[str, str]:
    """Return the names of brittle's own attacks, and the module that defines each."""
    return {
        name: f"{__package__}.{module}"
        for module in MODULES
        for name in DECORATOR.findall(
            files(__package__).joinpath(f"{module}.py").read_text(encoding="utf-8")
        )
    }


@cache
def attacks_of_packages() -> Mapping[str, EntryPoint]:
    """Return the attacks that other installed packages register, by name."""
    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        name = point.name.lower()
        if name in own_attacks() or name in found:
            other = "brittle" if name in own_attacks() else found[name].value
            _log.warning("The attack %r of %s is ignored: %s has one.", name, point.value, other)
        else:
            found[name] = point
    return found


class NamedAttacks(Mapping[str, str]):
    """All attacks that have a name, with the place where each is defined; none is imported."""

    def __getitem__(self, name: str) -> str:
        own = own_attacks()
        return own[name] if name in own else attacks_of_packages()[name].value

    def __iter__(self) -> Iterator[str]:
        yield from own_attacks()
        yield from attacks_of_packages()

    def __len__(self) -> int:
        return len(own_attacks()) + len(attacks_of_packages())


ATTACKS = NamedAttacks()


def is_own(name: str) -> bool:
    """Tell whether a name is that of one of brittle's own attacks."""
    return name.lower() in own_attacks()


def recipe(name: str) -> Recipe:
    """Return the recipe of a named attack, or the user's own as `python:module:name`."""
    if name.startswith("python:"):
        return import_recipe(name)
    if name.lower() not in ATTACKS:
        raise unknown("attack", name, ATTACKS, "Your own stands here as python:module:name.")
    if not is_own(name):
        return _recipe_of_package(attacks_of_packages()[name.lower()])
    importlib.import_module(own_attacks()[name.lower()])
    own: Recipe = _recipes[name.lower()]
    return own


def usable_attacks() -> list[str]:
    """Return the attacks whose recipes can be imported: a damaged package must not end a list."""
    usable = [*own_attacks()]
    for name in attacks_of_packages():
        try:
            settings(recipe(name))
            usable.append(name)
        except UsageError as error:
            _log.warning("%s", error)
    return usable


def _recipe_of_package(point: EntryPoint) -> Recipe:
    try:
        value = point.load()
    except Exception as error:  # importing other people's code can fail in any way
        package = "another package" if point.dist is None else f"the package {point.dist.name}"
        raise UsageError(
            f"The attack {point.name!r} of {package} cannot be imported from {point.value} "
            f"({type(error).__name__}: {error}). Repair or uninstall the package."
        ) from error
    return check_recipe(point.name, value)
