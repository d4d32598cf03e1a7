"""Does a reader of a rendered page read the same words after look-alike and spacing edits?

    python benchmarks/characters_read.py sheet --out FOLDER [--count 50] [--seed 0]
    python benchmarks/characters_read.py read FOLDER TRANSCRIPT --reader WHO [--notes TEXT]

`sheet` attacks a naive Bayes model on film reviews with `look-alike` and `spacing`, takes so many
broken texts of each, and puts them with their originals on pages, in random order and without
labels. Chromium draws the pages as PNG. The reader looks at these pages alone and writes a line for
every text, `NUMBER words as read`. `read` compares the lines with the originals' words, whatever
their case, and writes benchmarks/characters_read.json. A text is read the same if all its words
are. The pages hold sentences of the data and are not published.
"""

from __future__ import annotations

import argparse
import html
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import brittle
from brittle.metrics.intervals import wilson
from brittle.text import words_of

TARGET, DATA = "zoo:naive-bayes@mr", "mr"
KINDS = ("look-alike", "spacing")
MIN_WORDS, MAX_WORDS = 4, 10
TEXTS_PER_PAGE = 20
OUT = Path(__file__).with_name("characters_read.json")
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ font: 22px/1.5 sans-serif; margin: 24px; background: white; color: black }}
p {{ margin: 6px 0; unicode-bidi: isolate }} b {{ display: inline-block; width: 64px; color: #777 }}
</style>{rows}"""


def sheet(out: Path, count: int, seed: int) -> int:
    """Draw the texts, and write the pages and the key."""
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        run = brittle.attack(TARGET, DATA, kind, limit=400, folder=out / "runs")
        broken = [row for row in run.results() if row.status == "broken"]
        short = [row for row in broken if MIN_WORDS <= len(words_of(row.original)) <= MAX_WORDS]
        for row in Random(f"{seed}:{kind}").sample(short, count):
            rows.append({"kind": kind, "original": row.original, "shown": row.adversarial})
            rows.append({"kind": "original", "original": row.original, "shown": row.original})
    Random(seed).shuffle(rows)
    (out / "key.json").write_text(json.dumps(rows, indent=1), "utf-8")
    for number, start in enumerate(range(0, len(rows), TEXTS_PER_PAGE), 1):
        part = rows[start : start + TEXTS_PER_PAGE]
        lines = "".join(
            f"<p><b>{start + n}</b>{html.escape(row['shown'])}</p>" for n, row in enumerate(part, 1)
        )
        page = out / f"page{number}.html"
        page.write_text(PAGE.format(rows=lines), "utf-8")
        draw(page)
    return len(rows)


def draw(page: Path) -> None:
    """Have Chromium draw a page as PNG."""
    command = [shutil.which("chromium") or "chromium", "--headless", "--no-sandbox"]
    command += [
        "--disable-gpu",
        "--window-size=1200,900",
        f"--screenshot={page.with_suffix('.png')}",
    ]
    subprocess.run([*command, page.as_uri()], check=True, capture_output=True)


def read(folder: Path, transcript: Path, reader: str, notes: str) -> dict[str, Any]:
    """Compare what was read with the originals."""
    key = json.loads((folder / "key.json").read_text("utf-8"))
    lines = transcript.read_text("utf-8").splitlines()
    told = {
        int(number): words for number, _, words in (line.partition(" ") for line in lines if line)
    }
    missing = [n for n in range(1, len(key) + 1) if n not in told]
    if missing:
        raise SystemExit(f"The transcript has no line for {missing}.")
    figures: dict[str, Any] = {}
    for kind in (*KINDS, "original"):
        rows = [(row["original"], told[n]) for n, row in enumerate(key, 1) if row["kind"] == kind]
        own = [(folded(original), folded(words)) for original, words in rows]
        same = sum(before == after for before, after in own)
        low, high = wilson(same, len(own))
        figures[kind] = {
            "texts": len(own),
            "different_texts": len({original for original, _ in rows}),
            "read_the_same": same,
            "share": same / len(own),
            "low": low,
            "high": high,
            "words": sum(len(before) for before, _ in own),
        }
    return {
        "reader": reader,
        "texts": "film reviews of four to ten words",
        "browser": "Chromium, its sans-serif font (DejaVu Sans)",
        "notes": notes,
        "figures": figures,
    }


def folded(text: str) -> Sequence[str]:
    """List the words of a text as they are compared."""
    return [word.casefold().replace("’", "'") for word in words_of(text)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Read edited texts as they are displayed.")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("sheet")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--count", type=int, default=50)
    one.add_argument("--seed", type=int, default=0)
    other = commands.add_parser("read")
    other.add_argument("folder", type=Path)
    other.add_argument("transcript", type=Path)
    other.add_argument("--reader", required=True)
    other.add_argument("--notes", default="", help="what the reader noticed")
    asked = parser.parse_args()
    if asked.command == "sheet":
        asked.out.mkdir(parents=True, exist_ok=True)
        print(f"{sheet(asked.out, asked.count, asked.seed)} texts in {asked.out}")
        return 0
    found = read(asked.folder, asked.transcript, asked.reader, asked.notes)
    OUT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found["figures"], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
