"""The ladder: levels of edits from gentle to rough, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from brittle.errors import unknown


@dataclass(frozen=True)
class Level:
    """One step of the ladder: which edits it allows, in words for people.

    At most `share` of the words of a text are changed.
    """

    name: str
    title: str
    about: str
    share: float = 1.0


REWRITE, CAREFUL, LOOSE, ANY, TYPO, LOOK_ALIKE = (
    *("rewrite", "careful", "loose", "any", "typo", "look-alike"),
)
CHARACTER_CLASSES = (
    *(LOOK_ALIKE, "invisible", "reorder", "backspace", "spacing", "case", "leet", "full-width"),
)
"""The names of the classes of character edits in `brittle.candidates.characters`."""
# With more typing errors people cannot read the text.
_LADDER = (
    Level(REWRITE, "rewrite", "phrases that mean the same, contractions, neutral openers"),
    Level(CAREFUL, "careful synonym", "synonyms that fit this word in this sentence"),
    Level(LOOSE, "loose synonym", "synonyms that often fit"),
    Level(ANY, "any synonym", "all synonyms of WordNet, as in published attacks"),
    Level(TYPO, "typing error", "one character becomes its neighbour on the keyboard", 0.5),
    Level(LOOK_ALIKE, "look-alike", "letters of other scripts that look the same"),
)
LEVELS: Mapping[str, Level] = {level.name: level for level in _LADDER}
"""The levels by name, the gentlest first."""


def parse_levels(names: str) -> tuple[Level, ...]:
    """Return levels by their names, separated by commas, the gentlest first.

    >>> [level.name for level in parse_levels("typo,careful")]
    ['careful', 'typo']
    """
    asked = [name.strip().lower() for name in names.split(",") if name.strip()]
    for name in asked or [names]:
        if name not in LEVELS:
            raise unknown("level", name, LEVELS)
    return tuple(level for level in _LADDER if level.name in asked)


def rank(name: str) -> int:
    """Return how rough a level is: 0 is the gentlest."""
    return list(LEVELS).index(name)
