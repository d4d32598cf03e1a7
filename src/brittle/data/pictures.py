"""Pictures in the user's files: an `.npz` of arrays, or a folder with a sub-folder per class."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from brittle.data.dataset import Dataset, labels_of
from brittle.data.example import Example, as_examples
from brittle.errors import UsageError, require
from brittle.picture import MAX_PIXELS, Picture
from brittle.unpacking import check_archive

ARRAYS = ".npz"
PICTURES = (".png", ".jpg", ".jpeg")
PICTURE_NAMES = ("x", "images", "pictures")
LABEL_NAMES = ("y", "labels", "label")
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
    if path.is_dir():
        if pictures or label:
            raise UsageError(
                f"--text and --label name arrays of a file; the classes of the folder {path} are "
                "the names of its sub-folders. Leave them out."
            )
        examples = _load_folder(path, is_labelled=label != "")
    else:
        examples = _load_arrays(path, pictures, label)
    return Dataset(source, "all", examples, labels_of(examples), kind="picture")


def _load_arrays(
    path: Path, pictures: Sequence[str] | None, label: str | None
) -> tuple[Example, ...]:
    remedy = "If you trust it, write it with np.savez, which does not pack."
    try:
        with zipfile.ZipFile(path) as archive:
            check_archive(archive, path.stat().st_size, str(path), remedy, MIN_ARRAYS_BYTES)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    # An array may claim to be larger than the memory, though the file holds little of it.
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, MemoryError) as error:
        raise UsageError(f"{path} cannot be read as an .npz file of arrays: {error}") from error
    x = _array(path, arrays, PICTURE_NAMES if pictures is None else pictures, "--text")
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
        if name in arrays and arrays[name].ndim:
            return arrays[name]
    raise UsageError(
        f"{path} holds no array {' or '.join(names)}; it has {', '.join(arrays) or 'none'}. Name "
        f"the array with {flag}."
    )


def open_picture(path: Path) -> Picture:
    """Open one picture file."""
    return _open(require("PIL.Image", "pictures", f"Reading the picture {path}"), path)


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
    pairs = [(_open(image, file), file.parent.name if is_labelled else None) for file in found]
    return _examples(path, pairs, [str(file) for file in found])


def _open(image: Any, file: Path) -> Picture:
    try:
        with image.open(file) as opened:
            width, height = opened.size
            if width * height > MAX_PIXELS:
                raise UsageError(
                    f"Got a picture of {width} × {height} pixels. Expected at most {MAX_PIXELS:,} "
                    "pixels: make it smaller."
                )
            return Picture.of(opened)
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
        return tuple(as_examples(list(pairs), names))
    except UsageError as error:
        raise UsageError(str(error) if names else f"{path}: {error}") from error
