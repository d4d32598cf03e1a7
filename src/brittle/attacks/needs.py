"""What an attack needs of a target, of texts and of its user, in words for a list."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from brittle.asks import Attend, Decode, Embed, Flips, Gradient, Tag
from brittle.attacks import RunContext, build, default_settings, item_kind, learns, recipe, settings
from brittle.attacks.language import is_for_english

ASKED = {
    Flips: "gradients",
    Gradient: "gradients",
    Attend: "attention",
    Embed: "embeddings",
    Decode: "a generator",
    Tag: "English",
}
STAND_IN_WORDS = ("one", "other")
"""A vocabulary to build an attack with: what it asks does not depend on the words.

The words of a target are not known here, and common ones are in an optional package.
"""


def needs(name: str) -> tuple[str, ...]:
    """Return what a named attack needs with its default settings; nothing beside answers: ().

    >>> needs("hotflip-words"), needs("key"), needs("fgsm")
    (('gradients', 'English'), (), ('pictures', 'gradients'))
    """
    own = recipe(name)
    words = [] if item_kind(own) in ("text", None) else [f"{item_kind(own)}s"]
    asked = [ASKED[ask] for ask in _asks(name) if ask in ASKED]
    words += sorted(asked, key=list(ASKED.values()).index)
    if "learn_from" in default_settings(name) and learns(default_settings(name)):
        words.append("labelled data")
    flags = [f"--{one.name.replace('_', '-')}" for one in settings(own) if one.required]
    return tuple(dict.fromkeys([*words, *flags]))


def _asks(name: str) -> Sequence[Any]:
    """Return what an attack asks; one that is put together says so only when it is built."""
    kind = inspect.signature(recipe(name), eval_str=True).return_annotation
    asks = getattr(kind, "asks", ())
    if isinstance(asks, tuple):
        return asks
    built = build(name, default_settings(name), RunContext(target_words=lambda: STAND_IN_WORDS))
    return [ask for ask in built.asks if ask is not Tag or is_for_english(built)]
