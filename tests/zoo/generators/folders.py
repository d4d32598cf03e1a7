"""Folders of generators with random weights: nothing is trained for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from brittle.zoo import folder as folders
from brittle.zoo.folder import Card
from brittle.zoo.generators.networks import build
from brittle.zoo.generators.pictures import PARTS
from brittle.zoo.names import grid
from brittle.zoo.names.settings import PictureGeneratorSettings


def random_folder(
    path: Path,
    *,
    data: str = "toy",
    name: str = "WGAN",
    shape: tuple[int, int, int] = (12, 10, 1),
    seed: int = 0,
    measures: Any = None,
) -> Path:
    """Write a generator of the size tiny with random weights, and return its folder."""
    settings = grid.settings(grid.design(name), "tiny")
    assert isinstance(settings, PictureGeneratorSettings)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        networks = build(name, settings, shape)
    tensors = {
        key: 3 * tensor.numpy()  # so that pictures differ
        for key, tensor in networks.state_dict().items()
        if key.partition(".")[0] in PARTS
    }
    path.mkdir(parents=True)
    folders.write_tensors(path / folders.WEIGHTS_FILE, tensors)
    card = Card(
        name=name,
        kind="generator",
        data=data,
        seed=0,
        size="tiny",
        labels=(),
        fields=("picture",),
        parts={"item_kind": "picture", "shape": list(shape)},
        settings=grid.as_json(settings),
        dev_accuracy=None,
        epochs=1,
        examples=1,
        data_fingerprint="",
        key="",
        seconds=0.0,
        versions={},
        measures=measures or {},
    )
    folders.write_card(path, card, "# A generator\n")
    return path
