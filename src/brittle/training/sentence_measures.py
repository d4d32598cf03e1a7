"""How good a generator of sentences is: words rebuilt, and perplexities both ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from brittle.metrics.ngrams import NgramModel
from brittle.zoo.generators.arae import ARAE, parts_of
from brittle.zoo.generators.sentences import SentenceTokenizer
from brittle.zoo.generators.texts import REBUILT
from brittle.zoo.tokenizers.words import PAD

SAMPLES = 5_000
SEED = 0
ROWS_PER_PASS = 512


@dataclass(frozen=True)
class SentenceMeasures:
    """What is measured on held-out sentences and on generated ones.

    `rebuilt` and `inverted` are the shares of the words of held-out sentences that stand at their
    position again, through the code alone, and through inverter and generator. `reverse` is the
    perplexity of held-out sentences under a 5-gram model of the generated ones, `forward` that of
    the generated ones under a model of the train split. `real` is the reverse perplexity of as many
    sentences of the train split. `distinct` is the share of different sentences among the samples.
    """

    rebuilt: float
    inverted: float | None
    forward: float | None
    reverse: float
    real: float | None
    distinct: float

    def describe(self) -> str:
        """Format what is known in training."""
        return (
            f"words rebuilt {self.rebuilt:.3f}, reverse perplexity {self.reverse:.1f}, "
            f"{self.distinct:.0%} of the samples are different"
        )

    def summary(self) -> str:
        """Format the figures that a list of generators shows."""
        return (
            f"words rebuilt {self.rebuilt:.3f}, through inverter and generator "
            f"{self.inverted or 0:.3f}; reverse perplexity {self.reverse:.1f}"
        )

    def as_json(self) -> dict[str, Any]:
        values = {
            REBUILT: self.rebuilt,
            "words rebuilt through inverter and generator": self.inverted,
            "forward perplexity": self.forward,
            "reverse perplexity": self.reverse,
            "reverse perplexity of real sentences": self.real,
            "different sentences": self.distinct,
        }
        return {name: round(value, 4) for name, value in values.items() if value is not None}


def measure(
    model: ARAE,
    tokenizer: SentenceTokenizer,
    train: Tensor,
    dev: Tensor,
    samples: int = SAMPLES,
    *,
    is_inverted: bool = True,
) -> SentenceMeasures:
    """Measure a generator in evaluation mode; its samples are drawn by one seed."""
    model.eval()
    with torch.inference_mode():
        generator = torch.Generator().manual_seed(SEED)
        first: Any = model.generator[0]
        z = torch.randn((samples, first.in_features), generator=generator)
        decoded = [
            model.decoder.greedy(model.generator(part.to(train.device)))
            for part in parts_of(z, ROWS_PER_PASS)
        ]
        made = _sentences(torch.cat(decoded))
        held_out = _sentences(dev)
        words = len(tokenizer)
        codes = [model.codes(part) for part in parts_of(dev, ROWS_PER_PASS)]
        rebuilt = _share_rebuilt(model, codes, dev)
        inverted = forward = real = None
        if is_inverted:
            again = [model.generator(model.inverter(code)) for code in codes]
            inverted = _share_rebuilt(model, again, dev)
            of_train = _sentences(train)
            forward = NgramModel.of(of_train, words).perplexity(made)
            real = NgramModel.of(of_train[:samples], words).perplexity(held_out)
        reverse = NgramModel.of(made, words).perplexity(held_out)
    return SentenceMeasures(rebuilt, inverted, forward, reverse, real, len(set(made)) / len(made))


def _sentences(rows: Tensor) -> list[tuple[int, ...]]:
    return [tuple(token for token in row if token != PAD) for row in rows.tolist()]


def _share_rebuilt(model: ARAE, codes: list[Tensor], rows: Tensor) -> float:
    """Return the share of words that are decoded at their own position."""
    decoded = torch.cat([model.decoder.greedy(code) for code in codes])
    asked = rows != PAD
    return float((decoded == rows)[asked].float().mean())
