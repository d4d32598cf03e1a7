"""What the gradient attacks are measured against: slow searches that are plainly right.

`naive_beam` knows no gradient: it evaluates the exact loss of every single edit at every step.
`plain_beam` follows the running sum of gradients, each measured by finite differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from brittle.asks import Answer, Ask, Case, Flips, FlipsAnswer, Note, Search, Tag, Try, Unfit
from brittle.edits import distance
from brittle.testing import FakeNetwork
from brittle.text import Text, words_of


def flips_of(text: Text, case: Case[Text], alphabet: str) -> Iterator[Text]:
    """List every text that is one flipped character away, and one further from the original."""
    for i in case.positions:
        word, first = str(text.words[i]), str(case.text.words[i])
        for at, old in enumerate(word):
            for new in alphabet:
                flipped = word[:at] + new + word[at + 1 :]
                further = distance(flipped, first) > distance(word, first)
                if new != old and further and words_of(flipped) == [flipped]:
                    yield text.swap(i, flipped)


def cross_entropy(target: FakeNetwork, texts: Sequence[Text], label: int) -> np.ndarray:
    logit = target.logits(texts)
    return np.log(np.exp(logit).sum(axis=1)) - logit[:, label]  # type: ignore[no-any-return]


def gradient(target: FakeNetwork, text: Text, child: Text, label: int, step: float = 1e-5) -> float:
    """Measure how fast the loss rises on the straight way from a text to a flip of it.

    The fake network's logits are linear in its input, so that way is straight in the logits too.
    """
    here, there = target.logits([text, child])
    loss = [
        np.log(np.exp(here + t * (there - here)).sum()) - (here + t * (there - here))[label]
        for t in (step, -step)
    ]
    return float(loss[0] - loss[1]) / (2 * step * sqrt(2))


def naive_beam(target: FakeNetwork, case: Case[Text], b: int, r: int, alphabet: str) -> list[Text]:
    """Follow the b highest exact losses over r flips; return the last texts, the best first."""
    assert case.label is not None
    level, seen = [case.text], {case.text}
    for _ in range(r):
        children = _new((c for text in level for c in flips_of(text, case, alphabet)), seen)
        loss = cross_entropy(target, children, case.label)
        level = [children[n] for n in np.argsort(-loss, kind="stable")[:b]]
        seen.update(level)
    return level


def plain_beam(
    target: FakeNetwork, case: Case[Text], b: int, r: int, alphabet: str
) -> list[list[tuple[float, Text]]]:
    """Follow the b highest sums of gradients over r flips; return every depth, the best first."""
    assert case.label is not None
    depths, seen = [[(0.0, case.text)]], {case.text}
    for _ in range(r):
        ways = [
            (score + gradient(target, text, child, case.label), child)
            for score, text in depths[-1]
            for child in flips_of(text, case, alphabet)
        ]
        ways.sort(key=lambda way: -way[0])
        best: dict[Text, float] = {}
        for score, child in ways:
            if child not in seen:
                best.setdefault(child, score)
        depths.append([(score, child) for child, score in best.items()][:b])
        seen.update(child for _, child in depths[-1])
    return depths


def _new(texts: Iterator[Text], seen: set[Text]) -> list[Text]:
    return [text for text in dict.fromkeys(texts) if text not in seen]


@dataclass
class Driven:
    """A search that was answered by a fake until it ended, and what it asked."""

    asks: list[Ask[Any]] = field(default_factory=list)

    def of(self, kind: type) -> list[list[str]]:
        """List the texts of every question of a kind."""
        return [[str(text) for text in ask.items] for ask in self.asks if type(ask) is kind]


def drive(search: Search[None], target: Any, case: Case[Text], wins: float = np.inf) -> Driven:
    """Answer a search; it is over when it ends by itself, or when a loss reaches `wins`."""
    driven, answer = Driven(), None
    while True:
        try:
            ask = search.send(answer)
        except (StopIteration, Unfit):
            return driven
        if isinstance(ask, Note):
            answer = None
            continue
        driven.asks.append(ask)
        answer = _answer(ask, target, case.label or 0, wins)
        if isinstance(ask, Try) and answer.won.any():
            search.close()
            return driven


def _answer(ask: Ask[Any], target: Any, label: int, wins: float) -> Any:
    if isinstance(ask, Tag):
        return [tuple("NNS" if str(w).endswith("s") else "NN" for w in t.words) for t in ask.items]
    flipped = target.flips(ask.requests_for(ask.items)) if isinstance(ask, Flips) else None
    rows = [f.scores for f in flipped] if flipped is not None else target.scores(ask.items)
    scores = np.array(rows)
    loss = 1 - scores[:, label]
    if flipped is not None:
        return FlipsAnswer(scores, loss, loss >= wins, [f.moves for f in flipped])
    return Answer(scores, loss, loss >= wins)


def case_of(target: Any, source: str, label: int | None = None, **more: Any) -> Case[Text]:
    """Start a case as the engine does: the label is the one predicted, unless given."""
    text = Text.of(source)
    scores = target.scores([text])
    label = int(scores[0].argmax()) if label is None else label
    start = Answer(scores, 1 - scores[:, label], np.array([False]))
    read_positions = target.words_read([text])[0] if hasattr(target, "words_read") else None
    return Case("0", text, label, start=start, read_positions=read_positions, **more)
