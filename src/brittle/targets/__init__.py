"""What is attacked: adapters that make a classifier of anything that answers about texts."""

from brittle.targets.labels import match
from brittle.targets.protocols import Classifies, Scores, Target
from brittle.targets.wrap import as_target

__all__ = ["Classifies", "Scores", "Target", "as_target", "match"]
