"""Count the words that have careful and loose candidates, and time how long it takes to list them.

    python benchmarks/careful_coverage.py [--texts KIND=FILE …] [--out benchmarks/FILE.json]

Sentences of MR's test split, and of every FILE: a text a line, .gz or not. Counted are the words
that could have candidates at all: nouns, verbs, adjectives and adverbs that are no function words.
A candidate counts if the edited sentence keeps its tags, as in an attack. The time is that of the
processor, for the careful candidates of 500 sentences of MR: first with nothing in memory but the
tables, then again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from brittle import data
from brittle.candidates.careful import LOOSE_MIN_SCORE, Careful, is_protected
from brittle.english.forms import PART_OF_SPEECH
from brittle.english.tags import Tagger
from brittle.text import Text

LEVELS = {"careful": Careful(), "loose": Careful(min_score=LOOSE_MIN_SCORE, usual=False)}
TIMED = 500
COUNTED = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--texts", nargs="*", default=[], metavar="KIND=FILE")
    parser.add_argument("--out", type=Path, metavar="FILE")
    args = parser.parse_args()
    films = [example.fields[0][1] for example in data.load("mr", split="test").examples]
    kinds = {"film reviews": films}
    for item in args.texts:
        kind, _, path = item.partition("=")
        kinds[kind] = lines_of(Path(path))
    figures: dict[str, object] = {"seconds": seconds(films[:TIMED])}
    print(f"{TIMED} sentences, first and second time: {figures['seconds']} s")
    print("| text | careful: words | texts | swaps a text | loose: words | texts | swaps a text |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind, texts in kinds.items():
        drawn = Random(9).sample(texts, min(COUNTED, len(texts)))
        found = {level: coverage(drawn, proposal) for level, proposal in LEVELS.items()}
        figures[kind] = found
        cells = [cell for row in found.values() for cell in cells_of(row)]
        print(f"| {kind} | {' | '.join(cells)} |")
    if args.out is not None:
        args.out.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def lines_of(path: Path) -> list[str]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [line for line in raw.decode("utf-8").splitlines() if line.strip()]


def seconds(texts: Sequence[str]) -> tuple[float, float]:
    """Time the candidates of some sentences, twice; their tags are known."""
    parsed = [Text.of(text) for text in texts]
    tags = Tagger().tags(parsed)
    LEVELS["careful"].in_context(parsed[0], tags[0])  # loads the tables
    times = []
    for _ in range(2):
        start = time.process_time()
        for text, text_tags in zip(parsed, tags):
            LEVELS["careful"].in_context(text, text_tags)
        times.append(round(time.process_time() - start, 2))
    return times[0], times[1]


def coverage(texts: Sequence[str], proposal: Careful) -> dict[str, float]:
    """Return the shares of words and of texts that have a candidate, and the number of swaps."""
    words = covered = swaps = covered_texts = 0
    for raw in texts:
        text = Text.of(raw)
        tags = Tagger().tags([text])[0]
        options = proposal.in_context(text, tags)
        edits = [(i, text.swap(i, form)) for i, forms in enumerate(options) for form in forms]
        edited = Tagger().tags([edit for _, edit in edits]) if edits else []
        kept = [i for (i, _), new in zip(edits, edited) if proposal.fits(i, tags, new)]
        words += sum(
            tag in PART_OF_SPEECH and isinstance(word, str) and not is_protected(word)
            for word, tag in zip(text.words, tags)
        )
        covered, swaps = covered + len(set(kept)), swaps + len(kept)
        covered_texts += bool(kept)
    return {
        "words": round(covered / words, 3),
        "texts": round(covered_texts / len(texts), 3),
        "swaps": round(swaps / len(texts), 2),
    }


def cells_of(row: dict[str, float]) -> list[str]:
    return [f"{row['words']:.1%}", f"{row['texts']:.0%}", f"{row['swaps']:.1f}"]


if __name__ == "__main__":
    main()
