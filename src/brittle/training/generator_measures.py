"""What a trained generator of pictures is worth, in numbers for its card. This file needs torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from brittle.ranking.pixels import as_tensor
from brittle.training.generator_judge import Judge
from brittle.zoo.generators.networks import Wgan

ROWS_PER_PASS = 128
SAMPLES = 2000
DIGITS = 4
Pixels = NDArray[np.float32]


def samples(networks: Wgan, latent: int, count: int) -> Pixels:
    """Decode the same points of the latent space every time."""
    z = torch.randn(count, latent, generator=torch.Generator().manual_seed(count))
    device = next(networks.parameters()).device
    with torch.no_grad():
        passes = torch.split(z.to(device), ROWS_PER_PASS)
        parts = [networks.generator(rows).cpu() for rows in passes]
    return _pixels(torch.cat(parts))


def rebuilt(networks: Wgan, pixels: Pixels) -> Pixels:
    """Return G(I(x)) of pictures."""
    device = next(networks.parameters()).device
    parts = []
    with torch.no_grad():
        for start in range(0, len(pixels), ROWS_PER_PASS):
            rows = as_tensor(pixels[start : start + ROWS_PER_PASS], device)
            parts.append(networks.generator(networks.inverter(rows)).cpu())
    return _pixels(torch.cat(parts))


def measure(
    networks: Wgan, latent: int, held_out: Pixels, split: str, judge: Judge | None
) -> dict[str, Any]:
    """Return the figures of a generator; those of classes only if a classifier judges them."""
    copies = rebuilt(networks, held_out)
    difference = copies.astype(np.float64) - held_out
    error = np.sqrt((difference**2).mean(axis=(1, 2, 3)))
    drawn = samples(networks, latent, SAMPLES)
    figures: dict[str, Any] = {
        "held out": f"{split} split, {len(held_out):,} pictures",
        "reconstruction error": {
            "mean": round(float(error.mean()), DIGITS),
            "99 of 100": round(float(np.quantile(error, 0.99)), DIGITS),
        },
        "spread of samples": round(spread(drawn, held_out), 3),
    }
    summary = f"reconstruction error {error.mean():.3f}"
    if judge is None:
        return figures | {"summary": summary}
    probability = judge.probabilities(drawn)
    share = np.bincount(probability.argmax(axis=1), minlength=len(judge.labels)) / SAMPLES
    before, after = (judge.probabilities(p).argmax(axis=1) for p in (held_out, copies))
    kept = float((before == after).mean())
    return figures | {
        "judged by": judge.name,
        "samples": SAMPLES,
        "classes": {label: round(float(s), DIGITS) for label, s in zip(judge.labels, share)},
        "confidence": round(float(probability.max(axis=1).mean()), DIGITS),
        "label kept": round(kept, DIGITS),
        "summary": f"{summary}, label kept on {kept:.1%}, rarest class {share.min():.1%}",
    }


def spread(drawn: Pixels, real: Pixels) -> float:
    """Return how far the pixels of samples spread, over those of the data."""
    own, expected = (float(p.astype(np.float64).std(axis=0).mean()) for p in (drawn, real))
    return own / expected if expected else 0.0


def _pixels(pictures: torch.Tensor) -> Pixels:
    pixels: Pixels = pictures.permute(0, 2, 3, 1).contiguous().numpy()
    return pixels
