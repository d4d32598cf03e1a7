"""Pure functions over result rows: figures with intervals, curves, words, edits, pairs, grids."""

from brittle.metrics.agreement import Agreement, agreement, krippendorff_alpha
from brittle.metrics.confidence import ConfidenceCurve, success_by_confidence
from brittle.metrics.confusion import Confusion, confusion
from brittle.metrics.costs import CostCurve, cost_by_queries
from brittle.metrics.curves import (
    Curve,
    success_by_measure,
    success_by_queries,
    success_by_words,
)
from brittle.metrics.flattening import Flattening, flattening
from brittle.metrics.grid import AttackedTarget, Grid, grid
from brittle.metrics.histogram import Bin, Histogram, histogram, words_histogram
from brittle.metrics.intervals import bootstrap_mean, mcnemar_exact, paired_interval, wilson
from brittle.metrics.judged import Calibration, poststratified, rogan_gladen
from brittle.metrics.kept import KeptCurve, success_by_kept
from brittle.metrics.operations import Operations, characters_share, is_by_characters, operations
from brittle.metrics.paired import Contrast, Paired, contrast, paired
from brittle.metrics.pca import Components, pca
from brittle.metrics.products import product_of_rates
from brittle.metrics.proved import Robust, robust_to_words
from brittle.metrics.shares import rate_of_shares
from brittle.metrics.summary import ATTACKED, Figure, Summary, mean, rate, summary
from brittle.metrics.words import BrokenWord, PartOfSpeech, parts_that_break, words_that_break

__all__ = [
    "ATTACKED",
    "Agreement",
    "AttackedTarget",
    "Bin",
    "BrokenWord",
    "Calibration",
    "Components",
    "ConfidenceCurve",
    "Confusion",
    "Contrast",
    "CostCurve",
    "Curve",
    "Figure",
    "Flattening",
    "Grid",
    "Histogram",
    "KeptCurve",
    "Operations",
    "Paired",
    "PartOfSpeech",
    "Robust",
    "Summary",
    "agreement",
    "bootstrap_mean",
    "characters_share",
    "confusion",
    "contrast",
    "cost_by_queries",
    "flattening",
    "grid",
    "histogram",
    "is_by_characters",
    "krippendorff_alpha",
    "mcnemar_exact",
    "mean",
    "operations",
    "paired",
    "paired_interval",
    "parts_that_break",
    "pca",
    "poststratified",
    "product_of_rates",
    "rate",
    "rate_of_shares",
    "robust_to_words",
    "rogan_gladen",
    "success_by_confidence",
    "success_by_kept",
    "success_by_measure",
    "success_by_queries",
    "success_by_words",
    "summary",
    "wilson",
    "words_histogram",
    "words_that_break",
]
