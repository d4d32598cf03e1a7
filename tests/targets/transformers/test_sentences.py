"""The vector of a text is what the model's last layer reads, whatever the family."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from brittle.answers import Attention, Embedding
from brittle.errors import UsageError
from brittle.targets.protocols import Embeds, HasAttention
from brittle.targets.transformers.classifier import SequenceClassifier, of_model
from brittle.targets.transformers.tokenizer import align_texts
from brittle.text import Text

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from targets import tiny  # noqa: E402

TEXTS = ["a good film", "the story was not very godlike , it rained !", "rain", "a god", "film"]
ITEMS = [Text.of(text) for text in TEXTS]


@pytest.fixture(scope="module", params=tiny.FAMILIES)
def target(request: pytest.FixtureRequest) -> SequenceClassifier:
    tokenizer = tiny.tokenizer(request.param)
    return of_model(tiny.model(request.param, len(tokenizer)), tokenizer)


def last_layer(model: Any) -> Any:
    """Return the last linear layer; RoBERTa's is part of a larger head."""
    return getattr(model.classifier, "out_proj", model.classifier)


def check(target: SequenceClassifier, layer: Any) -> list[Embedding]:
    """Hold scores to the target's, and vectors to the scores by the layer alone."""
    found = target.sentence_embeddings(ITEMS)
    assert isinstance(target, Embeds) and target.sentence_embeddings([]) == []
    scores = np.array([embedding.scores for embedding in found])
    assert scores == pytest.approx(target.scores(ITEMS), abs=1e-6)
    for text, embedding, logits in zip(ITEMS, found, target.logits(ITEMS)):
        vector = torch.from_numpy(embedding.vector).float()
        assert embedding.vector.shape == (layer.in_features,)
        assert layer(vector).tolist() == pytest.approx(logits.tolist(), abs=1e-5)
        (alone,) = target.sentence_embeddings([text])
        assert alone.vector == pytest.approx(embedding.vector, abs=1e-6)
    return found


def test_the_last_layer_makes_the_scores_of_the_vector(target: SequenceClassifier) -> None:
    assert (target.fast is not None) == (target.model.config.model_type == "bert")
    check(target, last_layer(target.model))
    assert not any(part._forward_hooks for part in target.model.modules())


def test_the_fast_pass_and_the_model_have_one_vector() -> None:
    tokenizer = tiny.tokenizer("bert")
    fast = of_model(tiny.model("bert", len(tokenizer)), tokenizer)
    plain = of_model(tiny.model("bert", len(tokenizer), attn_implementation="eager"), tokenizer)
    object.__setattr__(plain, "fast", None)
    for one, other in zip(fast.sentence_embeddings(ITEMS), plain.sentence_embeddings(ITEMS)):
        assert one.vector == pytest.approx(other.vector, abs=1e-5)


def test_a_model_that_reads_its_last_token() -> None:
    torch.manual_seed(0)
    tokenizer = tiny.wrapped(tiny.sentence_pieces(), pad_token=None)
    options = {"vocab_size": len(tokenizer), "n_positions": 64, "n_embd": 16, "n_layer": 2}
    config = transformers.GPT2Config(**options, n_head=2, num_labels=2, initializer_range=0.3)
    target = of_model(transformers.GPT2ForSequenceClassification(config), tokenizer)
    found = check(target, target.model.score)
    (key,) = target.canonical(ITEMS[:1])
    ids = torch.tensor(np.frombuffer(key, np.int32).astype(np.int64))[None]
    target.model.set_attn_implementation("eager")
    with torch.no_grad():
        output = target.model.transformer(ids, output_attentions=True)
    # Two kernels of attention add in other orders: 1e-6 is less than float32 keeps of these sums.
    assert found[0].vector == pytest.approx(output.last_hidden_state[0, -1].tolist(), abs=1e-5)
    (attention,) = target.attention(ITEMS[:1])
    assert attention.summary.shape == (2, 2, 3)
    for layer, own in zip(attention.summary, output.attentions):
        for column, tokens in enumerate(align_texts(ITEMS[:1], target.tokenizer)[0].columns):
            expected = own[0, :, -1, list(tokens)].sum(dim=1).tolist()
            assert layer[:, column] == pytest.approx(expected, abs=1e-6)


class MeanOfStates(transformers.BertForSequenceClassification):  # type: ignore[misc]
    """A classifier that reads the mean of all its tokens, by a layer of another name."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.classifier = torch.nn.Identity()
        self.top = torch.nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids: Any, attention_mask: Any = None, **options: Any) -> Any:
        output = self.bert(input_ids, attention_mask, **options)
        inside = attention_mask[:, :, None].to(output.last_hidden_state)
        mean = (output.last_hidden_state * inside).sum(dim=1) / inside.sum(dim=1)
        return transformers.modeling_outputs.SequenceClassifierOutput(
            logits=self.top(mean),
            hidden_states=output.hidden_states,
            attentions=output.attentions,
        )


def test_a_model_that_reads_all_tokens_alike() -> None:
    tokenizer = tiny.tokenizer("bert")
    config = tiny.model("bert", len(tokenizer)).config
    target = of_model(MeanOfStates(config).eval(), tokenizer)
    check(target, target.model.top)
    (attention,) = target.attention(ITEMS[:1])  # one token a word, between [CLS] and [SEP]
    (key,) = target.canonical(ITEMS[:1])
    ids = torch.tensor(np.frombuffer(key, np.int32).astype(np.int64))[None]
    target.model.set_attn_implementation("eager")
    with torch.no_grad():
        rows = target.model.bert(ids, output_attentions=True).attentions
    expected = [weight[0].mean(dim=1)[:, 1:4].numpy() for weight in rows]
    assert isinstance(attention, Attention) and isinstance(target, HasAttention)
    assert attention.summary == pytest.approx(np.array(expected), abs=1e-6)


def test_a_model_without_a_last_layer_is_refused_by_name() -> None:
    tokenizer = tiny.tokenizer("bert")
    model = tiny.model("bert", len(tokenizer))
    model.classifier = torch.nn.Sequential(model.classifier, torch.nn.Tanh())
    with pytest.raises(UsageError, match=r"has no linear layer before its logits"):
        of_model(model, tokenizer).sentence_embeddings(ITEMS)


@pytest.mark.slow
def test_threads_do_not_disturb_one_another(target: SequenceClassifier) -> None:
    def ask(n: int) -> Any:
        if n % 2:
            return target.scores(ITEMS).tolist()
        return [embedding.vector.tolist() for embedding in target.sentence_embeddings(ITEMS)]

    with ThreadPoolExecutor(2) as threads:
        for n, answer in enumerate(threads.map(ask, range(12))):
            assert answer == ask(n)
