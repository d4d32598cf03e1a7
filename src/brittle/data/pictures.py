"""Pictures in the user's files: an `.npz` of arrays, or a folder with a sub-folder per class."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from brittle.data.dataset import Dataset, labels_of
from brittle.data.example import Example, as_examples
from brittle.errors import UsageError, require
from brittle.picture import MAX_PIXELS, Picture
from brittle.unpacking import DAMAGED_ARCHIVE, check_archive, check_is_file

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
        f"{path} holds no array {' or '.join(names)}; it has {', '.join(arrays) or 'none'}. Name "
        f"the array with {flag}."
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
            f"The pictures in {folder} have {pixels:,} pixels, in files of {size:,} bytes. "
            f"Expected at most {limit:,} pixels in such files: they may be made to fill the "
            "memory. Make them smaller, or hand them in as arrays (an .npz file)."
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
                raise ValueError(f"it is no PNG and no JPEG: it begins with {start!r}")
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
