"""The networks of generators: their shapes are the paper's, and one step can be made."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
import torch
from torch import nn
from torch.nn import functional

from brittle.errors import UsageError
from brittle.training.wgan import WganTraining, critic_loss, generator_loss, inverter_loss
from brittle.zoo.generators.networks import ResidualBlock, build, fast_decoder
from brittle.zoo.names import grid


def linear_shapes(network: nn.Module) -> list[tuple[int, int]]:
    modules = network.modules()
    return [(m.in_features, m.out_features) for m in modules if isinstance(m, nn.Linear)]


def test_the_digits_networks_at_the_papers_width() -> None:
    settings = grid.settings(grid.design("WGAN"), "paper")
    with torch.device("meta"):
        networks = build("WGAN", settings, (28, 28, 1))
        assert networks.generator(torch.zeros(2, 64)).shape == (2, 1, 28, 28)
        assert networks.critic.features(torch.zeros(2, 1, 28, 28)).shape == (2, 4096)
    assert linear_shapes(networks.generator) == [(64, 4096)]
    assert linear_shapes(networks.inverter) == [(4096, 1024), (1024, 64)]
    widths = [m.out_channels for m in networks.critic.modules() if isinstance(m, nn.Conv2d)]
    assert widths == [64, 128, 256]
    up = [m.in_channels for m in networks.generator.modules() if isinstance(m, nn.ConvTranspose2d)]
    assert up == [256, 128, 64]


@pytest.mark.slow
def test_the_residual_networks_at_the_papers_width_make_a_step() -> None:
    settings = grid.settings(
        grid.design("WGAN-residual"),
        "paper",
        batch_size=2,
        critic_steps=1,
        steps=1,
        inverter_steps=1,
    )
    networks = build("WGAN-residual", settings, (64, 64, 3))
    assert linear_shapes(networks.inverter) == [(8192, 2048), (2048, 512), (512, 128)]
    training = WganTraining(networks, settings, torch.rand(4, 3, 64, 64), seed=0)
    before = {name: weight.clone() for name, weight in networks.state_dict().items()}
    for number in range(2):
        training.state.step = number
        assert all(abs(loss) < 1e6 for loss in training.step().values())
    after = networks.state_dict()
    assert all(not torch.equal(before[name], after[name]) for name in before if "weight" in name)


@pytest.mark.parametrize("shape", [(28, 28, 1), (8, 13, 3), (9, 9, 4)])
def test_any_size_goes_through(shape: tuple[int, int, int]) -> None:
    settings = grid.settings(grid.design("WGAN"), "tiny")
    networks = build("WGAN", settings, shape)
    pictures = networks.generator(torch.randn(3, 8))
    assert pictures.shape == (3, shape[2], shape[0], shape[1])
    assert networks.critic(pictures).shape == (3,) and networks.inverter(pictures).shape == (3, 8)
    with pytest.raises(UsageError, match="8 × 8 pixels or more; these have 7 × 9"):
        build("WGAN", settings, (7, 9, 1))


def test_losses_are_those_of_the_papers() -> None:
    settings = grid.settings(grid.design("WGAN"), "tiny")
    torch.manual_seed(0)
    networks = build("WGAN", settings, (8, 8, 1)).double().requires_grad_(False)
    sizes = ((3, 1, 8, 8), (3, 8), (3, 1, 1, 1))
    real, z, mix = (torch.rand(size, dtype=torch.float64) for size in sizes)
    critic, generated = networks.critic, networks.generator(z)
    step, unit = 1e-6, torch.eye(64, dtype=torch.float64).reshape(64, 1, 8, 8)
    penalty = []
    for point in real + mix * (generated - real):  # gradients by differences, pixel by pixel
        gradient = (critic(point + step * unit) - critic(point - step * unit)) / (2 * step)
        penalty.append((gradient.norm() - 1) ** 2)
    expected = critic(generated).mean() - critic(real).mean() + 10 * torch.stack(penalty).mean()
    loss = critic_loss(networks, real, z, mix, 10.0)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert generator_loss(networks, z).item() == pytest.approx(-critic(generated).mean().item())
    rebuilt = networks.generator(networks.inverter(real))
    cycle = ((networks.inverter(generated) - z) ** 2).mean()
    expected = ((rebuilt - real) ** 2).mean() + 0.1 * cycle
    assert inverter_loss(networks, real, z, 0.1).item() == pytest.approx(expected.item())


@pytest.mark.parametrize("shape", [(28, 28, 1), (8, 13, 3), (9, 9, 4)])
def test_decoding_by_plain_convolutions_gives_the_same_numbers(
    shape: tuple[int, int, int],
) -> None:
    settings = grid.settings(grid.design("WGAN"), "tiny")
    torch.manual_seed(0)
    generator = build("WGAN", settings, shape).generator.double()
    decoder, z = fast_decoder(generator), torch.randn(5, 8).double()
    assert torch.allclose(decoder(z), generator(z), atol=1e-12, rtol=0)
    kinds = {type(layer).__name__ for layer in decoder.modules()}
    assert "MergedConvolution" in kinds and "ConvTranspose2d" not in kinds


def test_residual_generators_decode_by_themselves() -> None:
    settings = grid.settings(grid.design("WGAN-residual"), "tiny")
    generator = build("WGAN-residual", settings, (16, 16, 3)).generator
    z = torch.randn(2, 8)
    assert torch.equal(fast_decoder(generator)(z), generator(z))


@pytest.mark.parametrize("doubles", [True, False])
def test_a_block_gives_the_numbers_and_gradients_of_its_plain_form(doubles: bool) -> None:
    torch.manual_seed(0)
    block, x = ResidualBlock(5, 7, doubles).double(), torch.randn(3, 5, 8, 6).double()
    x.requires_grad_()

    def plain() -> torch.Tensor:
        y = block.norms[0](x).relu()
        if doubles:
            larger, y = (functional.interpolate(part, scale_factor=2.0) for part in (x, y))
            return block.beside(larger) + block.second(block.norms[1](block.first(y)).relu())
        y = block.second(block.norms[1](block.first(y)).relu())
        return functional.avg_pool2d(block.beside(x) + y, 2)

    wanted = [x, *block.parameters()]
    computed, expected = block(x), plain()
    assert torch.allclose(computed, expected, atol=1e-12)
    weight = torch.randn_like(expected)
    pairs = zip(*(torch.autograd.grad((y * weight).sum(), wanted) for y in (computed, expected)))
    assert all(torch.allclose(a, b, atol=1e-10) for a, b in pairs)
