"""Estimators, torch modules and functions on pictures: scores, gradients, and what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.errors import TargetError, UsageError
from brittle.picture import Picture, PixelGradientRequest
from brittle.text import Text

SHAPE = (6, 8, 3)
LABELS = ("a", "b", "c")
GENERATOR = np.random.default_rng(5)
PIXELS = GENERATOR.uniform(0, 1, (40, *SHAPE)).astype(np.float32)
PICTURES = [Picture(pixels) for pixels in PIXELS]
WEIGHT = GENERATOR.normal(size=(144, 3))


def function(pixels: Any) -> Any:
    assert pixels.shape[1:] == SHAPE and pixels.dtype == np.float32
    exp = np.exp(pixels.reshape(len(pixels), -1) @ WEIGHT / 10)
    return exp / exp.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def forest() -> Any:
    ensemble = pytest.importorskip("sklearn.ensemble")
    model = ensemble.RandomForestClassifier(5, random_state=0)
    return model.fit(PIXELS.reshape(40, -1), np.array(LABELS)[np.arange(40) % 3])


@pytest.fixture
def module() -> Any:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3),
        torch.nn.Tanh(),
        torch.nn.Dropout(0.5),
        torch.nn.Flatten(),
        torch.nn.Linear(4 * 4 * 6, 3),
    )


def test_a_function_receives_an_array() -> None:
    target = brittle.as_target(function, shape=SHAPE, labels=LABELS)
    assert target.item_kind == "picture"  # type: ignore[attr-defined]
    assert np.allclose(target.scores(PICTURES), function(PIXELS))
    again = brittle.as_target(function, shape=SHAPE, labels=LABELS)
    other = brittle.as_target(function, shape=SHAPE, labels=LABELS, scores="logits")
    assert target.fingerprint == again.fingerprint != other.fingerprint
    assert target.scores([]).shape == (0, 3)


def test_an_estimator_receives_rows_of_pixels(forest: Any, tmp_path: Path) -> None:
    target = brittle.as_target(forest, shape=SHAPE)
    assert np.allclose(target.scores(PICTURES), forest.predict_proba(PIXELS.reshape(40, -1)))
    assert target.item_kind == "picture"  # type: ignore[attr-defined]
    skops = pytest.importorskip("skops.io")
    skops.dump(forest, tmp_path / "forest.skops")
    tree = ["sklearn.tree._tree.Tree"]  # skops does not vouch for what is in a stored tree
    stored = brittle.as_target(str(tmp_path / "forest.skops"), shape=SHAPE, trust=tree)
    assert np.array_equal(stored.scores(PICTURES), target.scores(PICTURES))
    assert stored.name == "forest" and stored.fingerprint != target.fingerprint


def test_a_module_receives_channels_first_in_evaluation_mode(module: Any) -> None:
    torch = pytest.importorskip("torch")
    target = brittle.as_target(module, shape=SHAPE, labels=LABELS)
    with torch.no_grad():
        module.eval()
        expected = module(torch.from_numpy(PIXELS.transpose(0, 3, 1, 2).copy())).softmax(1)
    module.train()
    assert np.allclose(target.scores(PICTURES), expected.numpy(), atol=1e-6)
    assert module.training


def test_probabilities_are_not_taken_for_logits(module: Any) -> None:
    torch = pytest.importorskip("torch")
    sure = torch.nn.Sequential(module, torch.nn.Softmax(1))
    with pytest.raises(UsageError, match=r"for a picture, which looks like a prob.*scores='prob'"):
        brittle.as_target(sure, shape=SHAPE, labels=LABELS)
    declared = brittle.as_target(sure, shape=SHAPE, labels=LABELS, scores="prob")
    plain = brittle.as_target(module, shape=SHAPE, labels=LABELS)
    assert np.allclose(declared.scores(PICTURES), plain.scores(PICTURES), atol=1e-6)
    brittle.as_target(sure, shape=SHAPE, labels=LABELS, scores="logits")
    one = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(144, 1), torch.nn.Sigmoid())
    with pytest.raises(UsageError, match="scores='single'"):
        brittle.as_target(one, shape=SHAPE, labels=["no", "yes"])


def test_the_fingerprint_of_a_module_has_its_weights(module: Any) -> None:
    torch = pytest.importorskip("torch")
    first = brittle.as_target(module, shape=SHAPE, labels=LABELS).fingerprint
    assert brittle.as_target(module, shape=SHAPE, labels=LABELS).fingerprint == first
    with torch.no_grad():
        module[0].bias += 1
    assert brittle.as_target(module, shape=SHAPE, labels=LABELS).fingerprint != first


@pytest.mark.parametrize("toward", [None, 2])
@pytest.mark.parametrize("scores", ["logits", "prob"])
def test_gradients_are_those_of_finite_differences(
    module: Any, toward: int | None, scores: str
) -> None:
    torch = pytest.importorskip("torch")
    if scores == "prob":
        module.append(torch.nn.Softmax(1))
    module.double()
    target: Any = brittle.as_target(module, shape=SHAPE, labels=LABELS, scores=scores)
    requests = [PixelGradientRequest(picture, 1, toward) for picture in PICTURES[:2]]
    gradients = target.gradients(requests)

    def objective(pixels: Any) -> float:
        p = target.scores([Picture(pixels)])[0]
        return float(-np.log(p[1]) if toward is None else np.log(p[toward]))

    for picture, gradient in zip(PICTURES, gradients):
        assert gradient.shape == SHAPE
        for place in [(0, 0, 0), (2, 5, 1), (5, 7, 2)]:
            up, down = picture.pixels.copy(), picture.pixels.copy()
            up[place], down[place] = min(1, up[place] + 1e-3), max(0, down[place] - 1e-3)
            slope = (objective(up) - objective(down)) / float(up[place] - down[place])
            assert gradient[place] == pytest.approx(slope, abs=2e-4)


def test_a_sure_network_still_has_a_gradient(module: Any) -> None:
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        module[-1].weight *= 500
    target: Any = brittle.as_target(module, shape=SHAPE, labels=LABELS)
    sure = [p for p in PICTURES if target.scores([p]).max() == 1.0]
    assert sure
    label = int(target.scores(sure[:1]).argmax())
    assert np.abs(target.gradients([PixelGradientRequest(sure[0], label)])[0]).max() > 0


def test_one_logit_for_the_second_of_two_labels() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    one = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(144, 1))
    target: Any = brittle.as_target(one, shape=SHAPE, labels=["no", "yes"])
    weight = one[1].weight.detach().numpy().reshape(3, 6, 8).transpose(1, 2, 0)
    leaving, reaching = target.gradients(
        [PixelGradientRequest(PICTURES[0], 0), PixelGradientRequest(PICTURES[0], 0, 1)]
    )
    p = target.scores(PICTURES[:1])[0]
    assert np.allclose(leaving, p[1] * weight, atol=1e-6)
    assert np.allclose(reaching, p[0] * weight, atol=1e-6)


def test_pictures_that_do_not_fit_are_told(forest: Any, module: Any) -> None:
    with pytest.raises(UsageError, match=r"does not take the pictures of the data, 8 × 8 × 1"):
        brittle.as_target(forest, shape=(8, 8, 1))
    with pytest.raises(UsageError, match=r"does not take the pictures of the data, 6 × 8 × 1"):
        brittle.as_target(module, shape=(6, 8, 1), labels=LABELS)
    target = brittle.as_target(function, shape=SHAPE, labels=LABELS)
    with pytest.raises(UsageError, match=r"reads pictures of 6 × 8 × 3 .*got one of 8 × 8 × 1"):
        target.scores([Picture(np.zeros((8, 8)))])
    with pytest.raises(UsageError, match="reads pictures, but got a Text"):
        target.scores([Text.of("a film")])


def test_targets_that_cannot_be_used_are_told(module: Any) -> None:
    with pytest.raises(UsageError, match="does not name its labels"):
        brittle.as_target(module, shape=SHAPE)
    with pytest.raises(UsageError, match=r"'cmd:cat' reads texts"):
        brittle.as_target("cmd:cat", shape=SHAPE)
    with pytest.raises(UsageError, match="mask"):
        brittle.as_target(function, shape=SHAPE, labels=LABELS, mask="x")
    with pytest.raises(UsageError, match="reads numbers, not texts"):
        brittle.as_target(module, labels=LABELS)
    with pytest.raises(UsageError, match="a file, a folder or a kind of target"):
        brittle.as_target(3, shape=SHAPE)
    broken = brittle.as_target(lambda pixels: pixels.nothing, shape=SHAPE, labels=LABELS)
    with pytest.raises(TargetError, match="raised AttributeError"):
        broken.scores(PICTURES[:1])
