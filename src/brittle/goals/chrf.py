"""chrF by sacrebleu: how alike two translations are, by their characters."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from brittle.errors import require


def sentence_chrf(hypothesis: str, reference: str) -> float:
    """Return the chrF of one sentence, 0 to 100 (character n-grams up to 6, beta 2).

    Two empty sentences are equal: 100.

    >>> sentence_chrf("die Katze", "die Katze"), sentence_chrf("", "die Katze")
    (100.0, 0.0)
    """
    if not reference.strip() or not hypothesis.strip():
        return 100.0 * (reference.strip() == hypothesis.strip())
    return float(_against(reference).corpus_score([hypothesis], None).score)


@lru_cache(maxsize=1 << 8)
def _against(reference: str) -> Any:
    metrics = require("sacrebleu.metrics", "translation", "Erasure on a translator (chrF)")
    return metrics.CHRF(references=[[reference]])
