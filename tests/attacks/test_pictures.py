"""FGSM and noise: by hand on a linear model, against brute force, and the contract of attacks."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from brittle.asks import Answer, Case, Gradient, Try, Unfit
from brittle.attacks import recipe
from brittle.attacks.fgsm import FGSM, ZERO_GRADIENT, Noise, distances, fgsm, noise
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.errors import UsageError
from brittle.goals import Targeted, Untargeted
from brittle.picture import Picture, PixelGradientRequest, stack
from brittle.targets.capabilities import make_desks

SHAPE = (8, 8, 1)
GENERATOR = np.random.default_rng(3)
WEIGHT = GENERATOR.normal(size=(64, 3))
PICTURES = [Picture(GENERATOR.uniform(0.3, 0.7, SHAPE)) for _ in range(12)]


class LinearPictures:
    """Logits are pixels × weight: its gradient is known by hand."""

    name, fingerprint, labels, item_kind = "linear", "1", ("a", "b", "c"), "picture"

    def __init__(self, weight: Any = WEIGHT) -> None:
        self.weight = weight
        self.calls: list[int] = []

    def scores(self, items: Sequence[Picture]) -> Any:
        self.calls.append(len(items))
        pixels = stack(items, SHAPE, "linear").reshape(len(items), -1).astype(np.float64)
        logits = pixels @ self.weight
        exp = np.exp(logits - logits.max(axis=1, keepdims=True))
        return exp / exp.sum(axis=1, keepdims=True)

    def gradients(self, requests: Sequence[PixelGradientRequest]) -> list[Any]:
        gradients = []
        for r in requests:
            p = self.scores([r.picture])[0]
            aimed = r.label if r.toward is None else r.toward
            along = (np.eye(3)[aimed] - p) * (-1 if r.toward is None else 1)
            gradients.append((self.weight @ along).reshape(SHAPE))
        return gradients


def cases(target: LinearPictures, toward: int | None = None) -> list[Case[Picture]]:
    labels = target.scores(PICTURES).argmax(axis=1)
    return [
        Case(str(n), picture, int(label), toward)
        for n, (picture, label) in enumerate(zip(PICTURES, labels))
        if label != toward
    ]


def attacked(attack: Any, target: Any, toward: int | None = None, **options: Any) -> list[Outcome]:
    goal = Untargeted() if toward is None else Targeted()
    engine = Engine(attack, goal, Broker(make_desks(target)), **options)
    ended = [o for part in engine.run(cases(LinearPictures(), toward)) for o in part]
    return sorted(ended, key=lambda o: int(o.case.id))


def rows(outcomes: list[Outcome]) -> list[Any]:
    return [(o.case.id, o.status, o.queries, o.best and o.best.item) for o in outcomes]


def start() -> Case[Picture]:
    answer = Answer(np.array([[0.9, 0.1, 0]]), np.array([0.1]), np.array([False]))
    return Case("one", PICTURES[0], label=0, start=answer)


def test_fgsm_by_hand() -> None:
    search = fgsm(epsilon=0.25)(start(), Random(0))
    ask = next(search)
    assert isinstance(ask, Gradient)
    (request,) = ask.requests_for(ask.items)
    assert (request.picture, request.label, request.toward) == (PICTURES[0], 0, None)
    gradient = GENERATOR.normal(size=SHAPE)
    gradient[0, 0, 0] = 0
    tried = search.send([gradient])
    assert isinstance(tried, Try) and tried.in_order
    (moved,) = tried.items
    by_hand = PICTURES[0].pixels.astype(np.float64) + 0.25 * np.sign(gradient)
    assert np.allclose(moved.pixels, by_hand, atol=1e-7)
    assert moved.pixels[0, 0, 0] == PICTURES[0].pixels[0, 0, 0]


def test_pixels_stay_within_their_range() -> None:
    search = fgsm(epsilon=0.9)(start(), Random(0))
    next(search)
    (moved,) = search.send([np.ones(SHAPE)]).items
    assert moved.pixels.max() == 1 and np.allclose(moved.pixels, 1)


def test_fgsm_on_a_linear_model_is_the_sign_of_its_weights() -> None:
    """With two classes, the gradient of the loss is the difference of the weights, times 1 − p."""
    weight = WEIGHT.copy()
    weight[:, 2] = -100
    target = LinearPictures(weight)
    for outcome in attacked(fgsm(epsilon=0.2), target):
        if outcome.best is None or outcome.case.label == 2:
            continue
        other = 1 - outcome.case.label
        sign = np.sign(weight[:, other] - weight[:, outcome.case.label]).reshape(SHAPE)
        difference = outcome.best.item.pixels.astype(np.float64) - outcome.case.item.pixels
        assert np.allclose(difference, 0.2 * sign, atol=1e-6)


@pytest.mark.parametrize("toward", [None, 1])
def test_the_least_epsilon_is_within_its_step_of_brute_force(toward: int | None) -> None:
    target, step = LinearPictures(), 0.01
    outcomes = attacked(fgsm(step=step), target, toward)
    broken = [o for o in outcomes if o.status == "broken"]
    assert len(broken) >= 5
    for outcome in broken:
        case = outcome.case
        request = PixelGradientRequest(case.item, case.label, toward)
        direction = np.sign(target.gradients([request])[0])
        fine = np.arange(1, 1001) / 1000
        moved = [Picture(np.clip(case.item.pixels + e * direction, 0, 1)) for e in fine]
        predicted = target.scores(moved).argmax(axis=1)
        wins = predicted != case.label if toward is None else predicted == toward
        least = fine[wins.argmax()]
        found = np.abs(outcome.best.item.pixels - case.item.pixels).max()
        assert least - 1e-3 <= found <= least + step + 1e-6


def test_noise_has_the_norms_of_fgsm_and_is_weaker() -> None:
    target = LinearPictures()
    by_gradient, at_random = (attacked(a(epsilon=0.1), target) for a in (fgsm, noise))
    for a, b in zip(by_gradient, at_random):
        if a.best is not None and b.best is not None:
            norms = [np.linalg.norm(o.best.item.pixels - o.case.item.pixels) for o in (a, b)]
            assert norms == pytest.approx([0.8, 0.8], abs=1e-5)
    broken = [sum(o.status == "broken" for o in part) for part in (by_gradient, at_random)]
    assert broken[0] > broken[1]
    signs = {o.best.item.key for o in attacked(noise(epsilon=0.1), target, seed=1) if o.best}
    assert signs.isdisjoint({o.best.item.key for o in at_random if o.best})


def test_a_zero_gradient_is_no_case_to_attack() -> None:
    search = fgsm()(start(), Random(0))
    next(search)
    with pytest.raises(Unfit, match=ZERO_GRADIENT):
        search.send([np.zeros(SHAPE)])


def test_the_distances_tried() -> None:
    assert distances(0.3, 0.01, 1.0) == (0.3,)
    assert distances(None, 0.1, 0.3) == pytest.approx((0.1, 0.2, 0.3))
    assert distances(None, 0.5, 0.3) == (0.3,)
    assert len(fgsm().epsilons) == len(noise().epsilons) == 100 and fgsm().epsilons[-1] == 1.0
    for wrong in ({"epsilon": 0.0}, {"epsilon": 8.0}, {"step": -1.0}, {"largest": 255.0}):
        with pytest.raises(UsageError, match="expected a number above 0, at most 1"):
            fgsm(**wrong)


@pytest.mark.parametrize("attack", [fgsm, noise])
def test_more_steps_than_fit_into_memory_are_refused(attack: Any) -> None:
    assert len(attack(step=0.001).epsilons) == 1000
    assert len(attack(step=0.0001, largest=0.1).epsilons) == 1000
    with pytest.raises(UsageError, match=r"--step 1e-07, which makes 10,000,000 .*of 0\.001 or"):
        attack(step=1e-7)
    assert attack(step=1e-7, epsilon=0.1).epsilons == (0.1,)


# The contract that every attack meets, as test_contract.py has it for attacks on texts.

each = pytest.mark.parametrize("attack", [FGSM((0.02, 0.1, 0.2)), Noise((0.1, 0.5))])


@each
def test_same_seed_same_result_alone_or_interleaved(attack: Any) -> None:
    together = rows(attacked(attack, LinearPictures()))
    assert together == rows(attacked(attack, LinearPictures()))
    assert together == rows(attacked(attack, LinearPictures(), window=1, admit=1))
    assert {status for _, status, _, _ in together} <= {"broken", "held"}


@each
@pytest.mark.parametrize("budget", [1, 2, 3])
def test_never_past_the_budget_and_the_original_is_unchanged(attack: Any, budget: int) -> None:
    before = [picture.key for picture in PICTURES]
    for outcome in attacked(attack, LinearPictures(), budget=budget):
        assert outcome.queries <= budget
    assert [picture.key for picture in PICTURES] == before


@each
def test_a_win_is_a_win(attack: Any) -> None:
    target = LinearPictures()
    for outcome in attacked(attack, target):
        if outcome.best is not None:
            predicted = int(target.scores([outcome.best.item]).argmax())
            assert (predicted != outcome.case.label) == (outcome.status == "broken")


@pytest.mark.parametrize("name", ["fgsm", "noise"])
def test_the_recipe_has_its_settings_and_its_kind(name: str) -> None:
    attack = recipe(name)(epsilon=0.25)
    assert attack.epsilons == (0.25,) and attack.item_kind == "picture"  # type: ignore[attr-defined]
