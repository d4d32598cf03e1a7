"""Pictures: exact strings, stable keys, and clear words for arrays that are none."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.kinds import KINDS, kind_named
from brittle.picture import Picture, is_picture, stack

GREY = Picture(np.arange(12).reshape(3, 4) / np.float32(255))
FLOATS = Picture(np.random.default_rng(0).random((5, 4, 3)))


@pytest.mark.parametrize("picture", [GREY, FLOATS, Picture(np.zeros((1, 1, 4)))])
def test_a_picture_comes_back_exactly(picture: Picture) -> None:
    again = Picture.decode(picture.encode())
    assert again == picture and again.key == picture.key and hash(again) == hash(picture)
    assert again.pixels.dtype == np.float32
    assert pickle.loads(pickle.dumps(picture)) == picture == copy.deepcopy(picture)


def test_bytes_are_kept_as_bytes() -> None:
    assert GREY.encode().startswith("3x4x1:u1:") and FLOATS.encode().startswith("5x4x3:<f4:")
    assert (GREY.size, GREY.kind, repr(FLOATS)) == (12, "picture", "Picture(5×4×3)")


def test_shape_and_pixels_make_the_key() -> None:
    assert Picture(np.zeros((2, 3))).key != Picture(np.zeros((3, 2))).key
    assert Picture(np.zeros((2, 3))) != Picture(np.ones((2, 3)))


def test_a_picture_does_not_change() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        GREY.pixels = FLOATS.pixels
    with pytest.raises(ValueError, match="read-only"):
        GREY.pixels[0, 0, 0] = 1.0


@pytest.mark.parametrize(
    ("pixels", "message"),
    [
        (np.full((4, 4), 255), "values from 255 to 255. Expected 0 to 1: divide pixels"),
        (np.full((4, 4), -0.5), "values from -0.5"),
        (np.full((4, 4), -2.5), "undo the step that shifted pixels below 0"),
        (np.full((4, 4), 60000), "by their largest possible value"),
        (np.full((4, 4), np.nan), "pixels that are NaN or infinite.*repair or remove it"),
        (np.full((4, 4), np.inf), "pixels that are NaN or infinite"),
        (np.zeros((3, 8, 8)), r"Move the channels to the end: numpy\.moveaxis"),
        (np.zeros((4, 4, 2)), r"shape \(4, 4, 2\). Expected height × width"),
        (np.zeros(16), r"shape \(16,\)"),
        (np.zeros((0, 4)), r"shape \(0, 4\)"),
    ],
)
def test_what_is_no_picture_is_refused(pixels: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Picture(pixels)


def test_a_16_bit_image_keeps_its_greys(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    grey = np.array([[0, 20000], [60000, 65535]], np.uint16)
    image.fromarray(grey).save(tmp_path / "a.png")
    with image.open(tmp_path / "a.png") as opened:
        pixels = Picture.of(opened).pixels
    assert pixels.shape == (2, 2, 1) and np.allclose(pixels[..., 0], grey / 65535)


@pytest.mark.parametrize("mode", ["I", "F"])
def test_an_image_without_a_range_is_refused(mode: str) -> None:
    image = pytest.importorskip("PIL.Image")
    with pytest.raises(UsageError, match=f"mode '{mode}', whose pixels have no fixed range"):
        Picture.of(image.new(mode, (2, 2), 1))


def test_grey_images_have_one_channel_however_they_are_stored() -> None:
    image = pytest.importorskip("PIL.Image")
    grey = image.fromarray(np.arange(12, dtype=np.uint8).reshape(3, 4))
    for mode in ("L", "LA", "P"):
        assert Picture.of(grey.convert(mode)) == GREY, mode
    colour = image.new("RGB", (4, 3), (255, 0, 0))
    palette = Picture.of(colour.convert("P", palette=image.Palette.ADAPTIVE))
    assert palette == Picture.of(colour) and palette.pixels.shape == (3, 4, 3)


def test_a_tensor_is_a_picture_and_a_number_is_none() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.arange(12, dtype=torch.uint8).reshape(3, 4)
    assert is_picture(tensor) and Picture.of(tensor) == GREY
    assert Picture.of((tensor / 255).requires_grad_()) == GREY
    assert not any(map(is_picture, [np.float64(1), np.str_("a"), tensor[0, 0], "a", [[1]]]))


@pytest.mark.parametrize("text", ["", "2x2x1:u1:%%%", "2x2x1:u1:AAAA", "no picture at all", "1:2"])
def test_a_string_that_is_no_picture_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"Expected a string made by Picture\.encode"):
        Picture.decode(text)


def test_what_changed_is_measured() -> None:
    kind = kind_named("picture")
    moved = GREY.pixels.copy()
    moved[0, 0], moved[2, 3] = 0.3, GREY.pixels[2, 3] + 0.4
    changes = kind.changes(GREY, Picture(moved))
    assert changes.measures["pixels_changed"] == 2 and changes.edits == ()
    assert changes.measures["l2"] == pytest.approx(0.5)
    assert changes.measures["linf"] == pytest.approx(0.4)
    assert Picture.decode(changes.adversarial) == Picture(moved)
    with pytest.raises(UsageError, match="Did you mean 'picture'"):
        kind_named("pictures")
    assert list(KINDS) == ["text", "picture"]


def test_rows_are_the_pictures_of_single_arrays() -> None:
    pixels = np.random.default_rng(0).random((4, 5, 6, 3)).astype(np.float32)
    pictures = Picture.rows(pixels)
    assert pictures == [Picture(row) for row in pixels]
    with pytest.raises(ValueError, match="read-only"):
        pictures[0].pixels[0, 0, 0] = 1.0
    for wrong in (pixels * 2, np.full((2, 5, 6, 1), np.nan), np.zeros((2, 5, 6, 2))):
        with pytest.raises(UsageError, match="Got a picture"):
            Picture.rows(wrong)
    assert Picture.rows(pixels[:0]) == []


def test_pictures_made_together_are_stacked_at_once() -> None:
    pixels = np.random.default_rng(0).random((6, 3, 4, 1)).astype(np.float32)
    rows = Picture.rows(pixels)
    stack(rows, (3, 4, 1), "x")[:] = 0.0  # what is returned belongs to the caller
    assert (stack(rows[2:4], (3, 4, 1), "x") == pixels[2:4]).all()
    for some in (rows, rows[1:5], rows[4:2], rows[::2]):
        plain = list(some)
        assert (stack(some, (3, 4, 1), "x") == stack(plain, (3, 4, 1), "x")).all()
        assert stack(some, (3, 4, 1), "x").shape == (len(plain), 3, 4, 1)
    assert isinstance(rows[0], Picture) and rows[1:3] == [rows[1], rows[2]]
    with pytest.raises(UsageError, match="4 × 3 × 1"):
        stack(rows, (4, 3, 1), "x")
