"""How many originals a generator keeps: of an attack that searches its latent space."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.asks import OTHER_CLASS, RECONSTRUCTION
from brittle.metrics.summary import Figure, rate
from brittle.results import Result


def reconstructions_kept(results: Sequence[Result]) -> Figure | None:
    """Compute the share of reconstructions that did not reach the goal by themselves.

    A case with another one is skipped: what breaks it is the generator. None if there are no
    reconstructions.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> from brittle.results import KeptItem
    >>> rebuilt = (KeptItem("reconstruction", "a film"),)
    >>> rows = [replace(row, kept=rebuilt) for row in sample_results()[:3]]
    >>> rows[2] = replace(rows[2], status="skipped", reason=RECONSTRUCTION)
    >>> figure = reconstructions_kept(rows)
    >>> figure.count, figure.of
    (2, 3)
    """
    lost = [row for row in results if row.reason in (RECONSTRUCTION, OTHER_CLASS)]
    rebuilt = {row.case for row in results if any(k.name == "reconstruction" for k in row.kept)}
    total = len(rebuilt | {row.case for row in lost})
    return rate(total - len(lost), total, "reconstructions") if total else None
