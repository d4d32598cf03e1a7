"""BLEU of a run on a translator, before and under attack, with paired bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.errors import require
from brittle.metrics.summary import Figure
from brittle.results import Result
from brittle.statuses import STATUSES

RESAMPLES = 1000
CHANGE_EVERY_TEXT = ("typo",)
"""Attacks without a search: every text they change counts, broken or not."""


@dataclass(frozen=True)
class BleuFigures:
    """BLEU (0 to 100) over the translated examples; `against` names what it is compared with.

    Under attack, the translation of a broken case is that of its adversary; of an attack that
    changes every text, that of the changed text. Compared with the target's own translations of the
    originals, BLEU before the attack is 100 by definition. `drop` is before − after, with the
    interval of a paired bootstrap: the same sentences are drawn for both. `changed` counts the
    examples with another text than before, of all that are translated.
    """

    before: Figure
    after: Figure
    against: str
    signature: str
    drop: Figure
    changed: int


def bleu_figures(results: Sequence[Result]) -> BleuFigures | None:
    """Compute BLEU over the translated rows; None if there are none.

    Each row is compared with the reference of its example or, without one, with the translation
    of its original, as the goal `bleu` does.
    """
    rows = [r for r in results if is_translated(r)]
    if not rows:
        return None
    figures = paired_figures(*_texts(rows))
    changed = sum(map(counts_as_changed, rows))
    from brittle.goals.bleu import bleu_signature

    return BleuFigures(*figures[:2], compared(rows), bleu_signature(), figures[2], changed)


def _texts(rows: Sequence[Result]) -> tuple[list[str], list[str], list[str]]:
    """Return the translations before and under attack, and what they are compared with."""
    before = [r.answer or "" for r in rows]
    after = [(r.adversarial_answer if counts_as_changed(r) else r.answer) or "" for r in rows]
    references = [(r.reference if has_reference(r) else r.answer) or "" for r in rows]
    return before, after, references


@dataclass(frozen=True)
class BleuContrast:
    """The BLEU of translator b minus that of a, over the sentences that both translate.

    `drop` is the drop of b minus that of a. Intervals are of a paired bootstrap: the same sentences
    are drawn for both, before and after.
    """

    before: Figure
    after: Figure
    drop: Figure


def compare_bleu(a: Sequence[Result], b: Sequence[Result], seed: int = 0) -> BleuContrast | None:
    """Compare two translators on the same sentences; None if they share none.

    >>> from brittle.metrics.samples import sample_results
    >>> row = replace(sample_results()[0], reference="the cat sat on the mat")
    >>> a = replace(row, answer="the cat sat on a mat", adversarial_answer="a mat")
    >>> b = replace(row, answer=row.reference, adversarial_answer="the cat sat on a mat")
    >>> compared = compare_bleu([a], [b])
    >>> round(compared.before.value, 2), compared.drop.value < 0
    (46.27, True)
    """
    rows_b = {r.case: r for r in b if is_translated(r)}
    shared = [(r, rows_b[r.case]) for r in a if is_translated(r) and r.case in rows_b]
    if not shared:
        return None
    size = len(shared)
    chosen = np.random.default_rng(seed).integers(0, size, (RESAMPLES, size))
    sides = []
    for rows in zip(*shared):
        before, after, references = _texts(rows)
        sides.append([_resampled(texts, references, chosen) for texts in (before, after)])
    (a_before, a_after), (b_before, b_after) = sides
    gain_before, gain_after = b_before - a_before, b_after - a_after
    gains = (gain_before, gain_after, gain_before - gain_after)
    return BleuContrast(*(_figure(gain, size) for gain in gains))


def counts_as_changed(result: Result) -> bool:
    """Tell whether a case counts under attack with the translation of its changed text."""
    is_kept = result.attack in CHANGE_EVERY_TEXT and result.adversarial_answer is not None
    return result.status == "broken" or is_kept


def is_translated(result: Result) -> bool:
    """Tell whether a case counts for BLEU: the target translated its original."""
    return result.answer is not None and STATUSES[result.status].is_judged


def has_reference(result: Result) -> bool:
    """Tell whether the example has a reference of its own; a blank one is none."""
    return bool((result.reference or "").strip())


def compared(results: Sequence[Result]) -> str:
    """Name what the translations are compared with, and how many with which.

    >>> from brittle.metrics.samples import sample_results
    >>> compared([replace(row, answer="Ja", reference="Ja") for row in sample_results()])
    "the examples' references"
    """
    rows = [r for r in results if is_translated(r)]
    own = sum(map(has_reference, rows))
    if rows and own == len(rows):
        return "the examples' references"
    if not own:
        return "the originals' translations"
    return f"the references of {own} of {len(rows)} examples, else the originals' translations"


def paired_figures(
    before: Sequence[str], after: Sequence[str], references: Sequence[str], seed: int = 0
) -> tuple[Figure, Figure, Figure]:
    """Return the BLEU of two translations of a corpus, and the drop from the first to the second.

    Intervals are by bootstrap over sentences, each resample with the same ones on both sides.

    >>> reference = "the cat sat on the mat"
    >>> same, worse, drop = paired_figures([reference], ["the cat sat on a mat"], [reference])
    >>> same.value, round(worse.value, 2), round(drop.value, 2)
    (100.0, 53.73, 46.27)
    """
    size = len(references)
    chosen = np.random.default_rng(seed).integers(0, size, (RESAMPLES, size))
    first, second = (_resampled(texts, references, chosen) for texts in (before, after))
    return _figure(first, size), _figure(second, size), _figure(first - second, size)


def _resampled(
    texts: Sequence[str], references: Sequence[str], chosen: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the BLEU of all sentences, then that of every resample."""
    statistics = _statistics(texts, references)
    resampled = [bleu_of_counts(statistics[rows].sum(axis=0)) for rows in chosen]
    return np.array([bleu_of_counts(statistics.sum(axis=0)), *resampled])


def _figure(scores: NDArray[np.float64], of: int) -> Figure:
    """Return the first score as a figure, with the interval of those of the resamples."""
    low, high = np.quantile(scores[1:], (0.025, 0.975))
    return Figure(float(scores[0]), float(low), float(high), None, of, "translated examples")


def as_share(figure: Figure) -> Figure:
    """Return a figure of 0 to 100 as one of 0 to 1, to be drawn on the scale of shares."""
    value, low, high = (None if v is None else v / 100 for v in astuple(figure)[:3])
    return replace(figure, value=value, low=low, high=high)


def bleu_of_counts(counts: NDArray[np.int64]) -> float:
    """Return the BLEU of a corpus from its summed counts: `corpus_bleu` without its texts.

    The counts are both lengths, then for each length of n-grams those in common, then all.
    """
    sys_len, ref_len, *rest = (int(n) for n in counts)
    correct, total = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    compute = _metrics().BLEU.compute_bleu
    # Its default is no smoothing, unlike that of a BLEU object, which the signature names.
    score = compute(correct, total, sys_len, ref_len, smooth_method="exp").score
    return min(100.0, float(score))


def _statistics(hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.int64]:
    """Return a row of counts for each sentence, as `bleu_of_counts` reads their sum."""
    metric = _metrics().BLEU(effective_order=True)
    scores = [metric.sentence_score(h, [r]) for h, r in zip(hypotheses, references)]
    return np.array([[s.sys_len, s.ref_len, *s.counts, *s.totals] for s in scores])


def _metrics() -> Any:
    return require("sacrebleu.metrics", "translation", "BLEU")
