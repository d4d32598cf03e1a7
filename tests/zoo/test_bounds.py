"""Interval bounds against sampling and exhaustive search, on networks with random weights."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.spaces import Bounded, BoundRequest, SwapSpace, subsets  # noqa: E402
from brittle.targets.scores import softmax  # noqa: E402
from brittle.text import Text  # noqa: E402
from brittle.zoo import bounds  # noqa: E402
from brittle.zoo import bounds as bounds_module  # noqa: E402
from brittle.zoo.bounds import (  # noqa: E402
    Box,
    NetworkBounds,
    has_bounds,
)
from brittle.zoo.scoring import NetworkModel  # noqa: E402
from zoo.small import KNOWN, model, structures  # noqa: E402

DESIGNS = [design for design in structures() if has_bounds(design.parts)]
WORDS = [*KNOWN, "strange", "ünknown"]


def space_of(random: Random, words: int) -> SwapSpace:
    text = Text.of(" ".join(random.choices(WORDS, k=random.randint(1, 6))))
    options = [tuple(random.sample(WORDS, random.choice((0, 1, 2, 3)))) for _ in text.words]
    return SwapSpace(text, options, words)


def every_text(space: SwapSpace, words: int) -> list[Text]:
    sets = [s for n in range(words + 1) for s in subsets([space.positions], n)]
    return list(space.texts(sets))


def scaled_model(design: Any, seed: int, scale: float, head: float = 1.0) -> Any:
    """A random network; the smaller the scale of its word vectors, the more can be proved.

    `head` is the scale of its logits.
    """
    built = model(design, seed=seed)
    with torch.no_grad():
        built.network.head.weight.mul_(head)
        built.network.head.bias.mul_(head)
        for name in ("embedding", "spelling"):
            part = getattr(built.network, name)
            if part is not None:
                part = getattr(part, "embedding", part)
                part.weight.mul_(scale)
    return NetworkModel(built.network, built.tokenizer, built.reads, "cpu")


def check_cases(designs: list[Any], count: int, head: float = 1.0) -> tuple[int, int, int]:
    """Compare bounds with exhaustive search; count what was proved, in part, and broken."""
    random, proved, partly, broken = Random(len(designs)), 0, 0, 0
    for number, design in enumerate(designs):
        built = scaled_model(design, number, (0.05, 0.3, 2.0)[number % 3], head)
        known = NetworkBounds(built)
        for _ in range(count):
            space = space_of(random, random.randint(1, 2))
            predicted = softmax(built.logits(built.encode(every_text(space, space.words))))
            label = int(predicted[0].argmax())
            found = known.bound(BoundRequest(space, label))
            wins = predicted.argmax(axis=1) != label
            broken += wins.any()
            if found.proved_words:
                assert found == Bounded(space.words, ()) and not wins.any(), design.name
                proved += 1
            elif found.open_sets is not None:
                # Every winner swaps words inside an open set.
                partly += len(found.open_sets) < len(subsets([space.positions], space.words))
                for text in np.array(every_text(space, space.words), dtype=object)[wins]:
                    pairs = enumerate(zip(text.words, space.text.words))
                    changed = {i for i, (new, old) in pairs if new != old}
                    assert any(changed <= {*one} for one in found.open_sets), design.name
    return proved, partly, broken


def test_bounds_never_prove_what_exhaustive_search_breaks() -> None:
    proved, partly, broken = check_cases(DESIGNS[::6], 6)
    assert min(proved, partly, broken) > 3


def test_logits_that_are_equal_as_probabilities_prove_nothing() -> None:
    """Of equal probabilities the first class is predicted, whatever the sign of the margin."""
    proved, partly, _ = check_cases(DESIGNS[::6], 6, head=1e-16)
    assert (proved, partly) == (0, 0)


@pytest.mark.slow
def test_a_thousand_cases() -> None:
    proved, partly, broken = check_cases(DESIGNS, -(-1000 // len(DESIGNS)))
    assert min(proved, partly, broken) > 50


@pytest.mark.parametrize("design", DESIGNS[::5], ids=lambda design: design.name)
def test_bounds_contain_what_the_network_computes(design: Any) -> None:
    built, random = model(design, seed=3), Random(design.name)
    known = NetworkBounds(built)
    for _ in range(3):
        space = space_of(random, 9)
        if not space.positions:
            continue
        texts = every_text(space, len(space.positions))
        texts = [texts[0], *random.sample(texts, min(len(texts), 40))]
        vectors, logits = built.vectors_and_logits(built.encode(texts))
        box = bounds_module.PositionBoxes(built, space).of([space.positions])
        with torch.no_grad():
            sentence = known.sentence(box)
        assert (sentence.low[0].numpy() <= vectors).all()
        assert (vectors <= sentence.high[0].numpy()).all()
        for label in range(logits.shape[1]):
            request = BoundRequest(space, label)
            highest = known.margins(box, request)[0].numpy()
            margins = logits.astype(np.float64) - logits[:, [label]]
            assert (margins[:, request.rivals(logits.shape[1])] <= highest).all()


@pytest.mark.parametrize("design", DESIGNS[::7], ids=lambda design: design.name)
def test_a_box_without_width_is_nearly_the_pass_itself(design: Any) -> None:
    built, space = model(design), SwapSpace(Text.of("a bing ction d-x"), [()] * 4, 1)
    known = NetworkBounds(built)
    [logits] = built.logits(built.encode([space.text])).astype(np.float64)
    box = bounds_module.PositionBoxes(built, space).of([()])
    margin = known.margins(box, BoundRequest(space, 0))[0].numpy()
    exact = logits[1:] - logits[0]
    assert (margin >= exact).all() and np.allclose(margin, exact, atol=3e-2)


def test_more_sets_than_the_limit_are_one_box(monkeypatch: pytest.MonkeyPatch) -> None:
    built = scaled_model(next(d for d in DESIGNS if d.parts["encoder"] == "CNN"), 0, 1.0)
    known, random = NetworkBounds(built), Random(2)
    monkeypatch.setattr(bounds_module, "MAX_SETS", 1)
    seen = []
    for _ in range(20):
        space = space_of(random, 2)
        label = int(built.logits(built.encode([space.text]))[0].argmax())
        seen.append(known.bound(BoundRequest(space, label)))
    assert {one.open_sets if one.open_sets is None else len(one.open_sets) for one in seen} == {
        None,
        0,
    }


def test_networks_without_bounds_are_known_by_their_parts() -> None:
    names = {design.name for design in structures()} - {design.name for design in DESIGNS}
    assert names and all(
        "Transformer" in name or "attention" in name or "ELMo" in name for name in names
    )


def test_interval_arithmetic_contains_samples() -> None:
    torch.manual_seed(0)
    low = torch.randn(5, 4, 6, dtype=torch.float64)
    box = Box(low, low + torch.rand_like(low))
    layer = torch.nn.Conv1d(6, 3, 2)
    weight, bias = torch.randn(3, 6).double(), torch.randn(3).double()
    gate = bounds.sigmoid(box)
    for _ in range(200):
        x = box.low + torch.rand_like(low) * (box.high - box.low)
        own = torch.sigmoid(x)
        single = layer(x.float().transpose(1, 2)).transpose(1, 2)
        for inside, value in (
            (bounds.affine(box, weight, bias), x @ weight.T + bias),
            (bounds.convolved(box, layer), single),
            (bounds.scaled(gate, box), own * x),
            (bounds.added(box, gate), x + own),
            (bounds.tanh(box), torch.tanh(x.float())),
            (bounds.highest(box), x.amax(dim=1)),
            (bounds.mean(box), x.float().mean(dim=1)),
        ):
            assert (inside.low <= value).all() and (value <= inside.high).all()
