"""Do the sentences of a generator read as sentences, and do its adversaries keep the opinion?

    python benchmarks/sentences_read.py sheet GENERATOR... --out FOLDER [--count 60] [--seed 0]
    python benchmarks/sentences_read.py read FOLDER ANSWERS --reader WHO [--notes TEXT]

`sheet` takes held-out sentences of film reviews that all the generators can read, and writes three
kinds of lines for each generator: the nearest different sentence next to a held-out one
(*neighbour*), the sentence of a random point (*random*), and an adversary against a classifier,
with its original (*adversary*). Untouched held-out sentences stand among them, alone and in pairs
of two that have nothing to do with each other. All lines are in random order and without labels.
The reader sees the sheet alone and writes a line for each: `NUMBER GRAMMATICAL OPINION`, each `yes`
or `no`; the opinion is `-` where the line has one sentence. `read` joins the answers with the key
and writes benchmarks/sentences_read.json, which holds counts and no sentences, and the table of
docs/explanation/generators.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import brittle
from brittle import data as datasets
from brittle.generators import neighbours, open_generator
from brittle.latent import LatentPoint
from brittle.metrics.intervals import wilson
from brittle.text import Text
from brittle.zoo.generators.sentences import cut_sentences, sentence_words

TARGET, DATA = "zoo:LSTM-W-Random-1@mr", "imdb"
RADIUS, TRIED = 6.0, 60
SEARCH = {"samples": 100, "step": 0.05}
MIN_WORDS = 4
OUT = Path(__file__).with_name("sentences_read.json")
Line = dict[str, Any]
QUESTIONS = """Each line has one sentence, or two that are divided by " || ".
GRAMMATICAL: would a careful writer of informal English write the last sentence of the line so?
Missing commas and quotation marks do not count as errors. yes or no.
OPINION: do both sentences express the same opinion of what they are about (good, bad, or none)?
yes or no; - if the line has one sentence.
Answer one line for each: NUMBER GRAMMATICAL OPINION
"""


def sheet(names: list[str], out: Path, count: int, seed: int) -> int:
    """Write the sheet and its key."""
    generators = {name: open_generator(name) for name in names}
    held_out = _held_out(list(generators.values()), seed)
    lines: list[Line] = []
    for name, generator in generators.items():
        near = (_neighbour(generator, text, seed) for text in held_out[:count])
        lines += [_line(name, "neighbour", found) for found in near if found is not None]
        numbers = np.random.default_rng(seed)
        points = LatentPoint.rows(numbers.standard_normal((count // 2, generator.size)))
        lines += [_line(name, "random", str(item)) for item in generator.decode(points)]
        lines += _adversaries(name, held_out, out, count // 2)
    untouched = [str(text) for text in held_out[count : 3 * count]]
    lines += [_line("", "untouched", text) for text in untouched[:count]]
    pairs = zip(untouched[count::2], untouched[count + 1 :: 2])
    lines += [_line("", "unrelated", second, first) for first, second in pairs][: count // 2]
    Random(seed).shuffle(lines)
    (out / "key.json").write_text(json.dumps(lines, indent=1), "utf-8")
    shown = [f"{n} {line['shown']}" for n, line in enumerate(lines, 1)]
    (out / "sheet.txt").write_text(QUESTIONS + "\n" + "\n".join(shown) + "\n", "utf-8")
    return len(lines)


def _held_out(generators: list[Any], seed: int) -> list[Text]:
    """Return sentences of the test split, in random order, that every generator can read."""
    found: dict[tuple[str, ...], Text] = {}
    for example in datasets.load(DATA, split="test"):
        for sentence in cut_sentences(example.fields[0][1]):
            text = Text.of(sentence)
            if len(text) >= MIN_WORDS and all(g.unfit(text) is None for g in generators):
                found.setdefault(sentence_words(sentence), text)
    texts = list(found.values())
    Random(seed).shuffle(texts)
    return texts


def _neighbour(generator: Any, text: Text, seed: int) -> str | None:
    """Return the nearest sentence that differs from the text, its reconstruction included."""
    own = sentence_words(str(text))
    for found in neighbours(generator, text, radius=RADIUS, count=TRIED, seed=seed):
        if sentence_words(str(found.item)) != own:
            return str(found.item)
    return None


def _adversaries(name: str, texts: list[Text], out: Path, count: int) -> list[Line]:
    sentences = [str(text) for text in texts[-6 * count :]]
    settings: Any = {**SEARCH, "generator": name}
    run = brittle.attack(TARGET, sentences, "natural", folder=out / "runs", **settings)
    broken = [row for row in run.results() if row.status == "broken"][:count]
    return [_line(name, "adversary", str(row.adversarial), row.original) for row in broken]


def _line(generator: str, kind: str, shown: str, original: str = "") -> Line:
    both = f"{original} || {shown}" if original else shown
    return {"generator": generator, "kind": kind, "shown": " ".join(both.split())}


def read(folder: Path, answers: Path, reader: str, notes: str) -> dict[str, Any]:
    """Join the answers with the key."""
    key = json.loads((folder / "key.json").read_text("utf-8"))
    told = {}
    for line in answers.read_text("utf-8").splitlines():
        if line.strip():
            number, *rest = line.split()
            told[int(number)] = tuple(rest)
    wrong = [
        n
        for n in range(1, len(key) + 1)
        if len(told.get(n, ())) != 2 or told[n][0] not in ("yes", "no")
    ]
    if wrong:
        raise SystemExit(f"Expected NUMBER yes|no yes|no|- for the lines {wrong}.")
    figures: dict[str, Any] = {}
    for n, line in enumerate(key, 1):
        grammatical, opinion = told[n]
        own = figures.setdefault(line["generator"] or "real sentences", {})
        cell = own.setdefault(line["kind"], {"lines": 0, "grammatical": 0})
        cell["lines"] += 1
        cell["grammatical"] += grammatical == "yes"
        if line["kind"] in ("adversary", "unrelated"):
            for name in ("same opinion", "both"):
                cell.setdefault(name, 0)
            cell["same opinion"] += opinion == "yes"
            cell["both"] += (grammatical, opinion) == ("yes", "yes")
    for own in figures.values():
        for cell in own.values():
            for name in ("grammatical", "same opinion", "both"):
                if name in cell:
                    cell[name] = _share(cell[name], cell["lines"])
    texts = f"sentences of the test split of {DATA}; adversaries against {TARGET}"
    return {"reader": reader, "texts": texts, "notes": notes, "figures": figures}


def _share(count: int, of: int) -> dict[str, Any]:
    low, high = wilson(count, of)
    return {"count": count, "of": of, "low": round(low, 3), "high": round(high, 3)}


PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "generators.md"
OPENING = "<!-- sentences: benchmarks/sentences_read.py writes what stands below -->"
CLOSING = "<!-- end of sentences -->"
ROWS = (
    ("nearest different sentence: grammatical", "neighbour", "grammatical"),
    ("sentence of a random point: grammatical", "random", "grammatical"),
    ("adversary: grammatical", "adversary", "grammatical"),
    ("adversary: of the same opinion", "adversary", "same opinion"),
    ("adversary: grammatical and of the same opinion", "adversary", "both"),
)
REAL = "real sentences"


def page_lines(found: dict[str, Any]) -> list[str]:
    """Return what docs/explanation/generators.md says of the readings."""
    figures = found["figures"]
    names = [name for name in figures if name != REAL]
    of = figures[REAL]
    lines = [
        f"Read by {found['reader']}, blind. Of untouched sentences "
        f"{_percent(of['untouched']['grammatical'])} were called grammatical, of unrelated pairs "
        f"{_percent(of['unrelated']['same opinion'])} of the same opinion:",
        "",
        f"| read | {' | '.join(f'`{name}`' for name in names)} |",
        f"|---|{'---:|' * len(names)}",
    ]
    for title, kind, figure in ROWS:
        cells = " | ".join(_percent(figures[name][kind][figure]) for name in names)
        lines.append(f"| {title} | {cells} |")
    return [*lines, "", f"`python benchmarks/sentences_read.py`: {found['texts']}."]


def _percent(share: dict[str, Any]) -> str:
    low, high = round(100 * share["low"]), round(100 * share["high"])
    return f"{100 * share['count'] / share['of']:.0f}% ({low}–{high}; {share['of']})"


def write_page(found: dict[str, Any]) -> None:
    before, _, rest = PAGE.read_text("utf-8").partition(OPENING)
    after = rest.partition(CLOSING)[2]
    own = "\n".join([OPENING, *page_lines(found), CLOSING])
    PAGE.write_text(f"{before}{own}{after}", "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Read the sentences of generators, blind.")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("sheet")
    one.add_argument("generators", nargs="+", metavar="GENERATOR")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--count", type=int, default=60)
    one.add_argument("--seed", type=int, default=0)
    other = commands.add_parser("read")
    other.add_argument("folder", type=Path)
    other.add_argument("answers", type=Path)
    other.add_argument("--reader", required=True)
    other.add_argument("--notes", default="", help="what the reader noticed")
    asked = parser.parse_args()
    if asked.command == "sheet":
        asked.out.mkdir(parents=True, exist_ok=True)
        print(f"{sheet(asked.generators, asked.out, asked.count, asked.seed)} lines in {asked.out}")
        return 0
    found = read(asked.folder, asked.answers, asked.reader, asked.notes)
    OUT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    write_page(found)
    print(json.dumps(found["figures"], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
