"""BLEU of a run on a translator, before and under attack, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from brittle.errors import require
from brittle.goals.bleu import bleu_signature
from brittle.metrics.summary import Figure
from brittle.results import Result

RESAMPLES = 1000


@dataclass(frozen=True)
class BleuFigures:
    """BLEU (0 to 100) over the translated examples; `against` names what it is compared with.

    Under attack, the translation of a broken case is that of its adversary. Compared with the
    target's own translations of the originals, BLEU before the attack is 100 by definition.
    """

    before: Figure
    after: Figure
    against: str
    signature: str


def bleu_figures(results: Sequence[Result]) -> BleuFigures | None:
    """Compute BLEU over the rows with an answer; None if there are none.

    The examples' own references are used if every row has one.
    """
    rows = [r for r in results if r.answer is not None and r.status != "error"]
    if not rows:
        return None
    has_references = all(r.reference is not None for r in rows)
    own = [r.reference or "" for r in rows] if has_references else [r.answer or "" for r in rows]
    before = [r.answer or "" for r in rows]
    after = [(r.adversarial_answer if r.status == "broken" else r.answer) or "" for r in rows]
    against = "the examples' references" if has_references else "the originals' translations"
    after_figure = corpus_figure(after, own)
    return BleuFigures(corpus_figure(before, own), after_figure, against, bleu_signature())


def corpus_figure(hypotheses: Sequence[str], references: Sequence[str], seed: int = 0) -> Figure:
    """Return the BLEU of a corpus with a bootstrap interval over its sentences.

    >>> corpus_figure(["the cat sat on the mat"], ["the cat sat on the mat"]).value
    100.0
    """
    statistics = np.array([_statistics(h, r) for h, r in zip(hypotheses, references)])
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, len(statistics), (RESAMPLES, len(statistics)))
    scores = [_bleu(statistics[rows].sum(axis=0)) for rows in chosen]
    low, high = np.quantile(scores, (0.025, 0.975))
    value = _bleu(statistics.sum(axis=0))
    return Figure(value, float(low), float(high), None, len(statistics), "translated examples")


def as_share(figure: Figure) -> Figure:
    """Return a figure of 0 to 100 as one of 0 to 1, to be drawn on the scale of shares."""
    value, low, high = (None if v is None else v / 100 for v in astuple(figure)[:3])
    return replace(figure, value=value, low=low, high=high)


def _statistics(hypothesis: str, reference: str) -> list[int]:
    """Return the lengths of both, and the n-grams in common and in all, of one sentence."""
    metric = require("sacrebleu.metrics", "translation", "BLEU").BLEU(effective_order=True)
    score = metric.sentence_score(hypothesis, [reference])
    return [score.sys_len, score.ref_len, *score.counts, *score.totals]


def _bleu(statistics: NDArray[np.int64]) -> float:
    sys_len, ref_len, *rest = (int(n) for n in statistics)
    correct, total = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    metric = require("sacrebleu.metrics", "translation", "BLEU").BLEU
    return min(100.0, float(metric.compute_bleu(correct, total, sys_len, ref_len).score))
