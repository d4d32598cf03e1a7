"""Fitting of the networks on pictures. This file needs torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.ranking.pixels import as_tensor
from brittle.training.job import Fitted
from brittle.training.loop import Trainable, fit_and_save, seeded
from brittle.training.pictures import PictureJob, share_correct
from brittle.zoo import folder as folders
from brittle.zoo.device import torch_device
from brittle.zoo.names.settings import PictureNetworkSettings
from brittle.zoo.pictures.networks import build, forward


def chosen_rows(count: int, share: float, seed: int) -> NDArray[np.int64]:
    """Return the rows that a network learns from; those of a smaller share are among them.

    >>> chosen_rows(4, 1.0, 0)
    array([0, 1, 2, 3])
    >>> set(chosen_rows(100, 0.1, 7)) < set(chosen_rows(100, 0.2, 7))
    True
    """
    kept = np.random.default_rng(seed).permutation(count)[: max(1, round(share * count))]
    return np.sort(kept)


def fit_picture_network(job: PictureJob, settings: PictureNetworkSettings) -> Fitted:
    """Fit a network by the cross-entropy of its logits."""
    device = torch_device(job.device)
    with seeded(job.seed, 1):
        network = build(job.model, settings, job.shape, job.classes).to(device)
        chosen = chosen_rows(len(job.train.label), settings.data_share, job.seed)
        pixels = as_tensor(job.train.pixels[chosen], device)
        label = torch.from_numpy(job.train.label[chosen]).to(device)

        def save(folder: Path) -> None:
            tensors = {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}
            folders.write_tensors(folder / folders.WEIGHTS_FILE, tensors)

        def loss(rows: list[int]) -> Tensor:
            return nn.functional.cross_entropy(forward(network, pixels[rows]), label[rows])

        def predict(pictures: NDArray[np.float32]) -> NDArray[np.int64]:
            with torch.no_grad():
                logits = forward(network, as_tensor(pictures, device))
            predicted: NDArray[np.int64] = logits.argmax(dim=1).cpu().numpy()
            return predicted

        trainable = Trainable(
            network,
            settings,
            prepare=lambda epoch: [1] * len(label),
            loss=loss,
            accuracy=lambda: share_correct(predict, job.dev),
        )
        return fit_and_save(job, trainable, save)
