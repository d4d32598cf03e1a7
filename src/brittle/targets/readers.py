"""How items become what a model takes: strings, dicts of fields; pictures in pictures/reading.py.

Functions and estimators are asked in the same way, whatever they read: a reader turns items into
the argument, has fixed items to ask about, and says what of it belongs in a fingerprint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from brittle.errors import UsageError
from brittle.targets.fingerprints.hashing import probe_texts
from brittle.targets.rendering import render, render_single
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
            f"{who} does not take a list of strings: {type(error).__name__}: {error} Put the "
            "vectorizer before it in one fitted pipeline: make_pipeline(TfidfVectorizer(), model)."
        )
