"""Fitting of the networks on pictures. This file needs torch."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.ranking.moves import as_tensor
from brittle.training.job import Fitted, TrainingJob, changed_result
from brittle.training.loop import Trainable, fit_and_save, seeded
from brittle.training.pictures import labelled_pictures, shape_of, share_correct
from brittle.zoo.device import torch_device
from brittle.zoo.pictures import build, forward
from brittle.zoo.restoring import save_network


def chosen_rows(count: int, share: float, seed: int) -> NDArray[np.int64]:
    """Return the rows that a network learns from; those of a smaller share are among them.

    >>> chosen_rows(4, 1.0, 0)
    array([0, 1, 2, 3])
    >>> set(chosen_rows(100, 0.1, 7)) < set(chosen_rows(100, 0.2, 7))
    True
    """
    kept = np.random.default_rng(seed).permutation(count)[: max(1, round(share * count))]
    return np.sort(kept)


def fit_picture_network(job: TrainingJob) -> Fitted:
    """Fit a network by the cross-entropy of its logits."""
    device, settings, shape = torch_device(job.device), job.settings, shape_of(job)
    train, dev = (labelled_pictures(job, part) for part in (job.splits.train, job.splits.dev))
    with seeded(job.seed, 1):
        network = build(job.design.name, settings, shape, len(job.labels)).to(device)
        chosen = chosen_rows(len(train.label), settings.data_share, job.seed)
        pixels = as_tensor(train.pixels[chosen], device)
        label = torch.from_numpy(train.label[chosen]).to(device)

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
            accuracy=lambda: share_correct(predict, dev),
        )
        return changed_result(
            lambda: fit_and_save(job, trainable, partial(save_network, network=network)),
            lambda fitted: replace(fitted, parts={"shape": list(shape)}),
        )
