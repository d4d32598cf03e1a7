"""Lay out, inside the peer's environment, the data TextAttack would download at its first import.

    python offline_data.py UNPACKED      UNPACKED: where Debian's two WordNet packages were unpacked

Writes <environment>/nltk_data, where nltk looks by itself, and <environment>/textattack, the cache
folder named by `textattack_run.py`. Everything is written again on each call.
"""

from __future__ import annotations

import gzip
import re
import shutil
import sys
from pathlib import Path

NLTK_DATA = Path(sys.prefix, "nltk_data")
CACHE = Path(sys.prefix, "textattack")
SYNTACTIC_CATEGORY = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}


def lexnames(manual: str) -> str:
    """Rebuild WordNet's file `lexnames` from the table in its manual page.

    Debian ships the page without the file, and nltk opens no WordNet that lacks it.
    """
    rows = re.findall(r"^(\d\d)\t((noun|verb|adj|adv)\.\w+)", manual, re.MULTILINE)
    if [int(number) for number, _, _ in rows] != list(range(45)):
        raise SystemExit(f"lexnames: expected the 45 files in order, got {len(rows)} rows.")
    return "".join(
        f"{number}\t{name}\t{SYNTACTIC_CATEGORY[category]}\n" for number, name, category in rows
    )


def write_wordnet(unpacked: Path) -> None:
    folder = NLTK_DATA / "corpora" / "wordnet"
    shutil.copytree(unpacked / "usr/share/wordnet", folder, dirs_exist_ok=True)
    page = gzip.decompress((unpacked / "usr/share/man/man5/lexnames.5WN.gz").read_bytes())
    (folder / "lexnames").write_text(lexnames(page.decode("utf-8", "replace")))


def write_stop_words() -> None:
    """Give TextAttack a stop-word list: it loads one at import, though no attack here uses it."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    folder = NLTK_DATA / "corpora" / "stopwords"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "english").write_text("\n".join(sorted(ENGLISH_STOP_WORDS)) + "\n")


def mark_downloads_done() -> None:
    """Leave the file by which TextAttack knows that its first-import downloads were made."""
    CACHE.mkdir(exist_ok=True)
    (CACHE / "post_install_check_3").touch()


def check() -> None:
    from nltk.corpus import stopwords, wordnet

    names = {synset.lexname() for synset in wordnet.synsets("movie")}
    if names != {"noun.communication"} or "the" not in stopwords.words("english"):
        raise SystemExit(f"nltk does not read the data in {NLTK_DATA}: got {names} for 'movie'.")


if __name__ == "__main__":
    write_wordnet(Path(sys.argv[1]))
    write_stop_words()
    mark_downloads_done()
    check()
