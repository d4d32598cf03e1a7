"""ARAE: trained on short sentences, resumed to the same weights, opened by name, and searched."""

from __future__ import annotations

import csv
import json
import logging
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.errors import BrittleError, TargetError, UsageError
from brittle.generators import neighbours, open_generator
from brittle.latent import LatentPoint
from brittle.text import Text
from brittle.training.splits import load_sentences
from brittle.zoo.folder import load_card, load_tensors, write_tensors

pytest.importorskip("torch")
from brittle.training import arae_steps

WHO, DOES = ("A man", "Two dogs", "The girl", "Some people"), ("runs", "sits", "sleeps", "plays")
WHERE = ("in the park", "on a bench", "near the water", "by the old house", "at home")
SENTENCES = [f"{who} {does} {where}." for who, does, where in product(WHO, DOES, WHERE)]
LONG = "This is a sentence of many more words than the generator would ever read."


def write(path: Path, texts: list[str]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["en"], *([text] for text in texts)])
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captions")
    write(folder / "train.csv", [*SENTENCES[4:], LONG, f"{SENTENCES[0]} Yes. Really, is it?"])
    write(folder / "dev.csv", [*SENTENCES[2:4], "An old man sits on a bench."])
    write(folder / "test.csv", SENTENCES[:2])
    return folder


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRITTLE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield brittle.train("ARAE", str(data), text=["en"], size="tiny")


def test_sentences_are_cut_and_what_is_attacked_is_left_out(data: Path, tmp_path: Path) -> None:
    splits = load_sentences(str(data), 10, text=["en"])
    learnt = [example.fields[0][1] for example in splits.train]
    assert SENTENCES[10] in learnt and "Really, is it?" in learnt
    assert LONG not in learnt and "Yes." not in learnt  # too long, too short
    assert not {*SENTENCES[:2], *SENTENCES[2:4]} & set(learnt)  # in the test and the dev split
    more = write(tmp_path / "attacked.csv", [SENTENCES[10].upper()])
    without = load_sentences(str(data), 10, text=["en"], exclude=[str(more)])
    assert SENTENCES[10] not in [example.fields[0][1] for example in without.train]
    assert without.fingerprint != splits.fingerprint
    with pytest.raises(UsageError, match="expected a file of texts"):
        load_sentences(str(data), 10, text=["en"], exclude=["nothing.csv"])


def test_the_card_has_the_figures_of_both_ways(trained: Path) -> None:
    card = load_card(trained)
    assert (card.kind, card.parts["item_kind"], card.parts["closing"]) == ("generator", "text", ".")
    for name in ("through the code", "through inverter and generator"):
        assert 0 <= card.measures[f"words rebuilt {name}"] <= 1
    for name in ("forward", "reverse"):
        assert card.measures[f"{name} perplexity"] > 1
    assert card.measures["steps"] <= 24 and card.dev_accuracy is None
    assert "natural --generator" in (trained / "README.md").read_text()
    assert not any(
        name.startswith("critic") for name in load_tensors(trained / "model.safetensors")
    )


def test_points_are_decoded_alike_in_every_batch(
    trained: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(trained.parent.parent))
    generator = open_generator(f"ARAE@{data}?size=tiny")
    texts = [Text.of(sentence) for sentence in SENTENCES[:40]]
    points = generator.encode(texts)
    assert all(point.vector.shape == (8,) for point in points)
    assert [generator.encode([text])[0] for text in texts[:3]] == points[:3]
    decoded = generator.decode(points)
    assert [generator.decode([point])[0] for point in points[:3]] == decoded[:3]
    assert all(str(text)[0].isupper() and str(text).endswith(".") for text in decoded)
    with pytest.raises(UsageError, match="points of 8"):
        generator.decode([LatentPoint(np.zeros(3))])


def test_refined_points_decode_to_nearer_codes(trained: Path) -> None:
    import torch

    generator: Any = open_generator(str(trained))
    refined: Any = open_generator(str(trained), refine=20)
    assert refined.fingerprint != generator.fingerprint
    text = Text.of(SENTENCES[7])
    rows = torch.from_numpy(generator.tokenizer.rows([text]))
    code = generator.model.codes(rows)
    far, near = (
        float((g.model.generator(torch.tensor(g.encode([text])[0].vector)[None]) - code).norm())
        for g in (generator, refined)
    )
    assert near < far


def test_texts_that_do_not_fit_are_skipped_with_the_reason(trained: Path, tmp_path: Path) -> None:
    target = brittle.as_target(
        lambda texts: [[0.9, 0.1] if "o" in text else [0.1, 0.9] for text in texts],
        labels=["with", "without"],
    )
    examples = [SENTENCES[9], LONG, "?!", "Zyx qwv."]
    run = brittle.attack(
        target,
        examples,
        "natural",
        generator=str(trained),
        samples=8,
        step=1.0,
        radius=4.0,
        folder=tmp_path,
    )
    reasons = {row.original: row.reason for row in run.results() if row.status == "skipped"}
    assert "more than 10 words, the most that ARAE@" in reasons[LONG]
    assert "knows none of its words" in reasons["Zyx qwv."]
    assert "?!" in reasons


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        (LONG, "it has more than 10 words, the most that"),
        ("?!", "it has no words"),
        ("Zyx qwv.", "knows none of its words"),
    ],
)
def test_a_sentence_that_does_not_fit_has_no_neighbours(
    trained: Path, sentence: str, reason: str
) -> None:
    with pytest.raises(UsageError, match=f"cannot be encoded: .*{reason}"):
        neighbours(open_generator(str(trained)), Text.of(sentence), radius=1.0, count=3)


def as_formerly(path: Path) -> None:
    """Write a checkpoint as versions did that counted the blocks of steps between them."""
    from safetensors import safe_open

    with safe_open(str(path), framework="numpy") as file:
        state = json.loads(file.metadata()["state"])
    tensors = {
        f"best.{name.removeprefix('good.')}" if name.startswith("good.") else name: tensor
        for name, tensor in load_tensors(path).items()
    }
    assert state["step"] == state["good_step"] == 8
    blocks = {"epoch": 1, "best_epoch": 1, "since": 0, "history": [], "rate": 0.0}
    write_tensors(path, tensors, {"state": json.dumps(blocks | {"best": state["best"]})})


@pytest.mark.slow
@pytest.mark.parametrize("is_former", [False, True])
def test_a_killed_training_resumes_to_the_same_weights(
    trained: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_former: bool
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))

    class Killed(BaseException):
        pass

    def kill(progress: Any) -> None:
        if progress.step == 12:
            raise Killed

    with pytest.raises(Killed):
        brittle.train("ARAE", str(data), text=["en"], size="tiny", progress=kill)
    if is_former:
        [checkpoint] = (tmp_path / "models").glob("*/checkpoint.safetensors")
        as_formerly(checkpoint)
    steps: list[int] = []
    again = brittle.train(
        "ARAE", str(data), text=["en"], size="tiny", progress=lambda p: steps.append(p.step)
    )
    assert steps[0] == 9
    first, second = (load_tensors(path / "model.safetensors") for path in (trained, again))
    assert all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.slow
def test_a_loss_that_is_no_number_keeps_the_last_good_weights(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from brittle.training import arae

    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    step = arae.Trainer.step
    monkeypatch.setattr(
        arae.Trainer, "step", lambda self, n, seed: float("nan") if n == 9 else step(self, n, seed)
    )
    with pytest.raises(BrittleError, match=r"the loss is nan in step 10.*step 8.*are kept in"):
        brittle.train("ARAE", str(data), text=["en"], size="tiny")
    [kept] = (tmp_path / "models").glob("*.kept")
    assert open_generator(str(kept)).size == 8


def test_a_collapsed_generator_is_said_and_ends_the_training(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from brittle.training import arae
    from brittle.training.arae import SentenceMeasures

    seen = []

    def measure(*about: Any, **named: Any) -> SentenceMeasures:
        seen.append(1)
        distinct = 0.5 if len(seen) == 1 else 0.01
        return SentenceMeasures(0.5, 0.5, 9.0, 10.0 + len(seen), 9.0, distinct)

    def killed(*about: Any) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    monkeypatch.setattr(arae, "measure", measure)
    monkeypatch.setattr(arae, "fit_latent", killed)
    with pytest.raises(KeyboardInterrupt), caplog.at_level(logging.WARNING):
        brittle.train("ARAE", str(data), text=["en"], size="tiny")
    assert "collapsed" in caplog.text and "weights of step 8 are kept" in caplog.text
    assert len(seen) == 2  # of three blocks
    monkeypatch.setattr(arae, "fit_latent", arae_steps.fit_latent)
    with caplog.at_level(logging.WARNING):
        folder = brittle.train("ARAE", str(data), text=["en"], size="tiny")
    assert "the generator of the first part is kept" in caplog.text
    # Resumed, it makes no more blocks: the last two measure the generator, and all in the end.
    assert load_card(folder).measures["steps"] == 8 and len(seen) == 4


def test_a_generator_that_gets_worse_is_the_one_from_before() -> None:
    import torch

    from brittle.training.arae_steps import fit_latent
    from brittle.zoo.generators.arae import ARAE
    from brittle.zoo.names import grid

    settings: Any = grid.settings(grid.design("ARAE"), "tiny")
    rows = torch.randint(4, 20, (30, settings.max_length))
    kept: dict[bool, Any] = {}
    for is_good in (True, False):
        torch.manual_seed(0)
        model = ARAE(settings, 20)
        before = {n: t.clone() for n, t in model.generator.state_dict().items()}
        inverter = {n: t.clone() for n, t in model.inverter.state_dict().items()}
        assert fit_latent(model, settings, rows, 0, lambda good=is_good: good) == is_good
        after = model.generator.state_dict()
        kept[is_good] = all(torch.equal(before[n], after[n]) for n in before)
        assert not all(torch.equal(inverter[n], t) for n, t in model.inverter.state_dict().items())
    assert kept == {True: False, False: True}


def test_windows_that_cannot_read_ten_words_are_refused(data: Path) -> None:
    """The paper prints windows 5-5-3 with strides 2-2-2."""
    changed = {"encoder": "cnn", "windows": (5, 5, 3), "strides": (2, 2, 2)}
    with pytest.raises(UsageError, match="cannot read sentences of 10 words"):
        brittle.train("ARAE", str(data), text=["en"], size="tiny", changed=changed)
    with pytest.raises(UsageError, match="encoder of ARAE"):
        brittle.train("ARAE", str(data), text=["en"], size="tiny", changed={"encoder": "gru"})
    with pytest.raises(UsageError, match="critic of ARAE"):
        brittle.train("ARAE", str(data), text=["en"], size="tiny", changed={"critic": "hinge"})
    with pytest.raises(UsageError, match="generator of sentences"):
        brittle.train("naive-bayes", str(data), text=["en"], exclude=["a.csv"])


def test_convolutions_read_sentences_too_and_all_is_as_in_the_paper(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    folder = brittle.train(
        "ARAE",
        str(data),
        text=["en"],
        size="tiny",
        changed={"encoder": "cnn", "optimizer": "sgd", "steps": 8, "generator_steps": 0}
        | {"critic": "clamp"},
    )
    generator = open_generator(str(folder))
    assert len(generator.decode(generator.encode([Text.of(SENTENCES[5])]))) == 1


def test_batch_norm_is_in_evaluation_mode(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    changed = {"critic": "clamp", "steps": 8}
    folder = brittle.train("ARAE", str(data), text=["en"], size="tiny", changed=changed)
    generator: Any = open_generator(str(folder))
    norms = [m for m in generator.model.modules() if type(m).__name__ == "BatchNorm1d"]
    assert norms and not any(module.training for module in generator.model.modules())
    texts = [Text.of(sentence) for sentence in SENTENCES[:20]]
    assert generator.encode(texts)[3] == generator.encode(texts[3:4])[0]


def test_texts_of_another_kind_are_doubted(trained: Path) -> None:
    from dataclasses import replace

    generator: Any = open_generator(str(trained))
    texts = [Text.of(sentence) for sentence in SENTENCES[:5]]
    measures = {"words rebuilt through the code": 0.0}
    generator.card = replace(generator.card, measures=measures)
    assert generator.doubt(texts) is None
    generator.card = replace(generator.card, measures={"words rebuilt through the code": 1.0})
    strange = Text.of("Water water water house house house")
    assert "reconstructs" in (generator.doubt([strange, Text.of("?")]) or "")


def test_an_exported_generator_is_opened_like_any(trained: Path, tmp_path: Path) -> None:
    from brittle.zoo.generators.exporting import export

    half, whole = (
        open_generator(str(export(trained, tmp_path / "half"))),
        open_generator(str(trained)),
    )
    text = Text.of(SENTENCES[6])
    [near], [point] = half.encode([text]), whole.encode([text])
    assert np.allclose(near.vector, point.vector, atol=0.02) and near != point
    assert half.decode([point])


def test_latents_that_are_no_numbers_are_an_error_of_the_case(trained: Path) -> None:
    import torch

    generator: Any = open_generator(str(trained))
    with torch.no_grad():
        next(generator.model.inverter.parameters()).fill_(float("nan"))
    with pytest.raises(TargetError, match=r"ARAE@.*not finite.*--new"):
        generator.encode([Text.of(SENTENCES[5])])
