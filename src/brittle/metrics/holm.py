"""Several tests at once: p-values corrected so that any false finding is rare, not each."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values corrected by Holm's step-down method (Holm, 1979), in their order.

    The smallest of m is multiplied by m, the next by m − 1, and so on; none is below a smaller one.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = largest
    return corrected
