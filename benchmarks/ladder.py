"""The ladder of known models on known data, and what a blind reader says of the broken texts.

    python benchmarks/ladder.py run --out FOLDER [--models NAME,…] [--data NAME] [--limit N]
    python benchmarks/ladder.py sheet --out FOLDER [--count 40] [--seed 0]
    python benchmarks/ladder.py read FOLDER VERDICTS --reader WHO --texts KIND [--originals FILE]
        [--before KIND,… | --add] [--note TEXT]

`run` attacks every model with `auto`, stores the runs in FOLDER (it resumes), and writes the
ladders to benchmarks/ladder.json and to the table that a report shows as a yardstick
(src/brittle/reports/yardstick.json). With --skip N, for texts to be read that nothing was developed
on, and with --levels it writes neither. `sheet` draws texts for a reader: so many broken ones of
each level over all models, untouched ones, and ones with random edits of the same levels that broke
nothing. They are shuffled, and neither level nor kind is named. The originals of gentle edits are
on a sheet of their own, for another reader. `read` counts the verdicts, one line of JSON for every
text ({"id": "t001", "label": true, "meaning": true, "grammar": false}; of an original {"id":
"o001", "label": true}), and writes benchmarks/read_ladder.json and what brittle shows of them
(src/brittle/validity/readings.json). Kinds of texts that are not on the sheet keep what was read of
them before, and are marked so, as are the kinds of --before: their edits changed a little after the
reading. With --add the sheet has kinds that were not read before (drawn_sheet.py), and the others
stand as they were. The sheets hold sentences of the data and are not published.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import brittle
from brittle.asks import Case, Tag
from brittle.attacks import build
from brittle.attacks.auto import Auto
from brittle.formatting import percent
from brittle.levels import LEVELS
from brittle.metrics.ladder import ladder
from brittle.metrics.summary import rate, summary
from brittle.reports.ladder import ladder_json
from brittle.results import Result
from brittle.runs.run import Run
from brittle.text import Text

HERE = Path(__file__).parent
OUT, READ = HERE / "ladder.json", HERE / "read_ladder.json"
SOURCE = HERE.parent / "src" / "brittle"
YARDSTICK = SOURCE / "reports" / "yardstick.json"
READINGS = SOURCE / "validity" / "readings.json"
PAGE = HERE.parent / "docs" / "explanation" / "ladder.md"
OPENING = "<!-- ladder: python benchmarks/ladder.py writes what stands below -->"
CLOSING = "<!-- end of ladder -->"
ALL_LEVELS = ",".join(LEVELS)
GENTLE = ("rewrite", "careful")
PARTS = ("label", "meaning", "grammar")
SHORTEST, LONGEST = 4, 60  # words of a text on the sheet
ON_WORDS = ("TF-IDF", "counts")
MODELS = ("naive-bayes", "LSTM-W-Random-1", "CNN-W-Random-1", "MiniLM-vectors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    for name, function in (("run", run), ("sheet", sheet), ("read", read)):
        own = commands.add_parser(name)
        own.set_defaults(function=function)
        if name == "read":
            own.add_argument("folder", type=Path)
            own.add_argument("verdicts", type=Path)
            own.add_argument("--reader", required=True)
            own.add_argument("--texts", required=True)
            own.add_argument("--originals", type=Path, help="labels read of the originals alone")
            own.add_argument("--note", default="", help="what is special about these texts")
            own.add_argument("--before", default="", help="kinds whose edits changed since, with ,")
            own.add_argument("--add", action="store_true", help="leave the other kinds as they are")
            continue
        own.add_argument("--out", type=Path, required=True, metavar="FOLDER")
        own.add_argument("--seed", type=int, default=0)
        if name == "run":
            own.add_argument("--models", default=",".join(MODELS))
            own.add_argument("--data", default="mr", help="a name, or a file for TF-IDF")
            own.add_argument("--train", help="the file that TF-IDF is trained on")
            own.add_argument("--limit", type=int)
            own.add_argument("--skip", type=int, default=0, help="leave out the first so many")
            own.add_argument("--levels", default=ALL_LEVELS)
        else:
            own.add_argument("--count", type=int, default=40, help="broken texts of each level")
            own.add_argument("--rewrites", type=int, default=80, help="broken texts of rewrite")
            own.add_argument("--untouched", type=int, default=40)
            own.add_argument("--random", type=int, default=40)
    args = parser.parse_args()
    args.function(args)


def run(args: argparse.Namespace) -> None:
    """Attack every model, and write the ladders."""
    is_partial = args.skip or args.levels != ALL_LEVELS
    examples = brittle.data.load(args.data)
    if args.skip:  # those that a limit of so many would take
        order = examples.rows_taken(len(examples.examples), args.seed)
        examples = examples.select(order[args.skip :])
    where = args.data if args.train is None else Path(args.data).parent.name
    content: dict[str, Any] = json.loads(OUT.read_text("utf-8")) if OUT.exists() else {}
    for name in args.models.split(","):
        done = brittle.attack(
            target(name, args.data, args.train),
            examples,
            "auto",
            levels=args.levels,
            limit=args.limit,
            seed=args.seed,
            name=f"{name}-{where}",
            folder=args.out,
            measures="none",
        )
        results = done.results()
        climbed = ladder(results)
        assert climbed is not None
        figures = summary(results)
        content[f"{name} on {where}"] = {
            "ladder": ladder_json(climbed, {}),
            "queries": asdict(figures.queries),
            "examples": len(results),
        }
        print(f"{name} on {where}: {ladder_json(climbed, {})['verdict']}", flush=True)
        if is_partial:
            continue
        OUT.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    if is_partial:
        return
    yardstick = {name: short(one["ladder"]) for name, one in content.items()}
    YARDSTICK.write_text(json.dumps(yardstick, indent=1) + "\n", "utf-8")
    write_page()


def target(name: str, data: str, train: str | None) -> Any:
    """Open a model of the zoo, or train one: on TF-IDF or counts of words, or MiniLM's vectors."""
    if name in ON_WORDS and train is not None:
        return on_words(name, train)
    return minilm_vectors(data) if name == "MiniLM-vectors" else f"zoo:{name}@{data}"


def on_words(name: str, train: str) -> Any:
    """Train a pipeline of scikit-learn on a file: a logistic regression, or naive Bayes."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    examples = brittle.data.load(train).examples
    texts = [dict(example.fields)["text"] for example in examples]
    pipeline = (
        make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0, max_iter=1000))
        if name == "TF-IDF"
        else make_pipeline(CountVectorizer(), MultinomialNB())
    )
    return pipeline.fit(texts, [example.label for example in examples])


def minilm_vectors(data: str) -> Callable[[Sequence[str]], np.ndarray]:
    """Train a logistic regression on MiniLM's vectors of the train split."""
    from sklearn.linear_model import LogisticRegression

    from brittle.english.sentence_encoder import MeaningEncoder

    encoder = MeaningEncoder()

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.stack(encoder.meanings([Text.of(text) for text in texts]))

    train = brittle.data.load(data, split="train").examples
    texts = [dict(example.fields)["text"] for example in train]
    model = LogisticRegression(C=10.0, max_iter=1000)
    model.fit(encode(texts), [example.label for example in train])

    def classify(texts: Sequence[str]) -> np.ndarray:
        return np.asarray(model.predict_proba(encode(texts)))

    classify.labels = [str(label) for label in model.classes_]  # type: ignore[attr-defined]
    return classify


def short(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a yardstick shows: accuracy, and the accuracy after each level."""
    after = {rung["level"]: rung["standing"]["value"] for rung in content["rungs"]}
    return {"accuracy": content["before"]["value"], "of": content["before"]["of"], "after": after}


def table(yardstick: Mapping[str, Any]) -> list[str]:
    """Return the yardstick as a table of Markdown."""
    head = ["model", "texts", "accuracy", *(f"after {level.title}" for level in LEVELS.values())]
    rows = [
        [
            name,
            str(one["of"]),
            percent(one["accuracy"]),
            *(percent(one["after"].get(level)) for level in LEVELS),
        ]
        for name, one in yardstick.items()
    ]
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def sheet(args: argparse.Namespace) -> None:
    """Draw texts to be read, without a word on where they come from."""
    rng = Random(args.seed)
    runs = [Run(path) for path in sorted(args.out.glob("*.sqlite"))]
    rows = [(run.name, row) for run in runs for row in run.results() if is_readable(row)]
    drawn: list[tuple[dict[str, Any], str, str, str]] = []
    for level in LEVELS:
        broken = [(name, row) for name, row in rows if row.level == level and is_broken(row)]
        for name, row in draw(broken, args.rewrites if level == "rewrite" else args.count, rng):
            about = {"kind": level, "run": name, "words_changed": row.words_changed}
            drawn.append((about, str(row.label), row.original, str(row.adversarial)))
    for name, row in draw(rows, args.untouched, rng):
        drawn.append(
            ({"kind": "untouched", "run": name}, str(row.label), row.original, row.original)
        )
    edited = chain.from_iterable(random_edits(name, row, rng) for name, row in shuffled(rows, rng))
    for _, one in zip(range(args.random), edited):
        drawn.append(one)
    rng.shuffle(drawn)
    key = {}
    with (args.out / "sheet.jsonl").open("w", encoding="utf-8") as file:
        for number, (about, label, original, changed) in enumerate(drawn, 1):
            key[f"t{number:03}"] = about
            line = {"id": f"t{number:03}", "label": label, "text": changed, "original": original}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    write_originals(args.out, drawn, key, rng)
    (args.out / "key.json").write_text(json.dumps(key, indent=1) + "\n", "utf-8")
    print(f"{args.out / 'sheet.jsonl'}: {len(drawn)} texts")


def write_originals(
    folder: Path,
    drawn: Sequence[tuple[dict[str, Any], str, str, str]],
    key: dict[str, dict[str, Any]],
    rng: Random,
) -> None:
    """Write the originals of gentle edits, each once, to be read alone; note their ids in the key.

    Those of random edits are among them, so that not all are ones that a model is unsure of.
    """
    gentle = [
        (about, label, original)
        for about, (_, label, original, _) in zip(key.values(), drawn)
        if about["kind"].removeprefix("random ") in GENTLE
    ]
    originals = list(dict.fromkeys((label, original) for _, label, original in gentle))
    rng.shuffle(originals)
    ids = {original: f"o{number:03}" for number, original in enumerate(originals, 1)}
    for about, label, original in gentle:
        about["original"] = ids[label, original]
    with (folder / "originals.jsonl").open("w", encoding="utf-8") as file:
        for (label, original), name in ids.items():
            line = {"id": name, "label": label, "text": original}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def is_readable(row: Result) -> bool:
    return row.predicted == row.label and SHORTEST <= row.words <= LONGEST


def is_broken(row: Result) -> bool:
    return row.status == "broken" and row.adversarial is not None


def draw(rows: Sequence[tuple[str, Result]], count: int, rng: Random) -> list[tuple[str, Result]]:
    """Draw rows from the runs in turn, each original once."""
    pools: dict[str, list[Result]] = {}
    for name, row in rng.sample(rows, len(rows)):
        pools.setdefault(name, []).append(row)
    chosen: dict[str, tuple[str, Result]] = {}
    while len(chosen) < count and any(pools.values()):
        for name, pool in pools.items():
            fresh = next((row for row in pool if row.case not in chosen), None)
            pool[:] = pool[pool.index(fresh) + 1 :] if fresh is not None else []
            if fresh is not None and len(chosen) < count:
                chosen[fresh.case] = (name, fresh)
    return list(chosen.values())


def shuffled(rows: Sequence[tuple[str, Result]], rng: Random) -> list[tuple[str, Result]]:
    return rng.sample(rows, len(rows))


def random_edits(
    name: str, row: Result, rng: Random
) -> Sequence[tuple[dict[str, Any], str, str, str]]:
    """Edit a text at random at a gentle level; nothing if the level has nothing to offer."""
    level = rng.choice(["rewrite", "careful"])
    attack: Any = build("auto", {"levels": level, "max_space": 10**9})
    text = Text.of(dict(row.fields))
    texts = offered(attack, Case("", text), rng)
    if not texts:
        return []
    about = {"kind": f"random {level}", "run": name}
    return [(about, str(row.label), row.original, rng.choice(texts))]


def offered(attack: Auto, case: Case[Text], rng: Random) -> list[str]:
    """Return texts with one or two edits of a level, by answering a search by hand."""
    from brittle.asks import Unfit
    from brittle.english.tags import Tagger

    ((level, source),) = attack.levels
    search = attack.choices(case, level, source)
    try:
        ask = next(search)
        while True:
            assert isinstance(ask, Tag)
            ask = search.send(Tagger().tags(ask.items))
    except StopIteration as stop:
        choices = stop.value
    except Unfit:
        return []
    singles = choices.singles()
    texts = [str(choices.build((change,))) for change in singles]
    return rng.sample(texts, min(3, len(texts)))


def read(args: argparse.Namespace) -> None:
    """Count the verdicts by kind of text, and write what brittle shows of them."""
    key = json.loads((args.folder / "key.json").read_text("utf-8"))
    lines = args.verdicts.read_text("utf-8").splitlines()
    verdicts = {row["id"]: row for row in map(json.loads, filter(str.strip, lines))}
    if set(verdicts) != set(key):
        sys.exit(f"Got {len(verdicts)} verdicts on {len(key)} texts; expected one of each.")
    originals = labels_of_originals(args.originals)
    kinds: dict[str, list[dict[str, Any]]] = {}
    for name, about in key.items():
        number = about.pop("original", None)
        if number in originals:
            about["original_label"] = originals[number]
        kinds.setdefault(about["kind"], []).append(verdicts[name] | about)
    content: dict[str, Any] = json.loads(READ.read_text("utf-8")) if READ.exists() else {}
    before = content.get(args.texts, {})
    former = former_kinds(before, kinds, is_current=args.add)
    stale = {row["kind"] for row in former.values()} | set(filter(None, args.before.split(",")))
    content[args.texts] = {
        "reader": args.reader,
        "note": " ".join(filter(None, (before.get("note") if args.add else "", args.note))),
        "read_before": before.get("read_before", []) if args.add else sorted(stale),
        "kinds": {kind: counts(rows) for kind, rows in sorted((kinds | by_kind(former)).items())},
        "cases": former
        | {
            name: about | {part: bool(verdicts[name][part]) for part in PARTS}
            for name, about in key.items()
        },
    }
    READ.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    for kind, one in content[args.texts]["kinds"].items():
        kept = f", {one['kept']['count']} lose nothing" if "kept" in one else ""
        print(f"{kind:<16} {one['all']['count']} of {one['all']['of']} valid{kept}")
    readings = json.loads(READINGS.read_text("utf-8"))
    for level in LEVELS:
        if level in kinds:
            one = content[args.texts]["kinds"][level]
            readings[level] = {"valid": one["all"]["count"], "label": one["label"]["count"]}
            readings[level] |= {"of": one["all"]["of"], "reader": args.reader, "texts": args.texts}
    ordered = {level: readings[level] for level in LEVELS if level in readings}
    READINGS.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
    write_page()


def former_kinds(
    reading: Mapping[str, Any], kinds: Container[str], *, is_current: bool
) -> dict[str, dict[str, Any]]:
    """Return the cases of a former reading whose kinds were not read again.

    If their edits are those of today, they keep their names.
    """
    cases = reading.get("cases", {})
    return {
        name if is_current else f"former-{name.removeprefix('former-')}": row
        for name, row in cases.items()
        if row["kind"] not in kinds
    }


def by_kind(cases: Mapping[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in cases.values():
        kinds.setdefault(row["kind"], []).append(row)
    return kinds


def write_page() -> None:
    """Write the tables of docs/explanation/ladder.md, and print them."""
    lines = ["## Is my figure good?", "", *about_models(), "", *about_readings()]
    page = PAGE.read_text("utf-8")
    before, mark, rest = page.partition(OPENING)
    _, end, after = rest.partition(CLOSING)
    PAGE.write_text("\n".join([before + mark, *lines, end + after]), "utf-8")
    print("\n".join(lines))


def about_models() -> list[str]:
    """Write the yardstick as Markdown."""
    content = json.loads(YARDSTICK.read_text("utf-8"))
    return [
        "The same ladder of known models, on texts of test splits. None of them was "
        "hardened. `MiniLM-vectors` and `TF-IDF` are logistic regressions, on sentence vectors of "
        "MiniLM and on words; mr are film reviews, ag_news is news. "
        "(`python benchmarks/ladder.py run --out FOLDER`; for news `--models TF-IDF --data "
        "ag_news/test.csv.gz --train ag_news/train.csv.gz --limit 3000`; "
        "all figures: `benchmarks/ladder.json`.)",
        "",
        *table(content),
    ]


def about_readings() -> list[str]:
    """Write what readers said as Markdown."""
    content = json.loads(READ.read_text("utf-8")) if READ.exists() else {}
    lines = ["## Who calls these texts valid"]
    for texts, one in content.items():
        head = ("texts", "read", "label shown", "meaning kept", "grammar kept", "all three")
        head = (*head, "nothing lost")
        rows = [
            [
                f"{kind} (read before)" if kind in one.get("read_before", ()) else kind,
                str(own["all"]["of"]),
                *(percent(own[part]["value"], 0) for part in PARTS),
                shown(own["all"]),
                shown(own.get("kept")),
            ]
            for kind, own in one["kinds"].items()
        ]
        cells = [head, ["---"] * len(head), *rows]
        lines += ["", f"Read by {one['reader']}, blind; {texts}:", ""]
        lines += [f"| {' | '.join(row)} |" for row in cells]
        lines += ["", one["note"]] if one.get("note") else []
    return [
        *lines,
        "",
        "*All three* is what brittle shows as *valid*. Many texts that break show their label "
        "badly to begin with, so the originals of gentle breaks were read as well, alone: "
        "*nothing lost* does not count a label that the original does not show either.",
        "",
        "Broken texts were mixed with untouched ones and with random gentle edits, in random "
        "order, without a word on which is which. *Read before*: of the version before; the "
        "edits have changed a little since "
        "(`python benchmarks/ladder.py sheet`, then `read`; "
        "all verdicts: `benchmarks/read_ladder.json`, without the sentences). **No people "
        "have read them.** The questions are those "
        "[below](#the-same-attack-with-three-sets).",
    ]


def shown(figure: Mapping[str, Any] | None) -> str:
    return "" if figure is None else f"{percent(figure['value'], 0)} ({interval(figure)})"


def interval(figure: Mapping[str, Any]) -> str:
    return f"{percent(figure['low'], 0).removesuffix('%')}–{percent(figure['high'], 0)}"


def labels_of_originals(file: Path | None) -> dict[str, bool]:
    """Load which originals show their label to somebody who reads only them, by the sheet's ids."""
    if file is None:
        return {}
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    return {row["id"]: bool(row["label"]) for row in rows}


def is_kept(row: Mapping[str, Any]) -> bool:
    """Tell whether an edit took nothing: a label that the original does not show is not lost."""
    has_label = row["label"] or not row["original_label"]
    return bool(has_label and row["meaning"] and row["grammar"])


def counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Count the texts that keep each part, and all of them.

    `kept` counts what the edit took: it is there where the originals were read as well.
    """
    over = "texts read"
    kept = {part: rate(sum(bool(row[part]) for row in rows), len(rows), over) for part in PARTS}
    valid = sum(all(row[part] for part in PARTS) for row in rows)
    kept["all"] = rate(valid, len(rows), over)
    if all("original_label" in row for row in rows):
        kept["kept"] = rate(sum(map(is_kept, rows)), len(rows), over)
    return {name: asdict(one) for name, one in kept.items()}


if __name__ == "__main__":
    main()
