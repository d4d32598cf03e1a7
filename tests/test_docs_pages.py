"""The pages of the docs hold together: links lead somewhere, index and lists are complete."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import struct
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from brittle import asks
from brittle.attacks import ATTACKS
from brittle.errors import EXTRAS, install_command

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
NUMBERS = {3: "three", 4: "four", 5: "five"}
MAX_PICTURE_BYTES = 200_000


def anchors(page: Path) -> set[str]:
    """Return the anchors that a Markdown page has for its headings."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    plain = [re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if link.startswith(("http:", "https:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}"


NAMED = re.compile(r"(?<![\w/])docs/[\w/.-]+\.(?:md|png|svg)(?:#[\w-]+)?")


def test_pages_that_sources_name_are_there() -> None:
    named = [*ROOT.glob("*.md"), *ROOT.glob("Makefile")]
    for folder in ("src", "scripts", "benchmarks", "tests"):
        named += (ROOT / folder).rglob("*.py")
    for path in named:
        for link in NAMED.findall(path.read_text("utf-8")):
            page, _, anchor = link.partition("#")
            assert (ROOT / page).exists(), f"{path.relative_to(ROOT)}: {link}"
            assert not anchor or anchor in anchors(ROOT / page), f"{path.name}: {link}"


def test_the_index_names_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {
        (index.parent / link.partition("#")[0]).resolve()
        for link in LINK.findall(index.read_text("utf-8"))
    }
    missing = [page for page in (ROOT / "docs").rglob("*.md") if page.resolve() not in linked]
    assert missing == [index]


def test_every_attack_has_a_place_on_the_page_of_languages() -> None:
    page = (ROOT / "docs" / "how-to" / "languages.md").read_text("utf-8")
    listed = {
        name
        for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
        for name in re.findall("`([^`]+)`", row)
    }
    assert not set(ATTACKS) - listed


def questions() -> set[str]:
    """Return the names of the questions that a search can ask."""
    kinds = vars(asks).values()
    own = {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, asks.Ask)}
    return {kind.__name__ for kind in own - {asks.Ask}}


def test_every_question_has_its_row_on_the_page_of_the_architecture() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text("utf-8")
    table = page.partition("| question | asks for |")[2].partition("\n\n")[0]
    cells = [row.split(" | ")[0] for row in table.splitlines()[2:]]
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(questions())


def test_every_question_is_asked_by_a_line() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    trees = [ast.parse(s) for s in sources if any(f"{name}(" in s for name in questions())]
    calls = (node.func for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    called = {function.id for function in calls if isinstance(function, ast.Name)}
    assert not questions() - called


def test_the_readme_s_first_screen_has_the_result_and_a_small_picture() -> None:
    first = (ROOT / "README.md").read_text("utf-8").partition("\n## ")[0]
    assert first.index("make demo") < first.index("docs/report.png")
    assert "after rewrite" in first and len(first.splitlines()) < 50
    picture = (ROOT / "docs" / "report.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and len(picture) < MAX_PICTURE_BYTES
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 1000 and height > 500


def test_installing_comes_before_the_first_example() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert readme.index("pip install") < readme.index("```bash") < readme.index("```python")


def test_the_readme_is_short() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 100
    assert len(readme.partition("<img")[0].split()) <= 500


def test_nobody_is_told_to_install_brittle_from_a_registry() -> None:
    for path in (*PAGES, ROOT / "SECURITY.md", ROOT / "Makefile", *(ROOT / "src").rglob("*.py")):
        for command in re.findall(r"pip install ([^`\n#]*)", path.read_text("utf-8")):
            named = [word for word in command.split() if re.match(r"['\"]?brittle(\W|$)", word)]
            assert not named, f"{path.relative_to(ROOT)}: pip install {command}"


def test_remedies_name_the_packages_of_an_extra_and_never_brittle() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(EXTRAS) == extras.keys() - {"all", "dev", "docs"}
    for extra in EXTRAS:
        command = install_command(extra)
        assert command.startswith("pip install ") and "brittle" not in command
        for requirement in extras[extra]:
            assert re.split("[=<>]", requirement)[0] in command
    assert install_command("ray==2.60.0") == "pip install ray==2.60.0"


def script() -> ModuleType:
    """Load the script that makes the README's demo."""
    spec = importlib.util.spec_from_file_location("demo", ROOT / "scripts" / "readme_demo.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_s_output_has_its_place_and_is_of_the_demo() -> None:
    demo = script()
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = readme.partition(demo.OPENING)[2].partition(demo.CLOSING)[0]
    output = shown.strip().removeprefix("```text\n").removesuffix("\n```")
    assert demo.with_demo(readme, output) == readme  # the script would find its place again
    assert demo.one_screen(output) == output and len(output.splitlines()) <= 18
    assert " ".join(demo.ATTACK) in (ROOT / "Makefile").read_text("utf-8")
    with pytest.raises(SystemExit, match="no place"):
        demo.with_demo("# brittle", output)


def test_the_alternative_text_of_the_picture_has_the_figures_of_the_output() -> None:
    demo, readme = script(), (ROOT / "README.md").read_text("utf-8")
    shown = readme.partition(demo.OPENING)[2].partition(demo.CLOSING)[0]
    text = demo.alternative_text(shown)
    assert f'alt="{text}"' in readme and text.count("%") == shown.count("\n  after ") + 1


def test_the_citation_has_the_version_and_licence_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    fields = dict(re.findall(r'^([\w-]+): "?(.*?)"?$', citation, re.MULTILINE))
    assert fields["cff-version"] == "1.2.0" and {"message", "title", "authors"} <= {
        *fields,
        *re.findall(r"^(\w+):$", citation, re.MULTILINE),
    }
    assert fields["version"] == project["version"] and fields["license"] == project["license"]


def test_the_figures_of_proofs_are_those_of_the_benchmark() -> None:
    page = (ROOT / "docs" / "explanation" / "proofs.md").read_text("utf-8")
    measured = json.loads((ROOT / "benchmarks" / "proofs.json").read_text("utf-8"))
    for words, row in measured["closed_form"]["by_words"].items():
        assert row["agree"] == row["cases"]
        assert (
            f"| {words} | {row['agree']} of {row['cases']} | {row['verdicts']['broken']} |" in page
        )
        assert f"| {row['texts_asked']:,} | {row['texts_asked_by_closed_form']:,} |" in page
    for target, row in measured["attacks"].items():
        for attack, own in row["attacks"].items():
            assert not own["beyond_the_proof"] and not own["fewer_words_than_possible"]
            within = " | ".join(f"{n} of {of}" for n, of in own["within_words"].values())
            broken = f"{own['broken']} of {row['can_be_broken']}"
            assert f"| {target} | `{attack}` | {broken} | {within} |" in page
    for target, rows in measured["bounds"].items():
        for words, row in rows["by_words"].items():
            assert row["agree"] == row["cases"]
            asked = f"{row['texts_asked']:,} | {row['texts_asked_with_bounds']:,} |"
            proved = f"{row['proved']} | {row['proved_without_asking']}"
            agree = f"{row['agree']} of {row['cases']}"
            assert f"| {target} | {words} | {agree} | {proved} | {asked}" in page


def load_benchmark(name: str) -> Any:
    return json.loads((ROOT / "benchmarks" / name).read_text("utf-8"))


def test_the_figures_of_the_ladder_are_those_of_the_benchmark() -> None:
    page = (ROOT / "docs" / "explanation" / "ladder.md").read_text("utf-8")
    yardstick = json.loads((ROOT / "src/brittle/reports/yardstick.json").read_text("utf-8"))
    measured = load_benchmark("ladder.json")
    assert set(measured) == set(yardstick) and measured
    for name, one in measured.items():
        rungs = [rung["standing"]["value"] for rung in one["ladder"]["rungs"]]
        assert list(yardstick[name]["after"].values()) == rungs
        cells = [one["ladder"]["before"]["value"], *rungs]
        shares = " | ".join(f"{100 * value:.1f}%" for value in cells)
        assert f"| {name} | {yardstick[name]['of']} | {shares} |" in page


def test_the_readings_that_are_shown_are_those_of_the_benchmark() -> None:
    shipped = json.loads((ROOT / "src/brittle/validity/readings.json").read_text("utf-8"))
    read = load_benchmark("read_ladder.json")
    assert shipped
    for level, one in shipped.items():
        kept = read[one["texts"]]["kinds"][level]
        assert (one["valid"], one["of"]) == (kept["all"]["count"], kept["all"]["of"])
        assert one["reader"] == read[one["texts"]]["reader"] == "one language model"


def test_the_figures_of_mending_are_those_of_the_benchmark() -> None:
    page = (ROOT / "docs" / "how-to" / "harden.md").read_text("utf-8")
    figures = load_benchmark("mend.json")["figures"]
    lost = []
    for model, rows in figures.items():
        for method, row in rows.items():
            name = "the texts alone" if method == "plain" else f"`{method}`"
            cells = [name, str(row.get("copies", "")), f"{100 * row['accuracy']:.1f}%"]
            cells += [f"{100 * value:.1f}%" for value in row["success"].values()]
            assert f"| {' | '.join(cells)} |" in page
        plain, mended = rows["plain"], rows["rewrite"]
        assert mended["success"]["rewrite"] < plain["success"]["rewrite"] / 2
        if model.startswith("LSTM"):
            lost.append(100 * (plain["accuracy"] - mended["accuracy"]))
            assert mended["accuracy_against_plain"]["p"] > 0.05
        else:
            assert mended["accuracy"] > plain["accuracy"]
    changes = [
        100 * (rows["rewrite"]["accuracy"] - rows["plain"]["accuracy"]) for rows in figures.values()
    ]
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"In {NUMBERS[len(changes)]} trainings" in readme
    assert f"by −{-min(changes):.1f} to +{max(changes):.1f} points" in readme
    by_seed = "{:.1f}, {:.1f} and {:.1f}".format(*lost)
    assert f"loses {sum(lost) / 3:.1f} point on average over three trainings ({by_seed})" in page


def test_the_success_of_candidates_is_that_of_the_benchmark() -> None:
    page = (ROOT / "docs" / "explanation" / "ladder.md").read_text("utf-8")
    for name, row in load_benchmark("validity_success.json").items():
        target = name.split()[0].removeprefix("zoo:")
        lines = [line for line in page.splitlines() if line.startswith(f"| {target} |")]
        value, low, high = (f"{100 * row['success'][key]:.1f}" for key in ("value", "low", "high"))
        assert any(f" {value}% ({low}–{high}%) " in line for line in lines), name


def test_pages_say_who_judged_the_texts() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    page = (ROOT / "docs" / "explanation" / "ladder.md").read_text("utf-8")
    for preset, row in load_benchmark("judged_sample.json")["presets"].items():
        share = f"{100 * row['all']['value']:.1f}%"
        assert f"| `{preset}` | 200 |" in page and share in page
    for text in (readme, page):
        assert "a language model" in text.lower() and "no people" in text.lower()
        assert "one reader" not in text.lower()


def benchmark_module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_read_sentences_is_that_of_the_benchmark() -> None:
    benchmark = benchmark_module("sentences_read")
    read = load_benchmark("sentences_read.json")
    page = benchmark.PAGE.read_text("utf-8")
    written = page.partition(benchmark.OPENING)[2].partition(benchmark.CLOSING)[0]
    assert written.strip("\n").splitlines() == benchmark.page_lines(read)
    assert read["reader"] == "one language model"
    best, plain = (read["figures"][name] for name in ("VAE@imdb", "ARAE@imdb"))
    for kind, figure in (("neighbour", "grammatical"), ("adversary", "both")):
        assert best[kind]["lines"] >= 25 and best[kind][figure]["of"] == best[kind]["lines"]
        assert best[kind][figure]["count"] > plain[kind][figure]["count"]


def test_the_tables_of_guards_are_those_of_the_benchmark() -> None:
    benchmark = benchmark_module("guard")
    measured = load_benchmark("guard.json")
    page = benchmark.PAGE.read_text("utf-8")
    written = page.partition(benchmark.OPENING)[2].partition(benchmark.CLOSING)[0]
    assert written.strip("\n").splitlines() == benchmark.page_lines(measured)
    guards = measured["guards"]
    assert {"TF-IDF", "MiniLM", "normalised:TF-IDF"} <= set(guards)
    rows = {row["attack"]: row for row in guards["MiniLM"]["attacks"]}
    assert rows["invisible"]["normalised"] and not rows["look-alike"]["normalised"]
    assert all(guard["recall"]["of"] >= 100 for guard in guards.values())
    assert measured["the same call again"]["asked"] == 0


MAX_WORDS = 37_000  # gates, guards and chat models came with a page each


def test_the_docs_stay_short() -> None:
    """Words with a letter or a digit, on all pages but those of the papers."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if "papers" not in page.parts]
    words = [word for page in pages for word in re.findall(r"\S*\w\S*", page.read_text("utf-8"))]
    assert len(words) <= MAX_WORDS
    assert len(pages) <= 32
