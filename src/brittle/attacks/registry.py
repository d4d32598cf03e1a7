"""The attacks by name: ours, those of other packages, and the user's own.

The attacks by name: ours register themselves where they are defined, others by entry points.

Names are known without importing an attack, so that a list or a help needs no optional package:
those of this folder are read from the decorators in its files, those of other packages from the
entry points `brittle.attacks` of what is installed:

    [project.entry-points."brittle.attacks"]
    shout = "my_package.attacks:shout"

The user's own attacks, as `python:module:name`: import them, and refuse what is no attack.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from brittle.asks import Ask, Attack
from brittle.attacks.recipes import Recipe, flattened, is_filled_in, settings
from brittle.errors import UsageError, unknown
from brittle.values import import_named

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

EXPECTED = (
    "an attack (an object with `asks`, a tuple such as (Probe, Try), and a method "
    "`__call__(self, case, rng)` that is its search), its class, or a function with "
    "keyword arguments that returns one"
)


def import_recipe(name: str) -> Recipe:
    """Import the recipe that `python:module:name` means; the working folder counts too."""
    return check_recipe(name, import_named(name, "python:mine:shout"))


def check_recipe(name: str, value: Any) -> Recipe:
    """Return a recipe for what someone else calls an attack; the error tells what it lacks."""
    if hasattr(value, "asks") and not isinstance(value, type):
        attack = check_attack(name, value)
        return lambda: attack
    if inspect.isgeneratorfunction(value):
        raise UsageError(
            f"{name!r} is a generator function, so it looks like a search, but an attack "
            f"must also declare its questions. Expected {EXPECTED}."
        )
    if not callable(value):
        raise UsageError(f"{name!r} is a {type(value).__name__}. Expected {EXPECTED}.")
    _check_arguments(name, value)
    return flattened(value)


def check_attack(name: str, attack: Any) -> Attack:
    """Return the object if it is an attack; the error tells what it lacks."""
    kind = type(attack).__name__
    if isinstance(attack, type):
        raise UsageError(f"{name!r} made the class {attack.__name__!r}. Expected {EXPECTED}.")
    asks = getattr(attack, "asks", None)
    if asks is None:
        raise UsageError(f"{name!r} made a {kind}, which has no `asks`. Expected {EXPECTED}.")
    if not isinstance(asks, tuple) or not all(
        isinstance(ask, type) and issubclass(ask, Ask) for ask in asks
    ):
        raise UsageError(
            f"{name!r} has asks = {asks!r}. Expected a tuple of questions from brittle.asks, such "
            "as (Probe, Try)."
        )
    try:
        inspect.signature(attack).bind("case", "rng")
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{name!r} is a {kind} that cannot be called as attack(case, rng): {error}. "
            f"Expected {EXPECTED}."
        ) from error
    return attack  # type: ignore[no-any-return]


def _check_arguments(name: str, recipe: Callable[..., Any]) -> None:
    """Refuse a recipe with positional arguments: nothing can fill them in."""
    try:
        parameters = inspect.signature(recipe).parameters.values()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name!r} has no signature ({error}). Expected {EXPECTED}.") from error
    positional = [
        p.name
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        and p.default is p.empty
        and not is_filled_in(p)
    ]
    if positional:
        raise UsageError(
            f"{name!r} has the positional argument {positional[0]!r}. Expected "
            f"{EXPECTED}. Put a star before it to make it a keyword argument: def "
            f"shout(*, {positional[0]})."
        )


MODULES = (
    *("auto", "pwws", "salient_swap", "genetic", "exhaustive", "baselines", "strong_words"),
    *("rules", "hotflip", "typing_errors", "jsma", "spot_swap", "fgsm", "natural"),
    *(
        "characters",
        "bad_characters",
        "deepwordbug",
        "textbugger",
        "charmer",
    ),
)
"""The files of this folder that define attacks, in the order of `brittle list attacks`."""
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
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        name = point.name.lower()
        if name in own_attacks() or name in found:
            other = "brittle" if name in own_attacks() else found[name].value
            _log.warning(
                "The attack %r of %s is ignored: %s already defines it.", name, point.value, other
            )
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


def _own_attack(name: str) -> str:
    """Say how an attack of the user's own is named; `my_attacks.py:drop` is almost that."""
    module, _, function = name.replace(".py:", ":").partition(":")
    is_file = function != "" and Path(f"{module}.py").is_file()
    return (
        f"For your own attack, write python:{f'{module}:{function}' if is_file else 'module:name'}."
    )


def recipe(name: str) -> Recipe:
    """Return the recipe of a named attack, or the user's own as `python:module:name`."""
    if name.startswith("python:"):
        return import_recipe(name)
    if name.lower() not in ATTACKS:
        raise unknown("attack", name, ATTACKS, _own_attack(name))
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
