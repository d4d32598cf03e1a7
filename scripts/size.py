"""Show the size of the source tree: lines per room, and the ten largest files.

    python scripts/size.py [--base REV]

The change is counted against REV: by default the last tag, or main where there is none.
"""

from __future__ import annotations

import argparse
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = "src"


def git(*words: str) -> str:
    """Return what a git command prints."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def default_base() -> str:
    """Return the last tag, or main where there is none."""
    tags = git("tag", "--sort=-creatordate").split()
    return tags[0] if tags else "main"


def lines_now() -> Counter[str]:
    """Count the lines of every file of the work tree."""
    paths = (ROOT / SOURCE).rglob("*.py")
    return Counter({_name(str(p.relative_to(ROOT))): _lines(p.read_text()) for p in paths})


def lines_at(revision: str) -> Counter[str]:
    """Count the lines of every file of a revision."""
    names = git("ls-tree", "-r", "--name-only", revision, SOURCE).split("\n")
    paths = [name for name in names if name.endswith(".py")]
    return Counter({_name(p): _lines(git("show", f"{revision}:{p}")) for p in paths})


def _name(path: str) -> str:
    """Return the path of a file in its package; other packages than brittle are rooms."""
    return path.removeprefix(f"{SOURCE}/").removeprefix("brittle/")


def by_room(files: Counter[str]) -> Counter[str]:
    """Sum the lines of the files of every room; files at the top count as one room."""
    rooms: Counter[str] = Counter()
    for name, count in files.items():
        rooms[name.split("/")[0] + "/" if "/" in name else "(top)"] += count
    return rooms


def _lines(text: str) -> int:
    return text.count("\n")


def _row(name: str, now: int, before: int) -> str:
    return f"  {name:<36}{now:>7,}{now - before:>+8,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", help="the revision to compare with (default: last tag, or main)")
    base = parser.parse_args().base or default_base()
    now, before = lines_now(), lines_at(base)
    rooms, rooms_before = by_room(now), by_room(before)
    print(f"lines of {SOURCE}, and the change since {base}\n")
    for room in sorted(rooms | rooms_before):
        print(_row(room, rooms[room], rooms_before[room]))
    print(_row("all", sum(now.values()), sum(before.values())))
    print("\nthe ten largest files\n")
    for name, count in now.most_common(10):
        print(_row(name, count, before[name]))


if __name__ == "__main__":
    main()
