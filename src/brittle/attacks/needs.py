"""What an attack needs of a target, of texts and of its user, in words for a list.

It also warns where an attack that is made for English meets other languages.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from brittle.asks import Attack, Attend, Decode, Embed, Flips, Gradient, Tag, declared
from brittle.attacks import (
    RunContext,
    build,
    default_settings,
    item_kind,
    learns,
    recipe,
    settings,
    summary,
)
from brittle.attacks.registry import usable_attacks
from brittle.english.words import is_plainly_not_english
from brittle.text import Text

MAX_SHARE = 0.4
"""The share of texts that triggers the warning; slang and names look foreign too."""


def language_warning(name: str, attack: Attack, texts: Sequence[Text]) -> str | None:
    """Return a warning if many texts are plainly not English, and the attack needs English."""
    if not is_for_english(attack):
        return None
    others = sum(is_plainly_not_english(map(str, text.words)) for text in texts)
    if others <= MAX_SHARE * len(texts):
        return None
    return (
        f"{others} of {len(texts)} texts are not English, and {name} works for English: "
        "it finds few candidates for other languages, or wrong ones, so its figures mean "
        "little. Use key or key-any, a gradient attack on characters (hotflip), or "
        "candidates of your own (--candidates FILE)."
    )


def is_for_english(attack: Attack) -> bool:
    """Tell whether an attack uses English parts of speech: no list of the user's own does."""
    proposal = declared(attack, "proposal")
    return Tag in attack.asks and bool(getattr(proposal, "needs_tags", True))


ASKED = {
    Flips: "gradients",
    Gradient: "gradients",
    Attend: "attention",
    Embed: "embeddings",
    Decode: "a generator",
    Tag: "English",
}
STAND_IN_WORDS = ("one", "other")
"""A stand-in vocabulary to build an attack with: its questions do not depend on the words.

The target's words are not known here, and a list of common words is in an optional package.
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


def attack_rows() -> list[dict[str, str]]:
    """List the attacks: what each edits and needs, what it does, and its settings."""
    recipes = {name: recipe(name) for name in usable_attacks()}
    return [
        {
            "attack": name,
            "edits": f"{item_kind(made) or 'text or picture'}s",
            "needs": ", ".join(needs(name)),
            "what it does": summary(made),
            "settings": ", ".join(setting.name for setting in settings(made)),
        }
        for name, made in recipes.items()
    ]
