from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from brittle.data import Dataset, Example, names
from brittle.errors import UsageError
from brittle.training.splits import (
    KNOWN_FINGERPRINTS,
    TrainingSplits,
    check_splits,
    hold_out,
    load_folder,
    load_splits,
)


def dataset(*labels: str | None, split: str = "train") -> Dataset:
    examples = tuple(Example((("text", f"text {n}"),), label) for n, label in enumerate(labels))
    return Dataset("toy", split, examples, tuple(sorted({x for x in labels if x})))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ("mnist", "imdb")))
        for name in KNOWN_FINGERPRINTS
    ],
)
def test_known_data_sets_have_the_fingerprints_by_which_models_are_found(name: str) -> None:
    if not next(entry for entry in names() if entry.name == name).installed:
        pytest.skip(f"{name} is not installed")
    assert load_splits(name).fingerprint == KNOWN_FINGERPRINTS[name]


def test_every_known_data_set_that_a_model_can_learn_has_a_fingerprint() -> None:
    """Texts for guards have one class only: nothing can be learnt from them."""
    assert set(KNOWN_FINGERPRINTS) == {entry.name for entry in names() if len(entry.labels) > 1}


def test_a_tenth_of_each_class_is_held_out_whatever_the_order() -> None:
    whole = dataset(*("a" for _ in range(50)), *("b" for _ in range(30)))
    train, dev = hold_out(whole)
    assert [sum(e.label == x for e in dev) for x in "ab"] == [5, 3]
    assert len(train) == 72
    turned = Dataset("toy", "", whole.examples[::-1], whole.labels)
    assert set(hold_out(turned)[1]) == set(dev)


def test_equal_texts_stay_in_one_split() -> None:
    texts = [Example((("text", f"{n % 20}  Text"),), "ab"[n % 2]) for n in range(200)]
    train, dev = hold_out(Dataset("toy", "", tuple(texts), ("a", "b")))
    assert len(dev) == 20
    assert not {e.fields for e in train} & {e.fields for e in dev}


def nli(count: int, per_premise: int = 3) -> tuple[Example, ...]:
    """Pairs, some of whose premises differ in case and blanks only."""
    labels = ("entailment", "neutral", "contradiction")
    return tuple(
        Example(
            (
                ("premise", f"{'A man ' if n % 2 else 'a  MAN '}{n // per_premise}"),
                ("hypothesis", f"h {n}"),
            ),
            labels[n % 3],
        )
        for n in range(count)
    )


def premises(dataset: Dataset) -> set[str]:
    return {" ".join(dict(e.fields)["premise"].split()).casefold() for e in dataset}


@pytest.mark.parametrize("per_premise", [1, 3, 7])
def test_a_premise_is_in_one_split_with_all_its_hypotheses(per_premise: int) -> None:
    whole = Dataset("nli", "", nli(600, per_premise), ("contradiction", "entailment", "neutral"))
    train, dev = hold_out(whole)
    assert premises(train) | premises(dev) == premises(whole)
    assert not premises(train) & premises(dev)
    assert 0.08 * 600 <= len(dev) <= 0.15 * 600
    turned = Dataset("nli", "", whole.examples[::-1], whole.labels)
    assert set(hold_out(turned)[1]) == set(dev)


def test_the_texts_held_out_of_single_texts_are_those_of_earlier_versions() -> None:
    _, dev = hold_out(dataset(*("a" for _ in range(50))))
    texts = sorted(e.fields[0][1] for e in dev)
    assert texts == ["text 0", "text 19", "text 2", "text 39", "text 45"]


def test_pairs_of_few_premises_cannot_be_parted() -> None:
    few = Dataset("nli", "", nli(60, 20), ("contradiction", "entailment", "neutral"))
    with pytest.raises(UsageError, match="ten different texts in 'premise'"):
        check_splits(TrainingSplits("nli", *hold_out(few)))


def test_locked_fields_stay_locked_in_training() -> None:
    pairs = tuple(Example(e.fields, e.label, ("premise",)) for e in nli(6))
    locked = Dataset("nli", "train", pairs, ("contradiction", "entailment", "neutral"))
    texts = TrainingSplits("nli", locked, locked).labelled(locked).texts
    assert texts[0].words == ("h", "0") and texts[0].fields()["premise"] == "a  MAN 0"


def test_what_is_doubtful_about_the_data_is_said_before_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "nli.csv"
    lines = [f"man {n},{'' if n == 7 else 'dog'},{'yes' if n % 2 else 'no'}" for n in range(60)]
    path.write_text("\n".join(["premise,hypothesis,label", *lines]))
    load_splits(str(path), text=["premise", "hypothesis"])
    assert caplog.text.count("1 of 60 rows have an empty side (1 without 'hypothesis')") == 1


def test_a_file_is_loaded_and_named_by_its_stem(tmp_path: Path) -> None:
    path = tmp_path / "reviews.v2.csv"
    rows = "".join(f"{word} number {n},{word}\n" for n in range(20) for word in ("good", "bad"))
    path.write_text("text,label\n" + rows)
    splits = load_splits(str(path))
    assert (splits.name, len(splits.train), len(splits.dev)) == ("reviews", 36, 4)
    assert splits.labels == ("bad", "good") and splits.fields == ("text",)


def test_the_fingerprint_follows_the_data(splits: Any) -> None:
    assert splits().fingerprint == splits().fingerprint
    assert splits(seed=1).fingerprint != splits().fingerprint
    assert splits(dev=14).fingerprint != splits().fingerprint


@pytest.mark.parametrize(
    ("train", "dev", "message"),
    [
        (dataset("a", "a"), dataset("a", split="dev"), "one class, 'a'"),
        (dataset(), dataset("a", split="dev"), "no examples in its train split"),
        (dataset("a", "b"), dataset(split="dev"), "no examples in its dev split"),
        (dataset("a", "b", None), dataset("a", split="dev"), "1 examples without a label"),
        (dataset("a", "b"), dataset("c", split="dev"), "in its dev split only: c"),
    ],
)
def test_data_nothing_can_be_learnt_from(train: Dataset, dev: Dataset, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_splits(TrainingSplits("toy", train, dev))


def write_pairs(path: Path, numbers: Iterable[int], per_premise: int = 3) -> None:
    """Write pairs; those of equal numbers have equal premises, in any file."""
    lines = ["premise,hypothesis,label"]
    for n in numbers:
        for h in range(per_premise):
            label = ("entailment", "neutral", "contradiction")[h % 3]
            lines.append(f"A man {n},h {n} {h} {path.name},{label}")
    path.write_text("\n".join(lines))


PAIR: dict[str, Any] = {"text": ["premise", "hypothesis"]}


def test_a_folder_without_a_train_file_has_its_dev_file_divided_by_premise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_pairs(tmp_path / "dev.csv", range(200))
    write_pairs(tmp_path / "test.csv", range(190, 260))
    splits = load_folder(tmp_path, **PAIR)
    names = {split: premises(dataset) for split, dataset in splits.items()}
    assert names["test"] == {f"a man {n}" for n in range(190, 260)} and len(splits["test"]) == 210
    assert names["train"] | names["dev"] == {f"a man {n}" for n in range(190)}
    assert not names["train"] & names["dev"] and len(names["dev"]) > 10
    assert "30 of 600 examples of the dev split are left out" in caplog.text
    trained = load_splits(str(tmp_path), **PAIR)
    assert trained.name == tmp_path.name and trained.train == splits["train"]
    assert trained.dev == splits["dev"]
    assert load_splits(str(tmp_path), **PAIR, labels="none").train.examples[0].fields == (
        splits["train"].examples[0].fields
    )


def test_a_premise_of_a_later_file_is_not_learnt_from(tmp_path: Path) -> None:
    write_pairs(tmp_path / "train.csv", range(60))
    write_pairs(tmp_path / "dev.csv", range(50, 80))
    write_pairs(tmp_path / "test.csv", [0, 1, 79, 90])
    splits = load_folder(tmp_path, **PAIR)
    numbers = {split: {int(p.split()[-1]) for p in premises(d)} for split, d in splits.items()}
    assert numbers == {
        "train": {*range(2, 50)},
        "dev": {*range(50, 79)},
        "test": {0, 1, 79, 90},
    }
    # A text alone is no premise: files of single texts stay as they are.
    (single,) = (load_folder(tmp_path, text=["premise"])["train"],)
    assert len(single) == 180
    (tmp_path / "dev.csv").unlink()
    parted = load_folder(tmp_path, **PAIR)
    assert premises(parted["train"]).isdisjoint(premises(parted["dev"]) | premises(parted["test"]))


def test_a_folder_without_anything_to_learn_from_is_refused(tmp_path: Path) -> None:
    write_pairs(tmp_path / "test.csv", range(5))
    with pytest.raises(UsageError, match="neither a train nor a dev split"):
        load_splits(str(tmp_path), **PAIR)
    write_pairs(tmp_path / "test.tsv", range(5))
    with pytest.raises(UsageError, match=r"two files of the test split: test\.csv and test\.tsv"):
        load_splits(str(tmp_path), **PAIR)
