"""The claims of HotFlip's paper (sections 4 and 5), judged by our intervals."""

from __future__ import annotations

from brittle.metrics.paired import paired
from brittle.metrics.summary import rate
from brittle.papers.claims import Judgement, above, below, judge, nowhere
from brittle.papers.hotflip import plan
from brittle.papers.hotflip.results import THRESHOLDS, HotFlipResults

MARGIN = 0.05
"""A difference up to this share counts as none: finitely many texts cannot show a finer one."""

CLAIMS = {
    "beam-90": "Beam search breaks more than 90% of the texts at confidence 0.9",
    "beam-greedy": "Beam search succeeds more often than greedy search at confidence 0.9",
    "beam-never-below": "Beam search is nowhere below greedy search, whatever confidence is asked "
    f"for (not by more than {MARGIN:.0%} of the texts)",
    "white-black": "Even the greedy white-box search succeeds more often than the black box at 0.9",
    "key-star": "Key*, any character, is stronger than Key, neighbours on the keyboard, at 0.9",
    "mostly-flips": "The adversary mostly flips: more than half of its operations",
    "deletes-inserts": "It deletes more often than it inserts",
    "trained-plain": "Training on HotFlip texts lowers the adversary's success",
    "trained-miyato": "Training on HotFlip texts lowers the adversary's success more than noise",
    "trained-key": "Training on HotFlip texts lowers the adversary's success more than Key* texts",
    "trained-clean": "Training on HotFlip texts also lowers the error on clean texts",
    "nearest": "One edit often makes a word more like other words: more than half of the edited "
    "words lose themselves among their nearest five",
    "word-constraints": "The four constraints make word-level examples rare: they lower success",
}


def judge_claims(results: HotFlipResults) -> dict[str, Judgement]:
    """Judge the claims; that about word constraints only if the word level was run."""
    by_threshold = [results.compare_success(plan.GREEDY, plan.BEAM, c) for c in THRESHOLDS]
    least = 100 * min((contrast.difference or 0.0) for contrast in by_threshold)
    black = results.compare_success(plan.KEY_ANY, plan.GREEDY, plan.CONFIDENCE)
    keys = results.compare_success(plan.KEY, plan.KEY_ANY, plan.CONFIDENCE)
    inserts, deletes = results.beam_operations.inserts, results.beam_operations.deletes
    deleted = judge(above, rate(deletes, deletes + inserts, "deletes and inserts"), 0.5)
    judgements = {
        "beam-90": judge(above, results.success(plan.BEAM, plan.CONFIDENCE), 0.9),
        "beam-greedy": judge(above, by_threshold[-1]),
        "beam-never-below": Judgement(
            nowhere(by_threshold, MARGIN),
            f"the least difference over {len(THRESHOLDS)} confidences is {least:+.1f} points",
        ),
        "white-black": judge(above, black),
        "key-star": judge(above, keys),
        "mostly-flips": judge(above, results.flip_share, 0.5),
        "deletes-inserts": Judgement(deleted.verdict, f"{deleted.evidence} of both are deletes"),
        "trained-plain": judge(below, results.compare_flips(plan.PLAIN, plan.HARDENED)),
        "trained-miyato": judge(below, results.compare_flips("miyato", plan.HARDENED)),
        "trained-key": judge(below, results.compare_flips("key", plan.HARDENED)),
        "trained-clean": judge(below, results.compare_error(plan.PLAIN, plan.HARDENED)),
        "nearest": judge(above, results.lost_share, 0.5),
    }
    if results.request.words:
        free, strict = (results.rows(plan.WORDS[c]) for c in (plan.NO_CONSTRAINT, plan.ALL_FOUR))
        judgements["word-constraints"] = judge(below, paired(free, strict).success)
    return judgements
