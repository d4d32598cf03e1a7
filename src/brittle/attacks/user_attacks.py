"""The user's own attacks, as `python:module:name`: import them, and refuse what is no attack."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from brittle.asks import Ask, Attack
from brittle.attacks.recipes import Recipe, flattened, is_filled_in
from brittle.errors import UsageError
from brittle.named import import_named

EXPECTED = (
    "an attack (an object with `asks`, a tuple such as (Probe, Try), and a method "
    "`__call__(self, case, rng)` that is its search), its class, or a function of keyword "
    "arguments that makes one"
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
            f"{name!r} is a generator function, so it looks like a search; an attack also declares "
            f"what it asks. Expected {EXPECTED}."
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
            f"{name!r} wants the argument {positional[0]!r}, which is not a keyword argument. "
            f"Expected {EXPECTED}; a star makes arguments keyword ones: "
            f"def shout(*, {positional[0]})."
        )
