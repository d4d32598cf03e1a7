"""What a user's network reads and answers, that it is left as it was, and runs on it."""

from __future__ import annotations

import copy
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import brittle  # noqa: E402
from brittle.errors import TargetError, UsageError  # noqa: E402
from brittle.inside.nearest import embed_vocabulary  # noqa: E402
from brittle.moves import EditRequest, EditSpace  # noqa: E402
from brittle.opening import as_target  # noqa: E402
from brittle.targets.protocols import HasCanonicalScores, HasEmbeddings, HasFlips  # noqa: E402
from brittle.targets.torch.target import TorchTarget  # noqa: E402
from brittle.text import Text  # noqa: E402
from targets.torch.networks import (  # noqa: E402
    CHARACTERS,
    LABELS,
    VOCABULARY,
    Convolution,
    Gru,
    Lengths,
    build,
    character_target,
    tokenize,
    word_target,
)

SENTENCES = ["A good film, not bad.", "the plot was dull", "warm", "zzz good!", "", "?"]
ITEMS = [Text.of(sentence) for sentence in SENTENCES]


def ids_of(key: bytes) -> list[int]:
    return np.frombuffer(key, dtype=np.int32).tolist()


def expected_ids(sentence: str) -> list[int]:
    return [VOCABULARY.get(token, 1) for token in tokenize(sentence)] or [1]


@pytest.mark.parametrize("kind", [Gru, Lengths])
def test_scores_are_those_of_the_module_alone(kind: Any) -> None:
    module = build(kind)
    target = word_target(module)
    assert all(isinstance(target, kind) for kind in (HasCanonicalScores, HasFlips, HasEmbeddings))
    assert [ids_of(key) for key in target.canonical(ITEMS)] == list(map(expected_ids, SENTENCES))
    module.eval()
    rows = []
    for sentence in SENTENCES:
        ids = torch.tensor([expected_ids(sentence)])
        rows.append(module(ids, torch.tensor([ids.shape[1]])) if kind is Lengths else module(ids))
    logits = torch.cat(rows).detach()
    assert target.logits(ITEMS) == pytest.approx(logits.numpy(), abs=1e-12)
    assert target.scores(ITEMS) == pytest.approx(logits.softmax(dim=1).numpy(), abs=1e-12)
    assert target.scores([]).shape == (0, 3)


def test_by_default_words_are_read_whatever_their_case() -> None:
    target = word_target(build(Gru), tokenize=None)
    text = Text.of("The FILM, zzz")
    words = [VOCABULARY["the"], VOCABULARY["film"], 1]
    keys = target.canonical([text, text.mask(1), Text.of("")])
    assert list(map(ids_of, keys)) == [words, [words[0], 1, 1], [1]]
    vocabulary = {**VOCABULARY, "FILM": 0}
    assert (
        ids_of(word_target(build(Gru), tokenize=None, vocabulary=vocabulary).canonical([text])[0])[
            1
        ]
        == 0
    )


@pytest.mark.parametrize("split", [tokenize, str.split, None])
def test_a_hole_reads_as_unknown_or_as_the_mask(split: Any) -> None:
    for mask, hole in ((None, 1), ("bad", VOCABULARY["bad"])):
        target = word_target(build(Gru), tokenize=split, mask=mask)
        key = target.canonical([Text.of("the good film").mask(1)])[0]
        assert ids_of(key) == [VOCABULARY["the"], hole, VOCABULARY["film"]]


def test_a_hole_may_read_as_nothing_and_as_a_character() -> None:
    target = word_target(build(Gru), tokenize=lambda text: re.findall(r"[a-z]{4,}", text))
    key = target.canonical([Text.of("story good film").mask(1)])[0]
    assert ids_of(key) == [VOCABULARY["story"], VOCABULARY["film"]]
    spelt = character_target(build(Gru, len(CHARACTERS)))
    assert ids_of(spelt.canonical([Text.of("a b").mask(1)])[0])[-1] == 1


def test_tokens_outside_the_vocabulary_may_be_left_out() -> None:
    target = word_target(build(Gru), unknown=None)
    text = Text.of("the zzz film")
    assert ids_of(target.canonical([text])[0]) == [VOCABULARY["the"], VOCABULARY["film"]]
    assert target.words_read([text, Text.of("zzz")]) == [(0, 2), ()]
    assert ids_of(target.canonical([Text.of("zzz")])[0]) == [0]
    vocabulary = {token: n for token, n in VOCABULARY.items() if token != "<pad>"}
    bare = word_target(build(Gru), unknown=None, vocabulary=vocabulary)
    with pytest.raises(TargetError, match="no token"):
        bare.scores([Text.of("zzz")])


def test_long_texts_are_truncated_and_short_ones_padded() -> None:
    module = build(Convolution)
    target = word_target(module, min_length=4, max_length=5)
    text = Text.of("the film, was dull and weak")
    assert ids_of(target.canonical([text])[0]) == expected_ids("the film, was dull")
    assert target.words_read([text]) == [(0, 1, 2, 3)]
    padded = torch.tensor([[*expected_ids("a film"), 0, 0]])
    alone = module(padded).softmax(dim=1).detach().numpy()
    assert target.scores([Text.of("a film")]) == pytest.approx(alone, abs=1e-12)


def test_fields_are_read_in_order_and_locked_ones_too() -> None:
    vocabulary = {**VOCABULARY, "!": 1, "<sep>": VOCABULARY["!"]}
    target = word_target(build(Gru), vocabulary=vocabulary, separator="<sep>")
    text = Text.of({"premise": "the film", "between": "a plot", "last": "was dull"}, ["between"])
    words = ["the", "film", "<sep>", "a", "plot", "<sep>", "was", "dull"]
    assert ids_of(target.canonical([text])[0]) == [vocabulary[word] for word in words]
    assert target.words_read([text]) == [(0, 1, 2, 3)]
    gradient = target.gradients([EditRequest(text, 0, None, EditSpace(), range(4))])[0].value
    assert gradient.shape == (4, 5) and np.abs(gradient).min(axis=1).all()


def test_outputs_of_every_kind_have_the_same_scores() -> None:
    one = build(Gru, len(VOCABULARY), 1)
    expected = torch.sigmoid(torch.tensor(word_target(one, labels="no,yes").logits(ITEMS)[:, 1]))

    class Probability(Gru):
        def forward(self, ids: Any) -> Any:
            return torch.sigmoid(super().forward(ids))[:, 0]

    class Both(Gru):
        def forward(self, ids: Any) -> Any:
            second = torch.sigmoid(super().forward(ids))
            return torch.cat([1 - second, second], dim=1)

    class Squeezed(Gru):
        def forward(self, ids: Any) -> Any:
            return super().forward(ids).squeeze()

    asked = [EditRequest(text, 0, None, EditSpace(), range(len(text))) for text in ITEMS[:4]]
    gradients = word_target(one, labels="no,yes").gradients(asked)
    for kind, scores in ((Probability, "single"), (Both, "prob"), (Squeezed, "logits")):
        target = word_target(build(kind, len(VOCABULARY), 1), labels="no,yes", scores=scores)
        assert target.scores(ITEMS)[:, 1] == pytest.approx(expected.numpy(), abs=1e-12)
        for own, other in zip(target.gradients(asked), gradients):
            assert own.value == pytest.approx(other.value, abs=1e-9)


def test_the_module_is_left_as_it_was() -> None:
    module = build(Gru)
    module.train()
    module.gru.eval()
    module.embed.weight.requires_grad_(False)
    modes = [part.training for part in module.modules()]
    weights = copy.deepcopy(module.state_dict())
    target = word_target(module)
    target.flips([EditRequest(ITEMS[0], 0, None, EditSpace(), range(5))])
    target.embeddings(ITEMS, "gru")
    with pytest.raises(TargetError):
        target.network.logits(torch.tensor([[10**6]]), torch.tensor([1]))
    assert [part.training for part in module.modules()] == modes
    assert all(weight.grad is None for weight in module.parameters())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())
    assert all(bool((value == weights[name]).all()) for name, value in module.state_dict().items())
    assert not module.embed.weight.requires_grad and module.out.weight.requires_grad


def test_layers_are_the_parts_with_a_vector_for_every_token() -> None:
    module = build(Gru)
    target = word_target(module)
    assert target.layers == ("embedding", "gru")
    (vectors,) = target.embeddings(ITEMS[:1], "embedding")
    table = module.embed.weight.detach().numpy()
    assert vectors == pytest.approx(
        table[[VOCABULARY[w] for w in ["a", "good", "film", "not", "bad"]]]
    )
    (states,) = target.embeddings(ITEMS[:1], "gru")
    assert states.shape == (5, 6)
    (spelt,) = target.embeddings(ITEMS[:1], "gru", "characters")
    assert [part.shape for part in spelt] == [(len(str(word)), 6) for word in ITEMS[0].words]
    with pytest.raises(UsageError, match=r"Unknown layer of 'Gru' 'gur'. Did you mean 'gru'"):
        target.embeddings(ITEMS, "gur")
    assert len(embed_vocabulary(target).words) > 10


class Attention(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Torch's own transformer, which runs past its parts where no gradient is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(len(VOCABULARY), 8)
        self.positions = torch.nn.Embedding(30, 8)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, 2)
        self.out = torch.nn.Linear(8, 3)

    def forward(self, ids: Any) -> Any:
        vectors = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        return self.out(self.encoder(vectors, src_key_padding_mask=ids == 0).mean(dim=1))


@pytest.mark.filterwarnings("ignore:.*nested tensors")
@pytest.mark.parametrize("frozen", [False, True])
def test_a_transformer_shows_its_layers(frozen: bool) -> None:
    module = build(Attention).requires_grad_(not frozen)
    target = word_target(module, embedding="tokens.weight", max_length=30)
    assert {"encoder", "encoder.layers.0", "encoder.layers.1.self_attn"} <= set(target.layers)
    for layer in target.layers:
        assert [len(rows) for rows in target.embeddings(ITEMS, layer)] == [5, 4, 1, 2, 0, 0]
    request = EditRequest(ITEMS[0], 0, None, EditSpace(), range(5))
    assert len(target.flips([request])[0].moves.gain)
    (states,) = target.embeddings(ITEMS[:1], "encoder")
    ids = torch.tensor([expected_ids(SENTENCES[0])])
    vectors = module.tokens(ids) + module.positions(torch.arange(ids.shape[1]))
    expected = module.eval().encoder(vectors)[0, [0, 1, 2, 4, 5]].detach().numpy()
    assert states == pytest.approx(expected, abs=1e-9)


def test_half_precision_and_a_table_with_a_largest_norm() -> None:
    module = build(Gru).bfloat16()
    target = word_target(module)
    request = EditRequest(ITEMS[0], 0, None, EditSpace(), range(5))
    assert target.scores(ITEMS).shape == (6, 3) and len(target.flips([request])[0].moves.gain)
    module = build(Gru)
    module.embed.max_norm = 0.5
    target = word_target(module)
    norms = np.linalg.norm(target.embeddings(ITEMS[:1], "embedding")[0], axis=1)
    assert norms.max() <= 0.5 + 1e-6


def other_weights(module: Any) -> Any:
    changed = copy.deepcopy(module)
    with torch.no_grad():
        changed.out.bias[0] += 1e-6
    return changed


class Splitter:
    """Holds more than its code shows."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __call__(self, text: str) -> list[str]:
        return re.findall(self.pattern, text.lower())


def test_the_fingerprint_is_that_of_weights_tokens_and_labels() -> None:
    module = build(Gru)
    own = word_target(module).fingerprint
    assert word_target(copy.deepcopy(module)).fingerprint == own
    others = [
        word_target(other_weights(module)),
        word_target(module, tokenize=None),
        word_target(module, tokenize=str.split),
        word_target(module, vocabulary={**VOCABULARY, "zzz": 3}),
        word_target(module, labels="a,b,c"),
        word_target(module, max_length=9),
        word_target(module, min_length=3),
        word_target(module, mask="a"),
        word_target(module, call=lambda module, ids, lengths: module(ids).flip(1)),
    ]
    others += [word_target(module, tokenize=Splitter(p)) for p in (r"\w+", r"\w+|[^\w\s]")]
    assert len({own, *(target.fingerprint for target in others)}) == 1 + len(others)


DATA = [f"the {word} film was {end}" for word in VOCABULARY for end in ("good", "fine")][4:36]


@pytest.mark.parametrize(
    "attack",
    [
        "hotflip",
        *(pytest.param(a, marks=pytest.mark.slow) for a in ("hotflip-words", "jsma", "pwws")),
    ],
)
def test_a_stopped_run_is_resumed_on_the_same_network(attack: str, tmp_path: Path) -> None:
    module = build(Gru, len(VOCABULARY), 2)
    labels = "negative,positive"
    settings = {"hotflip-words": {"same_tag": False, "cosine": 0.0}}.get(attack, {})
    stopping = threading.Event()

    def run(module: Any, name: str, **options: Any) -> Any:
        target = word_target(module, labels=labels)
        options |= {"folder": tmp_path, "name": name, "batch": 4}
        return brittle.attack(target, DATA, attack, **options, **settings)

    with pytest.raises(brittle.BrittleError, match="Stopped"):
        run(module, "stopped", stopping=stopping, progress=lambda _: stopping.set())
    with pytest.raises(UsageError, match="fingerprint was"):
        run(other_weights(module), "stopped")
    resumed = run(copy.deepcopy(module), "stopped").results()
    whole = run(module, "whole").results()
    assert len(whole) == len(DATA)
    # Texts that the network cannot tell apart tie, up to the last digits.
    encode = word_target(module, labels=labels).canonical
    one, other = (
        sorted((r.case, r.status, r.queries, encode([Text.of(r.adversarial or "")])) for r in part)
        for part in (resumed, whole)
    )
    assert one == other
    assert any(row.status == "broken" for row in whole)


def test_characters_are_flipped_and_words_are_not_swapped(tmp_path: Path) -> None:
    target = character_target(build(Gru, len(CHARACTERS), 2, seed=0), labels="negative,positive")
    rows = brittle.attack(target, DATA, "hotflip", share=0.3, folder=tmp_path).results()
    assert any(row.status == "broken" for row in rows)
    with pytest.raises(UsageError, match="reads characters: it has no vocabulary of words"):
        brittle.attack(target, DATA, "hotflip-words", folder=tmp_path)


def test_it_is_a_target_wherever_targets_are_taken() -> None:
    target = word_target(build(Gru))
    assert as_target(target) is target and isinstance(target, TorchTarget)
    assert target.labels == tuple(LABELS) and repr(target) == "TorchTarget('Gru')"
    assert "good" in target.vocabulary and "<pad>" not in target.vocabulary
