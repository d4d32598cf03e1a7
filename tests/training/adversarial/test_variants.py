"""Training on variants by edits of a level: what is learnt, what it is called, what it mends."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

import brittle
from brittle.data import Dataset, Example
from brittle.errors import UsageError
from brittle.training import find, train_on
from brittle.training.adversarial.methods import (
    AttackTraining,
    LevelTraining,
    as_json,
    by_attack,
    format_method,
    is_by_attack,
    parse_method,
)
from brittle.training.adversarial.texts import all_variants, variants_for_epoch, with_variants
from brittle.training.job import TrainingJob, build_vocabulary
from brittle.training.plan import TrainingPlan
from brittle.training.splits import TrainingSplits
from brittle.zoo.folder import load_card
from brittle.zoo.names import grid

TEXTS = ("it is not a good film .", "the plot does not make sense .", "?!")


def job_of(method: Any, folder: Path, texts: tuple[str, ...] = TEXTS) -> TrainingJob:
    examples = tuple(Example((("text", text),), label) for text, label in zip(texts, "abc"))
    data = Dataset("toy", "train", examples, ("a", "b", "c"))
    design = grid.design("naive-bayes")
    splits = TrainingSplits("toy", data, data)
    return TrainingJob(
        TrainingPlan(design, grid.settings(design), "tiny", 0, splits, method), folder
    )


@pytest.mark.parametrize(
    ("text", "levels", "changed"),
    [
        ("rewrite", "rewrite", {}),
        ("Careful, rewrite", "rewrite,careful", {}),
        ("typo,copies=2,share=0.2", "typo", {"copies": 2, "share": 0.2}),
    ],
)
def test_names(text: str, levels: str, changed: dict[str, Any]) -> None:
    method = parse_method(text)
    assert method == LevelTraining(levels, **changed)
    name = format_method(method)
    assert name == ",".join([levels, *(f"{k}={v}" for k, v in changed.items())])
    assert parse_method(name) == method and not is_by_attack(f"LSTM-W-Random-1+{name}")


def test_a_level_is_meant_where_an_attack_has_its_name() -> None:
    assert isinstance(parse_method("rewrite"), LevelTraining)
    assert isinstance(parse_method("typo"), LevelTraining)
    assert isinstance(by_attack("rewrite"), AttackTraining)
    assert isinstance(parse_method("auto"), AttackTraining)


@pytest.mark.parametrize(
    "text", ["rewrite,every=2", "rewrite,copies=0", "rewrite,pwws", "typo,share=2"]
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_method(text)


def test_other_rules_are_another_training() -> None:
    assert as_json(LevelTraining("rewrite"))["rules"] and "rules" not in as_json(
        LevelTraining("typo")
    )


def test_each_epoch_has_one_variant_of_each_text_and_level(tmp_path: Path) -> None:
    job = with_variants(job_of(LevelTraining("rewrite,typo", copies=3), tmp_path))
    assert [row for row, _ in job.variants] == [0, 0, 1, 1]  # the last text has nothing to change
    pools = [set(group) for _, group in job.variants]
    assert all(1 <= len(pool) <= 3 for pool in pools)
    epochs = [variants_for_epoch(job, epoch) for epoch in range(5)]
    for own in epochs:
        assert own.label == (0, 0, 1, 1)
        assert all(text in pool for text, pool in zip(own.texts, pools))
    assert len({own.texts for own in epochs}) > 1
    assert variants_for_epoch(job, 2) == epochs[2]  # a resumed training learns from the same
    everything = all_variants(job)
    assert set(everything.texts) == set().union(*pools)
    assert sorted(set(everything.label)) == [0, 1]


def test_words_of_variants_are_known_and_rare_words_stay_rare(tmp_path: Path) -> None:
    method = LevelTraining("typo", copies=8)
    plain = build_vocabulary(job_of(None, tmp_path), min_count=2)
    job = with_variants(job_of(method, tmp_path))
    hardened = build_vocabulary(job, min_count=2)
    own = {str(word) for text in job.train.texts for word in text.words}
    assert own & set(hardened.words) == own & set(plain.words)
    new = {str(word).lower() for text in all_variants(job).texts for word in text.words} - own
    assert set(hardened.words) - set(plain.words) <= new
    assert set(build_vocabulary(job).words) >= new


def test_a_plain_job_stays_as_it_is(tmp_path: Path) -> None:
    job = job_of(None, tmp_path)
    assert with_variants(job) is job


@pytest.mark.parametrize("name", ["naive-bayes", "linear-svm", "LSTM-W-Random-1"])
def test_models_are_trained_named_and_found_again(name: str, splits: Any) -> None:
    if name.startswith("LSTM"):
        pytest.importorskip("torch")
    folder = train_on(name, splits(), size="tiny", adversarial="rewrite,copies=2")
    card = load_card(folder)
    assert card.full_name.startswith(f"{name}+rewrite,copies=2@toy#0")
    assert card.hardening["method"] == "rewrite" and card.hardening["copies"] == 2
    assert "Hardened by adversarial training: method rewrite" in (folder / "README.md").read_text()
    assert train_on(f"{name}+rewrite,copies=2", splits(), size="tiny") == folder


def test_a_model_is_found_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "toy.csv"
    rows = "".join(
        f"a {word} film number {n},{word}\n" for n in range(20) for word in ("good", "bad")
    )
    path.write_text("text,label\n" + rows)
    folder = brittle.train("naive-bayes", str(path), adversarial="rewrite,typo")
    assert find("naive-bayes+rewrite,typo", str(path)) == folder
    assert find("naive-bayes+rewrite", str(path)) is None


def reviews(count: int, seed: int) -> tuple[Example, ...]:
    """Reviews in which a contraction gives the class away, by accident."""
    random = Random(seed)
    out = []
    for n in range(count):
        word = random.choice((["dull", "weak", "awful"], ["warm", "funny", "great"])[n % 2])
        noun = random.choice(("film", "movie", "story", "plot"))
        text = f"it is a {word} {noun}" + random.choice(("", f" about a {random.choice('abcdef')}"))
        if n % 2 and random.random() < 0.9:
            text = text.replace("it is", "it's")
        out.append(Example((("text", text),), ("negative", "positive")[n % 2]))
    return tuple(out)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seeds"), [("naive-bayes", 1), ("LSTM-W-Random-1", 4)])
def test_what_breaks_by_rewrites_is_mended(name: str, seeds: int, tmp_path: Path) -> None:
    """On the mean of several trainings: some LSTMs still read the shortcut of these texts."""
    pytest.importorskip("torch")
    labels = ("negative", "positive")
    train, dev, test = (
        Dataset("toy", split, reviews(count, seed), labels)
        for seed, (split, count) in enumerate((("train", 2000), ("dev", 100), ("test", 100)))
    )
    splits = TrainingSplits("toy", train, dev)
    broken: dict[str | None, list[int]] = {}
    right: dict[str | None, list[int]] = {}
    for method, seed in product((None, "rewrite,copies=8"), range(seeds)):
        folder = train_on(name, splits, seed, size="default", adversarial=method)
        about: dict[str, Any] = {"levels": "rewrite", "measures": "none", "folder": tmp_path}
        run = brittle.attack(
            str(folder), test, "auto", name=f"run-{method is None}-{seed}", **about
        )
        rows = run.results()
        broken.setdefault(method, []).append(sum(row.status == "broken" for row in rows))
        right.setdefault(method, []).append(sum(row.predicted == row.label for row in rows))
    plain, hardened = map(fmean, broken.values())
    assert plain >= 10 and hardened <= plain / 2
    before, after = map(fmean, right.values())
    assert after >= before - 1
