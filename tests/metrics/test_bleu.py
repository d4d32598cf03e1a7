"""BLEU of a run is what its signature says, row by row against what there is to compare with."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from brittle.metrics import bleu
from brittle.metrics.bleu import bleu_figures, bleu_of_counts, corpus_figure
from brittle.metrics.samples import sample_results
from brittle.results import Result

sacrebleu = pytest.importorskip("sacrebleu")
WORDS = ["a", "cat", "sat", "there", "then", "the", "dog", "ran", "here", "now"]


def sentences(rng: Random, count: int, longest: int) -> list[str]:
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, longest))) for _ in range(count)]


def translated(answer: str, reference: str | None, **changes: object) -> Result:
    row = sample_results()[0]
    return replace(row, answer=answer, reference=reference, label=None, predicted=None, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("longest", [2, 3, 5, 12])
@pytest.mark.parametrize("seed", range(5))
def test_a_corpus_as_sacrebleu_computes_it_with_or_without_long_matches(
    seed: int, longest: int
) -> None:
    rng = Random(seed)
    hypotheses, references = sentences(rng, 6, longest), sentences(rng, 6, longest)
    theirs = sacrebleu.corpus_bleu(hypotheses, [references]).score
    assert corpus_figure(hypotheses, references).value == pytest.approx(theirs, abs=1e-9)
    summed = bleu._statistics(hypotheses, references).sum(axis=0)
    assert bleu_of_counts(summed) == pytest.approx(theirs, abs=1e-9)


def test_a_corpus_without_a_match_of_four_words_is_smoothed() -> None:
    hypotheses = ["the cat sat here now", "a dog"]
    figure = corpus_figure(hypotheses, ["a cat sat there then", "the dog ran"])
    assert figure.value == pytest.approx(17.82, abs=0.005)


def test_the_interval_is_that_of_sacrebleu_on_the_resampled_sentences() -> None:
    rng = Random(3)
    hypotheses, references = sentences(rng, 8, 6), sentences(rng, 8, 6)
    figure = corpus_figure(hypotheses, references)
    chosen = np.random.default_rng(0).integers(0, 8, (bleu.RESAMPLES, 8))
    scores = [
        sacrebleu.corpus_bleu([hypotheses[i] for i in rows], [[references[i] for i in rows]]).score
        for rows in chosen
    ]
    assert (figure.low, figure.high) == pytest.approx(np.quantile(scores, (0.025, 0.975)))


def test_each_row_is_compared_with_its_reference_or_its_first_translation() -> None:
    rows = [
        translated("the cat sat there", "a cat sat there", adversarial_answer="the dog"),
        translated("the dog ran here", None, adversarial_answer="a dog ran"),
        translated("the dog ran now", " ", status="held", adversarial_answer="now"),
        translated("left out", "left out", status="error"),
    ]
    figures = bleu_figures(rows)
    assert figures is not None and figures.before.of == 3
    compared_with = ["a cat sat there", "the dog ran here", "the dog ran now"]
    before = ["the cat sat there", "the dog ran here", "the dog ran now"]
    after = ["the dog", "a dog ran", "the dog ran now"]
    for figure, texts in ((figures.before, before), (figures.after, after)):
        assert figure.value == pytest.approx(sacrebleu.corpus_bleu(texts, [compared_with]).score)
    expected = "the references of 1 of 3 examples, else the originals' translations"
    assert figures.against == expected
    assert bleu_figures(rows[3:]) is None


def test_one_object_reads_all_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []

    class Counted(sacrebleu.metrics.BLEU):  # type: ignore[misc]
        def __init__(self, *args: object, **kwargs: object) -> None:
            built.append(1)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr("sacrebleu.metrics.BLEU", Counted)
    counts = []
    for size in (2, 20):
        built.clear()
        corpus_figure(["the cat sat"] * size, ["a cat sat"] * size)
        counts.append(len(built))
    assert counts[0] == counts[1]
