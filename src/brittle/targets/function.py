"""Functions as targets: of texts, of fields, or of pictures.

Any Python function as a target: texts or pictures in, scores or texts out.

What it receives is a list of strings, a list of dicts if the texts have several fields, or an array
of pictures × height × width × channels, from 0 to 1. It returns a table of probabilities (items ×
labels), or one answer per item: a label, a map label → score, or, if declared, a single number. A
function that translates returns a list of strings; one whose argument is annotated as `str` is
called with one text at a time.

A target on pictures from a torch module or a function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from brittle.errors import BrittleError, TargetError, UsageError, require
from brittle.picture import Shape
from brittle.targets.answer_parsers import (
    AnswerParser,
    BlackBoxClassifier,
    BlackBoxTranslator,
    ScoreParser,
    TextParser,
    of_transport,
)
from brittle.targets.fingerprints import code_of, hash_answers
from brittle.targets.labels import IF_IT_TRANSLATES, label_names, stated_labels
from brittle.targets.options import TargetOptions
from brittle.targets.protocols import Classifies, failing_as
from brittle.targets.readers import ArrayReader, ItemReader, TextReader
from brittle.targets.registry import TargetKind

A = TypeVar("A")


@dataclass(frozen=True, eq=False)
class FunctionTransport(Generic[A]):
    """Calls a function with all items, or with one a call if `one_by_one`."""

    call: Callable[[Any], Any]
    name: str
    answers: AnswerParser[A]
    reader: ItemReader
    one_by_one: bool = False

    @property
    def item_kind(self) -> str:
        return self.reader.item_kind

    def ask(self, items: Sequence[Any]) -> A:
        if not items:
            return self.answers.join([])
        who = f"Target {self.name!r}"
        answers = self.fetch(items, who)
        return self.answers.parse(answers, len(items), who)

    def fetch(self, items: Sequence[Any], who: str) -> Any:
        """Return what the function returns."""
        inputs = self.reader.read(items, who)
        with failing_as(who):
            return [self.call(one) for one in inputs] if self.one_by_one else self.call(inputs)

    def hash(self) -> str:
        """Hash the code, and the answers on fixed items if they are the same twice."""
        answers, probes = self.answers, self.reader.probes()
        labels, kind = answers.labels, ()
        if isinstance(answers, ScoreParser):
            kind = (answers.kind,)
        about = (self.name, *labels, *self.reader.describe(*kind), code_of(self.call))
        return hash_answers(
            answers.noun,
            lambda: answers.format(self.ask(probes)),
            *about,
            failures=(BrittleError,),
        )

    def close(self) -> None:
        """Close nothing: the function is the user's."""


def of_function(
    call: Callable[[Any], Any], options: TargetOptions | None = None
) -> BlackBoxClassifier | BlackBoxTranslator:
    """Build a target from a function.

    The labels of one that classifies are the user's, or its attribute `labels`. Without either they
    are those that its answer on a plain sentence names.
    """
    options = options or TargetOptions()
    name = options.name or getattr(call, "__qualname__", None) or type(call).__name__
    who = f"The function {name!r}"
    first = _check_signature(call, who)
    if options.answers == "text":
        texts, one_by_one = TextParser.of(options), first is not None and _is_string(first)
        return of_transport(FunctionTransport(call, name, texts, _text_reader(options), one_by_one))
    scores = ScoreParser.of(options, who, stated=stated_labels(call))
    reader = _text_reader(options) if options.shape is None else ArrayReader(options.shape)
    transport = FunctionTransport(call, name, scores, reader)
    if scores.learns:
        scores.learn(_first_answer(transport, who), who)
    return of_transport(transport)


def _is_string(parameter: inspect.Parameter) -> bool:
    return parameter.annotation in (str, "str")


def _text_reader(options: TargetOptions) -> TextReader:
    return TextReader(options.black_box_mask, tuple(options.fields))


def _first_answer(transport: FunctionTransport[Any], who: str) -> Any:
    """Ask a function about a plain sentence; a failure leaves the labels unknown."""
    try:
        return transport.fetch(transport.reader.probes()[:1], who)[0]
    except (TargetError, TypeError, LookupError):
        return label_names(None, None, who, IF_IT_TRANSLATES)


def _check_signature(call: Any, who: str) -> inspect.Parameter | None:
    """Refuse what cannot be called with one argument, the items; return this argument if known."""
    if isinstance(call, type):
        raise UsageError(
            f"{who} is a class. Put an instance of it in the module, such as model = "
            "Model(), and name that: brittle does not call classes."
        )
    try:
        signature = inspect.signature(call)
        bound = signature.bind([])
    except TypeError as error:
        raise UsageError(
            f"{who} cannot be called with one argument, a list of texts ({error}). If it "
            "builds a model, build it in the module and name that."
        ) from error
    except ValueError:
        return None  # a builtin has no signature: the first call shows whether it fits
    return signature.parameters[next(iter(bound.arguments))]


def check_reads(kind: TargetKind, spec: str, options: TargetOptions) -> None:
    """Refuse a kind of target that reads texts, if the data are pictures."""
    if options.shape is not None and kind.texts_only:
        raise UsageError(
            f"The data are pictures, but {spec!r} reads texts. Expected a picture model "
            "of the zoo, a .skops file, or python:module:name: a scikit-learn estimator, "
            "a torch module or a function of an array."
        )


def of_picture_object(obj: Any, shape: Shape, options: TargetOptions) -> Classifies:
    """Build a target from a torch module, or from any other function of an array."""
    options.refuse("a target on pictures", "mask", "answers")
    if not (hasattr(obj, "state_dict") and hasattr(obj, "named_modules")):
        return cast(Classifies, of_function(obj, options))
    require("torch", "torch", "A torch module")
    from brittle.targets.torch.pictures import of_picture_module

    return of_picture_module(
        obj,
        shape,
        labels=options.labels,
        scores=options.scores,
        name=options.name,
        device=options.device,
    )
