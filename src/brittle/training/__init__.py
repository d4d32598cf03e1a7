"""Training of the zoo's models, and access to the cache of trained models."""

from brittle.safety.files import cache_folder
from brittle.training.job import TrainingProgress
from brittle.training.train import columns_of, find, is_trained_on, train, train_on
from brittle.zoo.folder import TrainedModel, trained_models

__all__ = [
    "TrainedModel",
    "TrainingProgress",
    "cache_folder",
    "columns_of",
    "find",
    "is_trained_on",
    "train",
    "train_on",
    "trained_models",
]
