"""Models whose logits are a sum over words: the strongest swaps of a space, in closed form.

The margin of a class is its logit minus that of the text's own class. In such a model a swap
changes a margin by the same amount whatever else is swapped. So the highest margin with k swaps is
that of the k positions with the largest gains, each with its best candidate: nothing is searched,
and the bound is the maximum itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from brittle.spaces import SMALLEST_MARGIN, Bounded, BoundRequest
from brittle.text import Text

Array = NDArray[np.float64]
ROUNDING = 1e-9
"""The largest error of a margin, as a share of the sum of the sizes of its terms."""


def bound_additive(
    request: BoundRequest, logits: Array, changes: Sequence[Array], scale: float
) -> Bounded:
    """Return the strongest texts of a space, and how many swaps are needed.

    `logits` are those of the text; `changes` has for every position with candidates an array
    (candidates × classes): what each swap adds to the logits. `scale` is the sum of the sizes of
    all terms of the logits: a margin that is nearer to 0 than rounding decides nothing. Nor do
    logits that are not finite.
    """
    space, label = request.space, request.label
    if not np.isfinite(scale) or not all(np.isfinite(part).all() for part in (logits, *changes)):
        return Bounded()
    error = ROUNDING * (scale + sum(float(np.abs(change).max()) for change in changes))
    error = max(error, SMALLEST_MARGIN)
    needed, texts = space.words + 1, dict[Text, int]()
    for rival in request.rivals(len(logits)):
        margin = float(logits[rival] - logits[label])
        if margin >= -error:
            return Bounded()
        gains = [change[:, rival] - change[:, label] for change in changes]
        gain = np.array([gain.max() for gain in gains])
        chosen = np.argsort(-gain, kind="stable")[: space.words]
        chosen = chosen[gain[chosen] > 0]
        reached = margin + np.cumsum(gain[chosen])  # with 1, 2, … swaps
        if not (reached >= -error).any():
            continue
        needed = min(needed, int((reached >= -error).argmax()) + 1)
        # The fewest swaps that suffice, and all: a goal may ask for more than another class.
        for count in (int((reached > error).argmax()) + 1, len(chosen)):
            positions = [space.positions[n] for n in chosen[:count]]
            swaps = [space.options[space.positions[n]][gains[n].argmax()] for n in chosen[:count]]
            texts.setdefault(space.swapped(positions, swaps), count)
    if not texts:
        return Bounded(space.words, ())
    return Bounded(needed - 1, None, sorted(texts, key=texts.__getitem__))
