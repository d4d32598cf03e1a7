"""A generator of pictures: batches, refining, what is refused, doubts, export, shipped weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
import torch
from torch import nn

from brittle.errors import TargetError, UsageError
from brittle.generators import open_generator
from brittle.latent import LatentPoint
from brittle.picture import Picture
from brittle.text import Text
from brittle.zoo.folder import load_card
from brittle.zoo.generators import folder as generator_folder
from brittle.zoo.generators.exporting import export
from brittle.zoo.generators.folder import open_folder
from brittle.zoo.generators.refining import descend
from zoo.generators.folders import random_folder


def pictures(count: int, shape: tuple[int, int, int] = (12, 10, 1), seed: int = 0) -> list[Picture]:
    return Picture.rows(np.random.default_rng(seed).random((count, *shape), dtype=np.float32))


@pytest.fixture(autouse=True)
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))


def test_an_item_is_computed_alike_in_every_batch(tmp_path: Path) -> None:
    generator = open_folder(random_folder(tmp_path / "g"))
    items = pictures(37)
    points = generator.encode(items)
    assert points == [generator.encode([item])[0] for item in items]
    decoded = generator.decode(points)
    assert decoded == [generator.decode([point])[0] for point in points]
    assert len({p.key for p in decoded}) == 37 and decoded[0].pixels.shape == (12, 10, 1)
    assert generator.encode([]) == [] and generator.decode([]) == []
    expected = generator.generator(torch.tensor(points[3].vector)[None])[0, 0]
    assert np.allclose(decoded[3].pixels[:, :, 0], expected.numpy(), atol=1e-6)
    assert not generator.generator.training


def test_channels_and_sides_keep_their_places(tmp_path: Path) -> None:
    generator = open_folder(random_folder(tmp_path / "g", shape=(9, 12, 3)))
    point = generator.encode(pictures(1, (9, 12, 3)))[0]
    expected = generator.generator(torch.tensor(point.vector)[None])[0]
    assert np.allclose(
        generator.decode([point])[0].pixels, expected.permute(1, 2, 0).numpy(), atol=1e-6
    )


def test_refined_points_rebuild_better_and_stay_alone(tmp_path: Path) -> None:
    folder = random_folder(tmp_path / "g")
    plain, refined = open_generator(str(folder)), open_generator(str(folder), refine=15)
    items = pictures(19)

    def errors(generator: Any) -> Any:
        rebuilt = generator.decode(generator.encode(items))
        return [np.linalg.norm(a.pixels - b.pixels) for a, b in zip(items, rebuilt)]

    before, after = errors(plain), errors(refined)
    assert all(b <= a for a, b in zip(before, after)) and np.mean(after) < 0.98 * np.mean(before)
    whole = refined.encode(items)
    for n in (0, 7, 18):
        alone = refined.encode([items[n]])[0]
        assert np.allclose(alone.vector, whole[n].vector, atol=1e-4)
    assert plain.fingerprint != refined.fingerprint != open_generator(str(folder), 16).fingerprint
    assert "refined by 15 steps" in refined.name


def test_descent_reaches_the_least_squares() -> None:
    generator = nn.Linear(3, 6)
    generator.requires_grad_(False)
    wanted = torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
    start = torch.zeros(5, 3)
    reached = descend(lambda z: (generator(z) - wanted).square().sum(dim=1), start, 1500)
    matrix, offset = generator.weight.numpy(), generator.bias.numpy()
    expected = np.linalg.lstsq(matrix, (wanted.numpy() - offset).T, rcond=None)[0].T
    assert np.allclose(reached, expected, atol=1e-2)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    generator = open_folder(random_folder(tmp_path / "g"))
    with pytest.raises(
        UsageError, match=r"reads pictures of 12 × 10 × 1 .* got one of 10 × 12 × 1"
    ):
        generator.check_item(Picture(np.zeros((10, 12))))
    with pytest.raises(UsageError, match="reads pictures, but got a Text"):
        generator.check_item(Text.of("one"))
    with pytest.raises(UsageError, match="points of 8 numbers, but got one of 7"):
        generator.decode([LatentPoint(np.zeros(7))])


def test_latents_that_are_no_numbers_are_an_error_of_the_case(tmp_path: Path) -> None:
    generator: Any = open_folder(random_folder(tmp_path / "g"))
    with torch.no_grad():
        next(generator.inverter.parameters()).fill_(float("nan"))
    with pytest.raises(TargetError, match=r"not finite.*--new"):
        generator.encode([Picture(np.zeros(generator.shape))])


def test_other_data_are_doubted(tmp_path: Path) -> None:
    items = pictures(20)
    for limit, is_doubted in ((0.0001, True), (1.0, False)):
        measures = {"reconstruction error": {"mean": limit / 2, "99 of 100": limit}}
        generator = open_folder(random_folder(tmp_path / str(limit), measures=measures))
        doubt = generator.doubt(items)
        assert (doubt is not None) == is_doubted
        assert not doubt or "seems to come from other data" in doubt
    assert open_folder(random_folder(tmp_path / "none")).doubt(items) is None


def test_half_precision_is_opened_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = random_folder(tmp_path / "g", data="toy")
    shipped = tmp_path / "shipped"
    monkeypatch.setattr(generator_folder, "SHIPPED", shipped)
    with pytest.raises(UsageError, match=r"brittle train WGAN --data toy --seed 0 --size tiny"):
        open_generator("WGAN@toy?size=tiny")
    to = export(folder, shipped / "WGAN-toy")
    small, large = ((f / "model.safetensors").stat().st_size for f in (to, folder))
    assert small < 0.75 * large and load_card(to).parts["weights"] == "float16"
    assert "rounded to float16" in (to / "README.md").read_text()
    generator, original = open_generator("WGAN@toy?size=tiny"), open_folder(folder)
    assert generator.name == "WGAN@toy#0?size=tiny"
    items = pictures(3)
    for a, b in zip(generator.encode(items), original.encode(items)):
        assert np.allclose(a.vector, b.vector, atol=0.02) and a != b
    assert generator.fingerprint != original.fingerprint
    with pytest.raises(UsageError, match="already exists"):
        export(folder, to)
    # What is trained on this machine comes before what was shipped.
    random_folder(tmp_path / "cache" / "models" / "WGAN@toy#0-1", data="toy")
    assert open_generator("wgan@toy.npz?size=tiny").fingerprint == original.fingerprint


def test_names_that_mean_no_generator(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="LeNet@mnist#0 is not a generator"):
        open_generator("LeNet@mnist")
    with pytest.raises(UsageError, match=r"Got the generator 'WGAN'; expected a name of"):
        open_generator("WGAN")
    with pytest.raises(UsageError, match="not a model of the zoo"):
        open_generator(str(tmp_path))
