"""A small GAN on points of a plane, and its inverter, as a generator. This file needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.picture import Picture
from brittle.training.loop import seeded
from brittle.training.stepwise import Watch, resume, run_steps
from brittle.training.wgan import WganTraining
from brittle.zoo.generators.networks import Critic, Wgan
from brittle.zoo.names.settings import PictureGeneratorSettings
from brittle_papers.natural.curve import Points, as_pictures, as_points, draw_points

LATENT, WIDTH, LAYERS, POINTS = 2, 64, 3, 4000
LEAK = 0.2
MIDDLE, SPREAD = 0.5, 4.0
"""The networks read and write points around 0, so many times as far apart as in the square."""
SETTINGS = PictureGeneratorSettings(
    latent=LATENT,
    critic_steps=3,
    penalty=1.0,
    learning_rate=1e-3,
    inverter_rate=2e-3,
    batch_size=128,
)


class CurveGenerator:
    """Encodes pictures of two pixels as latent points, and decodes them."""

    size, item_kind = LATENT, "picture"

    def __init__(self, networks: Wgan, name: str) -> None:
        self.networks, self.name = networks.eval().requires_grad_(False), name
        self.fingerprint = name

    def encode(self, items: Sequence[Picture]) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = self.networks.inverter(_as_images(as_points(items))).numpy()
        return rows

    def decode(self, rows: NDArray[np.float32]) -> list[Picture]:
        latent = torch.from_numpy(np.asarray(rows, np.float32))
        decoded: Tensor = self.networks.generator(latent)
        return as_pictures(decoded.flatten(1).double().numpy() / SPREAD + MIDDLE)


def train_on_curve(folder: Path, steps: int, seed: int) -> CurveGenerator:
    """Train generator, critic and inverter on the curve; a checkpoint is in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    points, _ = draw_points(POINTS, seed)
    settings = replace(SETTINGS, steps=steps, inverter_steps=max(1, steps // 2))
    with seeded(seed, 1):
        training = WganTraining(_networks(), settings, _as_images(points), seed)
        resume(training, folder)
        run_steps(training, folder, Watch())
    return CurveGenerator(training.networks, f"curve, {steps} steps, seed {seed}")


def _networks() -> Wgan:
    """Build networks of three hidden layers; a point is an image of 1 × 1 with two channels."""

    def hidden(inputs: int, activation: nn.Module) -> list[nn.Module]:
        sizes = [inputs, *[WIDTH] * LAYERS]
        return [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), activation)]

    def features() -> nn.Sequential:
        return nn.Sequential(nn.Flatten(), *hidden(2, nn.LeakyReLU(LEAK)))

    generator = nn.Sequential(
        *hidden(LATENT, nn.ReLU()), nn.Linear(WIDTH, 2), nn.Unflatten(1, (2, 1, 1))
    )
    inverter = nn.Sequential(features(), nn.Linear(WIDTH, LATENT))
    return Wgan(generator, Critic(features(), WIDTH), inverter)


def _as_images(points: Points) -> Tensor:
    centred = (SPREAD * (points - MIDDLE)).astype(np.float32)
    return torch.from_numpy(centred).reshape(-1, 2, 1, 1)
