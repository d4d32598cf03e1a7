"""Sequence classifiers of the transformers library: a folder, a hub name, or a live pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brittle.errors import TargetError, UsageError
from brittle.targets.fingerprints import hash_parts
from brittle.targets.labels import label_names
from brittle.targets.options import FLOAT32, Labels
from brittle.targets.precision import autocast, check_weights
from brittle.targets.protocols import Scores, ShowsAttention, failing_as
from brittle.targets.scores import as_probabilities
from brittle.targets.transformers import tokenizer as alignment
from brittle.targets.transformers.loading import load_target, share_threads
from brittle.targets.transformers.tokenizer import TextTokenizer, words_by_frequency
from brittle.text import Text
from brittle.zoo.device import torch_device

if TYPE_CHECKING:
    from brittle.targets.transformers.fast_bert import FastBert
    from brittle.targets.transformers.white_box import TransformersWhiteBox
    from brittle.zoo.restoring import ThreadUse

# A longer forward pass is not faster, and needs more memory for long texts.
TOKENS_PER_PASS_CPU, TOKENS_PER_PASS_GPU = 4096, 1 << 16


@dataclass(frozen=True, eq=False)
class SequenceClassifier(ShowsAttention):
    """A sequence classifier; its canonical keys are the token ids it reads, as int32 bytes.

    `precision` is what `candidate_scores` computes in; everything else is in float32.
    """

    model: Any = field(repr=False)
    tokenizer: TextTokenizer = field(repr=False)
    name: str
    labels: tuple[str, ...]
    device: str
    parallel: int = 1
    threads: ThreadUse | None = field(default=None, repr=False)
    fast: FastBert | None = field(default=None, repr=False)
    precision: str = FLOAT32

    @property
    def reads_zero_vectors(self) -> bool:
        return self.tokenizer.holes is not None

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The words that are one token each, the most frequent first."""
        return words_by_frequency(self.tokenizer)

    @cached_property
    def fingerprint(self) -> str:
        """Hash the weights: a copy of the folder, or the hub's model, is the same target."""
        from brittle.targets.torch.weights import hash_weights  # imports torch

        labels = _model_labels(self.model)
        return hash_parts(hash_weights(self.model), self.tokenizer.description(), *labels)

    def canonical(self, items: Sequence[Text]) -> list[bytes]:
        return self.tokenizer.encode(items)

    def canonical_scores(self, keys: Sequence[bytes]) -> Scores:
        return self._probabilities(self.canonical_logits(keys))

    def candidate_scores(self, keys: Sequence[bytes]) -> Scores:
        """Compute the scores of candidates by their keys, in the target's precision."""
        return self._probabilities(self.canonical_logits(keys, self.precision))

    def lowered(self, precision: str) -> SequenceClassifier:
        """Return the same target, which scores candidates in this precision."""
        who = f"the model {self.name!r}"
        check_weights(self.model.parameters(), precision, self.device, who)
        return replace(self, precision=precision)

    def _probabilities(self, logits: Scores) -> Scores:
        who = f"Target {self.name!r}"
        return as_probabilities(logits, len(logits), self.labels, "logits", who)

    def canonical_logits(self, keys: Sequence[bytes], precision: str = FLOAT32) -> Scores:
        """Compute the scores before the softmax, of texts by their keys."""
        if not all(keys):
            raise TargetError(f"Target {self.name!r} reads no token in an empty text.")
        max_tokens = TOKENS_PER_PASS_CPU if self.device == "cpu" else TOKENS_PER_PASS_GPU
        table = np.zeros((len(keys), len(self.labels)))
        # Padding changes the last digits of scores, but for the fast pass, which reads none.
        one_length = self.device == "cpu" and not self.fast
        for rows, arrays in self.tokenizer.batches(keys, max_tokens, one_length):
            table[rows] = self._logits(arrays, precision)
        return table

    def scores(self, items: Sequence[Text]) -> Scores:
        return self.canonical_scores(self.canonical(items))

    def logits(self, items: Sequence[Text]) -> Scores:
        return self.canonical_logits(self.canonical(items))

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        return alignment.words_read(items, self.tokenizer)

    @cached_property
    def inside(self) -> TransformersWhiteBox:
        """The white box of the model, built at first use because it imports torch."""
        from brittle.targets.transformers.white_box import TransformersWhiteBox

        return TransformersWhiteBox(self.model, self.tokenizer, self.name, self.labels, self.fast)

    def close(self) -> None:
        """Let torch use as many threads as without this target."""
        if self.threads is not None:
            self.threads.close()

    def _logits(self, arrays: dict[str, Any], precision: str) -> Any:
        import torch

        if self.tokenizer.holes and not self.fast:
            with autocast(precision, self.device):
                logits = self.inside.instrumented.logits(arrays)
            return logits.to("cpu", torch.float64).numpy()
        with failing_as(f"Target {self.name!r}"), autocast(precision, self.device):
            if self.fast:
                return self.fast.logits(arrays).double().numpy()
            from brittle.ranking.top_k import WholeRows

            with torch.inference_mode(), WholeRows():
                inputs = {n: torch.from_numpy(a).to(self.device) for n, a in arrays.items()}
                return self.model(**inputs).logits.to("cpu", torch.float64).numpy()


def load(
    spec: str,
    *,
    labels: Labels = None,
    mask: str | None = None,
    name: str | None = None,
    device: str = "auto",
    precision: str = FLOAT32,
) -> SequenceClassifier:
    """Load a classifier from a folder with config.json, or from the hub by name (`hf:NAME`)."""
    source = spec.removeprefix("hf:")
    is_path = source.startswith((".", "/", "~")) or source.count("/") > 1
    if is_path and not Path(source).is_dir():
        raise UsageError(f"There is no folder {source!r}.")
    return load_target(
        spec,
        lambda model, tokenizer, own_name: of_model(
            model,
            tokenizer,
            labels=labels,
            mask=mask,
            name=name or own_name,
            device=torch_device(device),
            precision=precision,
        ),
        auto_class="AutoModelForSequenceClassification",
        noun="sequence classifier",
        without_weights="it is an encoder without a trained head, so its answers would be random. "
        "Fine-tune it first (brittle can train a head on MiniLM: brittle list models).",
        check_config=_check_task,
    )


def of_model(
    model: Any,
    tokenizer: Any,
    *,
    labels: Labels = None,
    mask: str | None = None,
    name: str | None = None,
    device: str = "auto",
    precision: str = FLOAT32,
) -> SequenceClassifier:
    """Build a target from a live model and its tokenizer; the model keeps its precision.

    It also keeps its device, unless `device` names another. What changes: it is put in evaluation
    mode; where neither it nor the tokenizer has a padding token, its `config.pad_token_id` becomes
    −1; on a CPU torch's threads are shared among several calls, until `close()`.
    """
    name = name or model.config.name_or_path or type(model).__name__
    _check_task(model.config, name)
    names = label_names(_model_labels(model), labels, f"The model {name!r}")
    if device != "auto":
        model = model.to(torch_device(device))
    model = model.eval()
    device = str(model.device)
    check_weights(model.parameters(), precision, device, f"the model {name!r}")
    text_tokenizer = TextTokenizer.of(tokenizer, model, mask)
    from brittle.targets.transformers.fast_bert import fast_bert  # imports torch

    fast = fast_bert(model, text_tokenizer.holes.token_id if text_tokenizer.holes else -1)
    parallel, threads = share_threads(device)
    about = (model, text_tokenizer, name, names, device)
    return SequenceClassifier(*about, parallel, threads, fast, precision)


def _model_labels(model: Any) -> list[str]:
    return [str(model.config.id2label[i]) for i in range(model.config.num_labels)]


def _check_task(config: Any, name: str) -> None:
    """Refuse models that do not give exactly one label to a text."""
    kind = getattr(config, "problem_type", None)
    if kind == "multi_label_classification":
        raise UsageError(
            f"The model {name!r} is multi-label (problem_type {kind}): it gives one text "
            "several labels. brittle attacks classifiers with one label per text: wrap "
            "one of the labels in a function (python:module:name)."
        )
    if kind == "regression" or config.num_labels == 1:
        raise UsageError(
            f"The model {name!r} has a regression head (one number per text). brittle "
            "attacks classifiers: wrap it in a function that turns ranges into labels."
        )
