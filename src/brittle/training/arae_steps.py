"""The steps that train an ARAE: autoencoder, critic, generator and inverter in turns.

The steps between noise and codes of an ARAE: critic, generator and inverter. Equations 5 to 7 of
Zhao et al. (2018). This file needs torch. The steps that train an ARAE: autoencoder, critic and
generator in turns.

Equations 4 to 6 of Zhao et al. (2018), with what their code adds. Batches are drawn at random, with
replacement. Every step has its own seed: what it draws does not depend on the steps before it. This
file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor, nn

from brittle.training.sentences import SentenceRows
from brittle.zoo.generators.arae import ARAE, parts_of
from brittle.zoo.names.settings import SentenceGeneratorSettings

BETAS = (0.5, 0.999)  # Adam's, for generator, critic and inverter, as in the authors' code
CODES_PER_PASS = 1024
STEPS_PER_REPORT = 1000


class LatentTrainer:
    """Critic, generator and inverter in training, on codes that are handed to them."""

    def __init__(self, model: ARAE, settings: SentenceGeneratorSettings) -> None:
        self.model, self.settings = model, settings
        self.optimizers: dict[str, torch.optim.Optimizer] = {
            "critic": _adam(model.critic, settings.critic_rate),
            "generator": _adam(model.generator, settings.generator_rate),
            "inverter": _adam(model.inverter, settings.inverter_rate),
        }

    def critic_step(self, codes: Tensor) -> None:
        """Tell codes of sentences from generated ones (equation 5)."""
        critic, limit = self.model.critic, self.settings.clamp
        with torch.no_grad():
            fake = self.model.generator(self._noise(codes))
            if self.settings.critic == "clamp":
                for weight in critic.parameters():
                    weight.clamp_(-limit, limit)
        loss = critic(fake).mean() - critic(codes).mean()
        if self.settings.critic == "penalty":
            loss = loss + self.settings.penalty * self._gradient_penalty(codes, fake)
        self._descend(loss, "critic")

    def generator_step(self, codes: Tensor) -> None:
        """Make codes that the critic takes for real ones (equation 6)."""
        made = self.model.generator(self._noise(codes))
        self._descend(-self.model.critic(made).mean(), "generator")

    def rebuilding_step(self, codes: Tensor) -> None:
        """Train generator and inverter together: codes are rebuilt, and noise is taken for codes.

        In the paper the generator does not learn from what the inverter rebuilds. It then has no
        point for many sentences.
        """
        z = self._noise(codes)
        made = self.model.generator(z)
        inverted = divergence(z, self.model.inverter(made.detach())) / 2
        taken = self.model.critic(made).mean()
        loss = self.settings.rebuild * self._error(codes) + inverted - taken
        self._descend(loss, "generator", "inverter")

    def inverter_step(self, codes: Tensor) -> None:
        """Fit the inverter to a generator that stays as it is (equation 7).

        As in the authors' code both terms count half.
        """
        z = self._noise(codes)
        with torch.no_grad():
            made = self.model.generator(z)
        loss = self._error(codes) / 2 + divergence(z, self.model.inverter(made)) / 2
        self._descend(loss, "inverter")

    def _error(self, codes: Tensor) -> Tensor:
        rebuilt = self.model.generator(self.model.inverter(codes))
        error: Tensor = (rebuilt - codes).square().sum(dim=1).mean()
        return error

    def _noise(self, codes: Tensor) -> Tensor:
        return torch.randn((len(codes), self.settings.latent), device=codes.device)

    def _gradient_penalty(self, codes: Tensor, fake: Tensor) -> Tensor:
        """Compute (‖∇critic‖ − 1)² between codes and generated ones."""
        share = torch.rand((len(codes), 1), device=codes.device)
        between = (share * codes + (1 - share) * fake).requires_grad_()
        score = self.model.critic(between).sum()
        (gradient,) = torch.autograd.grad(score, between, create_graph=True)
        penalty: Tensor = (gradient.norm(dim=1) - 1).square().mean()
        return penalty

    def _descend(self, loss: Tensor, *names: str) -> None:
        """Make one step of some networks; what the others gather on the way is not kept."""
        optimizers = [self.optimizers[name] for name in names]
        for optimizer in optimizers:
            optimizer.zero_grad()
        weights = [w for o in optimizers for g in o.param_groups for w in g["params"]]
        for weight, gradient in zip(weights, torch.autograd.grad(loss, weights)):
            weight.grad = gradient
        for optimizer in optimizers:
            optimizer.step()


def fit_latent(
    model: ARAE,
    settings: SentenceGeneratorSettings,
    rows: Tensor,
    seed: int,
    is_good: Callable[[], bool] = lambda: True,
    report: Callable[[str], None] = lambda line: None,
) -> bool:
    """Fit generator and inverter to codes that stay as they are, then the inverter alone.

    All three networks begin anew: those that learnt beside codes that moved are a bad start (in a
    trial on imdb they rebuilt 40 % of the words, new ones 60 %). Where the generator `is_good` no
    longer, it is the one from before; tell whether it was good.
    """
    codes = encode_rows(model, rows)
    torch.manual_seed(Random(f"{seed}:latent").getrandbits(63))
    before = {name: weight.clone() for name, weight in model.generator.state_dict().items()}
    parts = nn.ModuleList([model.generator, model.critic, model.inverter])
    if settings.generator_steps:
        for module in parts.modules():
            if isinstance(module, nn.Linear | nn.BatchNorm1d):
                module.reset_parameters()
    trainer = LatentTrainer(model, settings)

    def batch() -> Tensor:
        return codes[torch.randint(len(codes), (settings.batch_size,), device=codes.device)]

    model.eval()
    parts.train()
    for n in range(settings.generator_steps):
        for _ in range(settings.critic_steps):
            trainer.critic_step(batch())
        trainer.rebuilding_step(batch())
        _tell(report, "generator and inverter", n + 1, settings.generator_steps)
    model.generator.eval()
    was_good = is_good()
    if not was_good:
        model.generator.load_state_dict(before)
    for n in range(settings.inverter_steps):
        trainer.inverter_step(batch())
        _tell(report, "inverter", n + 1, settings.inverter_steps)
    parts.eval()
    return was_good


def _tell(report: Callable[[str], None], what: str, step: int, steps: int) -> None:
    if step % STEPS_PER_REPORT == 0:
        report(f"{what}: step {step}/{steps}")


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """Return the symmetric divergence of two normal distributions fitted to all numbers of each.

    It is what the authors' code has for the Jensen–Shannon divergence of the paper: that of
    Kullback and Leibler both ways, of one mean and one deviation over all numbers of a batch.
    """
    means = first.mean(), second.mean()
    variances = first.var() + 1e-8, second.var() + 1e-8
    apart = (means[0] - means[1]) ** 2
    forward = (variances[0] + apart) / variances[1]
    backward = (variances[1] + apart) / variances[0]
    return (forward + backward - 2) / 4


def encode_rows(model: ARAE, rows: Tensor) -> Tensor:
    """Encode all rows, in passes, without gradients."""
    with torch.no_grad():
        return torch.cat([model.codes(part) for part in parts_of(rows, CODES_PER_PASS)])


def _adam(module: nn.Module, rate: float) -> torch.optim.Adam:
    return torch.optim.Adam(module.parameters(), lr=rate, betas=BETAS, foreach=False)


NOISE_STEPS = 100  # steps after which the noise falls


class Trainer:
    """The networks of an ARAE in training, with their optimizers; the inverter is none of them."""

    def __init__(self, model: ARAE, settings: SentenceGeneratorSettings, rows: SentenceRows):
        self.model, self.settings, self.rows = model, settings, rows
        self.code_gradient = 0.0  # the mean norm of the autoencoder's gradient by a code
        self.latent = LatentTrainer(model, settings)
        both = [*model.encoder.parameters(), *model.decoder.parameters()]
        kind = torch.optim.SGD if settings.optimizer == "sgd" else torch.optim.Adam
        self.optimizers: dict[str, torch.optim.Optimizer] = {
            "autoencoder": kind(both, lr=settings.learning_rate, foreach=False),
            "critic": self.latent.optimizers["critic"],
            "generator": self.latent.optimizers["generator"],
        }

    def step(self, number: int, seed: int) -> float:
        """Run one step; return the autoencoder's loss. The steps before it do not matter here."""
        random = Random(f"{seed}:{number}")
        torch.manual_seed(random.getrandbits(63))
        epoch = number * self.settings.batch_size // len(self.rows.train)
        loss = self._autoencoder_step(number)
        for _ in range(1 + sum(epoch >= end for end in self.settings.more_rounds)):
            for _ in range(self.settings.critic_steps):
                with torch.no_grad():
                    codes = self.model.codes(self._batch())
                self.latent.critic_step(codes)
            self._encoder_step()
            self.latent.generator_step(codes)
        return loss

    def _batch(self) -> Tensor:
        rows = self.rows.train
        size = min(self.settings.batch_size, len(rows))
        return rows[torch.randint(len(rows), (size,), device=rows.device)]

    def _autoencoder_step(self, number: int) -> float:
        """Rebuild sentences from noisy codes (equation 4)."""
        model, settings, rows = self.model, self.settings, self._batch()
        optimizer = self.optimizers["autoencoder"]
        for group in optimizer.param_groups:
            group["lr"] = self._rate(number)
        code = model.codes(rows)
        code.retain_grad()
        noise = settings.noise * settings.noise_decay ** (number // NOISE_STEPS)
        loss = model.decoder.loss(code + noise * torch.randn_like(code), rows)
        loss.backward()  # type: ignore[no-untyped-call]
        assert code.grad is not None
        self.code_gradient = float(code.grad.norm(dim=1).mean())
        self._clip()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss.detach())

    def _rate(self, number: int) -> float:
        """Return the rate of a step: Adam's falls to 0, that of the authors' SGD stays."""
        settings = self.settings
        falls = settings.optimizer == "adam"
        return (
            settings.learning_rate * (1 - number / settings.steps)
            if falls
            else settings.learning_rate
        )

    def _encoder_step(self) -> None:
        """Move the encoder against the critic (equation 6).

        Adam would make a whole step of a small gradient, so with it the encoder's share waits for
        the next step of the autoencoder.
        """
        code = self.model.codes(self._batch())
        code.register_hook(self._scaled)  # type: ignore[no-untyped-call]
        weights = list(self.model.encoder.parameters())
        loss = self.model.critic(code).mean()
        for weight, gradient in zip(weights, torch.autograd.grad(loss, weights)):
            weight.grad = gradient if weight.grad is None else weight.grad + gradient
        if self.settings.optimizer == "sgd":
            self._clip()
            self.optimizers["autoencoder"].step()
            self.optimizers["autoencoder"].zero_grad()

    def _scaled(self, gradient: Tensor) -> Tensor:
        """Scale the critic's gradient to the autoencoder's."""
        norm = gradient.norm(dim=1).mean().clamp(min=1e-12)
        scaled: Tensor = self.settings.to_encoder * self.code_gradient / norm * gradient
        return scaled

    def _clip(self) -> None:
        weights = self.optimizers["autoencoder"].param_groups[0]["params"]
        nn.utils.clip_grad_norm_(weights, self.settings.max_grad_norm)
