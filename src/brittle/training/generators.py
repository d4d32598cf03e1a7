"""Fitting of the zoo's generators, by the kind of their items."""

from __future__ import annotations

from pathlib import Path

from brittle.errors import require
from brittle.training.job import Fitted
from brittle.training.plan import TrainingPlan
from brittle.training.progress import Report


def fit_generator(plan: TrainingPlan, folder: Path, device: str, report: Report) -> Fitted:
    """Fit a generator and write its weights to a folder, where its checkpoint is until then."""
    require("torch", "torch", f"Training {plan.name}")
    from brittle.training.picture_generators import PictureGeneratorJob, fit_picture_generator

    return fit_picture_generator(PictureGeneratorJob.of(plan, folder, device, report))
