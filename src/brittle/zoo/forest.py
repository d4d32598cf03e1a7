"""A random forest on pixels, in numpy, and pictures of one shape as keys.

Pictures of one shape as keys, and back: the bytes of their pixels.

A random forest on pixels, in numpy: what scikit-learn fits, without scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.picture import Shape, check_pictures, stack
from brittle.zoo import folder as folders
from brittle.zoo.folder import Card


def keys_of(items: Sequence[Any], shape: Shape, name: str) -> list[bytes]:
    """Return the keys of pictures; what is no picture of this shape is an error."""
    check_pictures(items, shape, f"The model {name!r}")
    return [item.pixels.tobytes() for item in items]


def pixels_of(keys: Sequence[bytes], shape: Shape) -> NDArray[np.float32]:
    """Return the pixels of keys, as pictures × height × width × channels."""
    return np.frombuffer(b"".join(keys), np.float32).reshape(len(keys), *shape)


@dataclass(frozen=True)
class Forest:
    """Trees whose nodes are numbered through; `root` has the first node of every tree.

    A picture goes `left` where the pixel `feature` is at most the `threshold`, else `right`; a leaf
    has itself on both sides. `probability` is nodes × labels, and the mean over the trees counts.
    """

    shape: Shape
    root: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    probability: NDArray[np.float64]
    parallel: ClassVar[int] = 1

    @staticmethod
    def built(shape: Shape, labels: int, tensors: Mapping[str, NDArray[Any]]) -> Forest:
        names = ("root", "left", "right", "feature", "threshold", "probability")
        if set(tensors) != set(names) or tensors["probability"].shape[1:] != (labels,):
            raise UsageError(f"its tensors are not {', '.join(names)} for {labels} labels")
        return Forest(shape, **tensors)

    def encode(self, items: Sequence[Any]) -> list[bytes]:
        return keys_of(items, self.shape, "forest")

    def logits(self, keys: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities; that of 0 is minus infinity."""
        return self._logits(pixels_of(keys, self.shape))

    def picture_logits(self, items: Sequence[Any]) -> NDArray[np.float64]:
        """Return the logits of pictures, without their keys."""
        return self._logits(stack(items, self.shape, "The model 'forest'", is_only_read=True))

    def _logits(self, pixels: NDArray[np.float32]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            table: NDArray[np.float64] = np.log(self.probabilities(pixels.reshape(len(pixels), -1)))
        return table

    def probabilities(self, pixels: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the mean of the trees' probabilities for rows of pixels."""
        row = np.arange(len(pixels))[:, None]
        node = np.broadcast_to(self.root, (len(pixels), len(self.root)))
        while True:
            is_left = pixels[row, self.feature[node]] <= self.threshold[node]
            child = np.where(is_left, self.left[node], self.right[node])
            if np.array_equal(child, node):
                mean: NDArray[np.float64] = self.probability[node].mean(axis=1)
                return mean
            node = child

    def close(self) -> None:
        pass


def open_forest(folder: Path, card: Card, device: str, hole_id: int) -> Forest:
    """Load a random forest."""
    height, width, channels = card.parts["shape"]
    tensors = folders.load_tensors(folder / folders.WEIGHTS_FILE)
    return Forest.built((height, width, channels), len(card.labels), tensors)


def forest_tensors(trees: Sequence[Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of fitted trees of scikit-learn, their nodes numbered through."""
    parts: dict[str, list[NDArray[Any]]] = {}
    start, root = 0, []
    for tree in (fitted.tree_ for fitted in trees):
        own = np.arange(tree.node_count)
        is_leaf = tree.children_left < 0
        value = tree.value[:, 0, :]
        columns = {
            "left": start + np.where(is_leaf, own, tree.children_left),
            "right": start + np.where(is_leaf, own, tree.children_right),
            "feature": np.where(is_leaf, 0, tree.feature),
            "threshold": np.where(is_leaf, np.inf, tree.threshold),
            "probability": value / value.sum(axis=1, keepdims=True),
        }
        for name, column in columns.items():
            parts.setdefault(name, []).append(column)
        root.append(start)
        start += tree.node_count
    joined = {name: np.concatenate(columns) for name, columns in parts.items()}
    return {"root": np.array(root, np.int64), **joined}
