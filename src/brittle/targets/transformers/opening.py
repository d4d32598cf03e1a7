"""Open models of transformers: classifiers and seq2seq models, by a name or live."""

from __future__ import annotations

from typing import Any

from brittle.targets.options import TargetOptions
from brittle.targets.transformers import classifier
from brittle.targets.translators import seq2seq


def open_transformers(
    spec: str, options: TargetOptions
) -> classifier.SequenceClassifier | seq2seq.Seq2Seq:
    """Open `hf:NAME` or a folder, a model of transformers."""
    if seq2seq.names_seq2seq(spec):
        return seq2seq.load(spec, **_seq2seq_options(options))
    options.refuse("a transformers model that is no seq2seq model", "answers")
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
    return {"labels": options.labels, "name": options.name, "device": options.device}


def _seq2seq_options(options: TargetOptions) -> dict[str, Any]:
    options.refuse_classifier()
    mask = None if options.mask is None else options.black_box_mask
    return {"name": options.name, "device": options.device, "mask": mask}
