"""The human expert of the paper: a strategy, and the list that it led to (Table 8)."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.studies.pools import Member
from brittle.studies.selecting.candidates import Candidates

EXPERT_LIST = (
    *("LSTM-W-Random-1", "CNN-C-Random-1", "LSTM-WC-ELMo-1", "BERT"),
    *("CNN-W-Random-1", "LSTM-C-Random-1", "CNN-WC-ELMo-1"),
)
"""The expert's seven, in the order of choice: an ensemble of m has the first m."""

ANY_BERT = "BERT"
"""In a list it means the pool's own BERT, or the encoder that stands for it."""
BERT = (ANY_BERT, "hf:bert-base-uncased")


def expert(candidates: Candidates, size: int) -> tuple[int, ...]:
    """Return the best source, then always the one most different from those already chosen.

    Members differ in input form, architecture and embedding. The paper does not say how the
    aspects are weighed against each other: here the next member is the one whose nearest chosen
    member differs in most aspects, then the one with most differences to all chosen members, then
    the best source.
    """
    mean = candidates.mean_rates()
    aspects = [_aspects(member) for member in candidates.sources]
    chosen = [int(mean.argmax())]
    while len(chosen) < size:
        rest = [row for row in range(len(aspects)) if row not in chosen]

        def rank(row: int) -> tuple[int, int, float]:
            differing = [_differences(aspects[row], aspects[other]) for other in chosen]
            return min(differing), sum(differing), float(mean[row])

        chosen.append(max(rest, key=rank))
    return tuple(chosen)


def listed(candidates: Candidates, names: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the sources of a list, in its order, and notes on the names that are not there.

    BERT is the pool's own BERT; in a pool without it, the first of its encoders stands for it.
    """
    rows: list[int] = []
    notes: list[str] = []
    missing: list[str] = []
    by_name = {member.name: row for row, member in enumerate(candidates.sources)}
    for name in names:
        row = by_name.get(name)
        if row is None and name == ANY_BERT:
            row = _bert(candidates.sources)
            if row is not None and candidates.sources[row].name not in BERT:
                notes.append(f"{candidates.sources[row].name} stands for BERT.")
        if row is None:
            missing.append(name)
        elif row not in rows:
            rows.append(row)
    if missing:
        notes.append(f"not among the candidates, so left out: {', '.join(missing)}.")
    return rows, notes


def _bert(sources: Sequence[Member]) -> int | None:
    encoders = [row for row, member in enumerate(sources) if member.architecture == "BERT"]
    real = [row for row in encoders if sources[row].name in BERT]
    return next(iter([*real, *encoders]), None)


def _aspects(member: Member) -> tuple[str, str, str]:
    parts = member.parts
    reads, embedding = (str(parts.get(name, member.reads)) for name in ("input", "embedding"))
    return reads, member.architecture, embedding


def _differences(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(a != b for a, b in zip(one, other))
