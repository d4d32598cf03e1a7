"""Find the inputs that break a text model, measure how easily it breaks, and see why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brittle import data
    from brittle.errors import BrittleError
    from brittle.generators import perturb
    from brittle.inside.nearest import nearest
    from brittle.opening import as_target
    from brittle.picture import Picture
    from brittle.runs.gate import gate
    from brittle.runs.options import Keep, Limits
    from brittle.runs.run import Run, open_run
    from brittle.runs.runner import attack
    from brittle.runs.trying import ladder
    from brittle.studies.grid.grid import grid
    from brittle.studies.guard.guard import guard
    from brittle.studies.importance import importance
    from brittle.studies.robustness.robustness import robustness
    from brittle.studies.rules.tasks import mine
    from brittle.studies.selecting.choosing import select
    from brittle.studies.transfer.transfer import transfer
    from brittle.targets.options import Target
    from brittle.targets.torch.build import torch_target
    from brittle.text import Text
    from brittle.training.augmenting import augment
    from brittle.training.train import train
    from brittle.workflow.backends import Workers

__all__ = [
    "BrittleError",
    "Keep",
    "Limits",
    "Picture",
    "Run",
    "Target",
    "Text",
    "Workers",
    "as_target",
    "attack",
    "augment",
    "data",
    "gate",
    "grid",
    "guard",
    "importance",
    "ladder",
    "mine",
    "nearest",
    "open_run",
    "perturb",
    "robustness",
    "select",
    "torch_target",
    "train",
    "transfer",
]

_HOMES = {
    "BrittleError": "brittle.errors",
    "Keep": "brittle.runs.options",
    "Limits": "brittle.runs.options",
    "Picture": "brittle.picture",
    "Run": "brittle.runs.run",
    "Target": "brittle.targets.options",
    "Text": "brittle.text",
    "Workers": "brittle.workflow.backends",
    "as_target": "brittle.opening",
    "attack": "brittle.runs.runner",
    "augment": "brittle.training.augmenting",
    "gate": "brittle.runs.gate",
    "grid": "brittle.studies.grid.grid",
    "guard": "brittle.studies.guard.guard",
    "importance": "brittle.studies.importance",
    "ladder": "brittle.runs.trying",
    "mine": "brittle.studies.rules.tasks",
    "nearest": "brittle.inside.nearest",
    "open_run": "brittle.runs.run",
    "perturb": "brittle.generators",
    "robustness": "brittle.studies.robustness.robustness",
    "select": "brittle.studies.selecting.choosing",
    "torch_target": "brittle.targets.torch.build",
    "train": "brittle.training.train",
    "transfer": "brittle.studies.transfer.transfer",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import brittle` stays quick."""
    import importlib

    if name == "data":
        return importlib.import_module("brittle.data")
    if name not in _HOMES:
        raise AttributeError(f"module 'brittle' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
