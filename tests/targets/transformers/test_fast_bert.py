"""The fast way against the model itself: tiny random BERTs, every shape of batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from brittle.targets.transformers.fast_bert import FastBert, fast_bert  # noqa: E402

WORDS, PLACES = 50, 24
# Measured over the cases below: 1.1e-6 at logits of up to 1.7, and as much between the model and
# itself in double precision. In double precision: 2e-15.
CLOSE, CLOSE_DOUBLE = 1e-5, 1e-12


def options(**changed: Any) -> dict[str, Any]:
    small = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
    sizes = {"vocab_size": WORDS, "intermediate_size": 64, "max_position_embeddings": PLACES}
    return {**small, **sizes, "initializer_range": 0.2, "num_labels": 3, **changed}


def bert(**changed: Any) -> Any:
    torch.manual_seed(0)
    config = transformers.BertConfig(**options(**changed))
    return transformers.BertForSequenceClassification(config).eval()


def batch(lengths: list[int], pairs: bool = False) -> dict[str, NDArray[np.int64]]:
    """Pad random texts as `Tokens` does; half of them differ from the first in one word."""
    rng = np.random.default_rng(len(lengths))
    inside = np.arange(max(lengths)) < np.array(lengths)[:, None]
    ids = rng.integers(1, WORDS, inside.shape)
    ids[::2] = ids[0]
    ids[::2, -1] = rng.integers(1, WORDS, len(ids[::2]))
    arrays = {"input_ids": np.where(inside, ids, 0), "attention_mask": inside.astype(np.int64)}
    if pairs:
        half = np.array(lengths)[:, None] // 2
        arrays["token_type_ids"] = ((np.arange(max(lengths)) >= half) & inside).astype(np.int64)
    return arrays


def own_logits(model: Any, arrays: dict[str, NDArray[np.int64]]) -> Any:
    with torch.inference_mode():
        return model(**{name: torch.from_numpy(a) for name, a in arrays.items()}).logits


@pytest.mark.parametrize("pairs", [False, True], ids=["single", "pairs"])
@pytest.mark.parametrize(
    "lengths",
    [[1], [2], [9], [PLACES], [1, 1, 1], [1, 2, 2], [7] * 8, [3, 3, 5, 8, 8, 8, PLACES], [9, 2, 9]],
    ids=str,
)
def test_equals_the_model(lengths: list[int], pairs: bool) -> None:
    model = bert()
    fast = fast_bert(model)
    assert fast is not None
    arrays = batch(lengths, pairs)
    expected = own_logits(model, arrays)
    assert (fast.logits(arrays) - expected).abs().max() < CLOSE
    assert torch.equal(fast.logits(arrays), fast.logits(arrays))
    # What is left is rounding: with more digits, it goes away.
    double = model.double()
    exact = FastBert(double).logits(arrays)
    assert (exact - own_logits(double, arrays)).abs().max() < CLOSE_DOUBLE


def test_token_types_matter() -> None:
    model = bert()
    fast = fast_bert(model)
    assert fast is not None
    assert (fast.logits(batch([8], True)) - fast.logits(batch([8]))).abs().max() > 0.01


@pytest.mark.parametrize("changed", [{"num_hidden_layers": 2}, {"attn_implementation": "eager"}])
def test_other_models_it_knows(changed: dict[str, Any]) -> None:
    model = bert(**changed)
    fast = fast_bert(model)
    assert fast is not None
    arrays = batch([4, 6, 6])
    assert (fast.logits(arrays) - own_logits(model, arrays)).abs().max() < CLOSE


@pytest.mark.parametrize(
    "arrays, changed",
    [
        (batch([PLACES + 1]), {}),
        (batch([4, 6], pairs=True), {"type_vocab_size": 1}),
        (batch([4, 6]), {"vocab_size": 3}),
    ],
    ids=["place", "type", "word"],
)
def test_unknown_numbers_are_errors_as_in_the_model(
    arrays: dict[str, NDArray[np.int64]], changed: dict[str, Any]
) -> None:
    model = bert(**changed)
    fast = fast_bert(model)
    assert fast is not None
    with pytest.raises((IndexError, RuntimeError)):
        own_logits(model, arrays)
    with pytest.raises(IndexError):
        fast.logits(arrays)


@pytest.mark.parametrize(
    "changed",
    [
        {"hidden_act": "relu"},
        {"hidden_act": "gelu_new"},
        {"is_decoder": True},
        {"chunk_size_feed_forward": 2},
        {"output_attentions": True, "attn_implementation": "eager"},
        {"num_hidden_layers": 1},
    ],
    ids=str,
)
def test_other_settings_are_left_to_the_model(changed: dict[str, Any]) -> None:
    assert fast_bert(bert(**changed)) is None


def test_other_models_are_left_to_themselves() -> None:
    roberta = transformers.RobertaForSequenceClassification(
        transformers.RobertaConfig(**options(pad_token_id=1))
    )
    assert fast_bert(roberta.eval()) is None
    assert fast_bert(torch.nn.Linear(2, 2).eval()) is None
    assert fast_bert(bert().train()) is None
    assert fast_bert(bert().half()) is None
    assert fast_bert(bert().to("meta")) is None


def test_changed_parts_are_left_to_the_model() -> None:
    class Adapted(torch.nn.Linear):  # type: ignore[misc, name-defined]
        pass

    adapted = bert()
    adapted.bert.encoder.layer[0].attention.self.query = Adapted(32, 32)
    assert fast_bert(adapted.eval()) is None
    hooked = bert()
    hooked.bert.pooler.register_forward_hook(lambda *_: None)
    assert fast_bert(hooked) is None
    patched = bert()
    patched.forward = lambda **_: None
    assert fast_bert(patched) is None
