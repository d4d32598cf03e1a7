"""Sequence-to-sequence models of the transformers library: a folder, a hub name, or a live one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from brittle.errors import UsageError, require
from brittle.safety.pretrained import load_pretrained
from brittle.targets.fingerprints import hash_parts
from brittle.targets.options import render_single
from brittle.targets.protocols import failing_as
from brittle.targets.transformers.loading import load_target, quiet, share_threads
from brittle.targets.transformers.tokenizer import TextTokenizer
from brittle.text import Text
from brittle.zoo.device import torch_device

if TYPE_CHECKING:
    from brittle.zoo.restoring import ThreadUse

MAX_TOKENS_PER_PASS = 2048  # of the sources
MAX_BEAMS = 256
MAX_TOKENS_PER_TOKEN, EXTRA_TOKENS = 2, 50
"""The longest translation: 2 tokens for each token of the source, plus 50."""


@dataclass(frozen=True, eq=False)
class Seq2Seq:
    """A model that generates a text from a text, greedily or with the beam of its configuration.

    Nothing is sampled. Sources of equal length share a pass, so that none is padded: a text has the
    same translation in every batch.
    """

    model: Any = field(repr=False)
    tokenizer: TextTokenizer = field(repr=False)
    name: str
    device: str
    parallel: int = 1
    threads: ThreadUse | None = field(default=None, repr=False)
    labels: tuple[str, ...] = ()
    costly: bool = True

    @cached_property
    def fingerprint(self) -> str:
        """Hash weights, tokenizer and how it generates: a copy of the folder is the same target."""
        from brittle.targets.torch.weights import hash_weights  # imports torch

        settings = json.dumps(self.model.generation_config.to_diff_dict(), sort_keys=True)
        return hash_parts(hash_weights(self.model), self.tokenizer.description(), settings)

    def translate(self, items: Sequence[Text]) -> list[str]:
        render_single(items, "", f"Target {self.name!r}")  # refuses several fields
        keys = self.tokenizer.encode(items)
        texts = [""] * len(items)
        for rows, arrays in self.tokenizer.batches(keys, MAX_TOKENS_PER_PASS, one_length=True):
            if arrays["input_ids"].shape[1]:  # a text of no token at all stays empty
                for row, text in zip(rows, self._generate(arrays)):
                    texts[row] = text
        return texts

    def can_write(self, word: str) -> bool:
        """Tell whether the tokenizer has tokens for a word of the language translated to."""
        tokenizer = self.tokenizer.hf_tokenizer
        tokens = tokenizer(text_target=word, add_special_tokens=False)["input_ids"]
        return tokenizer.unk_token_id is None or tokenizer.unk_token_id not in tokens

    def close(self) -> None:
        """Let torch use as many threads as without this target."""
        if self.threads is not None:
            self.threads.close()

    def _generate(self, arrays: dict[str, Any]) -> list[str]:
        import torch

        from brittle.ranking.top_k import WholeRows

        limit = MAX_TOKENS_PER_TOKEN * arrays["input_ids"].shape[1] + EXTRA_TOKENS
        positions = getattr(self.model.config, "max_position_embeddings", None) or limit + 1
        with failing_as(f"Target {self.name!r}"):
            with torch.inference_mode(), WholeRows():
                tokens = self.model.generate(
                    **{name: torch.from_numpy(a).to(self.device) for name, a in arrays.items()},
                    do_sample=False,
                    max_length=None,
                    max_new_tokens=min(limit, positions - 1),
                )
            return list(self.tokenizer.hf_tokenizer.batch_decode(tokens, skip_special_tokens=True))


def is_seq2seq(model: Any) -> bool:
    """Tell whether a live model generates a text from a text."""
    return _is_seq2seq([type(model).__name__])


def names_seq2seq(spec: str) -> bool:
    """Tell whether a folder or a name on the hub is a seq2seq model; False if it cannot be read."""
    transformers = require("transformers", "transformers", f"The target {spec!r}")
    with quiet(transformers):
        try:
            config = load_pretrained(transformers.AutoConfig, spec.removeprefix("hf:"))
            return _is_seq2seq(config.architectures or [])
        except Exception:  # a damaged file makes it raise anything; a classifier's loader tells it
            return False


def _is_seq2seq(architectures: Sequence[str]) -> bool:
    from transformers.models.auto import modeling_auto

    known = set(modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES.values())
    return not known.isdisjoint(architectures)


def load(
    spec: str, *, mask: str | None = None, name: str | None = None, device: str = "auto"
) -> Seq2Seq:
    """Load a seq2seq model from a folder with config.json, or from the hub by name (`hf:NAME`)."""

    def build(model: Any, tokenizer: Any, own_name: str) -> Seq2Seq:
        beams = model.generation_config.num_beams or 1
        if beams > MAX_BEAMS:
            raise UsageError(
                f"The model {spec.removeprefix('hf:')!r} sets a beam of {beams:,}, which "
                f"would fill the memory. Expected at most {MAX_BEAMS}: change num_beams "
                "in generation_config.json."
            )
        return of_model(
            model, tokenizer, mask=mask, name=name or own_name, device=torch_device(device)
        )

    return load_target(
        spec,
        build,
        auto_class="AutoModelForSeq2SeqLM",
        noun="seq2seq model",
        without_weights="its translations would be random. Expected the folder of a trained "
        "seq2seq model.",
    )


def of_model(
    model: Any,
    tokenizer: Any,
    *,
    mask: str | None = None,
    name: str | None = None,
    device: str = "auto",
) -> Seq2Seq:
    """Build a target from a live model and its tokenizer; it is put in evaluation mode."""
    name = name or model.config.name_or_path or type(model).__name__
    if device != "auto":
        model = model.to(torch_device(device))
    model = model.eval()
    text_tokenizer, device = TextTokenizer.of(tokenizer, model, mask), str(model.device)
    parallel, threads = share_threads(device)
    return Seq2Seq(model, text_tokenizer, name, device, parallel, threads)
