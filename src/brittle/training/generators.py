"""Fitting of the zoo's generators, by the kind of their items."""

from __future__ import annotations

from pathlib import Path

from brittle.errors import require
from brittle.training.job import Fitted, TrainingJob
from brittle.training.plan import TrainingPlan
from brittle.training.progress import Report
from brittle.zoo.names.settings import SentenceGeneratorSettings


def fit_generator(plan: TrainingPlan, folder: Path, device: str, report: Report) -> Fitted:
    """Fit a generator and write its weights to a folder, where its checkpoint is until then."""
    require("torch", "torch", f"Training {plan.name}")
    if isinstance(plan.settings, SentenceGeneratorSettings):
        from brittle.training.arae import fit_sentence_generator

        return fit_sentence_generator(_sentence_job(plan, folder, device, report), plan.settings)
    from brittle.training.picture_generators import PictureGeneratorJob, fit_picture_generator

    return fit_picture_generator(PictureGeneratorJob.of(plan, folder, device, report))


def _sentence_job(plan: TrainingPlan, folder: Path, device: str, report: Report) -> TrainingJob:
    splits = plan.splits
    return TrainingJob(
        name=plan.name,
        design=plan.design,
        settings=plan.settings,
        seed=plan.seed,
        labels=(),
        fields=splits.fields,
        train=splits.labelled(splits.train),
        dev=splits.labelled(splits.dev),
        folder=folder,
        device=device,
        report=report,
        data=splits.name,
    )
