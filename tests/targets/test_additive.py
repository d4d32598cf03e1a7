"""The closed form of additive models against brute force."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from brittle.spaces import Bounded, BoundRequest, SwapSpace, subsets
from brittle.targets.scores import bound_additive
from brittle.text import Text
from zoo.small import BAG, bag_of_words


def space_of(random: Random, words: int) -> SwapSpace:
    chosen = [*BAG, "unknown", "strange"]
    text = Text.of(" ".join(random.choices(chosen, k=random.randint(1, 6))))
    options = [tuple(random.sample(chosen, random.randint(0, 3))) for _ in text.words]
    return SwapSpace(text, options, words)


def every_text(space: SwapSpace, words: int) -> list[Text]:
    sets = [s for n in range(words + 1) for s in subsets([space.positions], n)]
    return list(space.texts(sets))


@pytest.mark.parametrize("classes", [2, 3])
def test_it_equals_brute_force(classes: int) -> None:
    random, proved, broken = Random(classes), 0, 0
    for seed in range(300):
        target, space = bag_of_words(seed, classes), space_of(random, random.randint(1, 4))
        label = int(target.logits([space.text])[0].argmax())
        [known] = target.bounds([BoundRequest(space, label)])
        needed = [
            words
            for words in range(1, space.words + 1)
            if (target.logits(every_text(space, words)).argmax(axis=1) != label).any()
        ]
        if not needed:
            assert known == Bounded(space.words, ())
            proved += 1
            continue
        broken += 1
        assert known.proved_words == needed[0] - 1 and known.open_sets is None
        predicted = target.logits(known.strongest).argmax(axis=1)
        changed = [
            sum(a != b for a, b in zip(text.words, space.text.words)) for text in known.strongest
        ]
        first = int((predicted != label).argmax())
        assert predicted[first] != label and changed[first] == needed[0]
        assert changed == sorted(changed) and changed[-1] <= space.words
    assert min(proved, broken) > 50


def test_only_the_class_aimed_at_counts() -> None:
    random, differ = Random(5), 0
    for seed in range(200):
        target, space = bag_of_words(seed, 3), space_of(random, 2)
        label = int(target.logits([space.text])[0].argmax())
        toward = (label + 1) % 3
        [known] = target.bounds([BoundRequest(space, label, toward)])
        margins = target.logits(every_text(space, 2))
        margin = margins[:, toward] - margins[:, label]
        assert (known.open_sets == ()) == (margin.max() < 0)
        differ += (margins.argmax(axis=1) != label).any() and known.open_sets == ()
    assert differ


def test_the_strongest_text_has_the_highest_margin_of_the_space() -> None:
    random = Random(7)
    for seed in range(100):
        target, space = bag_of_words(seed, 2, spread=3.0), space_of(random, 3)
        logits = target.logits(every_text(space, 3))
        label = int(target.logits([space.text])[0].argmax())
        [known] = target.bounds([BoundRequest(space, label)])
        if known.strongest:
            top = target.logits(known.strongest)
            margin = (logits[:, 1 - label] - logits[:, label]).max()
            assert np.isclose((top[:, 1 - label] - top[:, label]).max(), margin, atol=1e-9)


def test_what_rounding_could_change_is_not_proved() -> None:
    space = SwapSpace(Text.of("a b"), [("c",), ("d",)], 2)
    request = BoundRequest(space, 0)
    for change, expected in ((0.5, False), (0.5 - 1e-14, False), (0.4999, True)):
        known = bound_additive(
            request, np.array([1.0, 0.0]), [np.array([[0.0, change]])] * 2, scale=10.0
        )
        assert (known.proved_words == 2) == expected
    tie = bound_additive(request, np.array([1.0, 1.0]), [np.zeros((1, 2))] * 2, scale=10.0)
    assert tie == Bounded()
