import gzip
import json
import os
import socket
from pathlib import Path

import pytest

from brittle.data import Example, case_ids, files
from brittle.errors import UsageError

EXPECTED = (Example.of('a "fine", film', "positive"), Example.of("dull", "negative"))
CSV = 'text,label\n"a ""fine"", film",positive\ndull,negative\n'
SEMICOLONS = 'Text;Label\n"a ""fine"", film";positive\ndull;negative\n'
TSV = 'text\tlabel\n"a ""fine"", film"\tpositive\ndull\tnegative\n'
PLAIN_TSV = 'text\tlabel\na "fine", film\tpositive\ndull\tnegative\n'
JSONL = "".join(
    json.dumps({"text": example.fields[0][1], "label": example.label}) + "\n"
    for example in EXPECTED
)


def written(folder: Path, name: str, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)
    return str(folder / name)


def test_the_separator_is_the_one_with_which_all_rows_can_be_read(tmp_path) -> None:
    # Commas in texts, and in the first line, are no separators of a file with semicolons.
    content = "text, in German;label\ngut, aber lang;positive\nschlecht;negative\n"
    dataset = files.load(written(tmp_path, "a.csv", content), text=["text, in German"])
    assert [dict(e.fields)["text"] for e in dataset.examples] == ["gut, aber lang", "schlecht"]
    # Semicolons in a file with commas are none either, nor in a file of one column.
    content = "text,label; or class\na film; fine,positive\n"
    (example,) = files.load(written(tmp_path, "b.csv", content), label="label; or class").examples
    assert example == Example.of("a film; fine", "positive")
    (example,) = files.load(written(tmp_path, "c.csv", "text\na film; fine\n")).examples
    assert dict(example.fields)["text"] == "a film; fine"


def test_a_bad_row_is_told_with_the_separator_of_the_file(tmp_path) -> None:
    path = written(tmp_path, "a.csv", "text;label\na; film;positive\n")
    with pytest.raises(UsageError, match=r"line 2: this row has 3 cells.*holds a semicolon"):
        files.load(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", CSV),
        ("A.CSV", CSV),
        ("a.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("a.csv", gzip.compress(CSV.encode(), mtime=0)),
        ("a.csv", CSV.replace("\n", "\r\n")),
        ("a.csv", "\ufeff" + CSV),
        ("a.csv", CSV.replace("dull", "\ndull".strip()) + "\n\n"),
        ("a.csv", CSV.replace("text,label", "Text,LABEL")),
        ("a.csv", SEMICOLONS),
        (
            "a.csv.gz",
            gzip.compress(("\ufeff" + SEMICOLONS.replace("\n", "\r\n")).encode(), mtime=0),
        ),
        ("a.csv", TSV),
        ("a.csv", TSV.replace("text", "Text").replace("label", "Label")),
        ("a.tsv", TSV),
        ("a.tsv", PLAIN_TSV),
        ("a.tsv.gz", gzip.compress(TSV.encode(), mtime=0)),
        ("a.jsonl", JSONL),
        ("a.jsonl", "\ufeff" + JSONL.replace("\n", "\r\n") + "\n"),
        ("a.ndjson", JSONL),
        ("a.jsonl.gz", gzip.compress(JSONL.encode(), mtime=0)),
    ],
)
def test_every_format_gives_the_same_examples(tmp_path, name, content) -> None:
    dataset = files.load(written(tmp_path, name, content))
    assert dataset.examples == EXPECTED
    assert dataset.labels == ("negative", "positive")
    assert dataset.split == "all"
    assert dataset.name == str(tmp_path / name)


def test_parquet_gives_the_same_examples(tmp_path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "text": [example.fields[0][1] for example in EXPECTED],
        "label": [example.label for example in EXPECTED],
    }
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    assert files.load(str(tmp_path / "a.parquet")).examples == EXPECTED
    parquet.write_table(arrow.table({**columns, "label": [1, 0]}), tmp_path / "b.parquet")
    assert files.load(str(tmp_path / "b.parquet")).labels == ("0", "1")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": ["a", None]}, "row 2: the field 'text' is None"),
        ({"text": ["a", "b"], "label": [1, None]}, "row 2: the label is missing"),
        ({"body": ["a"]}, "Columns: 'body'"),
    ],
)
def test_bad_parquet_rows_are_told(tmp_path, columns, message) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    with pytest.raises(UsageError) as error:
        files.load(str(tmp_path / "a.parquet"))
    assert message in str(error.value)


@pytest.mark.parametrize("content", [b"", b"text,label\na,b\n"])
def test_what_is_not_parquet_is_told(tmp_path, content) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(UsageError, match="brittle cannot read this file as parquet"):
        files.load(written(tmp_path, "a.parquet", content))


def test_pairs_keep_their_names_and_locks(tmp_path) -> None:
    source = written(tmp_path, "a.csv", "premise,id,hypothesis,gold\np,7,h,neutral\n")
    dataset = files.load(source, ["premise", "hypothesis"], "gold", ["premise"])
    fields = {"premise": "p", "hypothesis": "h"}
    assert dataset.examples == (Example.of(fields, "neutral", ["premise"]),)


def test_a_lone_text_column_is_the_field_text_whatever_its_name(tmp_path) -> None:
    source = written(tmp_path, "a.csv", "review,label\nfine,1\n")
    dataset = files.load(source, ["review"])
    assert case_ids(dataset) == case_ids([Example.of("fine", "1")])


def test_data_without_labels_is_unlabelled(tmp_path) -> None:
    dataset = files.load(written(tmp_path, "a.csv", "sentence\nfine\n"))
    assert dataset.examples == (Example.of("fine"),)
    assert dataset.labels == ()
    labelled = written(tmp_path, "b.csv", "text,label\nfine,\n")
    assert files.load(labelled, label="").examples == (Example.of("fine"),)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'text,label\n"",x\n'),
        ("a.csv", "text,label\n,x\n"),
        ("a.tsv", "text\tlabel\n\tx\n"),
        ("a.jsonl", '{"text": "", "label": "x"}'),
    ],
)
def test_an_empty_text_is_allowed(tmp_path, name, content) -> None:
    assert files.load(written(tmp_path, name, content)).examples == (Example.of("", "x"),)


@pytest.mark.parametrize(
    "text",
    ["x" * 2**20, "a\0b", "two\r\nlines, one cell", "<script>", "e\u0301 👩‍🚀 שלום", "tab\tin it"],
    ids=["1 MB", "NUL", "lines", "markup", "unicode", "tab"],
)
def test_strange_texts_survive_exactly(tmp_path, text) -> None:
    for name, content in (
        ("a.csv", f'text,label\n"{text}",x\n'),
        ("a.jsonl", json.dumps({"text": text, "label": "x"})),
    ):
        assert files.load(written(tmp_path, name, content)).examples == (Example.of(text, "x"),)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ('"open\t0\nthen "\t1\n', ['"open', 'then "']),
        ('"one" cell"\t0\n', ['"one" cell"']),
        ('a "\t0\n', ['a "']),
        ('"said ""so"""\t0\n', ['said "so"']),
        ('"two\nlines"\t0\n', ["two\nlines"]),
    ],
)
def test_tab_files_with_and_without_quoting(tmp_path, rows, expected) -> None:
    dataset = files.load(written(tmp_path, "a.tsv", "text\tlabel\n" + rows))
    assert [example.fields[0][1] for example in dataset] == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "text,label\na,b\nc\n", "a.csv, line 3: this row has 1 cells"),
        ("a.csv", 'text,label\n"a\nb",x\nc\n', "a.csv, line 4: this row has 1 cells"),
        ("a.csv", "text,label\na, b,c\n", "line 2: this row has 3 cells, but the first line nam"),
        ("a.csv", 'text,label\na,b\n"open,c\nd,e\n', "line 3: the row that starts here cannot be"),
        ("a.csv", "text,label\na,b\nc,\n", "line 3: the label is missing. Fill it in"),
        (
            "a.csv",
            "body,label\na,b\n",
            "Columns: 'body', 'label'. Name the column of the text with",
        ),
        ("a.csv", "text,text\na,b\n", "2 columns are called 'text'"),
        ("a.csv", "", "is empty"),
        ("a.csv", "\ufeff\n", "is empty"),
        ("a.csv", "text,label\n", "has column names but no rows"),
        ("a.csv", b"text,label\nfine,x\ncaf\xe9,x\n", "line 3: this is not UTF-8 (byte 0xe9)"),
        ("a.csv", b"\xef\xbb\xbftext\nf\xe9e\n", "line 2: this is not UTF-8 (byte 0xe9)"),
        ("a.csv", b"text\ncaf\xe9\n", "iconv -f LATIN1 -t UTF-8 a.csv > utf8-a.csv"),
        ("a.csv", "text\nfine\n".encode("utf-16"), "iconv -f UTF-16"),
        ("a.csv", "text\nfine\n".encode("utf-16-le"), "iconv -f UTF-16"),
        ("a.csv.gz", b"text\nfine\n", "not a gzip file"),
        ("a.csv.gz", gzip.compress(CSV.encode(), mtime=0)[:-12], "this gzip file is damaged"),
        ("a.csv.gz", b"\x1f\x8b and so on", "this gzip file is damaged"),
        ("a.tsv", "text\tlabel\na\n", "a.tsv, line 2: this row has 1 cells"),
        ("a.jsonl", "", "is empty"),
        ("a.jsonl", '{"text": "a"}\n\n{"text": "b"\n', "a.jsonl, line 3: this is not JSON"),
        ("a.jsonl", "[" * 100_000, "line 1: this is not JSON"),
        ("a.jsonl", '["a"]\n', "line 1: this is a JSON list, expected an object"),
        ("a.jsonl", '{"text": "a"}\n{"body": "b"}\n', "line 2: 'text' is missing"),
        ("a.jsonl", '{"text": 3}\n', "line 1: the field 'text' is 3"),
        ("a.jsonl", '{"text": null}\n', "line 1: the field 'text' is None"),
        ("a.jsonl", '{"text": "a", "label": null}\n', "line 1: the label is missing"),
        ("a.jsonl", '{"text": "a"}\n{"text": "b", "label": 1}\n', "line 1: 'label' is missing"),
        ("a.jsonl", '{"text": "a", "label": [1]}\n', "line 1: the label is [1]"),
        ("a.jsonl", '{"text": "\\ud83d"}\n', "line 1: the field 'text' holds half of a surrogate"),
        ("a.txt", "fine\n", "unknown file ending. Expected a file named .csv"),
    ],
)
def test_bad_files_are_told_with_the_line(tmp_path, name, content, message) -> None:
    with pytest.raises(UsageError) as error:
        files.load(written(tmp_path, name, content))
    assert message in str(error.value)
    assert str(tmp_path / name) in str(error.value)


def test_a_missing_file_suggests_its_neighbours_and_known_names(tmp_path) -> None:
    written(tmp_path, "reviews.csv", CSV)
    with pytest.raises(UsageError, match=r"Did you mean '.*reviews\.csv'\?"):
        files.load(str(tmp_path / "review.csv"))
    with pytest.raises(UsageError, match=r"Did you mean 'imdb'\?"):
        files.load(str(tmp_path / "imbd.csv"), also_known=["mr", "imdb"])
    with pytest.raises(UsageError, match=r"Data files in .*: reviews\.csv"):
        files.load(str(tmp_path / "zzz.jsonl"))
    with pytest.raises(UsageError, match="no folder"):
        files.load(str(tmp_path / "nowhere" / "reviews.csv"))


def test_a_folder_names_what_is_in_it(tmp_path) -> None:
    written(tmp_path, "reviews.csv", CSV)
    with pytest.raises(
        UsageError, match=r"is a folder. Name a file in it \(reviews\.csv\)"
    ) as error:
        files.load(str(tmp_path))
    assert f"hf:{tmp_path}" in str(error.value)


def test_a_folder_named_like_a_file_is_a_folder(tmp_path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        files.load(str(tmp_path / "a.csv"))


def test_what_the_system_refuses_is_told(tmp_path, monkeypatch) -> None:
    def refuse(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    source = written(tmp_path, "a.csv", CSV)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match=r"cannot be read \(Permission denied"):
        files.load(source)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("ending", files.ENDINGS)
def test_what_is_no_file_is_refused(tmp_path, ending) -> None:
    path = tmp_path / f"a{ending}"
    os.mkfifo(path)
    with pytest.raises(UsageError, match=r"is a named pipe, not a file.*Write its content to a"):
        files.load(str(path))
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(UsageError, match="is a device, not a file"):
        files.load(str(path))
    path.unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        with pytest.raises(UsageError, match="is a socket, not a file"):
            files.load(str(path))


def test_endings_are_known_case_blind_and_longest_first() -> None:
    assert files.ending("a.CSV.GZ") == ".csv.gz"
    assert files.ending("a.b.tsv") == ".tsv"
    assert files.ending("csv") is None
    assert files.ending("a.txt.gz") is None
