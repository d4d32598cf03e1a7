"""The results of a run: one flat row per case, and one row per improvement on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from brittle.edits import Edit
from brittle.safety.schema import Check, Count
from brittle.statuses import LevelStatus, Status

Cosine = Annotated[float, Check(lambda value: abs(value) < 1.01, "a number from -1 to 1")]
Ratio = Annotated[float, Check(lambda value: value >= 0, "a number of at least 0")]
MAX_PROVED_WORDS = 10_000  # twice as many as a text may have that is attacked
ProvedWords = Annotated[
    int,
    Check(lambda words: 0 <= words <= MAX_PROVED_WORDS, f"a number from 0 to {MAX_PROVED_WORDS}"),
]
DAMAGED_EDITS = "its stored edits do not fit its text, so that the adversarial text is lost"
"""The reason of a stored row whose adversarial text cannot be rebuilt; its figures still count."""


@dataclass(frozen=True)
class KeptItem:
    """An item that a search kept for the report: under a name, as a string.

    `cost` is what the search says that it costs; label, confidence and answer are the target's, if
    it was asked about the item.
    """

    name: str
    item: str
    cost: float | None = None
    label: str | None = None
    confidence: float | None = None
    answer: str | None = None


@dataclass(frozen=True)
class Result:
    """The outcome of one case.

    `label` is the reference: the example's own label or, if it has none, the target's prediction
    on the original. `predicted` and `confidence` are the target's answer on the original,
    `adversarial_*` that on the adversarial text (the best candidate, if the case is not broken).
    `original` and `adversarial` join several fields by line breaks; `fields` and `edits` keep them
    apart. `words` counts the editable words of the original.

    Of a target that answers texts, `answer` and `adversarial_answer` hold them, `reference` is the
    example's own, and labels and confidences are None. A picture is its encoded string; `l2` and
    `linf` are the norms of the difference. `cost` is that of the winner, if the search has costs.
    If the search samples, `tried` counts the samples and `won` those that reached the goal. `kept`
    are items that it wants in the report, such as a reconstruction.
    `similarity` and `fluency` compare the adversarial text with the original, where measured.
    `proved_words`: no text of the attack's space with at most so many words changed reaches the
    goal; 0 if one with a single word does, None if that is not known. `single_swaps`: how many of
    these texts have one word changed, where the search noted it.

    Of a search that climbs levels of edits, from gentle to rough, `level` is the one of the
    adversarial text, and `levels` says how the case stands at each that was tried. `random_edits`
    counts random edits of that size and level that were asked about a broken case, and `random_won`
    those that break it, too.
    """

    case: str
    attack: str
    target: str
    goal: str
    status: Status
    reason: str
    fields: tuple[tuple[str, str], ...]
    original: str
    adversarial: str | None
    edits: tuple[Edit, ...]
    label: str | None
    predicted: str | None
    confidence: float | None
    adversarial_label: str | None
    adversarial_confidence: float | None
    queries: Count
    words: Count
    words_changed: Count
    characters_changed: Count
    seed: int
    answer: str | None = None
    adversarial_answer: str | None = None
    reference: str | None = None
    cost: float | None = None
    pixels_changed: Count | None = None
    l2: float | None = None
    linf: float | None = None
    tried: Count | None = None
    won: Count | None = None
    kept: tuple[KeptItem, ...] = ()
    similarity: Cosine | None = None
    fluency: Ratio | None = None
    proved_words: ProvedWords | None = None
    single_swaps: Count | None = None
    level: str | None = None
    levels: tuple[tuple[str, LevelStatus], ...] = ()
    random_edits: Count | None = None
    random_won: Count | None = None


def has_adversary(row: Result) -> bool:
    """Tell whether a case is broken, and what broke it is stored and differs from the original.

    An empty text is an adversary, too. That of a row with damaged edits is lost.
    """
    return row.status == "broken" and row.adversarial not in (None, row.original)


@dataclass(frozen=True)
class Step:
    """One improvement of a case: the best candidate so far, at its query number."""

    case: str
    query: Count
    loss: float
    label: str | None
    confidence: float | None
    edits: tuple[Edit, ...]
    answer: str | None = None
    cost: float | None = None
    similarity: Cosine | None = None
    fluency: Ratio | None = None
