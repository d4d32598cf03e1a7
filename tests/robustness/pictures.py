"""Pictures of another size or range, broken files, and models and attacks that do not fit them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.errors import UsageError
from brittle.picture import stack
from robustness.table import row

PIXELS = np.random.default_rng(0).random((6, 4, 5)).astype(np.float32)
LABELS = [0, 1, 0, 1, 0, 1]


class Flat:
    """A model on 4 × 5 grey pictures whose gradient is zero."""

    name, fingerprint, labels, item_kind = "flat", "flat", ("0", "1"), "picture"

    def __init__(self) -> None:
        self.asked = 0

    def scores(self, items: Any) -> Any:
        stack(items, (4, 5, 1), "The model 'flat'")
        self.asked += len(items)
        return np.tile([0.6, 0.4], (len(items), 1))

    def gradients(self, requests: Any) -> list[Any]:
        return [np.zeros((4, 5, 1)) for _ in requests]


def refused(folder: Path, examples: Any, message: str, attack: str = "noise") -> None:
    """Check that a call is refused before the target has scored anything."""
    target = Flat()
    with pytest.raises(UsageError, match=message):
        brittle.attack(target, examples, attack, folder=folder)
    assert target.asked == 0


@row(
    "a picture of another size than those before it",
    "exit 2, naming the row or the file, before anything is asked",
)
def other_size(folder: Path) -> None:
    refused(folder, [PIXELS[0], PIXELS[1][:3]], r"Row 1 .* is a picture of 3 × 5 pixels")


@row(
    "pictures of another size, or with other channels, than the model reads",
    "exit 2, with both sizes, before anything is scored",
)
def other_model(folder: Path) -> None:
    refused(folder, (PIXELS[:, :3], LABELS), r"of 4 × 5 × 1 .*got one of 3 × 5 × 1")
    colour = np.stack([PIXELS] * 3, axis=3)
    refused(folder, (colour, LABELS), r"of 4 × 5 × 1 .*got one of 4 × 5 × 3")


@row(
    "pixels from 0 to 255 as floats",
    "exit 2: divide them by 255; whole numbers are divided unasked",
)
def other_range(folder: Path) -> None:
    refused(folder, (255 * PIXELS, LABELS), "divide pixels of 0 to 255 by 255")
    whole = np.rint(255 * PIXELS).astype(np.uint8)
    assert len(brittle.attack(Flat(), (whole, LABELS), "noise", folder=folder).results()) == 6


@row("a broken file in a folder of pictures", "exit 2, naming the file")
def broken_file(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for n, name in enumerate(("cat", "dog")):
        (folder / name).mkdir()
        image.fromarray(np.rint(255 * PIXELS[n]).astype(np.uint8)).save(folder / name / "a.png")
    (folder / "dog" / "b.png").write_bytes(b"no picture")
    refused(folder, str(folder), r"dog/b\.png cannot be read as a picture")


@row("a folder of pictures with one class", "exit 2")
def one_class(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    (folder / "cat").mkdir()
    image.fromarray(np.rint(255 * PIXELS[0]).astype(np.uint8)).save(folder / "cat" / "a.png")
    refused(folder, str(folder), "holds one class, 'cat'")


@row("a picture where the gradient is zero", "`skipped`, “the gradient is zero”")
def zero_gradient(folder: Path) -> None:
    rows = brittle.attack(Flat(), (PIXELS, [0] * 6), "fgsm", folder=folder).results()
    assert {(r.status, r.reason) for r in rows} == {("skipped", "the gradient is zero")}


@row(
    "an attack on texts for pictures, or on pictures for texts", "exit 2, before anything is asked"
)
def other_kind(folder: Path) -> None:
    refused(folder, (PIXELS, LABELS), "contains pictures, but attack 'pwws' edits texts", "pwws")
    refused(folder, [("a text", "0")], "contains texts, but target 'flat' reads pictures")
