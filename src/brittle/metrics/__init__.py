"""Pure functions over result rows: figures with intervals, curves, words, confusion, pairs."""

from brittle.metrics.confusion import Confusion, confusion
from brittle.metrics.curves import Curve, success_by_queries, success_by_words
from brittle.metrics.intervals import bootstrap_mean, mcnemar_exact, wilson
from brittle.metrics.paired import Contrast, Paired, contrast, paired
from brittle.metrics.summary import ATTACKED, Figure, Summary, mean, rate, summary
from brittle.metrics.words import Broken, Part, parts_that_break, words_that_break

__all__ = [
    "ATTACKED",
    "Broken",
    "Confusion",
    "Contrast",
    "Curve",
    "Figure",
    "Paired",
    "Part",
    "Summary",
    "bootstrap_mean",
    "confusion",
    "contrast",
    "mcnemar_exact",
    "mean",
    "paired",
    "parts_that_break",
    "rate",
    "success_by_queries",
    "success_by_words",
    "summary",
    "wilson",
    "words_that_break",
]
