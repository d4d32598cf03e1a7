"""The zoo's LSTM as TextAttack wants a model whose word gradients it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from textattack.models.helpers import LSTMForClassification
from textattack.models.wrappers import ModelWrapper, PyTorchModelWrapper
from textattack.shared.utils import words_from_text
from torch import nn

from brittle.targets.zoo.target import load_folder
from brittle.text import words_of
from brittle.zoo.networks import Batch
from brittle.zoo.tokenizers import PAD, SPECIAL_WORDS, UNKNOWN, WordTokenizer


class ZooLstm(LSTMForClassification):
    """The zoo's network behind the one class that TextAttack's gradient swap accepts.

    Its own constructor, which downloads word vectors, is passed over: the weights are the zoo's.
    """

    def __init__(self, network: nn.Module) -> None:
        nn.Module.__init__(self)
        self.network = network.requires_grad_(False)

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        return self.network(Batch((numbers != PAD).sum(dim=1), words=numbers))

    def train(self, mode: bool = True) -> ZooLstm:
        """Stay in evaluation mode, whatever is asked for.

        TextAttack takes gradients in training mode: with dropout, and with words forgotten at
        random, they would be those of other texts.
        """
        return super().train(False)

    def get_input_embeddings(self) -> nn.Embedding:
        return self.network.embedding


class Numbers:
    """A tokenizer as TextAttack calls one: texts to rows of equal length, numbers to words."""

    pad_token_id = PAD

    def __init__(self, vocabulary: WordTokenizer, reads: int) -> None:
        self.reads = reads
        self.words = ["" if word in SPECIAL_WORDS else word for word in vocabulary.words]
        self.token_id = {word: n for n, word in enumerate(self.words) if word}

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        rows = [
            [self.token_id.get(word, UNKNOWN) for word in words_of(text.lower())][: self.reads]
            or [UNKNOWN]
            for text in texts
        ]
        longest = max(map(len, rows))
        return [row + [PAD] * (longest - len(row)) for row in rows]

    def convert_id_to_word(self, number: int) -> str:
        """Give the word of a number; none for padding and unknown, which TextAttack then leaves."""
        return self.words[number]


def gradient_wrapper(folder: str, texts: Sequence[str]) -> ModelWrapper:
    """Wrap a word network of the zoo so that TextAttack can take its gradients.

    TextAttack looks a word's gradient up by the word's place among its own words, so `texts` are
    split both ways once: a model that reads other words is refused instead of misread.
    """
    model: Any = load_folder(folder).model
    for text in texts:
        if [word.lower() for word in words_from_text(text)] != words_of(text.lower()):
            raise SystemExit(f"TextAttack and brittle part {text!r} into different words.")
    tokenizer = Numbers(model.vocabulary, model.reads)
    return PyTorchModelWrapper(ZooLstm(model.network), tokenizer)
