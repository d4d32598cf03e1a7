"""Targets: adapters that make a classifier of anything that answers questions about texts."""

from brittle.targets.labels import match_labels
from brittle.targets.protocols import Classifies, Scores, Target

__all__ = ["Classifies", "Scores", "Target", "match_labels"]
