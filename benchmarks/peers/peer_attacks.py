"""TextAttack's own PWWS, genetic attack and HotFlip, put together from its own parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from unittest import mock

import textattack
from textattack.constraints.overlap import MaxWordsPerturbed
from textattack.constraints.pre_transformation import RepeatModification
from textattack.goal_functions import UntargetedClassification
from textattack.models.wrappers import ModelWrapper
from textattack.search_methods import AlzantotGeneticAlgorithm, BeamSearch, GreedyWordSwapWIR
from textattack.shared.utils import is_one_word
from textattack.transformations import WordSwap, WordSwapGradientBased, WordSwapWordNet

Words = Mapping[str, Sequence[str]]
NAMES = ("pwws", "genetic", "hotflip")


class TableSwap(WordSwap):
    """Replace a word by those a table lists for it; the table's keys are lower case."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self.table = words

    def _get_replacement_words(self, word: str) -> Sequence[str]:
        return self.table.get(word.lower(), ())


class AtMost(MaxWordsPerturbed):
    """At most this share of the words, rounded down but at least one, as on brittle's side.

    TextAttack's own rounds up, and its recipe does not hold children of two parents to it.
    """

    def _check_constraint(self, transformed_text: Any, reference_text: Any) -> bool:
        changed = len(transformed_text.all_words_diff(reference_text))
        return changed <= max(1, int(self.max_percent * len(reference_text.words) + 1e-9))


def build_attack(
    name: str,
    target: ModelWrapper,
    words: Words,
    query_budget: int | None = None,
    batch: int | None = None,
    settings: Mapping[str, int] | None = None,
) -> textattack.Attack:
    """Build the attack `name` (one of NAMES) with TextAttack's defaults where None.

    `settings` are HotFlip's: words, beam, and candidates of each text. Of its recipe the
    constraints on meaning are left out. What is left is the limit on words and that none is
    changed twice, without which the search would never end.
    """
    goal = UntargetedClassification(
        target,
        query_budget=float("inf") if query_budget is None else query_budget,
        model_batch_size=32 if batch is None else batch,
    )
    constraints = [RepeatModification()]
    swap = TableSwap(words)
    if name == "pwws":
        search = GreedyWordSwapWIR(wir_method="weighted-saliency")
    elif name == "genetic":
        constraints.append(AtMost(max_percent=0.2))
        search = AlzantotGeneticAlgorithm(pop_size=60, max_iters=20, post_crossover_check=True)
    elif name == "hotflip":
        given = settings or {}
        constraints.append(MaxWordsPerturbed(max_num_words=given.get("words", 2)))
        swap = WordSwapGradientBased(target, top_n=given.get("candidates", 1))
        search = BeamSearch(beam_width=given.get("beam", 10))
    else:
        raise SystemExit(f"Unknown attack {name!r}. Known: {', '.join(NAMES)}.")
    return textattack.Attack(goal, constraints, swap, search)


def word_table(candidates: Words) -> tuple[dict[str, list[str]], int]:
    """Drop what TextAttack does not read as one word, and say how many were dropped.

    Its own WordNet swap drops them too: they would shift the positions of the words behind.
    """
    table = {word: [sub for sub in subs if is_one_word(sub)] for word, subs in candidates.items()}
    return table, sum(map(len, candidates.values())) - sum(map(len, table.values()))


def own_wordnet() -> WordSwapWordNet:
    """Build the transformation of TextAttack's recipe, without the download it asks for."""
    with mock.patch("nltk.download"):
        return WordSwapWordNet()
