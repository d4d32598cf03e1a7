"""BLEU and chrF by sacrebleu: how alike two translations are.

BLEU by sacrebleu: of one sentence, as a goal, and of a corpus, with its signature. chrF by
sacrebleu: how alike two translations are, by their characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from brittle.answers import TEXTS, AnswerKind
from brittle.asks import Case
from brittle.errors import UsageError, require
from brittle.goals.protocol import Candidates, Losses, Wins
from brittle.goals.texts import EMPTY, judge_texts, parse_number, translation_before

REFERENCES = ("either", "example", "translation")
"""What a translation is compared with; `either` is the example's reference if it has one."""


def sentence_bleu(hypothesis: str, reference: str) -> float:
    """Return the BLEU of one sentence, 0 to 100, by effective order: short sentences count too.

    >>> round(sentence_bleu("the cat sat on a mat", "the cat sat on the mat"), 2)
    53.73
    """
    # With the reference kept in the object, its n-grams are counted once for all candidates.
    return min(100.0, float(_against(reference).corpus_score([hypothesis], None).score))


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Return the BLEU of a corpus, 0 to 100, one reference a sentence; `bleu_signature` names it.

    >>> corpus_bleu(["the cat sat on the mat"], ["the cat sat on the mat"])
    100.0
    """
    if len(hypotheses) != len(references) or not hypotheses:
        raise UsageError(
            f"Got {len(hypotheses)} translations and {len(references)} references for "
            "BLEU; expected the same number of each, and at least one."
        )
    score = _metrics().BLEU().corpus_score(list(hypotheses), [list(references)]).score
    return min(100.0, float(score))


def bleu_signature(sentence: bool = False) -> str:
    """Return sacrebleu's signature of `corpus_bleu` or, if asked, of `sentence_bleu`.

    >>> bleu_signature().rpartition("|")[0]
    'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp'
    """
    return str(_metrics().BLEU(effective_order=sentence, references=[[""]]).get_signature())


@lru_cache(maxsize=1 << 10)
def _against(reference: str) -> Any:
    return _metrics().BLEU(effective_order=True, references=[[reference]])


def _metrics() -> Any:
    return require("sacrebleu.metrics", "translation", "BLEU")


@dataclass(frozen=True)
class BleuBelow:
    """The sentence BLEU of the translation is below a bound (0 to 100); the loss is 1 − BLEU / 100.

    It is compared with the example's reference or, without one, with the original's translation;
    `reference` fixes one of the two.
    """

    bound: float
    reference: str = "either"
    answers: AnswerKind = TEXTS

    @staticmethod
    def parse(value: str) -> BleuBelow:
        number, comma, option = value.partition(",")
        bound = parse_number(number, "a bound of BLEU", "bleu:20")
        if not 0 < bound <= 100:
            raise UsageError(f"Got a bound of {number}; expected one above 0, at most 100.")
        key, _, reference = option.partition("=")
        if comma and (key.strip() != "reference" or reference.strip() not in REFERENCES):
            raise UsageError(
                f"Got {option!r} in bleu:{value}; expected reference={'|'.join(REFERENCES)}."
            )
        _metrics()  # a package that is not installed is missed before anything is asked
        return BleuBelow(bound, reference.strip() or "either")

    def __str__(self) -> str:
        fixed = "" if self.reference == "either" else f",reference={self.reference}"
        return f"bleu:{self.bound:.15g}{fixed}"

    def judge(self, candidates: Candidates) -> tuple[Losses, Wins]:
        return judge_texts(candidates, self._measure)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        reference = self._reference(case, answer)
        if reference is None:
            return "no reference"
        if not reference.strip():
            return EMPTY
        return "already below" if sentence_bleu(answer, reference) < self.bound else None

    def _reference(self, case: Case[Any], answer: str) -> str | None:
        own = case.reference if (case.reference or "").strip() else None
        if self.reference == "example" or (self.reference == "either" and own is not None):
            return own
        return translation_before(case, answer)

    def _measure(self, case: Case[Any], source: str, translation: str) -> tuple[float, bool]:
        reference = self._reference(case, translation)
        if reference is None:
            return 0.0, False
        bleu = sentence_bleu(translation, reference)
        return 1.0 - bleu / 100, bleu < self.bound


def sentence_chrf(hypothesis: str, reference: str) -> float:
    """Return the chrF of one sentence, 0 to 100 (character n-grams up to 6, beta 2).

    Two empty sentences are equal: 100.

    >>> sentence_chrf("die Katze", "die Katze"), sentence_chrf("", "die Katze")
    (100.0, 0.0)
    """
    if not reference.strip() or not hypothesis.strip():
        return 100.0 * (reference.strip() == hypothesis.strip())
    return float(_chrf_against(reference).corpus_score([hypothesis], None).score)


@lru_cache(maxsize=1 << 8)
def _chrf_against(reference: str) -> Any:
    metrics = require("sacrebleu.metrics", "translation", "Erasure on a translator (chrF)")
    return metrics.CHRF(references=[[reference]])
