"""The 80 classifiers of Figure 4: one hidden layer, and what differs from one to the next.

The paper says that its 80 differ in layer sizes, regularisation and amount of training data, and
shows ten numbers of neurons and ten dropout rates; the other sixty are our choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

NEURONS = tuple(2**n for n in range(1, 11))
DROPOUTS = tuple(n / 10 for n in range(10))
SOME_NEURONS = (4, 8, 16, 32, 64)
DROPOUT_NEURONS = 128
"""The hidden layer whose dropout is varied (Figure 4b); the paper does not say its own."""
DATA_SHARES = {0.002: 60, 0.005: 40, 0.01: 30, 0.05: 15, 0.2: 8, 0.5: 5}
"""Shares of the train split, each with its epochs: fewer pictures are seen more often."""
DECAYS = (0.3, 1.0, 3.0, 10.0)
EPOCHS, BATCH, SMALL_BATCH = 4, 256, 32
KINDS = ("neurons", "dropout", "data", "weight decay")
NEURONS_KIND, DROPOUT_KIND, DATA_KIND, DECAY_KIND = KINDS


@dataclass(frozen=True)
class DigitClassifier:
    """One classifier: what it stands for, and the settings of its network."""

    kind: str
    settings: Mapping[str, int | float] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The settings as a model's name has them."""
        return ",".join(f"{name}={value:g}" for name, value in self.settings.items())


def classifiers() -> list[DigitClassifier]:
    """List the 80; the first ten differ by their neurons alone."""
    by_neurons = [_of(NEURONS_KIND, hidden=n) for n in NEURONS]
    by_dropout = [
        _of(DROPOUT_KIND, hidden=DROPOUT_NEURONS, dropout=rate) for rate in DROPOUTS if rate
    ]
    by_dropout += [_of(DROPOUT_KIND, hidden=n, dropout=0.5) for n in SOME_NEURONS]
    by_data = [_of_share(hidden=n, data_share=s) for n in SOME_NEURONS for s in DATA_SHARES]
    by_data += [_of_share(hidden=DROPOUT_NEURONS, data_share=s, dropout=0.5) for s in DATA_SHARES]
    by_decay = [_of(DECAY_KIND, hidden=n, decay=d) for n in SOME_NEURONS for d in DECAYS]
    return [*by_neurons, *by_dropout, *by_data, *by_decay]


def _of(kind: str, **settings: int | float) -> DigitClassifier:
    return DigitClassifier(kind, {**settings, "batch": BATCH, "epochs": EPOCHS})


def _of_share(**settings: int | float) -> DigitClassifier:
    epochs = DATA_SHARES[settings["data_share"]]
    batch = BATCH if settings["data_share"] >= 0.05 else SMALL_BATCH
    return DigitClassifier(
        DATA_KIND, {**settings, "batch": batch, "epochs": epochs, "patience": epochs}
    )


def dropout_classifiers(among: Sequence[DigitClassifier]) -> dict[float, DigitClassifier]:
    """Return those of Figure 4b by their dropout; the one without is among the neurons'."""
    return {
        c.settings.get("dropout", 0.0): c
        for c in sorted(among, key=lambda c: -c.settings.get("dropout", 0.0))
        if c.settings["hidden"] == DROPOUT_NEURONS and c.kind in (NEURONS_KIND, DROPOUT_KIND)
    }
