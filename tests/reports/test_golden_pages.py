"""Pages as they are: a run, each kind of study and other pages, as HTML in golden/.

Pages are compared up to white space. The style sheet and the scripts are left out: they have tests
of their own. If a page should change, `make golden` writes the files anew.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
from pathlib import Path

import pytest

from brittle.cli import main
from cli.test_golden import COMMANDS, DATA, MODELS, POOL, POSITIVE, TEXTS

FOLDER = Path(__file__).parent / "golden"
HOSTILE = '<script>alert("&amp;")</script>'
HOSTILE_MODELS = f"""
class Marked(Weighed):
    labels = ("<b>no</b>", 'a"b{{{{ 7 * 7 }}}}')

marked = Marked({HOSTILE!r}, ONE)
turned = Marked("turned \\u202e \\x1b[31m", TWO)
marked_pool = (marked, turned)
"""
HOSTILE_TEXTS = (
    *(
        f"a good film {HOSTILE} and a clever story",
        "a great movie \x1b[31m \u202e and a funny actor",
    ),
    *("a good film {{ 7 * 7 }} {% raw %} story", "a great </script><!-- old movie"),
    *("a dull film ' onload=x with a poor story", "the bad actor <i>in</i> a bad tale"),
)
HOSTILE_DATA = ("--data", "hostile.csv", "--workers", "1")
MARKED, TURNED = "python:hostile_models:marked", "python:hostile_models:turned"
MADE_BEFORE = ("run", "run-auto", "study-grid", "study-transfer", "study-robustness")
ATTACKS: dict[str, tuple[str, ...]] = {
    "hostile-run": ("attack", MARKED, "pwws", *HOSTILE_DATA[:2], "--name", "hostile"),
    "hostile-auto": ("attack", MARKED, "auto", *HOSTILE_DATA[:2], "--name", "hostile-auto"),
    "hostile-grid": (
        "study",
        "grid",
        f"{MARKED},{TURNED}",
        "pwws,key",
        *HOSTILE_DATA,
        "--name",
        "bad-grid",
    ),
    "hostile-transfer": (
        *("study", "transfer", f"{MARKED},{TURNED}", "pwws", *HOSTILE_DATA),
        *("--resamples", "5", "--name", "bad-moves"),
    ),
}
PAGES: dict[str, tuple[str, ...]] = {
    "run": ("report", "one"),
    "run-auto": ("report", "auto"),
    "study-grid": ("report", "grid"),
    "study-transfer": ("report", "moves"),
    "study-robustness": ("report", "near"),
    "hostile-run": ("report", "hostile"),
    "hostile-auto": ("report", "hostile-auto"),
    "hostile-grid": ("report", "bad-grid"),
    "hostile-transfer": ("report", "bad-moves"),
    "importance": ("explain", "words", POOL, "a good film", "--label", "positive"),
    "hostile-importance": (
        "explain",
        "words",
        MARKED,
        f"a good {HOSTILE} film",
        "--label",
        "<b>no</b>",
    ),
    "select": (
        *("study", "select", "moves", "--size", "2", "--held-out", "none", "--workers", "1"),
        *("--attack", *DATA),
    ),
}
VARYING = {
    r"(<style>).*?(</style>)": r"\1…\2",
    r"(<script>).*?(</script>)": r"\1…\2",
    r"sha256-[\w+/=]+": "sha256-…",
    r"\d[\d,]* calls?, (?:[\d.]+ s|\d+ min \d+ s)": "… calls, … s",
    r"version:[\d.]+": "version:…",
    r"(<dt>(?:started|versions)</dt><dd>).*?(</dd>)": r"\1…\2",
    r"(<dt>(?:data|content)</dt><dd>).*?(</dd>)": r"\1…\2",
}
"""What depends on the machine, on what is installed and on when it was done."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Make the runs and studies in a folder of their own; return every page, a tag a line."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "golden_models.py").write_text(MODELS)
    (folder / "hostile_models.py").write_text(MODELS + HOSTILE_MODELS)
    labels = ["positive"] * POSITIVE + ["negative"] * (len(TEXTS) - POSITIVE)
    rows = [f'"{text}",{label}' for text, label in zip(TEXTS, labels)]
    (folder / "films.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    short = ("a good film,positive", "a great film,positive", "a dull film,negative")
    (folder / "short.csv").write_text("\n".join(["text,label", *short]) + "\n")
    hostile = [
        '"{}","{}"'.format(text.replace('"', '""'), label.replace('"', '""'))
        for n, text in enumerate(HOSTILE_TEXTS)
        for label in (['a"b{{ 7 * 7 }}', "<b>no</b>"][n >= 4],)
    ]
    (folder / "hostile.csv").write_text("\n".join(["text,label", *hostile]) + "\n", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        for words in [*(COMMANDS[name] for name in MADE_BEFORE), *ATTACKS.values()]:
            _run(*words)
        for name, words in PAGES.items():
            _run(*words, "--out", f"{name}.html")
    return {name: lines_of((folder / f"{name}.html").read_text("utf-8")) for name in PAGES}


def _run(*words: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(words)
    assert code == 0, (words, out.getvalue())


def lines_of(page: str) -> str:
    """Leave out what varies, and put every tag on a line of its own."""
    for pattern, instead in VARYING.items():
        page = re.sub(pattern, instead, page, flags=re.DOTALL)
    return re.sub(r"\s*(<[^<>]*>)\s*", r"\n\1\n", page).replace("\n\n", "\n").strip() + "\n"


def words_of(page: str) -> list[str]:
    """Split a page at white space; a quotation mark has two equal spellings."""
    return page.replace("&#34;", "&quot;").replace("&#39;", "&#x27;").split()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_it_was(
    name: str, pages: dict[str, str], request: pytest.FixtureRequest
) -> None:
    file = FOLDER / f"{name}.html"
    if request.config.getoption("--update-golden"):
        file.write_text(pages[name], "utf-8")
    before, now = words_of(file.read_text("utf-8")), words_of(pages[name])
    diff = difflib.unified_diff(before, now, "before", "now", "", "", 4)
    assert now == before, f"{file.name} has changed.\n" + "\n".join(list(diff)[:80])


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("hostile")])
def test_nothing_hostile_is_markup(name: str, pages: dict[str, str]) -> None:
    page = re.sub(
        r'(<script type="application/json").*?(</script>)', "", pages[name], flags=re.DOTALL
    )
    assert "<script>alert" not in pages[name].replace("\n", "")
    assert "&lt;script&gt;alert" in page and "<b>no</b>" not in page.replace("\n", "")
    assert "\x1b" not in page and "\u202e" not in page


def test_every_file_is_that_of_a_page() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(PAGES)
