"""Pairs files with an empty side: rows are left out and counted; classes stay as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from brittle.data import files
from brittle.errors import UsageError

PAIRS = [
    ("A man walks.", "Ein Mann geht spazieren."),
    ("Two dogs sleep.", "Zwei Hunde schlafen tief."),
    ("", "Niemand ist hier zu sehen."),
    ("A lonely text", " "),
    (" ", ""),
    ("A red hat", "Ein roter Hut liegt da."),
]


def written(path: Path, rows: list[tuple[str, str]]) -> str:
    path.write_text("en,de\n" + "".join(f'"{a}","{b}"\n' for a, b in rows))
    return str(path)


def test_rows_with_an_empty_side_are_left_out_and_counted(tmp_path: Path) -> None:
    dataset = files.load(written(tmp_path / "pairs.csv", PAIRS), ["en"], "de")
    kept = [PAIRS[0], PAIRS[1], PAIRS[5]]
    assert [(example.fields[0][1], example.label) for example in dataset] == kept
    (warning,) = dataset.warnings
    assert "pairs.csv: 3 of 6 rows have an empty side (2 without 'en', 2 without 'de')" in warning


def test_whole_pairs_are_not_warned_of(tmp_path: Path) -> None:
    dataset = files.load(written(tmp_path / "pairs.csv", PAIRS[:2]), ["en"], "de")
    assert len(dataset) == 2 and dataset.warnings == ()


def test_sides_that_are_null_are_empty_too(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        '{"en": "A man", "de": "Ein Mann geht spazieren"}\n{"en": "A dog", "de": null}\n'
    )
    dataset = files.load(str(path), ["en"], "de")
    assert (
        len(dataset) == 1
        and "1 of 2 rows have an empty side (1 without 'de')" in dataset.warnings[0]
    )


@pytest.mark.parametrize(
    "labels",
    [["positive", "negative", "neutral", ""], ["a very good film"] * 3 + [""], ["1", "2", "3", ""]],
)
def test_a_missing_class_is_still_an_error(tmp_path: Path, labels: list[str]) -> None:
    path = written(
        tmp_path / "classes.csv", [(f"text {n}", label) for n, label in enumerate(labels)]
    )
    with pytest.raises(UsageError, match="line 5: the label is missing"):
        files.load(path, ["en"], "de")


def test_an_empty_text_of_a_class_is_still_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "classes.csv", [("", "good"), ("b", "bad")])
    assert len(files.load(path, ["en"], "de")) == 2


def test_pairs_of_a_class_with_an_empty_side_are_kept_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "nli.csv"
    path.write_text("premise,hypothesis,label\na man,,no\n,a dog,yes\na cat, ,yes\na,b,no\n")
    dataset = files.load(str(path), ["premise", "hypothesis"])
    assert len(dataset) == 4
    (warning,) = dataset.warnings
    assert "3 of 4 rows have an empty side (1 without 'premise', 2 without 'hyp" in warning
    assert "fill them in, or leave these rows out" in warning
    path.write_text("premise,hypothesis,label\na man,a dog,no\n")
    assert files.load(str(path), ["premise", "hypothesis"]).warnings == ()


def test_a_file_without_one_whole_pair_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path / "pairs.csv", [("", "Niemand ist hier."), ("A text", "")])
    with pytest.raises(UsageError) as caught:
        files.load(path, ["en"], "de")
    assert "1 row: no text (line 2)" in str(caught.value)
    assert "1 row: no label (line 3)" in str(caught.value)
    assert "--skip-bad" not in str(caught.value)  # no row would be left
