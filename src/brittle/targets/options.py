"""Options of a target as one value, how a masked word reads, and variables of the environment.

Rendering of texts for black boxes: a string, or a dict of strings for several fields. Values of
environment variables in the description of a target: `${NAME}`. How a target is opened: one value,
filled once at the edge, and handed on as it is.

An option is a field of `TargetOptions`. Its default, its type and its help make the flag of the
command line, the keyword of `brittle.as_target` and `brittle.attack`, and what a run stores to open
its target again. So a new option is added here, and used in the adapter that it is for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

from brittle.errors import UsageError, unknown
from brittle.redaction import remember
from brittle.text import Text
from brittle.values import Flag, flags_of

PADDING, UNKNOWN = "pad", "unknown"
"""Values of `mask` for models whose tokens are known: the model reads a masked word as padding (a
zero vector) or as the unknown word."""
PICKLED = (".joblib", ".pkl", ".pickle")
"""Endings of files that are opened only if they are trusted by name: loading them runs code."""


def render(item: Text, mask: str) -> str | dict[str, str]:
    """Render a text, its holes as `mask`: one field as a string, several as a dict."""
    fields = item.fields(mask)
    return next(iter(fields.values())) if len(fields) == 1 else fields


def render_single(items: Sequence[Text], mask: str, who: str) -> list[str]:
    """Render texts for a target that reads only one field; several fields are an error."""
    texts = []
    for item in items:
        text = render(item, mask)
        if isinstance(text, dict):
            raise UsageError(
                f"{who} reads one text, but the data has the fields {', '.join(text)}. "
                "Wrap it in a function that takes a list of dicts (python:module:name), "
                "or choose one column."
            )
        texts.append(text)
    return texts


VARIABLE = re.compile(r"\$\{(\w+)\}")


def fill_in(template: str, where: str) -> str:
    """Replace `${NAME}` by the value of the environment variable, which is hidden from then on."""

    def value_of(match: re.Match[str]) -> str:
        value = os.environ.get(match[1])
        if value is None:
            raise UsageError(
                f"The {where} needs the environment variable {match[1]}, which is not set. "
                f"Set it first: export {match[1]}=…"
            )
        remember(value)
        return value

    return VARIABLE.sub(value_of, template)


T = TypeVar("T")
Labels = str | Sequence[str] | Mapping[str, str] | None
ScoreKind = Literal["auto", "prob", "percent", "logits", "single", "label"]
SCORE_KINDS: tuple[ScoreKind, ...] = get_args(ScoreKind)
ANSWERS = ("auto", "scores", "text")
"""What a target answers with (`--answers`); auto: depends on the kind of target."""
FLOAT32, BF16, FP16 = PRECISIONS = ("float32", "bf16", "fp16")
"""The precision that candidates are scored in (`--precision`)."""


class NoZeroVector(UsageError):
    """The model cannot read a hole as a zero vector."""


@dataclass(frozen=True, kw_only=True)
class TargetOptions:
    """How a target is opened. What has a flag is for the user to say.

    `fields`, `data_labels`, `shape` (of pictures: height, width and channels) and `columns` are
    those of the data; `columns` has, by the name of data in a table, the options `text` and `label`
    with which models of the zoo are trained on it. `wanted_mask` is what the attack wants to read
    for a masked word: it holds where `mask` is None and the target can read it. `progress` receives
    the reports of a training.
    """

    labels: Annotated[
        Labels,
        Flag(
            "the target's labels in order, or DATA=TARGET,… if data and target use different names"
        ),
    ] = None
    scores: Annotated[
        str,
        Flag(
            "what the target returns (default: probabilities, or detected)",
            choices=SCORE_KINDS,
        ),
    ] = "auto"
    answers: Annotated[
        str,
        Flag(
            "what the target returns: scores, or text like a translator (default: auto)",
            choices=ANSWERS,
        ),
    ] = "auto"
    mask: Annotated[
        str | None,
        Flag(
            "what the target reads for a masked word: a text, or for zoo models and "
            "transformers classifiers pad (a zero vector) or unknown"
        ),
    ] = None
    timeout: Annotated[
        float,
        Flag(
            "longest time for one text (cmd:) or one batch (filter:), in seconds (default: 30)",
            metavar="SECONDS",
        ),
    ] = 30.0
    device: Annotated[str, Flag("auto, cpu, cuda or mps (default: auto)")] = "auto"
    precision: Annotated[
        str,
        Flag(
            "precision for scoring candidates with a transformers model or a torch "
            "network; originals and winners always use float32 (default: float32; fp16 "
            "needs a GPU)",
            choices=PRECISIONS,
        ),
    ] = FLOAT32
    trust: Annotated[
        Collection[str],
        Flag("a type that a .skops file may contain (can be repeated)", metavar="TYPE"),
    ] = ()
    body: Annotated[
        str | None,
        Flag(
            "JSON to send to an address (http://…), with {text} for the text "
            """(default: '{"text": "{text}"}')""",
            metavar="JSON",
        ),
    ] = None
    path: Annotated[
        str | None,
        Flag(
            "position of the scores or the label in the answer of an address, such as "
            "0.scores (default: detected)",
            metavar="STEPS",
        ),
    ] = None
    header: Annotated[
        Collection[str],
        Flag(
            "a header for an address, such as 'Authorization: Bearer ${TOKEN}' (repeatable)",
            metavar="HEADER",
        ),
    ] = ()
    prompt: Annotated[
        str | None,
        Flag(
            "the prompt of a chat model, a file or a text in which {text} stands for the text "
            "(default: the labels are listed and one is asked for; with --answers text, the text)",
            metavar="FILE|TEXT",
        ),
    ] = None
    key_env: Annotated[
        str | None,
        Flag(
            "the variable of the environment with the key of a chat model (default: "
            "OPENAI_API_KEY, if it is set)",
            metavar="NAME",
        ),
    ] = None
    read: Annotated[
        str | None,
        Flag(
            "how a label is read from the answer of a chat model: name, regex:PATTERN or json:PATH "
            "(default: name)",
            metavar="HOW",
        ),
    ] = None
    repeats: Annotated[
        int,
        Flag("ask a chat model K times about each text; most answers decide (default: 1)", "K"),
    ] = 1
    price: Annotated[
        str | None,
        Flag(
            "what a million tokens of a chat model cost, read and written, such as 0.15,0.60",
            metavar="IN,OUT",
        ),
    ] = None
    trust_pickle: Annotated[
        str | None,
        Flag(
            "load this .joblib or .pkl file as the target; this runs its code",
            metavar="FILE",
            is_stored=False,
        ),
    ] = None
    name: str | None = None
    fields: Sequence[str] = ("text",)
    data_labels: Sequence[str] = ()
    shape: tuple[int, int, int] | None = None
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    wanted_mask: str | None = None
    progress: Callable[[Any], None] | None = None

    def check(self) -> None:
        """Refuse options that no target has."""
        check_kind(self.scores)
        check_answers(self.answers)
        check_precision(self.precision)

    def refuse(self, what: str, *flags: str) -> None:
        """Refuse flags that would have no effect on this kind of target."""
        for flag in flags:
            if self._is_set(flag):
                raise UsageError(
                    f"Got --{flag.replace('_', '-')} {getattr(self, flag)!r} for {what}, "
                    "which sets it itself. Leave it out."
                )

    def refuse_classifier(self) -> None:
        """Refuse, for a translator, what only a classifier has."""
        for flag in ("labels", "scores"):
            if self._is_set(flag):
                raise UsageError(
                    f"Got --{flag} {getattr(self, flag)!r} for a translator, which has no "
                    f"labels and no scores. Leave --{flag} out."
                )
        if self.answers == "scores":
            raise UsageError(
                "Got --answers scores for a translator, which answers with texts. Leave it out."
            )

    def read_with_mask(self, build: Callable[[str | None], T]) -> T:
        """Build a target with the mask that an attack wants, if it can read it and none is set."""
        if self.mask is None and self.wanted_mask is not None:
            try:
                return build(self.wanted_mask)
            except NoZeroVector:
                pass
        return build(self.mask)

    @property
    def black_box_mask(self) -> str:
        """What stands for a masked word where the model's vectors are not known."""
        if self.mask == PADDING:
            raise UsageError(
                f"Got --mask {PADDING} for a black box. A zero vector needs a zoo model "
                "or a transformers classifier. Leave --mask out (masked words are then "
                "removed), or give a text to use instead."
            )
        return self.mask or ""

    def _is_set(self, flag: str) -> bool:
        value, default = getattr(self, flag), getattr(TargetOptions, flag)
        return bool(value) if isinstance(default, tuple) else bool(value != default)


@dataclass(frozen=True)
class Target(TargetOptions):
    """The target of an attack, a name or a live object, and the options for opening it.

    >>> Target("http:api.toml", scores="logits").stored()["scores"]
    'logits'
    """

    model: Any
    opened: Any = field(default=None, kw_only=True)
    """The target itself, if it is already open; `model` is then its name in the run."""

    @staticmethod
    def of(target: Any, **options: Any) -> Target:
        """Return a target with these options; they override the options of a `Target`."""
        known = [option.name for option in fields(TargetOptions)]
        for name in options.keys() - set(known):
            raise unknown("option of a target", name, known)
        if isinstance(target, Target):
            return replace(target, **options)
        return Target(target, **options)

    @property
    def is_named(self) -> bool:
        """Whether another process can open it by its name."""
        return isinstance(self.model, str)

    def as_stored(self, about: Mapping[str, Any]) -> Target:
        """Return the target that a run has stored, with these options added where it has none."""
        stored = dict(about)
        return replace(self, model=stored.pop("spec"), **stored)

    def stored(self) -> dict[str, Any]:
        """Return what a run stores to open a named target again; nothing for a live object."""
        if not self.is_named:
            return {}
        return {"spec": self.model, **{name: getattr(self, name) for name in stored_options()}}


def stored_options() -> tuple[str, ...]:
    """Return the names of the options that a run keeps: the user's, and the attack's mask."""
    stored = [name for name, flag in flags_of(TargetOptions).items() if flag.is_stored]
    return (*stored, "wanted_mask")


def stored_types() -> dict[str, Any]:
    """Return the type that each of them has in a stored run, or null."""
    hints = get_type_hints(TargetOptions)
    return {name: hints[name] | None for name in stored_options()}


def check_kind(name: str) -> ScoreKind:
    """Check the name of a kind of scores."""
    if name not in SCORE_KINDS:
        raise unknown("kind of scores", name, SCORE_KINDS, "It is set by --scores.")
    return name


def check_answers(name: str, remedy: str = "It is set by --answers.") -> str:
    """Check the name of a kind of answers."""
    if name not in ANSWERS:
        raise unknown("kind of answers", name, ANSWERS, remedy)
    return name


def check_precision(name: str) -> str:
    """Check the name of a precision."""
    if name not in PRECISIONS:
        raise unknown("precision", name, PRECISIONS, "It is set by --precision.")
    return name
