"""A check of a network's gradients, for its card: do they tell what an edit does?

Where the maxima of a character CNN are saturated, the gradient is nearly zero, and the estimates of
edits say little. Attacks by gradient then fail although the network is not robust (Athalye et al.,
2018, call this masking). The check compares estimated and true changes of the loss on a few texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from brittle.metrics.paired import rank_correlation
from brittle.moves import EditRequest, EditSpace, Level, Move
from brittle.text import HOLE, Text
from brittle.zoo.spellings import CharacterTokenizer
from brittle.zoo.tokenizers import UNKNOWN

if TYPE_CHECKING:
    from brittle.zoo.white_box import NetworkWhiteBox

MAX_TEXTS = 48
WORDS_PER_TEXT = 2
EDITS_PER_KIND = 16  # of one text
MIN_EDITS_PER_KIND = 4  # fewer have no rank correlation to speak of
SATURATED_TANH = 0.95  # beyond it, the slope of tanh is less than a tenth
MIN_CORRELATION = 0.1  # below it, edits by gradient are hardly better than random ones
ALL = 10**9

GradientFacts = Mapping[str, Any]
"""`texts`, `edits`, `correlation` by the kind of edit and, for characters, `saturated`."""


def check_gradients(white_box: NetworkWhiteBox, texts: Sequence[Text]) -> dict[str, Any]:
    """Measure on a sample of texts how well first-order estimates rank edits.

    `correlation` is Spearman's rank correlation of the estimated and the true change of the loss
    (estimates as they are, not divided by the length of the edit as a search does), over random
    edits of one kind in one text, averaged over texts: flips, inserts inside a word, appends to it
    and deletes where characters are read, else swaps of words. `saturated` is the share of the
    maxima of the character CNN that are beyond ±0.95 after the tanh.
    """
    random = Random(0)
    texts = [text for text in texts if any(word and word is not HOLE for word in text.words)]
    texts = random.sample(texts, min(MAX_TEXTS, len(texts)))
    if not texts:
        return {}
    is_spelt = isinstance(white_box.tokenizer, CharacterTokenizer)
    sampled = _sample_edits(white_box, texts, "characters" if is_spelt else "words", random)
    logits = white_box.logits([text.swap(m.position, m.new) for text, _, m in sampled])
    log_sum = np.logaddexp.reduce(logits, axis=1)
    by_kind: dict[str, dict[int, list[tuple[float, float]]]] = {}
    for (text, label, move), row, total in zip(sampled, logits, log_sum):
        estimate = move.gain * np.sqrt(
            2 * _changes(white_box, str(text.words[move.position]), move)
        )
        pairs = by_kind.setdefault(_kind(text, move), {}).setdefault(id(text), [])
        pairs.append((estimate, total - row[label]))
    means = {
        kind: _correlation_over_texts(list(by_text.values())) for kind, by_text in by_kind.items()
    }
    correlation = {kind: round(mean, 3) for kind, mean in sorted(means.items()) if mean is not None}
    facts = {"texts": len(texts), "edits": len(sampled), "correlation": correlation}
    return facts | ({"saturated": _saturated(white_box, texts)} if is_spelt else {})


def describe(facts: GradientFacts) -> str:
    """Format what was measured in a few words; nothing if nothing was.

    >>> describe({"correlation": {"delete": 0.36, "flip": 0.42}, "saturated": 0.25})
    'estimates of edits correlate with true changes at delete 0.36, flip 0.42; 25% saturated'
    """
    parts = [f"{kind} {value:.2f}" for kind, value in facts.get("correlation", {}).items()]
    line = f"estimates of edits correlate with true changes at {', '.join(parts)}" if parts else ""
    return line + (f"; {facts['saturated']:.0%} saturated" if "saturated" in facts else "")


def is_masked(facts: GradientFacts) -> bool:
    """Tell whether gradients say next to nothing of edits, on average over their kinds."""
    correlation = mean_correlation(facts)
    return correlation is not None and correlation < MIN_CORRELATION


def mean_correlation(facts: GradientFacts) -> float | None:
    """Average the correlation over the kinds of edits; None if nothing was measured."""
    correlation = list(facts.get("correlation", {}).values())
    return sum(correlation) / len(correlation) if correlation else None


def _sample_edits(
    white_box: NetworkWhiteBox, texts: Sequence[Text], level: Level, random: Random
) -> list[tuple[Text, int, Move]]:
    """Draw edits of a few words of each text, and the class that the network sees in the text."""
    label = white_box.logits(texts).argmax(axis=1).tolist()
    requests = []
    for text, own, read in zip(texts, label, white_box.words_read(texts)):
        words = [i for i in read if text.words[i] and text.words[i] is not HOLE]
        positions = tuple(sorted(random.sample(words, min(WORDS_PER_TEXT, len(words)))))
        requests.append(EditRequest(text, own, None, EditSpace(level, top_k=ALL), positions))
    sampled = []
    for request, answer in zip(requests, white_box.flips(requests)):
        by_kind: dict[str, list[Move]] = {}
        count = len(answer.moves.gain)
        # Words have few edits of characters, but a whole vocabulary of swaps.
        numbers = range(count) if level == "characters" else _draw(range(count), random)
        for move in map(answer.moves.__getitem__, numbers):
            by_kind.setdefault(_kind(request.text, move), []).append(move)
        for moves in by_kind.values():
            sampled += [(request.text, request.label, move) for move in _draw(moves, random)]
    return sampled


def _draw(items: Sequence[Any], random: Random) -> list[Any]:
    return random.sample(items, min(EDITS_PER_KIND, len(items)))


def _kind(text: Text, move: Move) -> str:
    if move.kind != "insert":
        return move.kind
    return "append" if move.character == len(str(text.words[move.position])) else "inner insert"


def _changes(white_box: NetworkWhiteBox, old: str, move: Move) -> int:
    """Count what an edit changes in the input; its gain is divided by the root of twice this."""
    tokenizer = white_box.tokenizer
    if not isinstance(tokenizer, CharacterTokenizer):
        return 1
    ids = zip_longest(tokenizer.character_ids(old), tokenizer.character_ids(move.new))
    characters = sum(1 for before, after in ids if before != after)
    return characters + int(tokenizer.both and tokenizer.vocabulary.token_id(old) != UNKNOWN)


def _correlation_over_texts(texts: Sequence[Sequence[tuple[float, float]]]) -> float | None:
    """Average over texts; None if no text has enough edits. Equal estimates correlate at 0."""
    enough = [pairs for pairs in texts if len(pairs) >= MIN_EDITS_PER_KIND]
    values = [rank_correlation(*zip(*pairs)) or 0.0 for pairs in enough]
    return float(np.mean(values)) if values else None


def _saturated(white_box: NetworkWhiteBox, texts: Sequence[Text]) -> float:
    maxima = np.concatenate(white_box.embeddings(texts, "characters"))
    maxima = maxima[np.isfinite(maxima).all(axis=1)]  # words that are not read have no numbers
    return round(float((np.abs(maxima) > SATURATED_TANH).mean()), 3)
