"""Build the compact synonym table that brittle ships, from a folder of WordNet's own files.

The folder is that of Debian's package wordnet-base (/usr/share/wordnet):

    python scripts/build_wordnet.py FOLDER [--out src/brittle/english/wordnet.txt.xz]

The same files give the same bytes. WordNet's licence notice is kept beside the table.
"""

from __future__ import annotations

import argparse
import lzma
import sys
from pathlib import Path

from brittle.english.wordnet import FILES, WORDNET_FILE, WordNet
from brittle.errors import UsageError


def table(net: WordNet) -> str:
    """Format the groups as one text; equal groups give equal texts."""
    return "".join(f"#{pos}\n{net.blocks[pos].rstrip()}\n" for pos in FILES)


def build(folder: Path, out: Path) -> int:
    """Write the table and return its size in bytes."""
    content = table(WordNet.from_folder(folder)).encode()
    # Stated in full, so that a change of the library's defaults does not change the file.
    packed = lzma.compress(content, check=lzma.CHECK_CRC32, preset=9)
    out.write_bytes(packed)
    return len(packed)


def main() -> int:
    parser = argparse.ArgumentParser(description="Build brittle's synonym table.")
    parser.add_argument("folder", type=Path, help="folder of data.noun, index.noun, …")
    parser.add_argument("--out", type=Path, default=WORDNET_FILE, help="where to write the table")
    args = parser.parse_args()
    try:
        size = build(args.folder, args.out)
    except UsageError as error:
        parser.exit(error.exit_code, f"{error}\n")
    sys.stdout.write(f"{args.out}: {size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
