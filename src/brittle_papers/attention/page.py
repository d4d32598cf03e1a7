"""What is odd in the page of the self-attention paper: grids, attention, changes of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from brittle.candidates.choice import DEFAULT_NEIGHBOURS
from brittle.formatting import NO_VALUE
from brittle.inside.measures import InsideCase, word_attention_shift
from brittle.metrics.paired import Contrast
from brittle.studies.grid.study import Fields, GridCell, paired_tests, success
from brittle_papers.attention import results
from brittle_papers.attention.claims import JUDGES, AttentionFigures, first_layer_spread, relative
from brittle_papers.attention.figures import attention_figure, change_figure, distance_figure
from brittle_papers.attention.results import Difference, difference
from brittle_papers.claims import format_difference, format_p
from brittle_papers.page import PaperPage, Row, TableCell, format_edits, format_table, mean_cell
from brittle_papers.paper import Paper
from brittle_papers.spec import PaperRequest

BEST = "best"
LISTS = ("counter-fitted", "WordNet")
WHOSE = ("summary position", "all words")
VOCABULARIES = ("one list", "own list")


def _grids(page: PaperPage, found: AttentionFigures) -> None:
    for task in found.studies:
        _grid(page, found, task)
        _paired(page, found, task)
        _examples(page, found, task)
        _nearest(page, found, task)
        _two_lists(page, found, task)
        _attention_of(page, found, task)
        _own_words(page, found, task)


def _left_out(page: PaperPage, found: AttentionFigures) -> None:
    parts = []
    if not found.request.pairs:
        parts.append("entailment (Tables 5 and 6): `--pairs` names its data")
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
    attacked = found[f"attacks for {task}"]
    page.add_section(task, cases=attacked["cases"], words=attacked["words"])
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


def _compared(cells: Sequence[GridCell], keys: Sequence[str]) -> list[str | TableCell]:
    """Return the success of two cells and what the second is above the first, with p."""
    gap = difference(*cells)
    p = f", p {format_p(gap.p)}" if isinstance(gap, Contrast) else ""
    rates = [TableCell(success(cell), key) for key, cell in zip(keys, cells)]
    return [*rates, TableCell(gap, "difference", f"{gaformat_p(gap)}{p}")]


def _nearest(page: PaperPage, found: AttentionFigures, task: str) -> None:
    page.add_section("nearest", task=task)
    rows: dict[str, Row] = {}
    words = found[f"attacks for {task}"]["words"]
    for nearest in (*(k for k in results.NEAREST if k < words), None):
        name = f"{words} (all)" if nearest is None else str(nearest)
        cells = [(t, found.nearest_cell(task, t, nearest)) for t in found.targets(task)]
        rows[name] = [name, *(TableCell(success(c), t) if c else NO_VALUE for t, c in cells)]
    page.add_table(f"{task}, nearest", ["words", *found.targets(task)], rows)


def _two_lists(page: PaperPage, found: AttentionFigures, task: str) -> None:
    page.add_section("two lists", task=task, k=DEFAULT_NEIGHBOURS)
    rows: dict[str, Row] = {}
    for target in found.targets(task):
        a, b = (found.cell(task, row, target) for row in (results.LIST, results.WORDNET_LIST))
        if a is not None and b is not None:
            rows[target] = [target, *_compared((a, b), LISTS)]
    head = ["target", *LISTS, "WordNet less counter-fitted"]
    page.add_table(f"{task}, LIST", head, rows)


def _attention_of(page: PaperPage, found: AttentionFigures, task: str) -> None:
    page.add_section("attention of", task=task)
    rows: dict[str, Row] = {}
    for target, attack in product(found.targets(task), ("asmin-gr", "asmax-gr")):
        a = found.cell(task, attack, target)
        b = found.cell(task, f"{attack}{results.OF_WORDS}", target)
        if a is not None and b is not None:
            name = f"{results.attack_name(attack)} on {target}"
            rows[name] = [name, *_compared((a, b), WHOSE)]
    head = ["", *WHOSE, "all words less summary"]
    page.add_table(f"{task}, attention of", head, rows)


def _own_words(page: PaperPage, found: AttentionFigures, task: str) -> None:
    if task not in found.own_words:
        return
    page.add_section("own words", task=task)
    rows: dict[str, Row] = {}
    own = found.own_words[task].results.cells
    for target, attack in product(found.targets(task), results.OWN_WORDS):
        a, b = found.cell(task, attack, target), own[attack].get(target)
        if a is not None and b is not None:
            name = f"{results.attack_name(attack)} on {target}"
            rows[name] = [name, *_compared((a, b), VOCABULARIES)]
    page.add_table(f"{task}, own words", ["", *VOCABULARIES, "own less one"], rows)


def _word_models(page: PaperPage, found: AttentionFigures) -> None:
    page.add_section("word models", cases=len(found.word_models.cases))
    rows: dict[str, Row] = {}
    for attack in results.ON_WORDS:
        by_target = found.word_models.results.cells[attack]
        a, b = (by_target.get(t) for t in (results.LSTM, results.WORD_MODEL))
        if a is not None and b is not None:
            keys = (results.LSTM, results.WORD_MODEL)
            rows[attack] = [results.attack_name(attack), *_compared((a, b), keys)]
    name = results.WORD_MODEL
    page.add_table(
        "word models", ["attack", results.LSTM, name, f"{name} less {results.LSTM}"], rows
    )
    clean = {
        t: found.accuracy(f"accuracy of {t} for sentiment")
        for t in (results.LSTM, results.WORD_MODEL)
    }
    texts = [f"{target} {TableCell(figure)}" for target, figure in clean.items()]
    page.add(f"Accuracy on the test split: {', '.join(texts)}.")


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
    both = [c for c in study.cases if all(c.case in part for part in broken)]
    differing = [c for c in both if broken[0][c.case] != broken[1][c.case]]
    case = next(iter([*differing, *both]), None)
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
        target: [target, mean_cell(found.measured(task, target, word_attention_shift))]
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
    own["scored for sentiment"] = [*own["sentiment targets"], *values["word models"]]
    own["word members"] = {
        name: [f"train {name} for sentiment", f"accuracy of {name} for sentiment"]
        for name in (results.LSTM, *values["word models"])
    }
    own["entailment optional"] = [n for n in values["entailment models"] if n == results.SCRATCH]
    return own


PAPER = Paper(
    "attention",
    AttentionFigures,
    parts={
        "left-out": _left_out,
        "models": _models,
        "grids": _grids,
        "word models": _word_models,
        "last-layer": _last_layer,
        "people": _people,
        "figures 1 and 2": _figures_1_and_2,
        "figure 4": _figure_4,
        "relative": _relative,
        "theorem": _theorem,
    },
    judges=JUDGES,
    values=_values,
)
