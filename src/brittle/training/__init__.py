"""Fitting the zoo's models, and the cache that keeps them."""

from brittle.training.progress import Progress
from brittle.training.train import find, train, train_on
from brittle.zoo.cache import Trained, cache_folder, trained

__all__ = ["Progress", "Trained", "cache_folder", "find", "train", "train_on", "trained"]
