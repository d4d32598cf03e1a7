"""Print every promise with the command that shows it and the value measured now.

    python benchmarks/acceptance.py [--only 1,2] [--bench results.json] [--papers docs/papers]

Without --bench the benchmarks are run now as well, which takes the longest: TextAttack's genetic
search alone needs tens of minutes. What the papers' commands found is read from the JSON files in
--papers: each is what `brittle papers NAME --json` prints.

An item passes if all its rows say yes. One that stops, or has nothing to check, does not pass.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attention_items
import natural_items
import natural_text_items
import trust_items
from brittle_papers.page import load_notes
from brittle_papers.spec import load_spec

HERE = Path(__file__).parent
ROOT = HERE.parent
PAPERS = ROOT / "docs" / "papers"
PAPER_NAMES = (
    *("attention", "attention-translation", "hotflip", "imdb"),
    *("natural", "natural-texts", "transfer"),
)
Row = tuple[str, str, str]

WHITE_BOX = (
    "tests/zoo/test_white_box.py",
    "tests/zoo/test_pairs.py",
    "tests/ranking/test_hotflip_scores.py",
    "tests/ranking/test_subwords.py",
    "tests/ranking/test_respellings.py",
    "tests/targets/transformers/test_alignment.py",
    "tests/targets/transformers/test_white_box.py",
    "tests/attacks/test_hotflip.py",
    "tests/attacks/test_hotflip_words.py",
    "tests/attacks/test_jsma.py",
)
"""Where gradients and flips are checked against finite differences, brute force and by hand."""

FINDINGS = {"jsma-strongest": "imdb"}
"""Findings that must agree, by key, with the paper whose command finds them."""
FORMER_CLAIMS = {"pretrained"}
"""Claims that pages from before the rules changed have: they are several claims today."""
MAX_P = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(ITEMS), help="numbers of the items")
    parser.add_argument("--bench", type=Path, help="results of make bench, instead of running it")
    parser.add_argument("--papers", type=Path, default=PAPERS, help="the folder of their figures")
    given = parser.parse_args()
    numbers = given.only.split(",")
    if strange := [number for number in numbers if number not in ITEMS]:
        parser.error(f"unknown item {strange[0]!r}; known: {', '.join(ITEMS)}")
    failed = []
    for number in numbers:
        print(f"\n{number}. {ITEMS[number][0]}", flush=True)
        for value, command, verdict in rows_of(ITEMS[number][1], given):
            failed += [number] * (verdict != "yes" and number not in failed)
            print(f"   [{verdict:^8}] {value}\n              {command}", flush=True)
    passed = f"{len(numbers) - len(failed)} of {len(numbers)} items pass"
    print(f"\n{passed}; not: {', '.join(failed)}" if failed else f"\n{passed}", flush=True)
    sys.exit(1 if failed else 0)


def rows_of(item: Callable[[Any], Iterator[Row]], given: Any) -> Iterator[Row]:
    """Yield the rows of an item; where it stops, or has none, that is a row which fails."""
    try:
        yield from some(item(given))
    except Exception as error:  # the other items are still to be checked
        yield (
            f"it stopped: {type(error).__name__}: {error}",
            "(the rows after it are missing)",
            "no",
        )


def some(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows; if there are none, a row which says so, and fails."""
    is_empty = True
    for row in rows:
        yield row
        is_empty = False
    if is_empty:
        yield "there was nothing to check", "", "not done"


def tests(*words: str) -> Iterator[Row]:
    """Run tests and give what pytest says in its last line."""
    command = [sys.executable, "-m", "pytest", "-q", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    last = ["no output", *(line for line in done.stdout.strip().splitlines() if line)][-1]
    shown = "pytest " + " ".join(words)
    nothing = re.search(r"\d+ passed", last) is None
    yield last.strip("= "), shown, "yes" if done.returncode == 0 and not nothing else "no"


def references(given: Any) -> Iterator[Row]:
    yield from tests("tests/attacks/test_references.py")


def contract(given: Any) -> Iterator[Row]:
    yield from tests("tests/attacks/test_contract.py")


def benchmarks(given: Any) -> Iterator[Row]:
    yield from bench_rows(*measured(given, "pwws,minilm,genetic,startup"))


def hotflip(given: Any) -> Iterator[Row]:
    content, command = measured(given, "hotflip,constrained")
    if not content.get("hotflip"):
        yield "HotFlip: not measured", command, "not done"
    else:
        yield from hotflip_rows(content["hotflip"], command)
    yield from constrained_rows(content.get("constrained"), command)


def measured(given: Any, parts: str) -> tuple[dict[str, Any], str]:
    """Give the results of the benchmark at hand, or measure these parts of it now."""
    if given.bench:
        return json.loads(given.bench.read_text()), f"make bench ({given.bench})"
    words = [str(HERE / "run.py"), "--only", parts]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.json"
        subprocess.run([sys.executable, *words, "--out", str(out)], check=True)
        return json.loads(out.read_text()), f"python benchmarks/run.py --only {parts}"


def bench_rows(content: dict[str, Any], command: str) -> Iterator[Row]:
    from page import GOALS, rate

    rows = {row["name"]: row for row in content.get("rows", ())}
    for name in GOALS:
        if name not in rows:
            yield f"{name}: not measured", command, "not done"
    for row in rows.values():
        goal = GOALS[row["name"]]
        line = f"{row['name']}: {row['ratio']:.1f}× TextAttack's examples/s (asked for ≥ {goal:g}×)"
        yield line, command, yes(row["ratio"] >= goal)
        line = f"{row['name']}: success {rate(row['ours'])}, TextAttack {rate(row['peer'])}"
        attacked = row["ours"]["attacked"] and row["peer"]["attacked"]
        yield f"{line}; intervals overlap", command, yes(bool(attacked and row["overlap"]))
    start = content.get("startup", {}).get("ratio")
    if start is None:
        yield "start-up: not measured", command, "not done"
    else:
        yield f"start-up: {start:.1f}× (asked for ≥ 20×)", command, yes(start >= 20)
    limits = {"lstm pwws": 1.5, "minilm pwws": 1.15}
    seen: dict[str, dict[str, Any]] = {}
    for row in rows.values():
        seen.setdefault(row["name"].split(",")[0], row["ours"])
    for name, most in limits.items():
        if name not in seen:
            yield f"{name} against the bare model: not measured", command, "not done"
            continue
        ratio, scorer = seen[name]["over_bare"], seen[name]["over_scorer"]
        line = (
            f"{name}: wall time {ratio:.2f}× the bare model as torch runs it (asked for ≤ {most}×)"
        )
        yield f"{line}, {scorer:.2f}× brittle's own scorer", command, yes(ratio <= most)
    if "lstm genetic" in seen:
        cost = seen["lstm genetic"]["engine_microseconds"]
        line = f"genetic: engine {cost:.1f} µs per text asked (asked for ≤ 10)"
        yield line, command, yes(cost <= 10)


def hotflip_rows(content: dict[str, Any], command: str) -> Iterator[Row]:
    from page import HOTFLIP_CHARACTERS, HOTFLIP_WORDS, rate

    words, characters = content["words"], content["characters"]
    ratio, mine, theirs = words["ratio"], words["ours"], words["peer"]
    line = f"words: {ratio:.1f}× TextAttack's examples/s (asked for ≥ {HOTFLIP_WORDS:g}×)"
    yield line, command, yes(ratio >= HOTFLIP_WORDS)
    line = f"words: success {rate(mine)}, TextAttack {rate(theirs)}; at least as high"
    # As whole numbers, so that a side that attacked nothing is not better than the other.
    higher = mine["broken"] * theirs["attacked"] >= theirs["broken"] * mine["attacked"]
    yield line, command, yes(bool(mine["attacked"] and theirs["attacked"] and higher))
    share, exact = characters["ratio"], characters["exact"]
    faster = exact["exact_seconds"] / exact["gradient_seconds"]
    line = f"characters: {share:.2f} of the bare network's gradient passes/s at its best batch size"
    line += f" (asked for ≥ {HOTFLIP_CHARACTERS:g}); {characters['over_single']:.1f}× row by row, "
    line += f"a step {faster:.0f}× as fast as one by every edit's exact loss"
    yield line, command, yes(share >= HOTFLIP_CHARACTERS)


def constrained_rows(content: dict[str, Any] | None, command: str) -> Iterator[Row]:
    """Show that there is something to attack under the paper's constraints."""
    from page import rate

    if content is None:
        yield "words, with the paper's constraints: not measured", command, "not done"
        return
    line = f"words, with the paper's constraints, on {content['model']}: success {rate(content)}"
    yield f"{line} (asked for: some are broken)", command, yes(content["broken"] > 0)


def white_box(given: Any) -> Iterator[Row]:
    yield from tests(*WHITE_BOX)


def findings(given: Any) -> Iterator[Row]:
    """Read what the papers' commands found; a finding rests on paired intervals.

    A paper's claim need not agree here: then its page must give a reason.
    """
    found = {paper: natural_items.load(given.papers, paper) for paper in PAPER_NAMES}
    for paper, content in found.items():
        yield explained(paper, content.get("findings", {}), given.papers)
    for key, paper in FINDINGS.items():
        yield agreeing(key, paper, found[paper].get("findings", {}))
    yield hardened(found["hotflip"].get("table 2"))


def explained(paper: str, found: dict[str, Any], papers: Path) -> Row:
    """Say how many findings of a paper agree, and whether the others have a reason.

    A reason may also be said to be unknown.
    """
    command = f"brittle papers {paper} --json"
    if not found:
        return f"no figures of the paper {paper!r} are there", command, "not done"
    notes = load_notes(papers / f"{paper}.notes.md")
    verdicts = Counter(row["verdict"] for row in found.values())
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    missing = [
        key
        for key, row in found.items()
        if row["verdict"] != "agrees"
        and key not in FORMER_CLAIMS
        and not load_spec(paper).claims.get(key, {}).get("is_check")
        and notes.get(key, attention_items.NO_REASON).startswith(attention_items.NO_REASON)
    ]
    reasons = f"no reason is written for {', '.join(missing)}" if missing else "all with reasons"
    return f"{paper}: {counts}; {reasons}", command, yes(not missing)


def agreeing(key: str, paper: str, found: dict[str, Any]) -> Row:
    """Say whether a finding that is promised agrees."""
    command = f"brittle papers {paper} --json"
    if key not in found:
        return f"{key}: no figures of the paper {paper!r} are there", command, "not done"
    row = found[key]
    line = f"{row['claim']}: {row['verdict']} ({row['evidence']})"
    return line, command, yes(row["verdict"] == "agrees")


def hardened(table: dict[str, Any] | None) -> Row:
    """Say whether training on flips lowers their success; how much is a finding with a reason."""
    command = "brittle papers hotflip --json"
    if not table:
        return "training on flips: no figures of the paper 'hotflip' are there", command, "not done"
    fall = table["hotflip"]["success against the baseline"]
    line = f"training on flips changes their success by {100 * fall['difference']:+.1f} points "
    line += f"({100 * fall['low']:+.1f} to {100 * fall['high']:+.1f}; asked for: all below 0)"
    return line, command, yes(fall["high"] < 0 and fall["p"] < MAX_P)


def pairs(given: Any) -> Iterator[Row]:
    """Read what benchmarks/pairs.py measured: McNemar's exact test decides."""
    for row in json.loads((HERE / "pairs.json").read_text())["comparisons"]:
        line = f"{row['better']} − {row['worse']}, seed {row['seed']}: {row['difference']:+.3f}"
        holds = row["difference"] > 0 and row["p"] < 0.05
        yield f"{line}, p = {row['p']:.2g}", "python benchmarks/pairs.py SNLI", yes(holds)


def memory(given: Any) -> Iterator[Row]:
    yield from script("memory.py")


def kills(given: Any) -> Iterator[Row]:
    yield from script("kills.py", "--kills", "10")


def bad_input(given: Any) -> Iterator[Row]:
    yield from tests("tests/robustness/test_bad_input.py", "-k", "not white_box")


def bad_input_inside(given: Any) -> Iterator[Row]:
    yield from tests("tests/robustness/test_bad_input.py", "-k", "white_box")


def pictures(given: Any) -> Iterator[Row]:
    yield from tests("tests/attacks/test_pictures.py", "tests/targets/pictures")
    yield from script("pictures.py", "--out", "/dev/null")


def core(given: Any) -> Iterator[Row]:
    """Show that the engine knows no kinds, and that costs are kept as a plain reference says."""
    yield from tests("tests/engine", "tests/test_architecture.py", "tests/runs/test_former_runs.py")


def versions(given: Any) -> Iterator[Row]:
    """Read what the comparison with the version before kinds gave; it takes minutes to repeat."""
    path = HERE / "versions.json"
    command = "python benchmarks/versions.py 548b559"
    if not path.exists():
        yield "this version beside the one before kinds: not measured", command, "not done"
        return
    content = json.loads(path.read_text())
    equal = content["equal_rows"]
    line = f"equal rows: {', '.join(equal)}"
    yield line, command, yes(bool(equal) and all(equal.values()))
    for name, cost in content["microseconds_per_text_asked"].items():
        line = f"{name}: engine {cost['now']:.1f} µs per text asked, {cost['ratio']:.2f}× as before"
        yield f"{line} (asked for ≤ 1.1×)", command, yes(cost["ratio"] <= 1.1)


def translators(given: Any) -> Iterator[Row]:
    """Read the translators' rates and kills; both need real engines and data."""
    yield from some(translator_rates())
    yield from some(translator_kills())


def translator_rates() -> Iterator[Row]:
    command = "python benchmarks/translators.py CAPTIONS"
    content = json.loads((HERE / "translators.json").read_text())
    ratios = content["ratios (median, lowest and highest of the rounds)"]
    for name, (median, low, high) in ratios.items():
        asked = 10 if name.endswith("a process each") else 0.8
        line = f"{name}: {median:.2f}× ({low:.2f}–{high:.2f}; asked for ≥ {asked:g}×)"
        yield line, command, yes(median >= asked)


def translator_kills() -> Iterator[Row]:
    command = "python benchmarks/translator_kills.py CAPTIONS"
    for name, row in json.loads((HERE / "translator_kills.json").read_text()).items():
        if isinstance(row, dict):
            line = f"{name}: {row['kills']} kills, {row['sentences_asked']} sentences, "
            line += f"{row['asked_twice']} stored ones asked twice"
            holds = row["equal_rows"] and row["kills"] > 0 and not row["asked_twice"]
            yield line, command, yes(holds)


def own_translators(given: Any) -> Iterator[Row]:
    """Run the tests of decoding, and read how well the zoo's translators learnt."""
    yield from tests("tests/zoo/seq2seq", "tests/training/test_seq2seq.py")
    yield from some(attention_items.learnt(HERE / "seq2seq.json"))


def transfer_tables(given: Any) -> Iterator[Row]:
    yield from tests("tests/studies/transfer")


def rules(given: Any) -> Iterator[Row]:
    yield from tests("tests/studies/rules", "tests/candidates/test_rules.py", "tests/attacks")
    found = natural_items.load(given.papers, "transfer").get("findings", {})
    yield agreeing("uawr-pmi", "transfer", found)


def mining(given: Any) -> Iterator[Row]:
    """Read the rates of mining beside those of the bare members."""
    command = "python benchmarks/mining.py"
    for row in json.loads((HERE / "mining.json").read_text())["models"]:
        line = f"{row['model']}: {row['wall_ratio']:.2f} of the bare rate (asked for ≥ 0.85), "
        line += f"{row['computed']:,} rows computed, {row['distinct']:,} distinct"
        once = 0 < row["computed"] == row["distinct"]
        yield line, command, yes(row["wall_ratio"] >= 0.85 and once)


def workers(given: Any) -> Iterator[Row]:
    """Run the tests of equal rows, and read the rates of two workers beside one process."""
    yield from tests("tests/runs/workers", "-m", "slow or not slow")
    yield from some(worker_rates())


def worker_rates() -> Iterator[Row]:
    command = "python benchmarks/workers.py"
    for name, row in json.loads((HERE / "workers.json").read_text())["targets"].items():
        line = f"{name}: {row['ratio']:.2f}× one process (asked for ≥ {row['least']:g}×)"
        yield line, command, yes(row["ratio"] >= row["least"] and row["equal_rows"])


def cluster(given: Any) -> Iterator[Row]:
    yield from tests("tests/workflow", "tests/studies/rules/test_killed.py")


def torture(given: Any) -> Iterator[Row]:
    """Try a part of what benchmarks/torture.py does; the whole takes up to a quarter of an hour."""
    yield from script("torture.py", "--quick")


def script(name: str, *words: str) -> Iterator[Row]:
    """Run a benchmark script and give its last line."""
    began = time.perf_counter()
    command = [sys.executable, str(HERE / name), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [line for line in (done.stdout or done.stderr).strip().splitlines() if line]
    last = lines[-1] if lines else "no output"
    line = f"{last} ({time.perf_counter() - began:.0f} s)"
    yield line, f"python benchmarks/{name} {' '.join(words)}".strip(), yes(done.returncode == 0)


def yes(holds: bool) -> str:
    return "yes" if holds else "no"


def selection(given: Any) -> Iterator[Row]:
    test = "test_genetic_selection_finds_the_optimum_and_is_not_below_greedy"
    yield from tests(f"tests/studies/selecting/test_selecting.py::{test}")


WEAK_SPOTS = (
    "tests/attacks/test_spot_swap.py",
    "tests/runs/test_weak_spots.py",
    "tests/zoo/test_holes.py",
    "tests/targets/transformers/test_holes.py",
    "tests/targets/transformers/test_attention.py",
)
"""Where the attacks at the weak spot, zero vectors and sums of attention are checked."""


def weak_spots(given: Any) -> Iterator[Row]:
    yield from tests(*WEAK_SPOTS)
    yield from some(ranking_rates())


def ranking_rates() -> Iterator[Row]:
    for row in json.loads((HERE / "embedding_rank.json").read_text()):
        line = f"{row['model']}: ranking by embedding at {row['ratio']:.2f} of the bare rate"
        command = "python benchmarks/embedding_rank.py"
        yield f"{line} (asked for ≥ 0.8)", command, yes(row["ratio"] >= 0.8)


def attention_order(given: Any) -> Iterator[Row]:
    """Show the grids: the order in every column, and the findings with their evidence."""
    yield from tests("tests/studies/grid", "tests/papers/test_attention_claims.py")
    yield from some(attention_items.order(given.papers))


def attention_translators(given: Any) -> Iterator[Row]:
    yield from attention_items.translators(given.papers)


def theorem(given: Any) -> Iterator[Row]:
    yield from attention_items.theorem(HERE / "attention_bound.json")


def attention_page(given: Any) -> Iterator[Row]:
    yield from tests("tests/papers/test_attention_figures.py", "tests/inside/test_section.py")
    yield from some(attention_items.page(given.papers))


def natural_searches(given: Any) -> Iterator[Row]:
    yield from tests("tests/papers/test_searches.py", "tests/attacks/test_natural.py")
    yield from tests("tests/runs/test_natural.py", "tests/papers/test_curve.py")
    yield from some(natural_items.searches(given))
    yield from some(natural_items.rate(HERE / "latent.json"))


def starting(given: Any) -> Iterator[Row]:
    yield from tests("tests/english/test_lemminflect.py")


def natural_robustness(given: Any) -> Iterator[Row]:
    yield from tests("tests/studies/robustness", "tests/papers/test_natural_claims.py")
    yield from some(natural_items.robustness(given))


def natural_texts(given: Any) -> Iterator[Row]:
    yield from tests("tests/papers/test_natural_texts.py", "tests/training/test_arae_steps.py")
    for item in (natural_text_items.generator, natural_text_items.entailment):
        yield from some(item(given))


def translators_probed(given: Any) -> Iterator[Row]:
    yield from tests("tests/targets/translators/test_defects.py", "tests/goals/test_texts.py")
    yield from some(natural_text_items.probes(given))


def careful_candidates(given: Any) -> Iterator[Row]:
    yield from tests("tests/candidates/test_careful.py", "tests/english/test_counterfitted.py")
    yield from some(trust_items.candidates())


def proofs(given: Any) -> Iterator[Row]:
    proved = ("tests/attacks/test_exhaustive.py", "tests/attacks/test_against_proof.py")
    yield from tests(*proved, "tests/zoo/test_bounds.py", "tests/targets/test_additive.py")
    yield from some(trust_items.proofs())


def strongest(given: Any) -> Iterator[Row]:
    yield from tests("tests/attacks/test_auto.py")
    yield from some(trust_items.ladder())


def estimators(given: Any) -> Iterator[Row]:
    yield from tests("tests/metrics/test_validity_estimators.py", "tests/validity")
    yield from some(trust_items.estimators())


def annotation(given: Any) -> Iterator[Row]:
    yield from tests("tests/reports/test_annotation.py", "-m", "slow or not slow")


def measures(given: Any) -> Iterator[Row]:
    yield from tests("tests/runs/test_measuring.py", "tests/goals/test_constraints.py")
    yield from some(trust_items.measures())


ITEMS: dict[str, tuple[str, Callable[[Any], Iterator[Row]]]] = {
    "1": ("PWWS and the genetic search equal plain sequential references", references),
    "2": ("Every attack meets the contract", contract),
    "3": ("Faster than TextAttack, near the bare model", benchmarks),
    "4": ("Peak memory does not grow with the number of cases", memory),
    "5": ("Killed at random moments, a run resumes and asks nothing twice", kills),
    "6": ("Bad input has its documented outcome", bad_input),
    "7": ("Gradients, flips and alignment against brute force", white_box),
    "8": ("HotFlip's speed", hotflip),
    "9": ("The papers' findings, by paired intervals", findings),
    "10": ("Bad input of attacks that look inside, and of training", bad_input_inside),
    "11": ("FGSM by hand and by brute force; models of pictures as accurate as asked", pictures),
    "12": ("Entailment: sides read apart beat one sequence, MiniLM beats both", pairs),
    "13": ("The core on other kinds of items and answers, and with costs", core),
    "14": ("Nothing is lost since the version before kinds", versions),
    "15": ("Translators: near the bare engine, and nothing stored is asked twice", translators),
    "16": ("The paper's cells give its tables; the matrix is one scoring a text", transfer_tables),
    "17": ("Genetic selection finds the optimum in 95 of 100 pools, not below greedy", selection),
    "18": ("Salience against a plain reference; no query before a text is done; UAWR, PMI", rules),
    "19": ("Mining computes each distinct text once, near the bare rate", mining),
    "20": ("Two workers against one process; equal rows of one process, workers and Ray", workers),
    "21": ("Driver, worker and node killed: nothing finished is done again", cluster),
    "22": ("Our translators learn, and decode as a plain reference does", own_translators),
    "23": ("Attacks at the weak spot by hand and by brute force; ranking by embedding", weak_spots),
    "24": ("RANDOM lowest, a greedy attack highest; every cell with its interval", attention_order),
    "25": ("Typos and keywords on our translators, and on a third party", attention_translators),
    "26": ("Theorem 1: mean and tail under their bounds, slope −0.5 ± 0.05", theorem),
    "27": ("The figures of the self-attention paper's page", attention_page),
    "28": ("Kills, lying endpoints, damaged files, scripts, malformed command lines", torture),
    "29": ("Hybrid, iterative and uniform search of a latent space", natural_searches),
    "30": ("Robustness without labels: two classifiers, and 80", natural_robustness),
    "31": ("The generator of digits in numbers", natural_items.generator),
    "32": ("The figures of the natural adversaries' page", natural_items.page),
    "33": ("The generator of sentences in numbers, and entailment", natural_texts),
    "34": ("Probes of translators, and defects of two third parties", translators_probed),
    "35": ("Careful candidates keep label, meaning and grammar", careful_candidates),
    "36": ("Closed form and bounds agree with exhaustive search; no attack beats them", proofs),
    "37": ("gentle edits break many texts, and a reader calls them valid", strongest),
    "38": ("Intervals of validity and valid success cover simulated truths", estimators),
    "39": ("Pages of annotation in a browser, from start to export", annotation),
    "40": ("Similarity and fluency of every step cost little", measures),
    "41": ("Nothing starts slower where spaCy is installed", starting),
}


if __name__ == "__main__":
    main()
