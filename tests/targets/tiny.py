"""Tiny random sequence classifiers and tokenizers of every family, for tests of adapters."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
WORDS = [
    *("a", "good", "bad", "film", "films", "story", "the", "was", "not", "very"),
    *("it", "rain", "don", "t", "is", "if", "god"),
]
SENTENCES = [
    "a good film about the rain",
    "the bad story was not a very good film",
    "it is what it was , and don't you know it",
]
LABELS = {0: "neg", 1: "neutral", 2: "pos"}
FAMILIES = ("bert", "distilbert", "roberta", "albert")


def wordpiece() -> Tokenizer:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [*special, *dict.fromkeys([*WORDS, *LETTERS]), *("##" + c for c in LETTERS), ",", "'"]
    tokenizer = Tokenizer(models.WordPiece({w: n for n, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tokenizer


def byte_pairs() -> Tokenizer:
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        SENTENCES * 4,
        trainers.BpeTrainer(
            vocab_size=320, special_tokens=special, initial_alphabet=alphabet, show_progress=False
        ),
    )
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer


def sentence_pieces() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(
        SENTENCES * 4,
        trainers.UnigramTrainer(
            vocab_size=60, special_tokens=["<unk>", "<pad>"], unk_token="<unk>", show_progress=False
        ),
    )
    return tokenizer


def wrapped(backend: Tokenizer, longest: int = 24, **options: Any) -> Any:
    marks = {
        name: mark
        for name, among in {
            "unk_token": ("[UNK]", "<unk>"),
            "pad_token": ("[PAD]", "<pad>"),
            "mask_token": ("[MASK]", "<mask>"),
        }.items()
        for mark in among
        if backend.token_to_id(mark) is not None
    }
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    options = {**marks, "model_input_names": inputs, "model_max_length": longest, **options}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **options)


def tokenizer(family: str, **options: Any) -> Any:
    return wrapped(byte_pairs() if family == "roberta" else wordpiece(), **options)


def model(family: str, size: int, seed: int = 0, **options: Any) -> Any:
    """Draw a model of 2 layers and 2 heads, its weights wide enough for scores to differ."""
    torch.manual_seed(seed)
    common = {
        "vocab_size": size,
        "id2label": LABELS,
        "label2id": {name: n for n, name in LABELS.items()},
        "max_position_embeddings": 40,
        "initializer_range": 0.3,
        "pad_token_id": 1 if family == "roberta" else 0,
        **options,
    }
    shape = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    if family == "distilbert":
        shape = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}
    if family == "albert":
        shape["embedding_size"] = 8
    named = {"bert": "Bert", "distilbert": "DistilBert", "roberta": "Roberta", "albert": "Albert"}
    config = getattr(transformers, named[family] + "Config")(**common, **shape)
    return getattr(transformers, named[family] + "ForSequenceClassification")(config).eval()
