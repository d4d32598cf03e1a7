"""A messy table: all its problems in one error, with the flags that mend it, or left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from brittle import data
from brittle.cli import main
from brittle.data.problems import BadTable
from brittle.data.rows import merge_labels
from brittle.errors import UsageError
from brittle.runs.run import Run

HEAD = b"\xef\xbb\xbfreview;stars;id\r\n"
GOOD = [
    "a warm and funny film;positive;1",
    "a dull and weak film;negative;2",
    "a moving story of two;Positive;3",
    "a flat story of three;negative ;4",
]
BAD = [
    b"a story without a label;;5",
    b"one without a label, too;  ;6",
    b"one cell is missing here;positive",
    b"one more;negative;7;here",
    b'a "quoted" word;positive;8',
    b'"a "broken" quote";positive;9',
    b"caf\xe9 of the dead;positive;10",
    b" ;positive;11",
]
"""Line 6 and so on: two without a label, two of another length, one fine, then one each."""


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    path = tmp_path / "messy.csv"
    path.write_bytes(HEAD + b"\r\n".join([*(row.encode() for row in GOOD), *BAD]) + b"\r\n")
    return path


def test_all_problems_of_a_file_are_one_error_with_the_flags_that_mend_it(messy: Path) -> None:
    with pytest.raises(BadTable) as caught:
        data.load(str(messy))
    message = str(caught.value)
    assert message.startswith(f"{messy}: 6 problems in 12 rows.\n")
    for line in (
        "- there is no column 'text' or 'sentence'. Columns: 'review', 'stars', 'id'.",
        "- 1 row: not UTF-8 (line 12)\n      line 12: this is not UTF-8 (byte 0xe9). If it is LAT",
        "- 1 row: quotation marks that do not match (line 11)\n      line 11: the row that starts",
        "- 2 rows: not as many cells as the first line (lines 8, 9)\n      line 8: this r",
        "- 1 row: no text (line 13)",
        "- 2 rows: no label (lines 6, 7)",
        "leave the 7 bad rows out: --text review --label stars --skip-bad (in Python "
        "brittle.data.load(…, text='review', label='stars', skip_bad=True)).",
    ):
        assert line in message
    assert caught.value.flags == ("--text", "review", "--label", "stars")
    assert caught.value.labels == {"positive": 4, "negative": 2}


def test_the_flags_of_that_error_give_the_rows_that_are_fine(messy: Path) -> None:
    dataset = data.load(str(messy), text=["review"], label="stars", skip_bad=True)
    texts = [example.fields[0][1] for example in dataset]
    assert texts == [*(row.split(";")[0] for row in GOOD), 'a "quoted" word']
    assert dict(dataset.left_out) == {
        "not UTF-8": 1,
        "quotation marks that do not match": 1,
        "not as many cells as the first line": 2,
        "no text": 1,
        "no label": 2,
    }
    assert dataset.warnings[0].startswith(f"{messy}: 7 of 12 rows left out by --skip-bad (not UTF")
    assert dataset.labels == ("negative", "positive")
    with pytest.raises(UsageError, match=r"--text review --label stars --skip-bad \("):
        data.load(str(messy), skip_bad=True)  # which columns are meant is not guessed


def test_labels_that_differ_by_case_or_blanks_are_one_and_this_is_said(messy: Path) -> None:
    dataset = data.load(str(messy), text=["review"], label="stars", skip_bad=True)
    assert [example.label for example in dataset] == [
        *("positive", "negative", "positive", "negative", "positive")
    ]
    (said,) = [line for line in dataset.warnings if "one label" in line]
    assert "'positive' (3), 'Positive' (1) as 'positive'" in said
    assert "'negative' (1), 'negative ' (1) as 'negative'" in said
    spelt = data.as_dataset([("a", "Good"), ("b", "good"), ("c", "good"), ("d", "bad"), "e"])
    assert spelt.labels == ("bad", "good") and len(spelt.warnings) == 1
    assert [example.label for example in spelt] == ["good", "good", "good", "bad", None]


def test_texts_as_labels_keep_their_spelling() -> None:
    pairs = [("one", "Ein Mann geht."), ("two", "ein mann geht."), ("three", "Zwei Hunde sind da.")]
    examples, said = merge_labels(data.as_examples(pairs))
    assert [example.label for example in examples] == [label for _, label in pairs] and not said


def test_one_problem_keeps_its_own_message(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\nfine,x\nodd,\n")
    with pytest.raises(UsageError, match=r"line 3: the label is missing\. .* row out: --skip-bad"):
        data.load(str(path))
    path.write_text("body,stars\na long review of it,x\none more of them,y\n")
    with pytest.raises(UsageError, match="no column 'text'") as one:
        data.load(str(path))
    assert str(one.value).endswith(
        " Try --text body --label stars "
        "(in Python brittle.data.load(…, text='body', label='stars'))."
    )
    path.write_text("text,label\n,\n")
    with pytest.raises(UsageError, match="line 2: the label is missing") as caught:
        data.load(str(path))
    assert "--skip-bad" not in str(caught.value)  # no row would be left
    with pytest.raises(UsageError, match="every row is bad, so none is left"):
        data.load(str(path), skip_bad=True)


def test_an_empty_text_is_said_and_left_out_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\nfine,x\n ,y\n,x\n")
    kept = data.load(str(path))
    assert len(kept) == 3 and kept.left_out == ()
    assert kept.warnings == (
        f"{path}: 2 rows: no text (lines 3, 4), of 3. They count as skipped; --skip-bad leaves "
        "them out.",
    )
    dataset = data.load(str(path), skip_bad=True)
    assert len(dataset) == 1 and dict(dataset.left_out) == {"no text": 2}


def test_other_files_list_their_problems_too(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = ['{"text": "a", "label": 1}', "[1]", '{"text": 3, "label": 1}', '{"text": "b"}', "{"]
    path.write_text("\n".join(lines))
    with pytest.raises(BadTable) as caught:
        data.load(str(path))
    message = str(caught.value)
    assert "- 2 rows: no JSON object (lines 2, 5)" in message
    assert "- 1 row: a value that cannot be used (line 3)" in message
    assert "- 1 row: no label (line 4)" in message
    assert len(data.load(str(path), skip_bad=True)) == 1
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\na\tx\nb\nc\td\te\n")
    assert len(data.load(str(path), skip_bad=True)) == 1


def test_an_open_quotation_mark_is_never_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('text,label\na,x\n"open,x\nb,y\n')
    with pytest.raises(UsageError, match="line 3: the row that starts here cannot be read"):
        data.load(str(path), skip_bad=True)  # it swallows all rows after it


@pytest.mark.slow
def test_two_runs_from_a_messy_file_to_the_first_number(
    messy: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pipeline = pytest.importorskip("sklearn.pipeline")
    text = pytest.importorskip("sklearn.feature_extraction.text")
    linear = pytest.importorskip("sklearn.linear_model")
    skops = pytest.importorskip("skops.io")
    monkeypatch.chdir(tmp_path)
    model = pipeline.make_pipeline(text.CountVectorizer(), linear.LogisticRegression())
    model.fit(["warm funny moving", "dull weak flat"], ["positive", "negative"])
    skops.dump(model, tmp_path / "model.skops")
    with messy.open("ab") as file:
        file.write(b"who can say;n/a;12\r\n")
    command = ["attack", "model.skops", "random-swap", "--data", "messy.csv"]
    assert main(command) == 2
    told = capsys.readouterr().err
    assert "has the labels negative, positive, but not 'n/a': 1 row (--skip-bad leaves" in told
    flags = ["--text", "review", "--label", "stars", "--skip-bad"]
    assert " ".join(flags) in told
    assert main([*command, *flags, "--name", "first"]) == 0
    run = Run(tmp_path / "runs" / "first.sqlite")
    assert len(run.results()) == 5
    assert run.manifest["left_out"] == {
        "not UTF-8": 1,
        "quotation marks that do not match": 1,
        "not as many cells as the first line": 2,
        "no text": 1,
        "no label": 2,
        "a label that the target does not have": 1,
    }
    assert "('n/a') and are left out by --skip-bad" in " ".join(run.manifest["warnings"])


def test_a_label_that_the_target_lacks_names_both_remedies() -> None:
    from brittle.targets.labels import match_labels

    with pytest.raises(UsageError, match=r"'n/a' of the labels.*--labels 'n/a=LABEL'.*--skip-bad"):
        match_labels(["pos", "n/a"], ["neg", "pos"])
    assert match_labels(["pos", "n/a"], ["neg", "pos"], "n/a=neg") == {"pos": 1, "n/a": 0}


def test_a_command_that_cannot_leave_rows_out_names_no_flag_for_it(
    messy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "rules.json")]
    assert main(["rules", "mine", "--data", str(messy), "--method", "pmi", *out]) == 2
    told = capsys.readouterr().err
    assert "2 rows: no label (lines 6, 7)" in told and "Correct the file." in told
    assert "--skip-bad" not in told


def test_augment_leaves_bad_rows_out_too(messy: Path, tmp_path: Path) -> None:
    out = tmp_path / "more.csv"
    flags = ["--text", "review", "--label", "stars", "--skip-bad"]
    assert main(["augment", str(messy), *flags, "--out", str(out), "--quiet"]) == 0
    assert len(data.load(str(out), text=["review"], label="stars")) >= 5
