"""Names that commands had before: each still runs for one version, and names the new form.

Most are other words for the same command, so the words are replaced before they are parsed. Two
print what no command prints now; they keep their code (`commands/former.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Former:
    """What a former name is now: the words instead of it, and a flag that is added."""

    now: str
    added: tuple[str, ...] = ()
    advice: str = ""
    """What to type instead, where that is not the new words alone."""


FORMER = {
    "annotate": Former("validity write"),
    "card": Former("card", advice="report RUN --out FILE.md"),
    "completion": Former("setup completion"),
    "delete": Former("runs delete"),
    "grid": Former("study grid"),
    "importance": Former("explain words"),
    "inside": Former("show", ("--inside",), advice="show RUN --inside"),
    "nearest": Former("explain nearest"),
    "perturb": Former("explain latent"),
    "rename": Former("runs rename"),
    "robustness": Former("study robustness"),
    "rules export": Former("rules export", advice="export FILE OUT"),
    "rules show": Former("list rules"),
    "select": Former("study select"),
    "transfer": Former("study transfer"),
    "validity": Former("validity read"),
}
FORMER_FLAGS = {"--force": "--new"}
"""Flags of `brittle train` that have another name now."""


def current_words(words: Sequence[str]) -> tuple[list[str], str]:
    """Return a command line with the names of today, and a line about a former one, or "".

    >>> current_words(["grid", "a,b", "pwws"])[0]
    ['study', 'grid', 'a,b', 'pwws']
    >>> current_words(["validity", "demo"])[0], current_words(["validity", "read", "demo"])[1]
    (['validity', 'read', 'demo'], '')
    >>> current_words(["inside", "demo"])
    (['show', '--inside', 'demo'], "brittle: 'inside' is now: brittle show RUN --inside")
    """
    if words and words[0] == "train" and "--force" in words:
        kept = [FORMER_FLAGS.get(word, word) for word in words]
        return kept, "brittle: 'train --force' is now: brittle train --new"
    name = next((one for one in (" ".join(words[:2]), *words[:1]) if one in FORMER), None)
    if name is None or (name == "validity" and _is_current(words)):
        return list(words), ""
    former, count = FORMER[name], len(name.split())
    now = former.advice or former.now
    rest = [*former.now.split(), *former.added, *words[count:]]
    return rest, f"brittle: {name!r} is now: brittle {now}"


def _is_current(words: Sequence[str]) -> bool:
    """Tell whether `validity` stands with one of its commands, or alone, or asks for help."""
    return len(words) == 1 or words[1] in ("write", "read", "--help", "-h")
