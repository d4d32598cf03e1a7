"""Weights to words and what goes elsewhere add up to 1, for every kind of tokenizer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.targets.transformers.classifier import SequenceClassifier, of_model
from brittle.text import Text

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors  # noqa: E402

from brittle.targets.transformers.instrumented import InstrumentedModel  # noqa: E402
from targets import tiny  # noqa: E402

PAIR = {"premise": "the film, 😀 was bad", "hypothesis": "it is a story!"}
ITEMS = [
    Text.of("a good film"),
    Text.of("Don't go: https://film.god/a?b=1 👩‍👩‍👧 … the FILM (was)  very... godlike!!"),
    Text.of("rain"),
    Text.of("¡😀?!"),
    Text.of("a good film").mask(1),
    Text.of(PAIR),
    Text.of(PAIR, locked=["premise"]),
    Text.of(PAIR, locked=["hypothesis"]),
    Text.of("the film was very " * 12),  # longer than the model reads
]


def characters() -> Tokenizer:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = {word: n for n, word in enumerate([*special, *tiny.LETTERS, *" ,.!'"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tokenizer


KINDS = {
    "word pieces": ("bert", tiny.wordpiece),
    "byte pairs": ("roberta", tiny.byte_pairs),
    "sentence pieces": ("bert", tiny.sentence_pieces),
    "characters": ("bert", characters),
}


@pytest.fixture(scope="module", params=KINDS)
def target(request: pytest.FixtureRequest) -> SequenceClassifier:
    family, backend = KINDS[request.param]
    tokenizer = tiny.wrapped(backend(), longest=36)
    return of_model(tiny.model(family, len(tokenizer)).double(), tokenizer)


def test_a_row_and_what_goes_elsewhere_are_1(target: SequenceClassifier) -> None:
    for item, shown in zip(ITEMS, target.attention(ITEMS)):
        assert shown.elsewhere is not None and shown.summary_elsewhere is not None
        summary = shown.summary.sum(axis=-1) + shown.summary_elsewhere
        assert summary == pytest.approx(np.ones((2, 2)), abs=1e-12)
        rows = shown.weights.sum(axis=-1) + shown.elsewhere
        has_tokens = ~np.isnan(target.embeddings([item], "layer 1")[0]).any(axis=1)
        expected = np.broadcast_to(has_tokens.astype(float), rows.shape)
        assert rows == pytest.approx(expected, abs=1e-12)


def test_what_goes_elsewhere_goes_to_marks_punctuation_and_locked_fields(
    target: SequenceClassifier,
) -> None:
    plain, whole, locked = target.attention([ITEMS[0], ITEMS[5], ITEMS[6]])
    for shown in (plain, whole, locked):
        assert shown.elsewhere is not None and (shown.elsewhere >= 0).all()
    # What went to the premise goes elsewhere once it is locked; the rest stays.
    words = len(Text.of(PAIR["premise"]))
    given = whole.weights[:, :, words:, :words].sum(axis=-1) + whole.elsewhere[:, :, words:]
    assert locked.elsewhere == pytest.approx(given, abs=1e-12)
    assert locked.summary_elsewhere == pytest.approx(
        whole.summary_elsewhere + whole.summary[..., :words].sum(axis=-1), abs=1e-12
    )


def test_a_tokenizer_without_offsets_says_what_is_lacking() -> None:
    class WithoutOffsets:
        """A tokenizer written in Python: it has no backend that knows offsets."""

        def __init__(self, fast: Any) -> None:
            self.fast = fast
            self.backend_tokenizer = None

        def __getattr__(self, name: str) -> Any:
            return getattr(self.fast, name)

        def __call__(self, *columns: Any, **options: Any) -> Any:
            return self.fast(*columns, **options)

    tokenizer = tiny.tokenizer("bert")
    model = tiny.model("bert", len(tokenizer))
    target = of_model(model, WithoutOffsets(tokenizer), name="slow")
    assert target.scores(ITEMS[:2]).shape == (2, 3)
    with pytest.raises(UsageError, match=r"does not report the characters of a token.*Load"):
        target.attention(ITEMS[:1])


def test_a_kernel_that_keeps_no_weights_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tiny.tokenizer("bert")
    target = of_model(tiny.model("bert", len(tokenizer)), tokenizer, name="fused")
    call = InstrumentedModel._call

    def without_weights(model: Any, *arrays: Any, **options: Any) -> Any:
        output = call(model, *arrays, **options)
        output.attentions = (None,) * 2
        return output

    monkeypatch.setattr(InstrumentedModel, "_call", without_weights)
    with pytest.raises(UsageError, match=r"'fused' .* attn_implementation='eager'.* Use another"):
        target.attention(ITEMS[:1])


@pytest.mark.parametrize("kernel", ["sdpa", "eager"])
def test_every_kernel_shows_its_attention(kernel: str) -> None:
    tokenizer = tiny.tokenizer("bert")
    model = tiny.model("bert", len(tokenizer), attn_implementation=kernel)
    (shown,) = of_model(model, tokenizer).attention(ITEMS[:1])
    assert shown.weights.any() and model.config._attn_implementation == kernel
