"""The batch size of a desk, found while it computes."""

from __future__ import annotations


class BatchSize:
    """Finds a good batch size: it is doubled while the bytes computed per second still grow."""

    LARGEST = 1024
    FIRST = 64
    MIN_GAIN = 1.05  # of the rate, for a larger size to be worth it

    def __init__(self, fixed: int | None) -> None:
        self.size = fixed or self.FIRST
        self._settled = fixed is not None
        self._rates: list[float] = []
        self._last = 0.0

    def note(self, rows: int, rate: float) -> None:
        """Note the rate of a batch; two full batches decide about a size."""
        if self._settled or rows < self.size:
            return
        self._rates.append(rate)
        if len(self._rates) < 2:
            return
        best, self._rates = max(self._rates), []
        if best < self._last * self.MIN_GAIN:
            self.size //= 2
            self._settled = True
        else:
            self._last = best
            self.size *= 2
            self._settled = self.size > self.LARGEST // 2
