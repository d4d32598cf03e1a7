"""Draw texts with look-alike letters as pictures, to be read like the texts of the other levels.

    python benchmarks/drawn_sheet.py FOLDER [--count 45] [--typo 30] [--seed 0]
    python benchmarks/ladder.py read FOLDER VERDICTS --reader WHO --texts KIND --add [--note TEXT]

A look-alike letter is told from its twin by its number, not by its shape, so a reader must see the
text and not its numbers. The demo's model is attacked with `auto --levels look-alike` and `auto
--levels typo`. So many texts that each level broke are mixed with as many untouched ones as with
look-alikes; no sentence stands there twice. Chromium draws pages of the texts with their labels,
and pages of their originals under the same numbers. The order is random, and neither kind nor level
is named; the key is read only when all verdicts are written. Typing errors and untouched texts are
there to compare with, as `drawn typo` and `drawn untouched`. The pages are not published.
"""

from __future__ import annotations

import argparse
import html
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import brittle
import characters_read
from brittle.levels import LOOK_ALIKE, TYPO
from brittle.results import Result
from ladder import draw, is_broken, is_readable

TARGET, DATA = "zoo:LSTM-W-Random-1@mr", "mr"
RUN = "LSTM-W-Random-1-mr"
TEXTS_PER_PAGE = 12
Line = tuple[dict[str, Any], Result, str]


def broken_by(level: str, folder: Path) -> list[tuple[str, Result]]:
    """Attack the model at one level; return its rows that can be read."""
    settings: dict[str, Any] = {"levels": level, "measures": "none", "name": f"{RUN}-{level}"}
    run = brittle.attack(TARGET, DATA, "auto", folder=folder / "runs", **settings)
    return [(RUN, row) for row in run.results() if is_readable(row)]


def sheet(folder: Path, count: int, typo: int, seed: int) -> int:
    """Draw the texts, no sentence twice, and write the pages and the key."""
    rng = Random(seed)
    lines: list[Line] = []
    taken: set[str] = set()
    rows = {level: broken_by(level, folder) for level in (LOOK_ALIKE, TYPO)}
    for kind, level, many in (
        (LOOK_ALIKE, LOOK_ALIKE, count),
        (f"drawn {TYPO}", TYPO, typo),
        ("drawn untouched", LOOK_ALIKE, count),
    ):
        is_edited = not kind.endswith("untouched")
        fresh = [
            (name, row)
            for name, row in rows[level]
            if row.original not in taken and (is_broken(row) or not is_edited)
        ]
        for name, row in draw(fresh, many, rng):
            taken.add(row.original)
            about = {"kind": kind, "run": name, "words_changed": row.words_changed}
            shown = str(row.adversarial)
            if not is_edited:
                about, shown = {"kind": kind, "run": name}, row.original
            lines.append((about, row, shown))
    rng.shuffle(lines)
    key = {f"d{number:03}": about for number, (about, _, _) in enumerate(lines, 1)}
    (folder / "key.json").write_text(json.dumps(key, indent=1) + "\n", "utf-8")
    write_pages(folder, "texts", [f"[{row.label}] {shown}" for _, row, shown in lines])
    write_pages(folder, "originals", [row.original for _, row, _ in lines])
    return len(lines)


def write_pages(folder: Path, name: str, texts: Sequence[str]) -> None:
    """Write numbered texts to pages, and have Chromium draw them."""
    for number, start in enumerate(range(0, len(texts), TEXTS_PER_PAGE), 1):
        part = texts[start : start + TEXTS_PER_PAGE]
        rows = "".join(
            f"<p><b>{start + n}</b>{html.escape(text)}</p>" for n, text in enumerate(part, 1)
        )
        page = folder / f"{name}{number:02}.html"
        page.write_text(characters_read.PAGE.format(rows=rows), "utf-8")
        characters_read.draw(page)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=45)
    parser.add_argument("--typo", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    print(f"{sheet(args.folder, args.count, args.typo, args.seed)} texts in {args.folder}")


if __name__ == "__main__":
    main()
