"""What an attack needs of a target, of texts and of its user, in words for a list."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from brittle.asks import Attend, Decode, Embed, Flips, Gradient, Tag
from brittle.attacks import build, default_settings, item_kind, learns, recipe, settings

ASKED = {
    Flips: "gradients",
    Gradient: "gradients",
    Attend: "attention",
    Embed: "embeddings",
    Decode: "a generator",
    Tag: "English",
}


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
    return asks if isinstance(asks, tuple) else build(name, default_settings(name), ()).asks
