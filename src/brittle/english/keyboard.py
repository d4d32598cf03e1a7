"""The keys beside a key: what a finger that misses types instead."""

from __future__ import annotations

from collections.abc import Mapping

_ROWS = (("1234567890", 0.0), ("qwertyuiop", 0.5), ("asdfghjkl", 0.75), ("zxcvbnm", 1.25))
"""The rows of a US keyboard from the top, each with its shift to the right, in keys."""


def _build_table() -> dict[str, str]:
    """List for every key the keys that touch it: in its row, and in the rows above and below."""
    keys = [
        (key, row, shift + column)
        for row, (line, shift) in enumerate(_ROWS)
        for column, key in enumerate(line)
    ]
    return {
        key: "".join(
            other
            for other, y, x in keys
            if (y == row and abs(x - column) == 1) or (abs(y - row) == 1 and abs(x - column) < 1)
        )
        for key, row, column in keys
    }


_PLAIN = _build_table()
NEIGHBOURS: Mapping[str, str] = _PLAIN | {
    # With the shift key letters are capitals, and the top row types marks, which are not in words.
    key.upper(): "".join(filter(str.isalpha, near)).upper()
    for key, near in _PLAIN.items()
    if key.isalpha()
}
"""The letters and digits beside each letter and digit, from the top left to the bottom right."""


def beside(character: str) -> str:
    """Return the keys beside the key of a character, in its case; "" if it has no key.

    >>> beside("d"), beside("G"), beside("é")
    ('ersfxc', 'TYFHVB', '')
    """
    return NEIGHBOURS.get(character, "")
