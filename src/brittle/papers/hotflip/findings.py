"""What HotFlip's paper claims, and what our intervals say of it."""

from __future__ import annotations

from brittle.metrics.paired import paired
from brittle.metrics.summary import rate
from brittle.papers.findings import Finding, above, below, nowhere, span
from brittle.papers.hotflip.found import THRESHOLDS, Found
from brittle.papers.hotflip.plan import CONFIDENCE
from brittle.papers.page import percents, points

MARGIN = 0.05
"""What counts as not below: with finitely many texts nothing finer can be shown."""


def findings(found: Found) -> list[Finding]:
    """Judge the claims of sections 4 and 5."""
    beam, used = found.success("beam", CONFIDENCE), found.used
    by_threshold = [found.paired("greedy", "beam", c) for c in THRESHOLDS]
    greedy, black = by_threshold[-1], found.paired("key-any", "greedy", CONFIDENCE)
    keys = found.paired("key", "key-any", CONFIDENCE)
    deletes = rate(used.deletes, used.deletes + used.inserts, "deletes and inserts")
    least = min((c.difference or 0.0) for c in by_threshold)
    rows = [
        Finding(
            "beam-90",
            "Beam search breaks more than 90% of the texts at confidence 0.9",
            above(span(beam), 0.9),
            percents(beam),
        ),
        Finding(
            "beam-greedy",
            "Beam search succeeds more often than greedy search at confidence 0.9",
            above(span(greedy)),
            points(greedy),
        ),
        Finding(
            "beam-never-below",
            "Beam search is nowhere below greedy search, whatever confidence is asked for (not by "
            f"more than {MARGIN:.0%} of the texts)",
            nowhere(by_threshold, MARGIN),
            f"the least difference over {len(THRESHOLDS)} confidences is {100 * least:+.1f} points",
        ),
        Finding(
            "white-black",
            "Even the greedy white-box search succeeds more often than the black box at 0.9",
            above(span(black)),
            points(black),
        ),
        Finding(
            "key-star",
            "Key*, any character, is stronger than Key, neighbours on the keyboard, at 0.9",
            above(span(keys)),
            points(keys),
        ),
        Finding(
            "mostly-flips",
            "The adversary mostly flips: more than half of its operations",
            above(span(found.flipped), 0.5),
            percents(found.flipped),
        ),
        Finding(
            "deletes-inserts",
            "It deletes more often than it inserts",
            above(span(deletes), 0.5),
            f"{percents(deletes)} of both are deletes",
        ),
        *_on_training(found),
        Finding(
            "nearest",
            "One edit often makes a word more like other words: more than half of the edited "
            "words lose themselves among their nearest five",
            above(span(found.lost), 0.5),
            percents(found.lost),
        ),
    ]
    return rows + (_on_words(found) if found.made.order.words else [])


def _on_training(found: Found) -> list[Finding]:
    rows = []
    for other, what in (("plain", "plain training"), ("miyato", "noise"), ("key", "Key* texts")):
        versus = found.hardened(other, "hotflip")
        claim = f"Training on HotFlip texts lowers the adversary's success more than {what}"
        if other == "plain":
            claim = "Training on HotFlip texts lowers the adversary's success"
        rows.append(Finding(f"trained-{other}", claim, below(span(versus)), points(versus)))
    clean = found.errors("plain", "hotflip")
    claim = "Training on HotFlip texts also lowers the error on clean texts"
    return [*rows, Finding("trained-clean", claim, below(span(clean)), points(clean))]


def _on_words(found: Found) -> list[Finding]:
    free = found.rows("words, none")
    strict = found.rows("words, all four")
    versus = paired(free, strict).success
    claim = "The four constraints make word-level examples rare: they lower success"
    return [Finding("word-constraints", claim, below(span(versus)), points(versus))]
