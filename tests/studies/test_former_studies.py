"""Studies that earlier versions stored are read, shown, exported and reported as they were then.

`former/` has studies of every kind in format 1 (`first` from before there were kinds), each with
what the commands of its time wrote of it.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from brittle.cli import main
from brittle.errors import UsageError
from brittle.studies.study import FORMAT, Study, in_present_layout, load_content
from reports.test_golden_pages import lines_of, words_of

FORMER = Path(__file__).parent / "former"
NAMES = {"grid": "grid", "moves": "transfer", "first": "transfer", "near": "robustness"}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs with all former studies, in the working folder."""
    (tmp_path / "runs").mkdir()
    for name in NAMES:
        shutil.copy(FORMER / f"{name}.study.json", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path / "runs"


def printed(*words: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(words) == 0
    return out.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_commands_write_of_it_what_they_wrote(
    name: str, runs: Path, request: pytest.FixtureRequest
) -> None:
    """Figures are those of its time; how they are shown goes with the version (--update-golden)."""
    expected = FORMER / f"{name}.expected.json"
    then: dict[str, Any] = json.loads(expected.read_text("utf-8"))
    if request.config.getoption("--update-golden"):
        printed("report", name, "--out", "page.html")
        page = lines_of(Path("page.html").read_text("utf-8")).splitlines()
        then |= {"show": printed("show", name), "page": page}
        expected.write_text(json.dumps(then, ensure_ascii=False, indent=1) + "\n", "utf-8")
    assert printed("show", name) == then["show"]
    assert json.loads(printed("show", name, "--json")) == then["json"]
    for part, flags in (("cells", ()), ("texts", ("--texts",))):
        printed("export", name, f"{part}.csv", *flags)
        assert Path(f"{part}.csv").read_bytes().decode().replace("\r\n", "\n") == then[part]
    printed("report", name, "--out", "page.html")
    page = lines_of(Path("page.html").read_text("utf-8"))
    assert words_of(page) == words_of("\n".join(then["page"]))


@pytest.mark.parametrize(("name", "kind"), NAMES.items())
def test_it_is_stored_in_the_present_layout(name: str, kind: str, runs: Path) -> None:
    path = runs / f"{name}.study.json"
    study = Study.load(path, kind)
    assert study.kind == kind
    study.save(path)
    content = load_content(path)
    assert content["format"] == FORMAT == in_present_layout(content, FORMAT)["format"]
    assert Study.load(path) == study


@pytest.mark.parametrize(
    "changed",
    [
        {"format": 3},
        {"format": None},
        {"kind": "grids"},
        {"kind": ["grid"]},
        {"odd": 1},
        {"seed": "x"},
    ],
)
def test_what_is_of_no_known_layout_is_refused(changed: dict[str, Any], runs: Path) -> None:
    path = runs / "grid.study.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises(
        UsageError, match=r"not a grid that this version|Unknown kind of study|not a tran"
    ):
        Study.load(path)
