"""How a target is opened, and which options have no effect on which kind of target."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.errors import UsageError
from brittle.targets.labels import Labels
from brittle.targets.rendering import PADDING


@dataclass(frozen=True)
class TargetOptions:
    """How a target is opened: the keyword arguments of `as_target`.

    `columns` has, by the name of data in a table, the options `text` and `label` with which models
    of the zoo are trained on it. `wanted_mask` holds where `mask` says nothing and the target can
    read a hole so: an attack asks for it, where `mask` is the user's.
    """

    labels: Labels = None
    scores: str = "auto"
    mask: str | None = None
    name: str | None = None
    device: str = "auto"
    fields: Sequence[str] = ("text",)
    trust: Collection[str] = ()
    timeout: float = 30.0
    progress: Callable[[Any], None] | None = None
    answers: str = "auto"
    shape: tuple[int, int, int] | None = None
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    wanted_mask: str | None = None

    @property
    def black_box(self) -> dict[str, Any]:
        """Return the arguments of every black-box adapter; a hole is an empty string to it."""
        names = {"labels": self.labels, "name": self.name}
        return names | {"scores": self.scores, "mask": self._black_box_mask}

    @property
    def _black_box_mask(self) -> str:
        """Return what stands for a masked word where the model's vectors are not known."""
        if self.mask == PADDING:
            raise UsageError(
                f"Got --mask {PADDING} for a black box. A zero vector in place of a word needs a "
                "model whose vectors are known: a zoo model or a transformers classifier. Leave "
                "--mask out (a masked word is then nothing), or name a text that stands for it."
            )
        return self.mask or ""

    @property
    def translator(self) -> dict[str, Any]:
        """Return the arguments of every translator; refuse what only a classifier has."""
        self.refuse_classifier()
        return {"name": self.name, "mask": self._black_box_mask}

    def refuse_classifier(self) -> None:
        """Refuse, for a translator, what only a classifier has."""
        for flag in ("labels", "scores"):
            if getattr(self, flag) != getattr(TargetOptions, flag):
                raise UsageError(
                    f"Got --{flag} {getattr(self, flag)!r} for a translator, which answers texts: "
                    f"it has no labels and no scores. Leave --{flag} out."
                )
        if self.answers == "scores":
            raise UsageError("Got --answers scores for a translator, which answers texts.")

    @property
    def transformers(self) -> dict[str, Any]:
        """Return the arguments of the transformers adapter."""
        named = {"labels": self.labels, "name": self.name}
        return named | {"mask": self.mask, "device": self.device}

    @property
    def seq2seq(self) -> dict[str, Any]:
        """Return the arguments of the seq2seq adapter."""
        return self.translator | {"mask": self.mask, "device": self.device}

    def refuse(self, what: str, *flags: str) -> None:
        """Refuse flags that would have no effect on this kind of target."""
        for flag in flags:
            value = getattr(self, flag)
            if value != getattr(TargetOptions, flag):
                raise UsageError(
                    f"Got --{flag} {value!r} for {what}, where it is known and cannot be set. "
                    "Leave it out."
                )
