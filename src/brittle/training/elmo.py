"""The biLM that a network with ELMo is trained on: its key, and its training if it is missing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from brittle.data import has_splits
from brittle.errors import UsageError
from brittle.training.plan import TrainingPlan
from brittle.training.splits import load_splits
from brittle.zoo.bilm import PART, reference
from brittle.zoo.folder import CARD_FILE, models_folder, trained_models
from brittle.zoo.names import grid
from brittle.zoo.names.grid import Design
from brittle.zoo.names.parsing import split_name

log = logging.getLogger(__name__)


def reads_bilm(design: Design) -> bool:
    """Tell whether a design reads the layers of a biLM."""
    return design.parts.get("embedding") == "ELMo"


def bilm_key(design: Design, settings: Any, size: str) -> str:
    """Return the key of the biLM that a network reads, trained or not; empty if it reads none."""
    if not reads_bilm(design):
        return ""
    folder = models_folder() / settings.bilm
    if (folder / CARD_FILE).is_file():
        return str(reference(folder)["key"])
    return _find_key(settings.bilm, size) or plan_bilm(settings.bilm, size).key


def bilm_name(design: Design, settings: Any, size: str) -> str:
    """Return the full name of the biLM that a network reads; empty if none is to be trained."""
    if not reads_bilm(design):
        return ""
    if (models_folder() / settings.bilm).is_dir():
        return ""  # named by its folder
    is_default = _bilm_size(size) == "default" or "?" in settings.bilm
    return settings.bilm if is_default else f"{settings.bilm}?size={_bilm_size(size)}"


def plan_bilm(name: str, size: str) -> TrainingPlan:
    """Plan the training of a biLM by its name; a tiny network reads a tiny biLM."""
    parts = split_name(name)
    if not parts.data:
        raise UsageError(
            f"Got the setting bilm={name}. Expected biLM@DATA or biLM@DATA#SEED, such as "
            "biLM@imdb#0, or the name of a biLM's folder in the cache."
        )
    design = grid.design(parts.model)
    if design.family.answers != "states":
        raise UsageError(
            f"Got the setting bilm={name}, but {design.name} is not a language model. "
            "Expected a name such as biLM@imdb#0."
        )
    size = _bilm_size(size)
    settings = grid.parse_settings(design, size, parts.settings)
    return TrainingPlan(design, settings, size, parts.seed, load_splits(parts.data, labels="none"))


def with_bilm(plan: TrainingPlan, train: Callable[[TrainingPlan], Path]) -> TrainingPlan:
    """Return the plan of a network with its biLM among the parts; train that first if missing."""
    settings: Any = plan.settings
    folder = next((m.path for m in trained_models() if m.card.key == plan.bilm), None)
    if folder is None:
        missing = plan_bilm(settings.bilm, plan.size)
        log.warning(
            "%s reads %s, which is not trained yet: brittle trains it first, once for all "
            "models that read it.",
            plan.name,
            missing.name,
        )
        folder = train(missing)
    parts = {**plan.design.parts, PART: reference(folder)}
    return replace(plan, design=replace(plan.design, parts=parts))


def _find_key(name: str, size: str) -> str:
    """Find the key of a trained biLM by its name, without loading the data it was trained on."""
    parts = split_name(name)
    if not has_splits(parts.data) or parts.settings:
        return ""  # files of one name may differ
    design, size = grid.design("biLM"), _bilm_size(size)
    wanted = (design.name, parts.data, parts.seed, grid.as_json(grid.settings(design, size)))
    for model in trained_models():
        card = model.card
        if (card.name, card.data, card.seed, card.settings) == wanted:
            return card.key
    return ""


def _bilm_size(size: str) -> str:
    return "tiny" if size == "tiny" else "default"
