"""BLEU of a run is what its signature says, row by row against what there is to compare with."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from brittle.metrics import bleu
from brittle.metrics.bleu import bleu_figures, bleu_of_counts, compare_bleu, paired_figures
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
    figure, same, drop = paired_figures(hypotheses, hypotheses, references)
    assert figure == same and figure.value == pytest.approx(theirs, abs=1e-9)
    assert (drop.value, drop.low, drop.high) == (0, 0, 0)
    summed = bleu._statistics(hypotheses, references).sum(axis=0)
    assert bleu_of_counts(summed) == pytest.approx(theirs, abs=1e-9)


def test_a_corpus_without_a_match_of_four_words_is_smoothed() -> None:
    hypotheses = ["the cat sat here now", "a dog"]
    figure = paired_figures(hypotheses, hypotheses, ["a cat sat there then", "the dog ran"])[0]
    assert figure.value == pytest.approx(17.82, abs=0.005)


def test_the_intervals_are_those_of_sacrebleu_on_the_same_resampled_sentences() -> None:
    rng = Random(3)
    before, after, references = (sentences(rng, 8, 6) for _ in range(3))
    figures = paired_figures(before, after, references)
    chosen = np.random.default_rng(0).integers(0, 8, (bleu.RESAMPLES, 8))

    def scores(texts: list[str]) -> list[float]:
        resampled = ([(texts[i], references[i]) for i in rows] for rows in chosen)
        return [
            sacrebleu.corpus_bleu([t for t, _ in pairs], [[r for _, r in pairs]]).score
            for pairs in resampled
        ]

    first, second = scores(before), scores(after)
    drops = [a - b for a, b in zip(first, second)]
    for figure, expected in zip(figures, (first, second, drops)):
        assert (figure.low, figure.high) == pytest.approx(np.quantile(expected, (0.025, 0.975)))
    assert figures[2].value == pytest.approx(figures[0].value - figures[1].value)  # type: ignore[operator]


def test_a_drop_of_every_sentence_is_told_from_chance_though_the_intervals_overlap() -> None:
    rng = Random(1)
    references = [" ".join(rng.choices(WORDS, k=rng.randint(4, 30))) for _ in range(40)]
    before = [" ".join(w for w in text.split() if rng.random() > 0.3) for text in references]
    after = [" ".join(text.split()[1:]) for text in before]
    first, second, drop = paired_figures(before, after, references)
    assert first.low is not None and second.high is not None and drop.low is not None
    assert first.low < second.high and drop.low > 0


def test_the_same_sentences_are_drawn_for_the_same_seed() -> None:
    rng = Random(5)
    before, after, references = (sentences(rng, 20, 8) for _ in range(3))
    same = paired_figures(before, after, references, seed=4)
    assert same == paired_figures(before, after, references, seed=4)
    assert same != paired_figures(before, after, references, seed=5)


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
    assert figures.changed == 2 and figures.drop.of == 3
    assert figures.drop.value == figures.before.value - figures.after.value  # type: ignore[operator]
    expected = "the references of 1 of 3 examples, else the originals' translations"
    assert figures.against == expected
    assert bleu_figures(rows[3:]) is None


def test_of_typos_every_changed_text_counts_also_where_it_holds() -> None:
    held = {"status": "held", "attack": "typo"}
    skipped = {"status": "skipped", "adversarial": None, "attack": "typo"}
    rows = [
        translated("the cat sat there", "a cat sat there", adversarial_answer="a cat", **held),
        translated("the dog", "the dog ran here", adversarial_answer="the dog ran", **held),
        translated("the dog ran now", "the dog ran", adversarial_answer=None, **skipped),
    ]
    figures = bleu_figures(rows)
    assert figures is not None and figures.changed == 2
    after = ["a cat", "the dog ran", "the dog ran now"]
    references = ["a cat sat there", "the dog ran here", "the dog ran"]
    assert figures.after.value == pytest.approx(sacrebleu.corpus_bleu(after, [references]).score)
    searched = bleu_figures([replace(row, attack="pwws") for row in rows])
    assert searched is not None and searched.after == searched.before and searched.changed == 0


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
        paired_figures(["the cat sat"] * size, ["the cat"] * size, ["a cat sat"] * size)
        counts.append(len(built))
    assert counts[0] == counts[1]


def test_two_translators_are_compared_on_the_same_resampled_sentences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bleu, "RESAMPLES", 60)
    rng = Random(3)
    references = sentences(rng, 12, 8)
    noisy = [[" ".join(rng.sample(r.split(), len(r.split()))) for r in references] for _ in "abc"]

    def rows(before: list[str], after: list[str]) -> list[Result]:
        texts = enumerate(zip(before, after, references))
        return [
            translated(b, r or "x", case=f"c{n}", adversarial_answer=a) for n, (b, a, r) in texts
        ]

    first, second = rows(noisy[0], noisy[1]), rows(references, noisy[2])
    compared = compare_bleu(first, second)
    assert compared is not None
    alone = [bleu_figures(part) for part in (first, second)]
    assert alone[0] is not None and alone[1] is not None
    for name in ("before", "after", "drop"):
        a, b = (getattr(figures, name).value for figures in alone)
        assert getattr(compared, name).value == pytest.approx(b - a, abs=1e-9)
    chosen = np.random.default_rng(0).integers(0, 12, (bleu.RESAMPLES, 12))

    def score(texts: list[str], drawn: np.ndarray) -> float:
        pairs = [[texts[n] for n in drawn], [[references[n] or "x" for n in drawn]]]
        return float(sacrebleu.corpus_bleu(*pairs).score)

    drops = [
        (score(references, drawn) - score(noisy[2], drawn))
        - (score(noisy[0], drawn) - score(noisy[1], drawn))
        for drawn in chosen
    ]
    low, high = np.quantile(drops, (0.025, 0.975))
    assert (compared.drop.low, compared.drop.high) == pytest.approx((low, high), abs=1e-9)


def test_translators_that_share_no_sentence_are_not_compared() -> None:
    row = translated("a cat", "a cat", case="one")
    assert compare_bleu([row], [replace(row, case="two")]) is None
    same = compare_bleu([row], [row])
    assert same is not None and (same.drop.low, same.drop.value, same.drop.high) == (0, 0, 0)
