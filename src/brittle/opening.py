"""From what a user hands in, a live object or a name, to a target."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from brittle.errors import UsageError
from brittle.targets.labels import Labels, label_names
from brittle.targets.protocols import Classifies, HasScores
from brittle.targets.scores import check_kind
from brittle.training.progress import silent

if TYPE_CHECKING:
    from brittle.targets.zoo.target import ZooTarget

EXAMPLES = """\
  zoo:LSTM-W-Random-1@mr    a model of our own, trained when first used
  folder/                   a transformers classifier, or a trained zoo model
  hf:NAME                   a transformers classifier from the hub
  model.skops               a scikit-learn pipeline
  python:module:name        any Python function, pipeline or target
  http:endpoint.toml        an HTTP endpoint
  cmd:'PROGRAM ARGS'        a program that answers line by line
"""
PICKLES = (".pkl", ".pickle", ".joblib", ".dill", ".sav", ".pt", ".pth", ".bin")


@dataclass(frozen=True)
class Options:
    """What may be said of a target beside what it is."""

    labels: Labels = None
    scores: str = "auto"
    mask: str | None = None
    name: str | None = None
    device: str = "auto"
    fields: Sequence[str] = ("text",)
    trust: Collection[str] = ()
    timeout: float = 30.0
    progress: Callable[[Any], None] | None = None

    @property
    def black_box(self) -> dict[str, Any]:
        """Give what every adapter of a black box takes; to it a hole reads as nothing at all."""
        return {"labels": self.labels, "scores": self.scores, "mask": self.mask or ""}

    def refuse(self, what: str, *flags: str) -> None:
        """Refuse flags that would be without effect on this kind of target."""
        for flag in flags:
            value = getattr(self, flag)
            if value != getattr(Options, flag):
                raise UsageError(
                    f"Got --{flag} {value!r} for {what}, where it is known and cannot be set. "
                    "Leave it out."
                )


def as_target(
    thing: Any,
    *,
    labels: Labels = None,
    scores: str = "auto",
    mask: str | None = None,
    name: str | None = None,
    device: str = "auto",
    fields: Sequence[str] = ("text",),
    trust: Collection[str] = (),
    timeout: float = 30.0,
    progress: Callable[[Any], None] | None = None,
) -> Classifies:
    """Make a target of a live object or of a name; a target is given back as it is.

    `scores` says what comes back where that is not known (prob, logits, single, label), `mask` how
    a masked word reads (default: to a black box as nothing at all, to a transformers model as its
    mask token). `trust` names types a `.skops` file may hold, `timeout` is for one line of a
    command, `fields` are those of the data, and `progress` hears how the training of a zoo model
    goes.
    """
    check_kind(scores)
    options = Options(labels, scores, mask, name, device, fields, trust, timeout, progress)
    if isinstance(thing, str | os.PathLike):
        return _named(str(thing), options)
    return _live(thing, options)


def _named(spec: str, options: Options) -> Classifies:
    for prefix, opened in OPENERS.items():
        if spec.startswith(prefix):
            return opened(spec, options)
    path = Path(spec)
    if path.suffix in PICKLES:
        raise UsageError(
            f"{spec!r} is a pickled file, and loading one runs whatever code is in it. Convert it "
            "where it was made, skops.io.dump(model, 'model.skops'), or load it in a module of "
            "your own and name the object: python:module:name."
        )
    if path.suffix == ".skops":
        return _skops(path, options)
    if (path / "model.json").is_file():
        return _zoo_folder(path, options)
    if (path / "config.json").is_file():
        return _transformers(spec, options)
    if spec and path.is_dir():
        raise UsageError(
            f"The folder {spec!r} holds no model: neither config.json (transformers) nor "
            "model.json (zoo) is in it."
        )
    raise _strange(repr(spec))


def _live(thing: Any, options: Options) -> Classifies:
    """Make a target of a live object, by what it can do."""
    if isinstance(thing, type):
        raise UsageError(
            f"Got the class {thing.__name__}. brittle calls nothing to make a target: hand in an "
            "instance, or put one in the module (model = Model()) and name that."
        )
    if isinstance(thing, HasScores) and hasattr(thing, "labels"):
        return _checked(cast(Classifies, thing), options)
    if hasattr(thing, "model") and hasattr(thing, "tokenizer"):
        from brittle.targets.transformers import classifier as transformers

        options.refuse("a transformers classifier", "scores")
        return transformers.of_model(
            thing.model,
            thing.tokenizer,
            labels=options.labels,
            mask=options.mask,
            name=options.name,
            device=options.device,
        )
    if hasattr(thing, "predict") and (hasattr(thing, "fit") or hasattr(thing, "classes_")):
        from brittle.targets.sklearn import of_estimator

        return of_estimator(thing, name=options.name, **options.black_box)
    if callable(thing):
        from brittle.targets.function import of_function

        return of_function(thing, name=options.name, fields=options.fields, **options.black_box)
    raise _strange(f"a {type(thing).__name__}")


def load_zoo(
    spec: str,
    *,
    device: str = "auto",
    size: str = "default",
    train: bool = True,
    progress: Callable[[Any], None] | None = None,
    **options: Any,
) -> ZooTarget:
    """Load a model by `zoo:NAME@DATA#SEED`; train it first if it is not in the cache.

    Settings that are not the model's own stand after a question mark, as in
    `zoo:NAME@DATA#SEED?hidden=32,size=paper`. `options` are those of training: text and label, the
    columns of a file. With `train=False` a model that is not trained yet is an error.
    """
    from brittle import training
    from brittle.targets.zoo.target import load_folder
    from brittle.training.adversarial.parsing import is_by_attack
    from brittle.zoo.names.parsing import find_listed, parse

    wanted = parse(spec, size)
    model = (wanted.source, wanted.data, wanted.seed)
    options |= {"size": wanted.size, "changed": wanted.changed}
    folder = find_listed(wanted) or training.find(*model, **options)
    # To attack a model in training takes long, so it is never begun without being asked for.
    if folder is None and (not train or is_by_attack(wanted.source)):
        raise UsageError(
            f"The model {wanted.full_name!r} is not trained yet. Train it with: {wanted.command}"
        )
    if folder is None:
        folder = training.train(*model, device=device, progress=progress or silent, **options)
    return load_folder(folder, device=device)


def _zoo(spec: str, options: Options) -> Classifies:
    options.refuse("a zoo model", "scores", "mask")
    target = load_zoo(spec, device=options.device, progress=options.progress)
    return _checked(target, options)


def _zoo_folder(path: Path, options: Options) -> Classifies:
    from brittle.targets.zoo import target as zoo

    options.refuse("a zoo model", "scores", "mask")
    return _checked(zoo.load_folder(path, device=options.device), options)


def _python(spec: str, options: Options) -> Classifies:
    from brittle.targets.function import import_target

    return _live(import_target(spec), replace(options, name=options.name or spec))


def _http(spec: str, options: Options) -> Classifies:
    from brittle.targets.http import target as http

    return http.load(spec, name=options.name, **options.black_box)


def _command(spec: str, options: Options) -> Classifies:
    from brittle.targets.command.target import Command

    return Command(spec, name=options.name, timeout=options.timeout, **options.black_box)


def _transformers(spec: str, options: Options) -> Classifies:
    from brittle.targets.transformers import classifier as transformers

    options.refuse("a transformers classifier", "scores")
    return transformers.load(
        spec,
        labels=options.labels,
        mask=options.mask,
        name=options.name,
        device=options.device,
    )


def _skops(path: Path, options: Options) -> Classifies:
    from brittle.targets.sklearn import load_skops, of_estimator

    model, fingerprint = load_skops(path, trust=options.trust)
    name = options.name or path.stem
    return of_estimator(model, name=name, fingerprint=fingerprint, **options.black_box)


OPENERS: dict[str, Callable[[str, Options], Classifies]] = {
    "zoo:": _zoo,
    "python:": _python,
    "http:": _http,
    "cmd:": _command,
    "hf:": _transformers,
}


def _checked(target: Classifies, options: Options) -> Classifies:
    """Check `labels` against a target that has names already."""
    who = f"The target {target.name!r}"
    if label_names(target.labels, options.labels, who) != tuple(target.labels):
        raise UsageError(
            f"{who} names its labels {', '.join(target.labels)}. Say which label of the data is "
            "which: --labels data=target,data=target."
        )
    return target


def _strange(got: str) -> UsageError:
    return UsageError(
        f"Got the target {got}, which is no file, no folder and no kind of target. Expected one "
        f"of:\n{EXAMPLES}or, in Python, a live pipeline, function or target."
    )
