"""Open a target: the door of targets/opening.py, and models of the zoo, which it may train."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from brittle.errors import UsageError
from brittle.targets.opening import as_target, check_labels
from brittle.targets.options import FLOAT32, TargetOptions
from brittle.targets.precision import refuse_precision
from brittle.targets.protocols import Classifies
from brittle.targets.registry import Opened
from brittle.targets.zoo.target import TunedEncoderTarget, ZooTarget, check_mask, load_folder
from brittle.targets.zoo.translator import ZooTranslator, holds_translator, load_translator
from brittle.zoo.families import no_target
from brittle.zoo.names.parsing import BEAM_SETTING, ModelName, find_listed, parse, parse_beam

__all__ = ["as_target", "load_zoo", "open_zoo", "open_zoo_folder"]


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
            f"{wanted.full_name} is a {wanted.family.kind}; expected a classifier. Open "
            "it with brittle.as_target."
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
    from brittle import training  # here: most targets are not trained
    from brittle.training.adversarial.methods import is_by_attack
    from brittle.training.job import silent

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
    wanted = parse(spec)
    device, progress = options.device, options.progress
    if not wanted.family.tunes_encoder:  # before it is trained
        refuse_precision(options.precision, f"the zoo model {wanted.full_name}")
    if wanted.family.answers == "texts":
        from brittle import training  # here: most targets are not trained

        columns = options.columns.get(wanted.data)
        columns = columns or training.columns_of(wanted.source, wanted.data)
        folder = _find_or_train(wanted, device, True, progress, **columns)
        return _load_translator(folder, wanted.beam, options)
    # A model of a file with several text columns is trained on those of the data that is attacked.
    fields: dict[str, Any] = {"text": options.fields} if len(options.fields) > 1 else {}
    columns = fields | dict(options.columns.get(wanted.data, {}))

    def load(mask: str | None) -> ZooTarget:
        return load_zoo(spec, mask=mask, device=device, progress=progress, **columns)

    return _open_classifier(load, options)


def open_zoo_folder(spec: str, options: TargetOptions) -> Opened:
    """Open the folder of a trained model; after that of a translator its beam may stand."""
    folder, mark, beam = spec.partition(f"?{BEAM_SETTING}=")
    path = Path(folder)
    if holds_translator(path):
        return _load_translator(path, parse_beam(beam) if mark else 1, options)
    return _open_classifier(lambda m: load_folder(path, device=options.device, mask=m), options)


def _open_classifier(load: Callable[[str | None], ZooTarget], options: TargetOptions) -> Classifies:
    """Load a classifier and check its labels; close it if they are wrong."""
    options.refuse("a zoo model", "scores", "answers")
    target = options.read_with_mask(load)
    try:
        if options.precision != FLOAT32 and isinstance(target, TunedEncoderTarget):
            target.lower(options.precision)
        return check_labels(target, options)
    except UsageError:
        target.close()
        raise


def _load_translator(folder: Path, beam: int, options: TargetOptions) -> ZooTranslator:
    options.refuse_classifier()
    mask = options.wanted_mask if options.mask is None else options.mask
    return load_translator(folder, device=options.device, mask=mask, beam=beam)
