"""A trained generator in half the space: weights of half precision, to be shipped."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from brittle.errors import UsageError
from brittle.zoo import folder as folders
from brittle.zoo.generators.folder import is_generator

HALF = "float16"
SHEETS = ".png"


def check_folder(to: Path) -> None:
    """Refuse to write over what is there."""
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UsageError(f"{to} already exists. Choose a new or empty folder.")


def export(folder: Path, to: Path) -> Path:
    """Write a trained generator with float16 weights to another folder; it is opened like any.

    All other files but the sheets of pictures are copied. The card's figures are those of the
    weights before the rounding.
    """
    card = folders.load_card_checked(folder)
    if not is_generator(card):
        raise UsageError(f"{card.full_name} is not a generator. Only generators can be exported.")
    check_folder(to)
    halved = {}
    for name, tensor in folders.load_tensors(folder / folders.WEIGHTS_FILE).items():
        is_float = np.issubdtype(tensor.dtype, np.floating)
        with np.errstate(over="ignore"):
            halved[name] = tensor.astype(np.float16) if is_float else tensor
        if is_float and not np.isfinite(halved[name]).all():
            raise UsageError(f"The tensor {name} of {card.full_name} has numbers beyond {HALF}.")
    to.mkdir(parents=True, exist_ok=True)
    for name in card.files:
        if name != folders.WEIGHTS_FILE and Path(name).suffix != SHEETS:
            shutil.copy(folder / name, to / name)
    folders.write_tensors(to / folders.WEIGHTS_FILE, halved)
    readme = (folder / folders.README_FILE).read_text("utf-8")
    note = f"\nThe weights are rounded to {HALF}; the figures were measured before rounding.\n"
    folders.write_card(to, replace(card, parts={**card.parts, "weights": HALF}), readme + note)
    return to
