"""BLEU is sacrebleu's own, kept references or not; a goal compares with the right text."""

from __future__ import annotations

import sys
from random import Random

import pytest

from brittle.asks import Case
from brittle.errors import MissingPackage, UsageError
from brittle.goals import BleuBelow, bleu_signature, corpus_bleu, judge_one
from brittle.goals.bleu import sentence_bleu
from brittle.text import Text
from goals.test_texts import BEFORE, started

sacrebleu = pytest.importorskip("sacrebleu")
WORDS = [*BEFORE.split(), "Straße,", "U.S.A.", "3,5", "&quot;", "-", "!"]


def sentences(count: int) -> list[str]:
    rng = Random(0)
    return ["", ".", *(" ".join(rng.choices(WORDS, k=rng.randint(1, 12))) for _ in range(count))]


def test_of_a_sentence_as_sacrebleu_computes_it() -> None:
    texts = sentences(60)
    for hypothesis, reference in zip(texts, [*texts[2:], BEFORE, BEFORE]):
        theirs = sacrebleu.sentence_bleu(hypothesis, [reference], use_effective_order=True).score
        assert sentence_bleu(hypothesis, reference) == pytest.approx(theirs, abs=1e-9)
    assert sentence_bleu(BEFORE, BEFORE) == 100 and sentence_bleu("", BEFORE) == 0


def test_of_a_sentence_by_hand() -> None:
    # 5 of 6 words, 3 of 5 pairs, 2 of 4 triples and 1 of 3 quadruples are in the reference.
    by_hand = 100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert sentence_bleu("the cat sat on a mat", "the cat sat on the mat") == pytest.approx(by_hand)


def test_of_a_corpus_as_sacrebleu_computes_it() -> None:
    hypotheses, references = sentences(40), sentences(80)[40:]
    references = references[: len(hypotheses)]
    theirs = sacrebleu.corpus_bleu(hypotheses, [references]).score
    assert corpus_bleu(hypotheses, references) == pytest.approx(theirs, abs=1e-9) != 0
    for wrong in ([], ["a"]):
        with pytest.raises(UsageError, match="the same number of each"):
            corpus_bleu(wrong, ["a", "b"][: 2 * len(wrong)])


def test_signatures_are_sacrebleu_s() -> None:
    version = sacrebleu.__version__
    assert bleu_signature() == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}"
    assert "eff:yes" in bleu_signature(sentence=True)


def test_the_loss_rises_to_an_empty_translation() -> None:
    nearer = [BEFORE, "Ein Mann steht und eine Frau", "Ein Mann sitzt", "Mann", ""]
    judged = [judge_one(BleuBelow(20), started(), Text.of("x"), text) for text in nearer]
    losses = [loss for loss, _ in judged]
    assert losses == sorted(set(losses)) and losses[0] == 0 and losses[-1] == 1
    assert [won for _, won in judged] == [1 - loss < 0.2 for loss in losses]


def test_what_a_translation_is_compared_with() -> None:
    case = started(reference="Ein anderer Satz steht hier")
    for goal, reference in [
        (BleuBelow(20), case.reference),
        (BleuBelow(20, "example"), case.reference),
        (BleuBelow(20, "translation"), BEFORE),
    ]:
        loss, _ = judge_one(goal, case, case.item, "Ein Mann steht hier")
        assert loss == 1 - sentence_bleu("Ein Mann steht hier", str(reference)) / 100
    assert judge_one(BleuBelow(20), started(reference=" "), case.item, BEFORE)[0] == 0
    assert judge_one(BleuBelow(20, "example"), started(), case.item, "x") == (0.0, False)


@pytest.mark.parametrize(
    ("goal", "reference", "answer", "reason"),
    [
        (BleuBelow(20), None, BEFORE, None),
        (BleuBelow(100), None, "Ja", None),
        (BleuBelow(20), BEFORE, BEFORE, None),
        (BleuBelow(20), BEFORE, "ganz anders", "already below"),
        (BleuBelow(20, "translation"), BEFORE, "ganz anders", None),
        (BleuBelow(20, "example"), None, BEFORE, "no reference"),
        (BleuBelow(20, "example"), "", BEFORE, "no reference"),
        (BleuBelow(20), None, " ", "empty translation"),
        (BleuBelow(20), BEFORE, "", "already below"),
    ],
)
def test_what_need_not_be_attacked(
    goal: BleuBelow, reference: str | None, answer: str, reason: str | None
) -> None:
    assert goal.unfit(Case("a", Text.of("x"), reference=reference), answer) == reason


@pytest.mark.parametrize("value", ["", "much", "0", "101", "nan", "20,by=example", "20,reference="])
def test_wrong_specs(value: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        BleuBelow.parse(value)


def test_a_missing_package_is_named_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(MissingPackage, match=r"BLEU needs .* pip install sacrebleu=="):
        BleuBelow.parse("20")
