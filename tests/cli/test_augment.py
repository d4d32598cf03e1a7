"""`brittle augment`: the file it writes, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import brittle as library

from .conftest import Brittle


def test_the_file_has_the_columns_of_the_data(brittle: Brittle, workdir: Path) -> None:
    text = '"it is not a good film , and the plot does not help ."'
    rows = "\n".join(f"{n},{text},=1+{n},yes" for n in range(3))
    Path("own.csv").write_text(f"id,Sentence,title,sentiment\n{rows}\n")
    flags = ("--text", "sentence,title", "--label", "sentiment", "--locked", "title")
    output = brittle("augment", "own.csv", *flags, "--copies", "2", "--out", "more.csv")
    assert output.code == 0 and output.out == "more.csv: 9 rows (3 original, 6 rewrite)\n"
    with Path("more.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    assert list(written[0]) == ["Sentence", "title", "sentiment", "source", "level"]
    assert [row["source"] for row in written] == [str(n // 3) for n in range(9)]
    assert [row["level"] for row in written] == ["original", "rewrite", "rewrite"] * 3
    # Exactly as it was, also what a spreadsheet would compute: a model learns from it.
    assert [row["title"] for row in written] == [f"=1+{n // 3}" for n in range(9)]
    again = library.data.load("more.csv", text=["Sentence", "title"], label="sentiment")
    assert len(again) == 9 and again.labels == ("yes",)


def test_jsonl_only_variants_several_levels_and_json(brittle: Brittle, workdir: Path) -> None:
    flags = ("--level", "typo,rewrite", "--only-variants", "--limit", "4", "--json")
    output = brittle("augment", "films.csv", *flags, "--out", "more.jsonl")
    rows = [json.loads(line) for line in Path("more.jsonl").read_text().splitlines()]
    told = json.loads(output.out)
    assert told["written"] == "more.jsonl" and sum(told["rows"].values()) == len(rows)
    assert {row["level"] for row in rows} == {"rewrite", "typo"} == set(told["rows"])
    lines = Path("films.csv").read_text().splitlines()[1:]
    for row in rows:
        assert lines[row["source"]].endswith(row["label"])
    assert len({row["source"] for row in rows}) == 4


def test_a_data_set_without_labels_and_columns_that_are_taken(
    brittle: Brittle, workdir: Path
) -> None:
    Path("plain.jsonl").write_text('{"source": "it is a good film .", "level": "?"}\n')
    flags = ("--text", "source,level", "--level", "typo", "--out", "typos.jsonl")
    assert brittle("augment", "plain.jsonl", *flags).code == 0
    rows = [json.loads(line) for line in Path("typos.jsonl").read_text().splitlines()]
    assert [list(row) for row in rows] == [
        ["source", "level", "augment_source", "augment_level"]
    ] * 2
    assert [row["augment_level"] for row in rows] == ["original", "typo"]


def test_a_file_that_is_there_stays_unless_it_is_to_be_new(brittle: Brittle, workdir: Path) -> None:
    Path("kept.csv").write_text("mine")
    refused = brittle("augment", "films.csv", "--out", "kept.csv")
    assert refused.code == 2 and "kept.csv exists. Add --new to replace it" in refused.err
    assert Path("kept.csv").read_text() == "mine"
    assert (
        brittle("augment", "films.csv", "--out", "kept.csv", "--new", "--quiet").out == "kept.csv\n"
    )
    first = Path("kept.csv").read_text()
    brittle("augment", "films.csv", "--out", "kept.csv", "--new")
    assert Path("kept.csv").read_text() == first != "mine"


def test_what_is_refused(brittle: Brittle, workdir: Path) -> None:
    unknown = brittle("augment", "films.csv", "--level", "carefull", "--out", "a.csv")
    assert unknown.code == 2 and "Did you mean 'careful'?" in unknown.err
    ending = brittle("augment", "films.csv", "--out", "a.txt")
    assert ending.code == 2 and "ends in .csv or .jsonl" in ending.err
    folder = brittle("augment", "films.csv", "--out", "nowhere/a.csv")
    assert folder.code == 2 and "nowhere for the file a.csv does not exist. Create it" in folder.err
    assert brittle("augment", "films.csv", "--copies", "0", "--out", "a.csv").code == 2
    assert not Path("a.csv").exists()
    Path("odd.csv").write_text("text\n?!\n")
    odd = brittle("augment", "odd.csv", "--out", "odd-more.csv")
    assert "1 example has no word or phrase to change" in odd.out


def test_train_takes_levels(brittle: Brittle, workdir: Path) -> None:
    refused = brittle(
        *("train", "naive-bayes", "--data", "films.csv"), "--adversarial", "rewrite,every=2"
    )
    assert refused.code == 2 and "setting of rewrite" in refused.err
