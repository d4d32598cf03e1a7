"""The models the peer attacks, wrapped the way a TextAttack user wraps them."""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from textattack.models.wrappers import HuggingFaceModelWrapper, ModelWrapper, PyTorchModelWrapper

from brittle.targets.zoo.target import load_folder
from brittle.text import Text, words_of
from brittle.zoo.folder import VOCABULARY_FILE, load_words
from brittle.zoo.tokenizers import UNKNOWN


def load_target(spec: Mapping[str, Any], job: Mapping[str, Any]) -> ModelWrapper:
    """Load the model named by `spec`; the job's examples are what it is checked, or made, with."""
    kind = spec["kind"]
    if kind == "lstm":
        texts = [example["text"] for example in job["examples"]]
        if job["attack"] == "hotflip":
            from peer_gradients import gradient_wrapper

            return gradient_wrapper(spec["folder"], texts)
        return ZooWrapper(spec["folder"], texts)
    if kind == "zoo":
        return TextWrapper(spec["folder"])
    if kind == "minilm":
        return transformer(spec)
    if kind == "fake":
        from fake_lstm import fake_lstm

        return PyTorchModelWrapper(*fake_lstm(job["examples"]))
    raise SystemExit(f"Unknown target kind {kind!r}. Known: lstm, zoo, minilm, fake.")


class ZooWrapper(ModelWrapper):
    """A word network of brittle's zoo behind TextAttack's interface: texts in, scores out.

    The texts are numbered here, word by word, as a user's tokenizer would: building brittle's
    `Text` for each would cost the peer more than twice the time. `texts` are encoded both ways
    once, so that a model numbered otherwise is refused instead of misread.
    """

    def __init__(self, folder: str, texts: Sequence[str]) -> None:
        self.model = load_folder(folder)
        words = load_words(Path(folder) / VOCABULARY_FILE)
        self.token_id = {word: number for number, word in enumerate(words)}
        self.reads = self.model.card.settings.get("max_length")
        if self.encode(texts) != self.model.canonical([Text.of(text) for text in texts]):
            raise SystemExit(f"{folder} is not a word network of the zoo, or numbers words anew.")

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        rows = ([self.token_id.get(word, UNKNOWN) for word in words_of(t.lower())] for t in texts)
        return [array("i", row[: self.reads] or [UNKNOWN]).tobytes() for row in rows]

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        # Probabilities, not logits: TextAttack takes any row that sums to one for the former.
        with torch.no_grad():
            return torch.from_numpy(self.model.canonical_scores(self.encode(texts)))


class TextWrapper(ModelWrapper):
    """Any model of brittle's zoo, asked by brittle's own `Text`: slow, for counting only."""

    def __init__(self, folder: str) -> None:
        self.model = load_folder(folder)

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
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


class Counted(ModelWrapper):
    """Any wrapper, with the rows it was really asked for and the seconds it took for them.

    `gradients` counts the texts whose gradient was taken; their seconds are among the others.
    """

    def __init__(self, wrapper: ModelWrapper) -> None:
        self.wrapper = wrapper
        self.model = wrapper.model
        self.tokenizer = getattr(wrapper, "tokenizer", None)
        self.rows = 0
        self.gradients = 0
        self.seconds = 0.0

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        began = time.perf_counter()
        scores = self.wrapper(texts)
        self.seconds += time.perf_counter() - began
        self.rows += len(texts)
        return scores

    def get_grad(self, text: str, **given: Any) -> Any:
        began = time.perf_counter()
        found = self.wrapper.get_grad(text, **given)
        self.seconds += time.perf_counter() - began
        self.gradients += 1
        return found
