"""Every mistake is named before anything is attacked: what, got, expected, remedy."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import brittle  # noqa: E402
from brittle.errors import UsageError  # noqa: E402
from targets.torch.networks import (  # noqa: E402
    VOCABULARY,
    Convolution,
    Gru,
    build,
    word_target,
)


class Tuple(Gru):
    def forward(self, ids: Any) -> Any:
        return super().forward(ids), ids


class Mixed(Gru):
    """Forgets batch_first."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(5, 6)


class Turned(Gru):
    """Reads tokens × texts."""

    def forward(self, ids: Any) -> Any:
        return super().forward(ids.T)


class NotANumber(Gru):
    def forward(self, ids: Any) -> Any:
        return super().forward(ids) / 0 * 0


class Softmax(Gru):
    def forward(self, ids: Any) -> Any:
        return super().forward(ids).softmax(dim=1)


class Cut(Gru):
    def forward(self, ids: Any) -> Any:
        return self.out(self.gru(self.embed(ids).detach())[0][:, -1])


class NoGrad(Gru):
    @torch.no_grad()
    def forward(self, ids: Any) -> Any:
        return super().forward(ids)


class Prepended(Gru):
    def forward(self, ids: Any) -> Any:
        return super().forward(nn.functional.pad(ids, (1, 0)))


class TwoTables(Gru):
    def __init__(self) -> None:
        super().__init__()
        self.second = nn.Embedding(len(VOCABULARY), 5)

    def forward(self, ids: Any) -> Any:
        return self.out(self.gru(self.embed(ids) + self.second(ids))[0][:, -1])


class Positions(TwoTables):
    """A second table, but of positions."""

    def forward(self, ids: Any) -> Any:
        position = torch.arange(ids.shape[1]).expand_as(ids)
        return self.out(self.gru(self.embed(ids) + self.second(position))[0][:, -1])


class Dropping(Gru):
    def forward(self, ids: Any) -> Any:
        return nn.functional.dropout(super().forward(ids))


class Masked(Gru):
    def forward(self, ids: Any, segments: Any) -> Any:  # type: ignore[override]
        return super().forward(ids)


class NoTable(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(9, 5))


SMALL = {token: n for token, n in VOCABULARY.items() if token != "<unk>"}
MISTAKES = [
    (Tuple, {}, r"'Tuple' returned a tuple. Expected a tensor.*call=lambda module, ids, lengths"),
    (Mixed, {}, r"to the same text in a batch.*batch_first=True"),
    (Turned, {}, r"shape \(7, 3\) for 3 texts of 7 tokens.*module\(ids.T\)"),
    (NotANumber, {}, r"returned \[nan, nan, nan\].*finite"),
    (Softmax, {}, r"looks like a probability.*scores='prob', or scores='logits'"),
    (Cut, {}, r"no gradient at its embedding 'embed'.*detach"),
    (NoGrad, {}, r"no gradient at its embedding 'embed'.*no_grad"),
    (Prepended, {}, r"changes its token ids.*\(3, 8\), called with \(3, 7\)"),
    (TwoTables, {"embedding": "embed.weight"}, r"by its embedding 'embed' and also by 'second'"),
    (TwoTables, {}, r"has 2 embeddings: embed.weight, second.weight. Name the one"),
    (Positions, {"embedding": "second"}, r"changes its token ids"),
    (Dropping, {}, r"gives different answers to the same text.*training=self.training"),
    (Masked, {}, r"also takes segments, which brittle cannot fill in.*module\(ids, segments=…\)"),
    (NoTable, {}, r"has no nn.Embedding.*black box"),
    (Convolution, {}, r"cannot read a text of 1 tokens.*min_length"),
    (Gru, {"labels": "a,b"}, r"shape \(3, 3\).*Expected \(3, 2\).*as many labels"),
    (Gru, {"embedding": "embd.weight"}, r"Unknown parameter .*'embd.weight'. Did you mean 'embed"),
    (Gru, {"embedding": "out.weight"}, r"belongs to a Linear .*Expected the weight of an nn.Emb"),
    (Gru, {"embedding": "gru.weight_hh_l0"}, r"belongs to a GRU "),
    (Gru, {"scores": "label"}, r"Unknown kind of scores 'label'"),
    (
        Gru,
        {"vocabulary": {**VOCABULARY, "new": 99}},
        r"has 'new' as 99, .* has 23 rows \(0 to 22\)",
    ),
    (Gru, {"vocabulary": {"a": "b"}}, r"has the entry 'a': 'b'. Expected tokens"),
    (Gru, {"vocabulary": {}}, r"vocabulary is empty"),
    (Gru, {"vocabulary": "words"}, r"Got a str as vocabulary. Expected a dict"),
    (Gru, {"vocabulary": SMALL}, r"no '<unk>', the unknown token.*it has <pad>.*unknown=None"),
    (Gru, {"padding": "[PAD]"}, r"no '\[PAD\]', the padding token"),
    (Gru, {"separator": "[SEP]"}, r"no '\[SEP\]', the separator token"),
    (Gru, {"min_length": 0}, r"Got min_length=0"),
    (Gru, {"min_length": 3, "max_length": 2}, r"a max_length of at least min_length"),
    (Gru, {"tokenize": str.lower}, r"tokenize returned 'this.*Expected a list of strings"),
    (Gru, {"tokenize": lambda text: [1, 2]}, r"tokenize returned \[1, 2\]"),
    (Gru, {"tokenize": lambda text: ["@"]}, r"into \['@'\]. Expected pieces of the text"),
    (Gru, {"tokenize": lambda text: []}, r"into \[\]. Expected pieces of the text"),
    (Gru, {"tokenize": lambda text: text.upper().split()}, r"reads the word 'a' .*as \['A'\]"),
    (Gru, {"tokenize": lambda text: 1 / 0}, r"tokenize raised ZeroDivisionError"),
]


@pytest.mark.parametrize(("kind", "options", "message"), MISTAKES)
def test_a_mistake_is_named(kind: Any, options: dict[str, Any], message: str) -> None:
    module = build(kind)
    module.train()
    with pytest.raises(brittle.BrittleError, match=message):
        word_target(module, **options)
    assert all(part.training for part in module.modules())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())


def test_padding_that_is_needed_and_not_there() -> None:
    vocabulary = {token: n for token, n in VOCABULARY.items() if token != "<pad>"}
    assert word_target(build(Gru), vocabulary=vocabulary)
    with pytest.raises(UsageError, match="min_length=3 needs a padding token"):
        word_target(build(Gru), vocabulary=vocabulary, min_length=3)
    module = build(Gru)
    module.embed.padding_idx = 4
    assert word_target(module, vocabulary=vocabulary, min_length=3).reader.padding_id == 4


def test_what_looks_like_a_mistake_and_is_none() -> None:
    assert word_target(build(Positions), embedding="embed")
    assert word_target(build(Softmax), scores="logits")
    assert word_target(build(Tuple), call=lambda module, ids, lengths: module(ids)[0])
    assert word_target(build(Masked), call=lambda module, ids, lengths: module(ids, None))
    assert word_target(build(Turned), call=lambda module, ids, lengths: module(ids.T))
    assert word_target(build(Convolution), min_length=3)


def test_only_modules_are_taken() -> None:
    with pytest.raises(UsageError, match=r"got a function. Expected a torch.nn.Module"):
        brittle.torch_target(print and (lambda ids: ids), vocabulary={}, labels="a,b")  # type: ignore[arg-type]
