"""The product of two rates from two samples: valid success is success times validity."""

from __future__ import annotations

import math

from brittle.metrics.summary import Figure


def product_of_rates(a: Figure, b: Figure, over: str) -> Figure:
    """Return a × b, with an interval from both samples; `of` is the denominator of the first.

    The distance from each rate to the end of its own interval stands for its error; the two errors,
    each times the other rate, are squared and added (MOVER: Zou and Donner, 2008). Near 0 and 1 the
    intervals of rates are lopsided, and so is this one.

    >>> from brittle.metrics import rate
    >>> valid = product_of_rates(rate(62, 66, "attacked cases"), rate(9, 46, "read"), "attacked")
    >>> round(valid.value, 3), round(valid.low, 3), round(valid.high, 3), valid.of
    (0.184, 0.098, 0.312, 66)
    >>> product_of_rates(rate(0, 0, "attacked cases"), rate(9, 46, "read"), "attacked").value
    """
    values = (a.value, a.low, a.high, b.value, b.low, b.high)
    if any(value is None for value in values):
        return Figure(None, None, None, None, a.of, over)
    p, p_low, p_high, q, q_low, q_high = (float(value or 0.0) for value in values)
    down = math.hypot(q * (p - p_low), p * (q - q_low))
    up = math.hypot(q * (p_high - p), p * (q_high - q))
    return Figure(p * q, max(0.0, p * q - down), min(1.0, p * q + up), None, a.of, over)
