"""The pages of the docs hold together: links lead somewhere, index and lists are complete."""

from __future__ import annotations

import importlib.util
import json
import re
import struct
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from brittle.attacks import ATTACKS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
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


def test_the_index_names_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {
        (index.parent / link.partition("#")[0]).resolve()
        for link in LINK.findall(index.read_text("utf-8"))
    }
    missing = [page for page in (ROOT / "docs").rglob("*.md") if page.resolve() not in linked]
    assert missing == [index]


def test_every_attack_has_a_place_on_the_page_of_languages() -> None:
    page = (ROOT / "docs" / "languages.md").read_text("utf-8")
    listed = {
        name
        for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
        for name in re.findall("`([^`]+)`", row)
    }
    assert not set(ATTACKS) - listed


def test_the_readme_s_first_screen_has_the_result_and_a_small_picture() -> None:
    first = (ROOT / "README.md").read_text("utf-8").partition("\n## ")[0]
    assert first.index("make demo") < first.index("docs/report.png")
    assert "accuracy under attack" in first and len(first.splitlines()) < 50
    picture = (ROOT / "docs" / "report.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and len(picture) < MAX_PICTURE_BYTES
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 1000 and height > 500


def test_installing_comes_before_the_first_example() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert readme.index("pip install") < readme.index("```python") < readme.index("```bash")


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
    assert demo.first_examples(output) == output
    assert " ".join(demo.ATTACK) in (ROOT / "Makefile").read_text("utf-8")
    with pytest.raises(SystemExit, match="no place"):
        demo.with_demo("# brittle", output)


def test_the_alternative_text_of_the_picture_has_the_figures_of_the_output() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    before, after = re.findall(r"accuracy (?:before|under attack) +([\d.]+%)", readme)[:2]
    assert f"accuracy {before} before the attack and {after} under attack" in readme


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
    page = (ROOT / "docs" / "proofs.md").read_text("utf-8")
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
