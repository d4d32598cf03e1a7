"""Build the table of words and tags that brittle ships, from an installed textblob.

    python scripts/build_lexicon.py [--out src/brittle/english/lexicon.txt.xz]

The same version of textblob gives the same bytes. The notices of all sources are kept beside the
table, in LEXICON-LICENSE.
"""

from __future__ import annotations

import argparse
import importlib.util
import lzma
import sys
from importlib import metadata
from pathlib import Path

from brittle.english.tags import SHIPPED


def find_textblob() -> Path:
    """Return the folder of textblob's English files, without importing textblob."""
    spec = importlib.util.find_spec("textblob")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("textblob is not installed. Install it: pip install textblob")
    return Path(spec.origin).parent / "en"


def build_table(folder: Path, source: str) -> str:
    """Write the lexicon and the contextual rules of a folder as one text."""
    words_by_tag: dict[str, list[str]] = {}
    entries = dict(line.split(" ")[:2] for line in read_lines(folder / "en-lexicon.txt"))
    for word, tag in sorted(entries.items()):
        words_by_tag.setdefault(tag, []).append(word)
    lexicon = [" ".join((tag, *words)) for tag, words in sorted(words_by_tag.items())]
    return "\n".join([source, *lexicon, "", *read_lines(folder / "en-context.txt")]) + "\n"


def read_lines(path: Path) -> list[str]:
    """List the lines of a file without comments and empty lines."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").split("\n")]
    return [line for line in lines if line and not line.startswith(";;;")]


def build(folder: Path, source: str, out: Path) -> int:
    """Write the table and return its size in bytes."""
    table = build_table(folder, source).encode()
    # Stated in full, so that a change of the library's defaults does not change the file.
    packed = lzma.compress(table, check=lzma.CHECK_CRC32, preset=9)
    out.write_bytes(packed)
    return len(packed)


def main() -> int:
    parser = argparse.ArgumentParser(description="Build brittle's lexicon.")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the table")
    out = parser.parse_args().out
    try:
        size = build(find_textblob(), f"textblob {metadata.version('textblob')}", out)
    except OSError as error:
        parser.exit(2, f"{error}\n")
    sys.stdout.write(f"{out}: {size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
