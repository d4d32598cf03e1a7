"""The VAE of sentences: its losses by hand, resumed to the same weights, opened and searched."""

from __future__ import annotations

import csv
import pickle
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.generators import neighbours, open_generator
from brittle.text import Text
from brittle.zoo.folder import load_card, load_tensors
from brittle.zoo.generators.sentences import BEGIN, END, SPECIAL
from brittle.zoo.names import grid
from brittle.zoo.tokenizers import PAD, UNKNOWN

torch = pytest.importorskip("torch")
from brittle.training.vae import divergence_from_normal, start_from_vectors  # noqa: E402
from brittle.zoo.generators.sentences import SentenceTokenizer  # noqa: E402
from brittle.zoo.generators.vae import LOGIT_SCALE, SentenceVAE  # noqa: E402

WHO, DOES = ("A man", "Two dogs", "The girl", "Some people"), ("runs", "sits", "sleeps", "plays")
WHERE = ("in the park", "on a bench", "near the water", "by the old house", "at home")
SENTENCES = [f"{who} {does} {where}." for who, does, where in product(WHO, DOES, WHERE)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captions")
    parts = {"train": SENTENCES[6:], "dev": SENTENCES[2:6], "test": SENTENCES[:2]}
    for name, texts in parts.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["en"], *([text] for text in texts)])
    return folder


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRITTLE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield brittle.train("VAE", str(data), text=["en"], size="tiny")


def tiny(words: int = 12, **changed: Any) -> SentenceVAE:
    settings: Any = replace(grid.settings(grid.design("VAE"), "tiny"), **changed)
    torch.manual_seed(0)
    return SentenceVAE(settings, words).eval()


def logits_after(model: SentenceVAE, z: Any, words: list[int]) -> Any:
    """Compute the logits of the next word, reading one word at a time."""
    state = model._start(z)
    for word in words:
        read = torch.cat([model.embedding(torch.tensor([word])), z], dim=1)[:, None]
        states, state = model.decoder(read, state)
    return LOGIT_SCALE * model.head(states[:, 0]) @ model.embedding.weight.T + model.bias


def test_the_loss_is_that_of_every_word_and_of_the_end() -> None:
    model, z = tiny(), torch.randn(2, 8)
    rows = torch.tensor([[5, UNKNOWN, 7, PAD], [6, PAD, PAD, PAD]])
    with torch.no_grad():
        found = model.loss(z, rows)
        for n, words in enumerate(([5, UNKNOWN, 7, END], [6, END])):
            expected = 0.0
            for k, word in enumerate(words):
                logits = logits_after(model, z[n : n + 1], [BEGIN, *words[:k]])
                expected -= float(logits.log_softmax(dim=1)[0, word])
            assert float(found[n]) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("unknown", [-9.0, 9.0])
def test_the_likeliest_word_is_written_at_every_position(unknown: float) -> None:
    """An unknown word is one of the rarer half of these few words."""
    model, z = tiny(learnt_length=4), torch.randn(3, 8)
    assert model.rare == len(SPECIAL) + 6
    with torch.no_grad():
        model.bias[UNKNOWN] = unknown
        model.learn_ends(torch.tensor([[11, 5, PAD]] * 50))  # 11 never ends one
        assert model.can_end.nonzero().flatten().tolist() == [UNKNOWN, END, *range(4, 11)]
        rows = model.decode(z)
        for n in range(len(z)):
            words = [BEGIN]
            for _ in range(4):
                logits = logits_after(model, z[n : n + 1], words)[0]
                logits[[PAD, BEGIN]] = -torch.inf
                if words[-1] in (BEGIN, 11):
                    logits[END] = -torch.inf
                if int(logits.argmax()) == UNKNOWN:
                    logits[: model.rare] = -torch.inf
                if int(logits.argmax()) == END:
                    break
                words.append(int(logits.argmax()))
            assert rows[n].tolist() == words[1:] + [PAD] * (5 - len(words))


def test_a_point_reads_words_in_both_directions_and_no_padding() -> None:
    model = tiny()
    with torch.no_grad():
        points = model.points(torch.tensor([[5, 6, 7, PAD], [7, 6, 5, PAD], [5, 6, 7, 8]]))
        alone = model.points(torch.tensor([[5, 6, 7]]))
    assert torch.allclose(points[0], alone[0], atol=1e-6)
    assert not torch.allclose(points[0], points[1]) and not torch.allclose(points[0], points[2])


def test_the_divergence_is_that_of_two_normal_distributions() -> None:
    mean, log_variance = torch.tensor([[0.5, -1.0]]), torch.tensor([[0.2, -0.3]])
    own = torch.distributions.Normal(mean, (log_variance / 2).exp())
    standard = torch.distributions.Normal(torch.zeros(1, 2), torch.ones(1, 2))
    expected = torch.distributions.kl_divergence(own, standard).sum()
    assert float(divergence_from_normal(mean, log_variance)) == pytest.approx(float(expected))


def test_synonyms_begin_nearer_than_opposites() -> None:
    words = [*SPECIAL, "good", "excellent", "bad"]
    tokenizer = SentenceTokenizer.of(["good excellent bad"], 10)
    tokenizer = SentenceTokenizer(words, 10, tokenizer.style)
    model = tiny(len(words), embedding=64)
    start_from_vectors(model, tokenizer)
    good, excellent, bad = model.embedding.weight[len(SPECIAL) :, :50].detach()
    assert float(good @ excellent) > float(good @ bad)


def test_the_card_says_how_good_it_is(trained: Path) -> None:
    card = load_card(trained)
    assert (card.kind, card.parts["item_kind"], card.parts["closing"]) == ("generator", "text", ".")
    assert 0 <= card.measures["words rebuilt through the code"] <= 1
    assert "words rebuilt through inverter and generator" not in card.measures
    assert card.measures["loss of a held-out sentence, in nats"] > 0
    assert card.measures["steps"] <= 24 and card.dev_accuracy is None


def test_points_are_encoded_and_decoded_alike_in_every_batch(trained: Path) -> None:
    generator: Any = open_generator(str(trained))
    texts = [Text.of(sentence) for sentence in SENTENCES[:40]]
    points = generator.encode(texts)
    assert all(point.vector.shape == (8,) for point in points)
    assert [generator.encode([text])[0] for text in texts[:3]] == points[:3]
    decoded = generator.decode(points)
    assert [generator.decode([point])[0] for point in points[:3]] == decoded[:3]
    again = pickle.loads(pickle.dumps(generator))
    assert again.decode(points) == decoded and again.fingerprint == generator.fingerprint
    assert neighbours(generator, texts[0], radius=2.0, count=3)[0].distance == 0


def test_refined_points_make_their_sentences_likelier(trained: Path) -> None:
    plain: Any = open_generator(str(trained))
    refined: Any = open_generator(str(trained), refine=20)
    texts = [Text.of(sentence) for sentence in SENTENCES[:5]]
    rows = torch.from_numpy(plain.tokenizer.rows(texts))
    mean = plain.model.posterior(rows)[0]
    at = [torch.tensor(np.stack([p.vector for p in g.encode(texts)])) for g in (plain, refined)]
    prior = plain.model.prior / 2
    first, before, after = (
        plain.model.loss(z, rows) + prior * z.square().sum(dim=1) for z in (mean, *at)
    )
    assert bool((before <= first).all()) and float(before.sum()) < float(first.sum())
    assert bool((after <= before).all()) and float(after.sum()) < float(before.sum())
    alone = refined.encode(texts[2:3])[0]
    assert np.allclose(alone.vector, refined.encode(texts)[2].vector, atol=1e-5)


def test_a_search_finds_adversaries_through_it(trained: Path, tmp_path: Path) -> None:
    target = brittle.as_target(
        lambda texts: [[0.9, 0.1] if "o" in text else [0.1, 0.9] for text in texts],
        labels=["with", "without"],
    )
    settings = {"generator": str(trained), "samples": 16, "step": 1.0, "radius": 30.0}
    run = brittle.attack(target, SENTENCES[:8], "natural", folder=tmp_path, **settings)
    rows = run.results()
    assert {row.status for row in rows} <= {"broken", "held", "skipped"}
    assert all(row.adversarial for row in rows if row.status == "broken")


@pytest.mark.slow
def test_a_killed_training_resumes_to_the_same_weights(
    trained: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))

    class Killed(BaseException):
        pass

    def kill(progress: Any) -> None:
        if progress.step == 12:
            raise Killed

    with pytest.raises(Killed):
        brittle.train("VAE", str(data), text=["en"], size="tiny", progress=kill)
    steps: list[int] = []
    again = brittle.train(
        "VAE", str(data), text=["en"], size="tiny", progress=lambda p: steps.append(p.step)
    )
    assert steps[0] == 9
    first, second = (load_tensors(path / "model.safetensors") for path in (trained, again))
    assert all(np.array_equal(first[name], second[name]) for name in first)
