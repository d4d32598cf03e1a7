"""What both sides attack: the same sentences, candidate lists, weights and threads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brittle import data
from brittle.candidates.synonyms import Synonyms
from brittle.data.dataset import Dataset
from brittle.english.tags import Tagger
from brittle.text import Text

THREADS = 2


def sentences(limit: int) -> Dataset:
    """Give the first held-out MR sentences of the permutation that `--limit` takes."""
    return data.load("mr", limit=limit)


def candidates(dataset: Dataset) -> dict[str, list[str]]:
    """List substitutes by word: WordNet's for every tag the word has in the sentences.

    By word alone, because the peer knows no tags while it searches.
    """
    texts = [Text.of(dict(example.fields)) for example in dataset.examples]
    found: dict[str, dict[str, None]] = {}
    for text, tags in zip(texts, Tagger().tags(texts)):
        for word, tag in zip(text.words, tags):
            own = found.setdefault(str(word).lower(), {})
            own.update(dict.fromkeys(w.lower() for w in Synonyms().of(str(word).lower(), tag)))
    return {word: list(own) for word, own in sorted(found.items()) if own}


def job(
    attack: str, target: dict[str, Any], dataset: Dataset, words: dict[str, list[str]]
) -> dict[str, Any]:
    """Write the peer's job."""
    labels: Sequence[str] = dataset.labels
    return {
        "attack": attack,
        "target": target,
        "examples": [
            {"text": dict(e.fields)["text"], "label": labels.index(str(e.label))}
            for e in dataset.examples
        ],
        "candidates": words,
        "threads": THREADS,
        "query_budget": None,
        "seed": 0,
    }


def write(path: Path, content: Any) -> Path:
    """Write JSON, and give the path."""
    path.write_text(json.dumps(content, ensure_ascii=False))
    return path
