"""A warning if an attack that is made for English meets other languages."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.asks import Attack, Tag, declared
from brittle.english.other_languages import is_plainly_not_english
from brittle.text import Text

MAX_SHARE = 0.4
"""The share of texts above which a run is warned about; slang and names look foreign too."""


def language_warning(name: str, attack: Attack, texts: Sequence[Text]) -> str | None:
    """Return a warning if many texts are plainly not English, and the attack needs English."""
    if not is_for_english(attack):
        return None
    others = sum(is_plainly_not_english(map(str, text.words)) for text in texts)
    if others <= MAX_SHARE * len(texts):
        return None
    return (
        f"{others} of {len(texts)} texts are plainly not English, and {name} is made for English: "
        "it has few candidates for them, or wrong ones, and its figures say little. Use key or "
        "key-any, a gradient attack on characters (hotflip), or candidates of your own "
        "(--candidates FILE)."
    )


def is_for_english(attack: Attack) -> bool:
    """Tell whether an attack uses English parts of speech: no list of the user's own does."""
    proposal = declared(attack, "proposal")
    return Tag in attack.asks and bool(getattr(proposal, "needs_tags", True))
