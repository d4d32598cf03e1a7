"""How well and how fast the zoo's translators learn and translate, on pairs of texts.

    python benchmarks/seq2seq.py FOLDER --text en --label de [--minutes 60] [--size tiny] [--out F]

FOLDER has train, dev and test files of pairs. Both models are trained, each with as many epochs, at
most its own, as fit into the minutes by a sample of its steps; the rate falls to zero over these
epochs. Then, on the test split: corpus BLEU of greedy search and of a beam of 4, with sacrebleu's
signature; sentences a second in batches and one at a time; texts a second that are embedded (a pass
of the encoder), which ranking by embedding needs; and a beam of 4 beside a plain reference that
keeps no states, on 100 sentences. What is there already is not computed again, and an interrupted
training goes on after its last epoch. Writes seq2seq.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import torch

from brittle import data
from brittle.data import Dataset
from brittle.goals.bleu import bleu_signature, corpus_bleu
from brittle.targets.zoo.translator import ZooTranslator, load_translator
from brittle.text import Text
from brittle.training import TrainingProgress, train
from brittle.training.loop import batches_by_length
from brittle.training.seq2seq import smoothed_loss, training_threads
from brittle.training.splits import load_splits
from brittle.zoo.device import cores
from brittle.zoo.folder import load_card
from brittle.zoo.names import grid
from brittle.zoo.restoring import ThreadUse
from brittle.zoo.seq2seq.decoding import decode_plainly
from brittle.zoo.seq2seq.network import build_network
from brittle.zoo.seq2seq.pieces import Pieces

MODELS = ("seq2seq-Transformer", "seq2seq-LSTM")
BEAM, SAMPLED_STEPS, DEV_SHARE = 4, 12, 1.1  # the dev split takes a tenth of an epoch or less
MAX_SCORE_DIFFERENCE = 1e-4


def main() -> None:
    """Train and measure both models, and write what was measured after each part."""
    args = parse()
    results = json.loads(args.out.read_text()) if args.out.exists() else {}
    results.setdefault("signature", bleu_signature())
    for name in args.models.split(","):
        row = results.setdefault(name, {})

        def save() -> None:
            args.out.write_text(json.dumps(results, indent=1) + "\n")

        if "epochs" not in row:
            row |= plan_epochs(name, args)
            save()
        folder = train_model(name, args, row, save)
        for part in (measure_bleu, measure_rates, measure_equality):
            if part.__name__ not in row.setdefault("measured", []):
                row |= part(folder, args)
                row["measured"].append(part.__name__)
                save()
        print(name, json.dumps(row), flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder")
    parser.add_argument("--text", default="en")
    parser.add_argument("--label", default="de")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--minutes", type=float, default=60.0, help="of each model's training")
    parser.add_argument("--size", default="default")
    parser.add_argument("--limit", type=int, help="test sentences (default: all)")
    parser.add_argument("--alone", type=int, default=100, help="sentences decoded one at a time")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    return parser.parse_args()


def plan_epochs(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Time a sample of training steps; return the epochs that fit into the minutes."""
    design = grid.design(name)
    settings: Any = grid.settings(design, args.size)
    columns = {"text": [args.text], "label": args.label}
    examples = load_splits(args.folder, **columns, labels="translations").train.examples
    sides = [[e.fields[0][1] for e in examples], [str(e.label) for e in examples]]
    pieces = Pieces.learn([*sides[0], *sides[1]], settings.subwords, settings.min_count)
    ids = [[one.ids for one in pieces.encode(side, settings.max_length)] for side in sides]
    lengths = [len(one) + len(other) for one, other in zip(*ids)]
    batches = batches_by_length(lengths, settings.batch_subwords, Random(0))
    network: Any = build_network(str(design.parts["encoder"]), settings, len(pieces))
    optimizer = torch.optim.AdamW(network.parameters(), foreach=False)
    seconds = []
    with ThreadUse(training_threads(settings)):
        for rows in batches[: SAMPLED_STEPS + 1]:
            started = time.perf_counter()
            optimizer.zero_grad()
            sampled = [[side[i] for i in rows] for side in ids]
            loss = smoothed_loss(network, *sampled, settings.label_smoothing, "cpu")
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            seconds.append(time.perf_counter() - started)
    timed = seconds[1:] or seconds  # the first step is slower: memory is taken
    epoch_seconds = DEV_SHARE * sum(timed) / len(timed) * len(batches)
    fitting = max(1, int(60 * args.minutes / epoch_seconds))
    return {
        "pieces": len(pieces),
        "steps_per_epoch": len(batches),
        "seconds_per_epoch_expected": round(epoch_seconds, 1),
        "epochs": min(settings.epochs, fitting),
        "cores": cores(),
    }


def train_model(
    name: str, args: argparse.Namespace, row: dict[str, Any], save: Callable[[], None]
) -> Path:
    """Train the model, or resume; the seconds of every epoch are kept."""
    row.setdefault("history", [])
    started = time.perf_counter()

    def progress(at: TrainingProgress) -> None:
        nonlocal started
        if at.dev_accuracy is None:
            return
        now = time.perf_counter()
        row["history"] = [line for line in row["history"] if line["epoch"] < at.epoch]
        figures = {"loss": round(at.loss, 4), "dev_bleu": round(at.dev_accuracy, 2)}
        row["history"].append({"epoch": at.epoch, **figures, "seconds": round(now - started, 1)})
        started = now
        print(at, f"({row['history'][-1]['seconds']} s)", flush=True)
        save()

    default: Any = grid.settings(grid.design(name), args.size)
    changed = {} if row["epochs"] == default.epochs else {"epochs": row["epochs"]}
    options: dict[str, Any] = {"text": [args.text], "label": args.label, "size": args.size}
    folder = train(name, args.folder, changed=changed, progress=progress, device="cpu", **options)
    card = load_card(folder)
    row |= {"model": card.full_name, "dev_bleu": card.dev_bleu}
    # A model that was trained before has no history here; its card has the last session's time.
    seconds = sum(line["seconds"] for line in row["history"]) or card.seconds
    row["training_minutes"] = round(seconds / 60, 1)
    save()
    return folder


def load_test(args: argparse.Namespace) -> Dataset:
    return data.load(
        args.folder, split="test", text=[args.text], label=args.label, limit=args.limit
    )


def measure_bleu(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Translate the test split by greedy search and with a beam."""
    test = load_test(args)
    texts = [Text.of(dict(example.fields)) for example in test]
    references = [str(example.label) for example in test]
    row: dict[str, Any] = {"sentences": len(texts)}
    for name, beam in (("greedy", 1), (f"beam_{BEAM}", BEAM)):
        target = load_translator(folder, device="cpu", beam=beam)
        decoded = target.model.decode(target.model.encode(texts))
        answers = [target.model.pieces.decode(one.ids) for one in decoded]
        row[f"bleu_{name}"] = round(corpus_bleu(answers, references), 2)
        row[f"cut_{name}"] = sum(not one.whole for one in decoded)
        row[f"empty_{name}"] = sum(not answer for answer in answers)
        target.close()
    return row


def measure_rates(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Count sentences a second, of one thread: in batches, one at a time, and embedded."""
    texts = [Text.of(dict(example.fields)) for example in load_test(args)]
    row: dict[str, Any] = {}
    with ThreadUse(1):
        for name, beam in (("greedy", 1), (f"beam_{BEAM}", BEAM)):
            target = load_translator(folder, device="cpu", beam=beam)
            torch.set_num_threads(1)
            target.translate(texts[:16])  # the first pass is slower
            batched = rate(lambda part, t=target: t.translate(part), texts, len(texts))
            alone = rate(lambda part, t=target: t.translate(part), texts[: args.alone], 1)
            row[f"{name}_batched_per_second"], row[f"{name}_alone_per_second"] = batched, alone
            row[f"{name}_batched_over_alone"] = round(batched / alone, 1)
            if beam == 1:
                embedded = rate(lambda p, t=target: t.sentence_embeddings(p), texts, len(texts))
                row["embedded_per_second"] = embedded
            target.close()
    return row


def rate(call: Callable[[Sequence[Text]], object], texts: Sequence[Text], batch: int) -> float:
    started = time.process_time()  # of this process alone: other programs count little
    for start in range(0, len(texts), batch):
        call(texts[start : start + batch])
    return round(len(texts) / (time.process_time() - started), 2)


def measure_equality(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Compare a beam in batches with the plain reference, text by text."""
    texts = [Text.of(dict(example.fields)) for example in load_test(args)][: args.alone]
    target: ZooTranslator = load_translator(folder, device="cpu", beam=BEAM)
    encoded = target.model.encode(texts)
    decoded = target.model.decode(encoded)
    same, difference = 0, 0.0
    for one, text in zip(decoded, encoded):
        plain = decode_plainly(target.model.network, torch.from_numpy(text.ids), BEAM)
        same += one.ids == plain.ids
        difference = max(difference, abs(one.score - plain.score))
    target.close()
    return {
        "compared_with_plain": len(texts),
        "same_text_as_plain": same,
        "max_score_difference": difference,
        "equal": same == len(texts) and difference <= MAX_SCORE_DIFFERENCE,
    }


if __name__ == "__main__":
    main()
