"""The models the peer attacks, wrapped the way a TextAttack user wraps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import transformers
from textattack.models.wrappers import HuggingFaceModelWrapper, ModelWrapper, PyTorchModelWrapper

from brittle.text import Text


def load_target(spec: Mapping[str, Any], job: Mapping[str, Any]) -> ModelWrapper:
    """Load the model named by `spec`; only the stand-in "fake" looks at the rest of the job."""
    kind = spec["kind"]
    if kind == "lstm":
        return ZooWrapper(spec["folder"])
    if kind == "minilm":
        return transformer(spec)
    if kind == "fake":
        from fake_lstm import fake_lstm

        return PyTorchModelWrapper(*fake_lstm(job["examples"]))
    raise SystemExit(f"Unknown target kind {kind!r}. Known: lstm, minilm, fake.")


class ZooWrapper(ModelWrapper):
    """A model of brittle's zoo behind TextAttack's interface: texts in, a tensor of scores out.

    The texts are parted into words and numbered by the zoo's own code, which is quicker than the
    tokenizer a user would write, so the peer loses nothing by it.
    """

    def __init__(self, folder: str) -> None:
        from brittle.targets.zoo import load_folder

        self.model = load_folder(folder)

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        # Probabilities, not logits: TextAttack takes any row that sums to one for the former.
        with torch.no_grad():
            return torch.from_numpy(self.model.scores([Text.of(text) for text in texts]))


def transformer(spec: Mapping[str, Any]) -> HuggingFaceModelWrapper:
    model = transformers.AutoModelForSequenceClassification.from_pretrained(spec["folder"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(spec["folder"])
    if spec.get("max_length"):
        tokenizer.model_max_length = spec["max_length"]
    padding = spec.get("padding", "max_length")
    wrappers = {"max_length": HuggingFaceModelWrapper, "longest": PaddedToLongest}
    if padding not in wrappers:
        raise SystemExit(f"Unknown padding {padding!r}. Known: {', '.join(wrappers)}.")
    return wrappers[padding](model.eval(), tokenizer)


class PaddedToLongest(HuggingFaceModelWrapper):
    """TextAttack's wrapper with the one change that helps it most on short texts.

    Its own pads every row to the model's full length (512 word pieces for MiniLM).
    """

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        rows = self.tokenizer(
            list(texts),
            padding="longest",
            truncation=True,
            max_length=min(self.tokenizer.model_max_length, 512),
            return_tensors="pt",
        )
        with torch.no_grad():
            return self.model(**rows).logits
