"""Open a target from what a user names or hands in, but for models of the zoo.

Open a target: a name by the registry, a live object by its methods. Open models of transformers:
classifiers and seq2seq models, by a name or live.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from brittle.errors import UsageError
from brittle.targets import normalised
from brittle.targets.ensemble import of_members
from brittle.targets.function import check_reads, of_function, of_picture_object
from brittle.targets.labels import label_names
from brittle.targets.options import PICKLED, Target, TargetOptions
from brittle.targets.pickled import not_trusted, refuse_trust
from brittle.targets.precision import check_lowered, refuse_precision
from brittle.targets.protocols import Classifies, HasScores, Translates, Translator, close
from brittle.targets.registry import ADDRESSES, Opened, describe_kinds, find_kind
from brittle.targets.sklearn import open_estimator
from brittle.targets.transformers import classifier, seq2seq
from brittle.targets.zoo.translator import holds_translator
from brittle.values import import_named
from brittle.zoo.names.parsing import BEAM_SETTING, parse_members


def open_transformers(
    spec: str, options: TargetOptions
) -> classifier.SequenceClassifier | seq2seq.Seq2Seq:
    """Open `hf:NAME` or a folder, a model of transformers."""
    if seq2seq.names_seq2seq(spec):
        return seq2seq.load(spec, **_seq2seq_options(options))
    options.refuse("a transformers model, but not a seq2seq model", "answers")
    options.refuse("a transformers classifier", "scores")
    return options.read_with_mask(
        lambda mask: classifier.load(spec, mask=mask, **_classifier_options(options))
    )


def of_transformers(
    model: Any, tokenizer: Any, options: TargetOptions
) -> classifier.SequenceClassifier | seq2seq.Seq2Seq:
    """Build a target from a live model and its tokenizer."""
    if seq2seq.is_seq2seq(model):
        return seq2seq.of_model(model, tokenizer, **_seq2seq_options(options))
    options.refuse("a transformers classifier", "scores", "answers")
    return options.read_with_mask(
        lambda mask: classifier.of_model(
            model, tokenizer, mask=mask, **_classifier_options(options)
        )
    )


def _classifier_options(options: TargetOptions) -> dict[str, Any]:
    names = ("labels", "name", "device", "precision")
    return {name: getattr(options, name) for name in names}


def _seq2seq_options(options: TargetOptions) -> dict[str, Any]:
    options.refuse_classifier()
    refuse_precision(options.precision, "a translator")
    mask = None if options.mask is None else options.black_box_mask
    return {"name": options.name, "device": options.device, "mask": mask}


PICKLES = (".dill", ".sav", ".pt", ".pth", ".bin")


def as_target(target: Any, **options: Any) -> Opened:
    """Build a target from a name, a live object or a `Target`; a target is returned unchanged.

    `options` are the fields of `TargetOptions`. `scores` says what the target returns if brittle
    cannot know it (prob, percent, label …); `answers="text"` means that a function, an endpoint or
    a program translates. `mask` replaces a masked word (default: nothing for a black box, the mask
    token for a transformers model, the unknown word for a zoo model); "pad" is a zero vector, only
    for models of the last two kinds. `precision` is the precision for scoring candidates. `trust`
    lists types that a `.skops` file may contain, and `trust_pickle` names a pickled file to load.
    `timeout` applies to one line of a command, `fields` are the fields of the data, and `shape` is
    the shape of its pictures.
    """
    wanted = Target.of(target, **options)
    if wanted.opened is not None:
        check_lowered(wanted.opened, wanted.precision, opened_here=False)
        return cast(Opened, wanted.opened)
    wanted.check()
    is_named = isinstance(wanted.model, str | os.PathLike)
    opened = (
        _open_named(str(wanted.model), wanted) if is_named else _open_object(wanted.model, wanted)
    )
    check_lowered(opened, wanted.precision, opened_here=opened is not wanted.model)
    return opened


def _open_named(spec: str, options: TargetOptions) -> Opened:
    kind = find_kind(spec)
    if kind is None or kind.is_folder:
        _check_setting(spec)
    if kind is not None and kind.key == normalised.PREFIX:
        return kind.open(spec, options)  # what stands behind it checks the options
    if kind is None or kind.key not in ADDRESSES:
        options.refuse(f"{spec!r}, which is not an address (http://…)", "body", "path", "header")
    if kind is None or kind.key not in PICKLED:
        refuse_trust(spec, options)
    if kind is not None:
        check_reads(kind, spec, options)
        return kind.open(spec, options)
    path = Path(spec)
    if path.suffix in PICKLES:
        raise not_trusted(spec)
    if spec and path.is_dir():
        raise UsageError(
            f"The folder {spec!r} has no model: it contains neither config.json "
            "(transformers) nor model.json (zoo)."
        )
    meant = _meant(spec)
    if meant is not None:
        raise UsageError(f"Got the target {spec!r}. Did you mean {meant!r}?")
    raise _not_a_target(repr(spec))


def _meant(spec: str) -> str | None:
    """Return the target that is named without its prefix: a TOML file, or what is in a module."""
    if spec.endswith(".toml") and Path(spec).is_file():
        return f"http:{spec}"
    module, _, name = spec.replace(".py:", ":").partition(":")
    if name.isidentifier() and module.isidentifier() and Path(f"{module}.py").is_file():
        return f"python:{module}:{name}"
    return None


def _check_setting(spec: str) -> None:
    """Refuse a setting after a folder, `FOLDER?beam=4`, unless it is the beam of a translator."""
    base, mark, setting = spec.rpartition("?")
    if not mark or not Path(base).is_dir():
        return
    if not setting.startswith(f"{BEAM_SETTING}="):
        raise UsageError(
            f"Got {setting!r} after the folder {base!r}. Expected {BEAM_SETTING}=N, the "
            "beam of a translator: trained models have no other setting."
        )
    if not holds_translator(Path(base)):
        raise UsageError(
            f"Got {spec!r}, but the folder {base!r} is not a translator of the zoo, and "
            f"only those take ?{BEAM_SETTING}=N. Leave it out."
        )


def _open_object(obj: Any, options: TargetOptions) -> Opened:
    """Build a target from a live object, by its methods."""
    if isinstance(obj, type):
        raise UsageError(
            f"Got the class {obj.__name__}. Pass an instance, or put one in the module "
            "(model = Model()) and name that: brittle does not call classes."
        )
    if isinstance(obj, HasScores) and hasattr(obj, "labels"):
        options.refuse("a target of your own", "mask")
        return check_labels(cast(Classifies, obj), options)
    if isinstance(obj, Translates) and not isinstance(obj, bytes | bytearray):
        return _open_translator(obj, options)
    if hasattr(obj, "model") and hasattr(obj, "tokenizer"):
        return of_transformers(obj.model, obj.tokenizer, options)
    if hasattr(obj, "predict") and (hasattr(obj, "fit") or hasattr(obj, "classes_")):
        return open_estimator(obj, options)
    if options.shape is not None and callable(obj):
        return of_picture_object(obj, options.shape, options)
    if hasattr(obj, "state_dict") and hasattr(obj, "named_modules"):
        raise UsageError(
            f"Got the torch module {type(obj).__name__}, which reads numbers, not texts. "
            "Describe its tokens: brittle.torch_target(module, tokenize=…, vocabulary=…, "
            "labels=…, embedding='embed.weight'). If it reads texts, pass a function: "
            "lambda texts: module(texts)."
        )
    if callable(obj):
        return of_function(obj, options)
    raise _not_a_target(f"a {type(obj).__name__}")


def _open_translator(obj: Any, options: TargetOptions) -> Opened:
    """Return a target that translates as it is; wrap the method of any other object."""
    options.refuse_classifier()
    mask = options.black_box_mask
    # Looked up in the class: a fingerprint may be computed when it is asked for.
    if hasattr(obj, "name") and (hasattr(type(obj), "fingerprint") or "fingerprint" in vars(obj)):
        return cast(Translator, obj)
    name = options.name or type(obj).__qualname__
    return of_function(obj.translate, replace(options, answers="text", mask=mask, name=name))


def open_python(spec: str, options: TargetOptions) -> Opened:
    """Open `python:module:name`, any object of a module."""
    obj = import_named(spec, "python:my_models:classify")
    return _open_object(obj, replace(options, name=options.name or spec))


def open_ensemble(spec: str, options: TargetOptions) -> Classifies:
    """Open all members; if one fails to load, the others are closed."""
    options.refuse("an ensemble", "scores", "answers")
    refuse_precision(options.precision, "an ensemble")
    members: list[Any] = []
    try:
        for member in parse_members(spec.removeprefix("ensemble:")):
            if member.startswith("ensemble:"):
                raise UsageError(
                    f"Got the ensemble {member!r} in an ensemble. Name its members instead."
                )
            members.append(_open_named(member, replace(options, labels=None, name=None)))
        return check_labels(of_members(members), options)
    except BaseException:
        for opened in members:
            close(opened)
        raise


def open_normalised(spec: str, options: TargetOptions) -> Classifies:
    """Open `normalised:TARGET`; all options are those of the target behind it."""
    inner: Any = _open_named(spec.removeprefix(normalised.PREFIX), options)
    try:
        return normalised.of_target(inner)
    except BaseException:
        close(inner)
        raise


def check_labels(target: Classifies, options: TargetOptions) -> Classifies:
    """Check the option `labels` against a target that names its labels itself."""
    who = f"The target {target.name!r}"
    if label_names(target.labels, options.labels, who) != tuple(target.labels):
        raise UsageError(
            f"{who} has the labels {', '.join(target.labels)}. Map the labels of the data "
            "to them: --labels data=target,data=target."
        )
    return target


def _not_a_target(got: str) -> UsageError:
    return UsageError(
        f"Got the target {got}, which is not a file, a folder or a kind of target. "
        f"Expected one of:\n{describe_kinds()}or, in Python, a live pipeline, function or "
        "target."
    )
