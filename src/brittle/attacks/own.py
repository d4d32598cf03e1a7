"""The user's own attacks: imported by name, and told apart from what cannot be one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from brittle.asks import Ask, Attack
from brittle.errors import UsageError
from brittle.named import import_named

EXPECTED = (
    "an attack (an object with `asks`, a tuple such as (Probe, Try), and a method "
    "`__call__(self, case, rng)` that is its search), its class, or a function of keyword "
    "arguments that makes one"
)


def import_recipe(name: str) -> Callable[..., Attack]:
    """Import the recipe that `python:module:name` means; the working folder is looked in too."""
    thing = import_named(name, "python:mine:shout")
    if hasattr(thing, "asks") and not isinstance(thing, type):
        attack = check_attack(name, thing)
        return lambda: attack
    if inspect.isgeneratorfunction(thing):
        raise UsageError(
            f"{name!r} is a generator function, so it looks like a search; an attack also declares "
            f"what it asks. Expected {EXPECTED}."
        )
    if not callable(thing):
        raise UsageError(f"{name!r} is a {type(thing).__name__}. Expected {EXPECTED}.")
    _makes_without_arguments(name, thing)
    return thing  # type: ignore[no-any-return]


def check_attack(name: str, attack: Any) -> Attack:
    """Give back what was made if it is an attack, or say what it lacks."""
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


def _makes_without_arguments(name: str, thing: Any) -> None:
    """Refuse what wants positional arguments: nobody could give them."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name!r} has no signature ({error}). Expected {EXPECTED}.") from error
    wanted = [
        p.name
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        and p.default is p.empty
        and p.name not in ("labels", "label_map")
    ]
    if wanted:
        raise UsageError(
            f"{name!r} wants the argument {wanted[0]!r}, which is not a keyword argument. Expected "
            f"{EXPECTED}; a star makes arguments keyword ones: def shout(*, {wanted[0]})."
        )
