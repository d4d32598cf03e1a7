"""How our intervals judge the findings of HotFlip's paper, which are quoted in paper.toml."""

from __future__ import annotations

from collections.abc import Mapping

from brittle_papers.claims import Judge, Judgement, above, below, judge, judge_all, judge_near
from brittle_papers.hotflip.plan import (
    ALL_FOUR,
    BEAM,
    CLEAN,
    FLIPS,
    GREEDY,
    HARDENED,
    KEY,
    KEY_ANY,
    PLAIN,
    WORDS,
)
from brittle_papers.hotflip.results import CONFIDENCES, HotFlipResults

NEAR = 0.05
"""How far a share may lie from a number of the paper that it is meant to equal."""

FALL = 0.9816 - 0.6932
"""By how much adversarial training lowers the adversary's success in the paper's Table 2."""


def _beam_against_greedy(results: HotFlipResults) -> Judgement:
    by_confidence = {f"{c:g}": results.compare_at(GREEDY, BEAM, c) for c in CONFIDENCES}
    return judge_all(above, by_confidence)


def _white_against_black(results: HotFlipResults) -> Judgement:
    return judge_all(above, {name: results.compare_at(KEY_ANY, name) for name in (BEAM, GREEDY)})


def _deletes(results: HotFlipResults) -> Judgement:
    verdict, evidence = judge_near(results.delete_share(), 2 / 3, NEAR)
    return Judgement(verdict, f"{evidence} of both are deletes")


def _hardened(results: HotFlipResults, than: str, fall: float = 0.0) -> Judgement:
    return judge(below, results.compare_success(FLIPS[than], FLIPS[HARDENED]), -fall)


def _all_four(results: HotFlipResults) -> Judgement | None:
    if not results.request.words:
        return None
    return judge_near(results.success(WORDS[ALL_FOUR]), 0.02, 0.005)


JUDGES: Mapping[str, Judge[HotFlipResults]] = {
    "beam-90": lambda r: judge(above, r.success_at(BEAM), 0.9),
    "beam-greedy": _beam_against_greedy,
    "white-black": _white_against_black,
    "key-star": lambda r: judge(above, r.compare_at(KEY, KEY_ANY)),
    "characters": lambda r: judge_near(r.operations().share, 0.0418, 0.005),
    "mostly-flips": lambda r: judge_near(r.flip_share(), 0.8, NEAR),
    "deletes-inserts": _deletes,
    "trained-plain": lambda r: _hardened(r, PLAIN, FALL / 2),
    "trained-miyato": lambda r: _hardened(r, "miyato"),
    "trained-key": lambda r: _hardened(r, "key"),
    "trained-clean": lambda r: judge(above, r.compare_accuracy(CLEAN[PLAIN], CLEAN[HARDENED])),
    "nearest": lambda r: judge(above, r.lost_share(), 0.5),
    "word-constraints": _all_four,
}
