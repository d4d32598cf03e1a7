"""How a function or an estimator reads items: texts, fields, or the pixels of pictures.

Targets that read pictures: scikit-learn estimators, torch modules, functions, zoo models. How items
become what a model takes: strings, dicts of fields, arrays of pixels.

Functions and estimators are asked in the same way, whatever they read: a reader turns items into
the argument, has fixed items to ask about, and says what of it belongs in a fingerprint.

Pictures as arrays, and as rows of pixels for scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.picture import Picture, Shape, stack
from brittle.targets.fingerprints import probe_texts
from brittle.targets.options import render, render_single
from brittle.text import Text


class ItemReader(Protocol):
    """How items become the argument of a model; `who` names it in messages."""

    @property
    def item_kind(self) -> str: ...

    def read(self, items: Sequence[Any], who: str) -> Any: ...

    def probes(self) -> Sequence[Any]:
        """Return fixed items, whose answers identify a model that cannot be hashed."""
        ...

    def describe(self, *kind: str) -> tuple[str, ...]:
        """Return what makes a target that reads so another one, with the kind of its scores."""
        ...


class EstimatorReader(ItemReader, Protocol):
    """How items become the argument of an estimator's methods."""

    def misfit(self, who: str, error: Exception) -> UsageError:
        """Build the error for a model that does not take what `read` returns."""
        ...


@dataclass(frozen=True)
class TextReader:
    """Reads texts as strings, or as dicts of their fields; a masked word reads as `mask`."""

    mask: str = ""
    fields: tuple[str, ...] = ("text",)
    item_kind: str = "text"

    def read(self, items: Sequence[Text], who: str) -> Any:
        return [render(item, self.mask) for item in items]

    def probes(self) -> list[Text]:
        return probe_texts(self.fields)

    def describe(self, *kind: str) -> tuple[str, ...]:
        return (*kind, self.mask)


class StringReader(TextReader):
    """Reads texts of one field as strings."""

    def read(self, items: Sequence[Text], who: str) -> list[str]:
        return render_single(items, self.mask, who)

    def misfit(self, who: str, error: Exception) -> UsageError:
        return UsageError(
            f"{who} does not take a list of strings: {type(error).__name__}: {error} "
            "Combine the vectorizer and the model in one fitted pipeline: "
            "make_pipeline(TfidfVectorizer(), model)."
        )


PROBES = 8


def probe_pictures(shape: Shape) -> list[Picture]:
    """Build fixed pictures of noise, whose scores identify a model that cannot be hashed."""
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 256, (PROBES, *shape), dtype=np.uint8)
    return [Picture.of(picture) for picture in pixels]


@dataclass(frozen=True)
class ArrayReader:
    """Reads pictures of one shape as an array, pictures × height × width × channels."""

    shape: Shape
    item_kind: str = "picture"

    def read(self, items: Sequence[Picture], who: str) -> NDArray[np.float32]:
        return stack(items, self.shape, who)

    def probes(self) -> list[Picture]:
        return probe_pictures(self.shape)

    def describe(self, *kind: str) -> tuple[str, ...]:
        return picture_settings(self.shape, *kind)


@dataclass(frozen=True)
class PixelReader(ArrayReader):
    """Reads pictures of one shape as rows: line by line, the channels of a pixel together.

    This is what `pictures.reshape(len(pictures), -1)` gives of pictures × height × width ×
    channels.
    """

    def read(self, items: Sequence[Picture], who: str) -> NDArray[np.float32]:
        return super().read(items, who).reshape(len(items), -1)

    def misfit(self, who: str, error: Exception) -> UsageError:
        size = " × ".join(map(str, self.shape))
        return UsageError(
            f"{who} does not take the pictures of the data, {size} (height × width × "
            f"channels), as rows of {np.prod(self.shape)} pixels: {type(error).__name__}: "
            f"{error} Use data of the size it was fitted on, or put the preprocessing and "
            "the model into one fitted pipeline."
        )


def picture_settings(shape: Shape, *more: Any) -> tuple[str, ...]:
    """Return what makes a target on pictures of this shape another target, for fingerprints."""
    return ("picture", *map(str, shape), *map(str, more))
