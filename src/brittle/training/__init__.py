"""Fitting the zoo's models, and the cache that keeps them."""

from brittle.training.cache import Trained, cache_folder, trained
from brittle.training.progress import Progress
from brittle.training.train import find, train, train_on

__all__ = ["Progress", "Trained", "cache_folder", "find", "train", "train_on", "trained"]
