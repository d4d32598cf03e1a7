"""The vector of a text in a user's network is what the named head reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.errors import UsageError  # noqa: E402
from brittle.targets.protocols import Embeds  # noqa: E402
from brittle.text import Text  # noqa: E402
from targets.torch.networks import Convolution, Gru, Lengths, build, word_target  # noqa: E402

SENTENCES = ["A good film, not bad.", "the plot was dull", "warm", "zzz good!", "", "?"]
ITEMS = [Text.of(sentence) for sentence in SENTENCES]


@pytest.mark.parametrize(("kind", "min_length"), [(Gru, 1), (Lengths, 1), (Convolution, 3)])
def test_the_head_makes_the_scores_of_the_vector(kind: Any, min_length: int) -> None:
    module = build(kind)
    target = word_target(module, head="out", min_length=min_length)
    assert isinstance(target, Embeds)
    found = target.sentence_embeddings(ITEMS)
    assert np.array([e.scores for e in found]) == pytest.approx(target.scores(ITEMS), abs=1e-12)
    vectors = torch.tensor(np.array([embedding.vector for embedding in found]))
    assert vectors.shape == (6, 6)
    logits = module.out(vectors).detach().numpy()
    assert logits == pytest.approx(target.logits(ITEMS), abs=1e-12)
    assert module.training and not module.out._forward_pre_hooks


def test_without_a_head_it_is_not_offered() -> None:
    plain, named = word_target(build(Gru)), word_target(build(Gru), head="out")
    assert not isinstance(plain, Embeds)
    assert plain.fingerprint != named.fingerprint
    assert named.fingerprint == word_target(build(Gru), head="out").fingerprint


class Repeated(Gru):
    def forward(self, ids: Any) -> Any:
        return self.out(self.out.weight[:1]) * 0 + super().forward(ids)


@pytest.mark.parametrize(
    ("kind", "head", "message"),
    [
        (Gru, "uot", r"Unknown part of the network 'Gru' 'uot'\. Did you mean 'out'\?"),
        (Gru, "gru", r"has the head 'gru', which read tensors of shape \(3, 7, 5\) for 3 texts"),
        (Lengths, "drop", r"has the head 'drop', which read none for 3 texts\. Expected one"),
        (Repeated, "out", r"has the head 'out', which read tensors of shape \(1, 6\), \(3, 6\)"),
    ],
)
def test_a_part_that_reads_something_else_is_refused(kind: Any, head: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        word_target(build(kind), head=head)
